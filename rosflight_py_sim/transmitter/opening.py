"""Opening of the selected device."""

from __future__ import annotations

import os

from rosflight_py_sim.transmitter.channels import Log, Transmitter
from rosflight_py_sim.transmitter.sdl import NoDisplayError, NoPygameError
from rosflight_py_sim.transmitter.terminal import KeyboardTerminal, NoTerminalError

KEYBOARDS = ("auto", "window", "terminal")

BLIND_DRIVERS = ("dummy", "offscreen")
"""SDL drivers without display and key input."""


class NoKeyboardError(RuntimeError):
    """No usable keyboard; the text names what was tried and what is missing."""


def open_keyboard(kind: str, layout: str, log: Log) -> Transmitter:
    """The keyboard as transmitter: `kind` is window, terminal, or auto, a window where there is a display.

    Raises:
        NoKeyboardError: the keyboard is not available.
    """
    reasons = []
    if kind == "window" or (kind == "auto" and _has_display()):
        from rosflight_py_sim.transmitter.window import KeyboardWindow, WindowIsTakenError

        try:
            return KeyboardWindow(layout, log)
        except WindowIsTakenError as error:
            raise NoKeyboardError(str(error)) from error
        except (NoPygameError, NoDisplayError) as error:
            reasons.append(f"no window: {error}")
    elif kind == "auto":
        reasons.append("no window: there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)")
    if kind in ("terminal", "auto"):
        try:
            return KeyboardTerminal(layout, log)
        except NoTerminalError as error:
            reasons.append(f"no terminal: {error}")
    raise NoKeyboardError("; ".join(reasons))


def _has_display() -> bool:
    driver = os.environ.get("SDL_VIDEODRIVER", "")
    return driver not in BLIND_DRIVERS and any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))

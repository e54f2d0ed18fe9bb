"""Shared access to SDL through pygame, one instance per process, loaded when first needed."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, ClassVar

_HINTS = {
    "PYGAME_HIDE_SUPPORT_PROMPT": "1",
    # The program itself handles Ctrl-C.
    "SDL_NO_SIGNAL_HANDLERS": "1",
    "SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS": "1",
    # Two drivers number an Xbox pad's axes differently; this selects the kernel's numbering.
    "SDL_JOYSTICK_HIDAPI_XBOX": "0",
    # A hidden window drawn by OpenGL may wait for the screen forever.
    "SDL_FRAMEBUFFER_ACCELERATION": "0",
}


class NoPygameError(RuntimeError):
    """pygame is not installed."""


class NoDisplayError(RuntimeError):
    """SDL cannot open a window; the text gives the reason."""


class SdlSession:
    """One user of the process's SDL; `on_event` is called with every event that any user's `pump` receives.

    Attributes:
        pygame: the module.

    Raises:
        NoPygameError: pygame is not installed.
        NoDisplayError: a display was requested, and there is none.
    """

    _shares: ClassVar[list[SdlSession]] = []

    def __init__(self, on_event: Callable[[Any], None], *, display: bool) -> None:
        """Start the parts of SDL in use: joysticks always, a display on request, never sound."""
        self.pygame = _load_pygame()
        self._on_event = on_event
        self._has_display = display
        self._start_display(wanted=display)
        self.pygame.joystick.init()
        self._shares.append(self)

    def pump(self) -> None:
        """Poll SDL's devices and dispatch the events."""
        for event in self.pygame.event.get():
            for share in tuple(self._shares):
                share._on_event(event)

    def close(self) -> None:
        """Release SDL and the window; SDL ends with its last user."""
        if self not in self._shares:
            return
        self._shares.remove(self)
        if not self._shares:
            self.pygame.joystick.quit()
            self.pygame.display.quit()
        elif self._has_display and not any(share._has_display for share in self._shares):
            self.pygame.display.quit()
            self._start_display(wanted=False)

    def _start_display(self, *, wanted: bool) -> None:
        display = self.pygame.display
        if display.get_init():
            if not wanted or display.get_driver() != "dummy" or os.environ.get("SDL_VIDEODRIVER") == "dummy":
                return
            display.quit()
        # SDL has no events without a video driver; the dummy one needs no display.
        given = os.environ.get("SDL_VIDEODRIVER")
        if not wanted:
            os.environ["SDL_VIDEODRIVER"] = "dummy"
        try:
            display.init()
        except self.pygame.error as error:
            raise NoDisplayError(str(error)) from error
        finally:
            if given is None:
                os.environ.pop("SDL_VIDEODRIVER", None)
            else:
                os.environ["SDL_VIDEODRIVER"] = given


def _load_pygame() -> Any:
    for name, value in _HINTS.items():
        os.environ.setdefault(name, value)
    try:
        import pygame
    except ImportError as error:
        if error.name != "pygame":
            raise
        raise NoPygameError(
            "pygame is not installed; install it with `pip install pygame-ce` (or this package's extra 'joystick')"
        ) from error
    return pygame

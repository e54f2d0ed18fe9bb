"""The keyboard in a window, which receives key presses and releases and shows the sticks."""

from __future__ import annotations

from typing import Any

from rosflight_py_sim.transmitter.channels import Log
from rosflight_py_sim.transmitter.keyboard import LAYOUTS, KeyboardSticks
from rosflight_py_sim.transmitter.picture import SIZE, StickPicture
from rosflight_py_sim.transmitter.sdl import NoDisplayError, SdlSession

_PICTURE_PERIOD_S = 0.04


class WindowIsTakenError(RuntimeError):
    """The process already has a keyboard window."""


class KeyboardWindow:
    """Keyboard in a window with focus; switched off when the window is closed."""

    is_present = True

    def __init__(self, layout: str, log: Log, *, title: str = "rosflight_py_sim rc") -> None:
        """Open the window.

        Raises:
            NoPygameError: pygame is not installed.
            NoDisplayError: there is no display.
            WindowIsTakenError: this process already has a keyboard window.
        """
        self.sticks = KeyboardSticks()
        self._layout = LAYOUTS[layout]
        self._log = log
        self._held: set[int] = set()
        self._last_s: float | None = None
        self._picture_s = 0.0
        self._open = True
        self._sdl = SdlSession(self._on_event, display=True)
        pygame = self._sdl.pygame
        if pygame.display.get_surface() is not None:
            self._sdl.close()
            raise WindowIsTakenError("this process already has a keyboard window; only one is possible")
        # Key names exist only after SDL has started.
        self._actions = {pygame.key.key_code(name): action for name, action in self._layout.items()}
        try:
            pygame.display.set_caption(title)
            self._surface = pygame.display.set_mode(SIZE)
        except pygame.error as error:
            self._sdl.close()
            raise NoDisplayError(str(error)) from error
        self._picture = StickPicture(pygame, layout)
        self._draw()

    @property
    def frame(self) -> list[int] | None:
        """As of Transmitter."""
        return self.sticks.frame if self._open else None

    def poll(self, now_s: float) -> None:
        """As of Transmitter."""
        if not self._open:
            return
        elapsed = 0.0 if self._last_s is None else now_s - self._last_s
        self._last_s = now_s
        self.sticks.hold([self._actions[key] for key in self._held], elapsed)
        self._sdl.pump()
        if self._open and now_s - self._picture_s >= _PICTURE_PERIOD_S:
            self._picture_s = now_s
            self._draw()

    def close(self) -> None:
        """As of Transmitter."""
        if self._open:
            self._open = False
            self._sdl.close()

    def _on_event(self, event: Any) -> None:
        pygame = self._sdl.pygame
        if event.type == pygame.KEYDOWN and event.key in self._actions and event.key not in self._held:
            self._held.add(event.key)
            self.sticks.press(self._actions[event.key])
        elif event.type == pygame.KEYUP:
            self._held.discard(event.key)
        elif event.type == pygame.WINDOWFOCUSLOST:
            # Without focus the window receives no key releases.
            self._held.clear()
        elif event.type == pygame.QUIT:
            self._log.warning("the keyboard's window was closed: the transmitter is off until the node restarts")
            self.close()

    def _draw(self) -> None:
        held = {self._actions[key] for key in self._held}
        self._picture.draw(self._surface, self.sticks, held)
        self._sdl.pygame.display.flip()

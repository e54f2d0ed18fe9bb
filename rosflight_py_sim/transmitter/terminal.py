"""The keyboard in a terminal, as over SSH: characters in, one line of state out."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import termios
from collections.abc import Iterator
from types import FrameType
from typing import Any, ClassVar

from rosflight_py_sim.transmitter.channels import ARM, ATTITUDE_TYPE, OVERRIDE, PITCH, ROLL, YAW, Log
from rosflight_py_sim.transmitter.keyboard import LAYOUTS, Action, KeyboardSticks, keys_of

_LINE_PERIOD_S = 0.1
# Sequences that terminals send for the arrow keys, in their two cursor modes.
_ARROWS = {b"A": "up", b"B": "down", b"C": "right", b"D": "left"}
_ARROW_LEADS = (b"\x1b[", b"\x1bO")
# Signals that end a process by default, except those that the node handles.
_DEADLY = (signal.SIGHUP, signal.SIGQUIT)


class NoTerminalError(RuntimeError):
    """No usable terminal; the text gives the reason."""


class KeyboardTerminal:
    """Keyboard in the terminal on standard input; switched off when the terminal closes.

    The terminal neither waits for Enter nor echoes input; Ctrl-C still ends the program. `close`, the end of Python and
    signals that end the process restore the terminal.
    """

    is_present = True

    def __init__(self, layout: str, log: Log) -> None:
        """Set up the terminal and print the keys.

        Raises:
            NoTerminalError: standard input is not a terminal, or the terminal is in use.
        """
        self.sticks = KeyboardSticks()
        self._keys = LAYOUTS[layout]
        self._log = log
        self._rest = b""
        self._last_s: float | None = None
        self._line_s = 0.0
        self._terminal: _Terminal | None = _Terminal()
        self._terminal.write(_help(layout))

    @property
    def frame(self) -> list[int] | None:
        """As of Transmitter."""
        return self.sticks.frame if self._terminal is not None else None

    def poll(self, now_s: float) -> None:
        """As of Transmitter."""
        if self._terminal is None:
            return
        elapsed = 0.0 if self._last_s is None else now_s - self._last_s
        self._last_s = now_s
        typed = self._terminal.read()
        if typed is None:
            self._log.warning("the keyboard's terminal was closed: the transmitter is off until the node restarts")
            self.close()
            return
        self.sticks.drift(elapsed)
        for key in self._key_names(typed):
            if key in self._keys:
                self.sticks.nudge(self._keys[key])
        if now_s - self._line_s >= _LINE_PERIOD_S:
            self._line_s = now_s
            self._terminal.write(f"\r\x1b[K{state_line(self.sticks)}")

    def close(self) -> None:
        """As of Transmitter."""
        if self._terminal is not None:
            self._terminal.write("\r\n")
            self._terminal.close()
            self._terminal = None

    def _key_names(self, typed: bytes) -> Iterator[str]:
        # An arrow key's three bytes may arrive in two parts.
        text = self._rest + typed
        self._rest = b""
        while text:
            if text[:2] in _ARROW_LEADS and text[2:]:
                yield _ARROWS.get(text[2:3], "")
                text = text[3:]
            elif typed and (text == b"\x1b" or text in _ARROW_LEADS):
                self._rest = text
                return
            else:
                # Caps lock must not disable the controls.
                yield text[:1].decode("ascii", "replace").lower()
                text = text[1:]


class _Terminal:
    """The terminal on standard input, without line buffering and echo, until closed."""

    _is_taken: ClassVar[bool] = False

    def __init__(self) -> None:
        if _Terminal._is_taken:
            raise NoTerminalError("it is already in use by a keyboard transmitter")
        try:
            self._input = sys.stdin.fileno()
            name = os.ttyname(self._input)
        except (OSError, ValueError, AttributeError) as error:
            raise NoTerminalError("standard input is not a terminal") from error
        try:
            ours = os.tcgetpgrp(self._input) == os.getpgrp()
        except OSError as error:
            raise NoTerminalError(
                f"the terminal on standard input is not this process's controlling terminal ({name})"
            ) from error
        if not ours:
            raise NoTerminalError(f"the program runs in the background of its terminal ({name})")
        self._output = os.open(name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        self._before = termios.tcgetattr(self._input)
        after = termios.tcgetattr(self._input)
        # No flow control: Ctrl-S would stop the display.
        after[0] &= ~termios.IXON
        after[3] &= ~(termios.ICANON | termios.ECHO)
        after[6][termios.VMIN], after[6][termios.VTIME] = 1, 0
        # A program suspended in the background would leave the shell with a terminal in this mode.
        after[6][termios.VSUSP] = b"\0"
        termios.tcsetattr(self._input, termios.TCSANOW, after)
        self._is_open = _Terminal._is_taken = True
        atexit.register(self.close)
        self._old_handlers = {number: signal.signal(number, self._on_deadly_signal) for number in _DEADLY}

    def read(self) -> bytes | None:
        """Input since the last call; None when the terminal is closed."""
        try:
            return os.read(self._output, 1024) or None
        except BlockingIOError:
            return b""
        except OSError:
            return None

    def write(self, text: str) -> None:
        """Print a text, or skip it if the terminal does not accept it at once."""
        with contextlib.suppress(OSError):
            os.write(self._output, text.encode())

    def close(self) -> None:
        """Restore the terminal."""
        if not self._is_open:
            return
        self._is_open = _Terminal._is_taken = False
        atexit.unregister(self.close)
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self._input, termios.TCSANOW, self._before)
        os.close(self._output)
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)

    def _on_deadly_signal(self, number: int, _frame: FrameType | None) -> Any:
        self.close()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


def state_line(sticks: KeyboardSticks) -> str:
    """Sticks and switches in less than 80 columns."""
    deflection = sticks.deflection
    return (
        f"throttle {100 * sticks.throttle:3.0f} %  roll {100 * deflection[ROLL]:+4.0f}  "
        f"pitch {100 * deflection[PITCH]:+4.0f}  yaw {100 * deflection[YAW]:+4.0f}  "
        f"{'ARM' if sticks.switches[ARM] else 'safe'}  {'sticks' if sticks.switches[OVERRIDE] else 'computer'}  "
        f"{'angles' if sticks.switches[ATTITUDE_TYPE] else 'rates'}"
    )


def _help(layout: str) -> str:
    def keys(*actions: Action) -> str:
        return ", ".join(f"{'/'.join(keys_of(layout, action))} {action.value}" for action in actions)

    lines = (
        keys(Action.THROTTLE_UP, Action.THROTTLE_DOWN, Action.YAW_LEFT, Action.YAW_RIGHT),
        keys(Action.PITCH_FORWARD, Action.PITCH_BACK, Action.ROLL_LEFT, Action.ROLL_RIGHT),
        keys(Action.ARM, Action.OVERRIDE, Action.ATTITUDE_TYPE) + "; Ctrl-C ends",
    )
    return "".join(f"{line}\r\n" for line in lines)

"""The keyboard in a terminal, with pseudo terminals."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import selectors
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rosflight_py_sim.transmitter.terminal import KeyboardTerminal, NoTerminalError

PROGRAM = str(Path(__file__).with_name("fly_in_a_terminal.py"))
PROJECT = Path(__file__).parents[2]
TIMEOUT_S = 60.0


class Session:
    """A program in its own terminal, as a shell would start it."""

    def __init__(self, *arguments: str) -> None:
        self.terminal, theirs = pty.openpty()
        self.settings = termios.tcgetattr(self.terminal)
        self.output = ""
        self.shown = ""
        environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        environment["PYTHONPATH"] = str(PROJECT)

        def take_terminal() -> None:
            os.setsid()
            # A shell's background job ignores SIGINT, and so would its children.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            preexec_fn=take_terminal,
        )
        # Kept open: a terminal loses its settings when its last user closes it.
        self._theirs = theirs

    def type(self, text: bytes) -> None:
        os.write(self.terminal, text)

    def wait_for(self, condition: Callable[[], object], what: str) -> None:
        """Read output until the condition holds."""
        end = time.monotonic() + TIMEOUT_S
        assert self.process.stdout is not None
        pipe = self.process.stdout.fileno()
        selector = selectors.DefaultSelector()
        for descriptor in (pipe, self.terminal):
            selector.register(descriptor, selectors.EVENT_READ)
        while not condition():
            assert time.monotonic() < end, (
                f"not within {TIMEOUT_S} s: {what}; printed {self.output!r}, shown {self.shown!r}"
            )
            ready = [key.fd for key, _ in selector.select(0.1)]
            if pipe in ready:
                self.output += os.read(pipe, 4096).decode()
            if self.terminal in ready:
                self.shown += os.read(self.terminal, 4096).decode()
        selector.close()

    def is_as_before(self) -> bool:
        return termios.tcgetattr(self.terminal) == self.settings

    def frames(self) -> list[list[int]]:
        return [[int(n) for n in re.findall(r"\d+", line)] for line in self.output.split("\n")[:-1] if "[" in line]

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        for end in (self.terminal, self._theirs):
            if end >= 0:
                os.close(end)


@pytest.fixture
def session() -> Iterator[Callable[..., Session]]:
    made: list[Session] = []

    def make(*arguments: str) -> Session:
        made.append(Session(*arguments))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_characters_move_sticks_and_switches_without_echo(session: Callable[..., Session]) -> None:
    s = session(PROGRAM, "forever")
    s.wait_for(s.frames, "a frame")
    assert s.frames()[0] == [1500, 1500, 1000, 1500, 1000, 2000, 2000, 1500]
    assert not s.is_as_before()
    s.type(b"T")
    s.wait_for(lambda: s.frames()[-1][4] == 2000, "the arm switch")
    s.type(b"aa")
    s.wait_for(lambda: s.frames()[-1][2] == 1040, "two steps of throttle")
    s.type(b"\x1b[C")
    s.wait_for(lambda: any(frame[0] == 1600 for frame in s.frames()), "roll by an arrow")
    s.wait_for(lambda: s.frames()[-1][0] == 1500, "the stick drifting back")
    s.type(b"\x1b")
    s.type(b"OA")
    s.wait_for(lambda: any(frame[1] == 1400 for frame in s.frames()), "pitch by an arrow of the other mode")
    s.wait_for(lambda: "ARM" in s.shown, "the line of state")
    # The help lists the keys; typed characters are not echoed.
    assert "a throttle up" in s.shown
    assert "aa" not in s.shown and "^[" not in s.shown
    assert all(len(line) < 80 for line in re.split(r"\r\n|\r\x1b\[K", s.shown))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_terminating_signals_restore_the_terminal(session: Callable[..., Session], number: signal.Signals) -> None:
    s = session(PROGRAM, "forever")
    s.wait_for(s.frames, "a frame")
    assert not s.is_as_before()
    s.process.send_signal(number)
    assert s.process.wait(TIMEOUT_S) == -number
    assert s.is_as_before()


def test_ctrl_c_reaches_the_program(session: Callable[..., Session]) -> None:
    s = session(PROGRAM, "forever")
    s.wait_for(s.frames, "a frame")
    s.type(b"\x03")
    assert s.process.wait(TIMEOUT_S) == -signal.SIGINT
    assert s.is_as_before()


def test_failing_program_restores_the_terminal(session: Callable[..., Session]) -> None:
    s = session(PROGRAM, "fails")
    assert s.process.wait(TIMEOUT_S) == 1
    assert s.is_as_before()


def test_whole_simulation_can_be_flown_from_its_terminal(session: Callable[..., Session], ros_domain: int) -> None:
    s = session("-m", "rosflight_py_sim", "sim", "--keyboard")
    s.wait_for(lambda: "throttle   0 %" in s.shown, "the line of state")
    s.type(b"taaa")
    s.wait_for(lambda: re.search(r"throttle   6 % .* ARM  sticks  angles", s.shown), "what the keys did")
    s.type(b"\x03")
    assert s.process.wait(TIMEOUT_S) == 130
    assert s.is_as_before()
    assert s.process.stderr is not None
    assert "Traceback" not in s.process.stderr.read().decode()


def test_keyboard_without_terminal_is_rejected_with_reason(log: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        with pytest.raises(NoTerminalError, match="is not a terminal"):
            KeyboardTerminal("vimfly", log)
    # A terminal, but not the one from which this program was started.
    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as stranger:
        before = termios.tcgetattr(ours)
        monkeypatch.setattr(sys, "stdin", stranger)
        with pytest.raises(NoTerminalError, match="controlling terminal"):
            KeyboardTerminal("vimfly", log)
        assert termios.tcgetattr(ours) == before
    os.close(ours)

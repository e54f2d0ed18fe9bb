"""The terminal as a program: in a pseudo terminal, and with lines from a pipe."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from forked_python import run_forked_python
from free_ports import free_ports

PROJECT = Path(__file__).parents[2]
TIMEOUT_S = 60.0
COMMAND = [sys.executable, "-m", "rosflight_py_sim", "uthere-terminal"]
ROWS, COLUMNS = 40, 200

# Escape sequence that enables bracketed paste; the program sends it when it is ready for a line.
READY = "\x1b[?2004h"


class Ground:
    """Receiver of commands and sender of replies.

    Attributes:
        ports: options that connect the terminal to this object.
    """

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(TIMEOUT_S)
        (self.port_out,) = free_ports()
        self.ports = ["--port-in", str(self.socket.getsockname()[1]), "--port-out", str(self.port_out)]

    def receive(self) -> str:
        """The next packet."""
        return self.socket.recv(65536).decode("latin-1")

    def send(self, text: str) -> None:
        self.socket.sendto(text.encode("latin-1"), ("127.0.0.1", self.port_out))


@pytest.fixture
def ground() -> Iterator[Ground]:
    made = Ground()
    yield made
    made.socket.close()


class Session:
    """The program in its own terminal, as a shell would start it."""

    def __init__(self, *arguments: str) -> None:
        self.terminal, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.settings = termios.tcgetattr(self.terminal)
        self.raw = ""

        def take_terminal() -> None:
            os.setsid()
            # A shell's background job ignores SIGINT, and so would its children.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "PYTHONPATH": str(PROJECT), "TERM": "xterm"},
            preexec_fn=take_terminal,
        )
        self._theirs = theirs

    @property
    def shown(self) -> str:
        """Output on the screen, in lines, without escape sequences for the cursor and colours."""
        lines = re.sub(r"\x1b\[[0-9]*J", "\n", self.raw)
        return re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|[=>])", "", lines)

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def enter(self, line: str) -> None:
        """Type a line, and wait for the next prompt."""
        prompts = self.raw.count(READY)
        self.type(f"{line}\r")
        self.wait_for(lambda: self.raw.count(READY) > prompts, "the next prompt")

    def wait_for(self, condition: Callable[[], object], what: str) -> None:
        """Read output until the condition holds."""
        end = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < end, f"not within {TIMEOUT_S} s: {what}; shown {self.shown!r}"
            if select.select([self.terminal], [], [], 0.1)[0]:
                new = os.read(self.terminal, 65536).decode(errors="replace")
                self.raw += new
                # Answer queries of the cursor position, as any terminal does.
                if "\x1b[6n" in new:
                    self.type(f"\x1b[{ROWS};1R")

    def wait_for_text(self, text: str) -> None:
        self.wait_for(lambda: text in self.shown, text)

    def end_by(self, key: str) -> int:
        """Press a key until the program ends (a key is lost while a line is redrawn), and return the exit code."""
        pressed_s = 0.0

        def ended() -> bool:
            nonlocal pressed_s
            if time.monotonic() > pressed_s + 1.0:
                pressed_s = time.monotonic()
                self.type(key)
            return self.process.poll() is not None

        self.wait_for(ended, "the end")
        return int(self.process.returncode)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.terminal)
        os.close(self._theirs)


@pytest.fixture
def session(ground: Ground) -> Iterator[Session]:
    one = Session(*ground.ports)
    one.wait_for(lambda: READY in one.raw, "the prompt")
    yield one
    one.close()


def test_typed_commands_are_sent_and_replies_shown(session: Session, ground: Ground) -> None:
    session.enter("request_plane_list")
    assert ground.receive() == "request_plane_list"
    ground.send("plane_list(12345, 102)")
    session.wait_for_text("plane_list(12345, 102)")
    assert session.end_by("\x04") == 0
    assert termios.tcgetattr(session.terminal) == session.settings


def test_incoming_data_is_printed_above_the_line_being_typed(session: Session, ground: Ground) -> None:
    session.type("fly_engage(pl")
    session.wait_for_text("fly_engage(pl")
    for k in range(5):
        ground.send(f"data(100.{k}00, plane=1, altitude={k})")
    session.wait_for_text("altitude=4")
    session.enter("ane=1)")
    assert ground.receive() == "fly_engage(plane=1)"
    # Each reply has its own line.
    for k in range(5):
        assert re.search(rf"^data\(100\.{k}00, plane=1, altitude={k}\)\s*$", session.shown, re.MULTILINE), session.shown
    assert session.end_by("\x04") == 0


def test_tab_completes_and_arrow_key_recalls_the_line(session: Session, ground: Ground) -> None:
    session.type("fly_eng\t")
    session.wait_for_text("fly_engage(")
    session.enter("plane=3)")
    assert ground.receive() == "fly_engage(plane=3)"
    session.enter("\x1b[A")
    assert ground.receive() == "fly_engage(plane=3)"
    assert session.end_by("\x04") == 0


def test_invalid_line_is_not_sent_but_pointed_at_unless_marked_raw(session: Session, ground: Ground) -> None:
    session.enter("fly(plane=1,roll=much,pitch=0,throttle=5)")
    session.wait_for_text("column 18: roll='much' given")
    session.enter("!fly(plane=1,roll=much)")
    assert ground.receive() == "fly(plane=1,roll=much)"
    assert session.end_by("\x04") == 0


def test_interrupt_exits_and_stops_the_data(session: Session, ground: Ground) -> None:
    session.enter("data_request(plane=1,variable=all,interval=1)")
    assert ground.receive().startswith("data_request")
    assert session.end_by("\x03") == 130
    assert ground.receive() == "data_clear"
    assert "Traceback" not in session.shown
    assert termios.tcgetattr(session.terminal) == session.settings


def piped(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program with input lines from a pipe."""
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    return subprocess.run(
        [*COMMAND, *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env=environment,
        check=False,
    )


def without_input(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program without a terminal, with empty input."""
    command = ["-m", "rosflight_py_sim.__main__", "uthere-terminal", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    return run_forked_python(command, env=environment, cwd=tmp_path, timeout=TIMEOUT_S)


def test_piped_lines_are_sent_and_replies_printed_verbatim(ground: Ground) -> None:
    process = subprocess.Popen(
        [*COMMAND, *ground.ports, "--listen", str(TIMEOUT_S)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    try:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("request_plane_list\n")
        process.stdin.close()
        assert ground.receive() == "request_plane_list"
        ground.send("plane_list(1)")
        assert process.stdout.readline() == "plane_list(1)\n"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_invalid_piped_line_fails_after_the_others_are_sent(ground: Ground) -> None:
    result = piped("request_plane_list\nnonsense\nfly_engage(plane=1)\n", *ground.ports, "--listen", "0")
    assert [ground.receive(), ground.receive()] == ["request_plane_list", "fly_engage(plane=1)"]
    assert result.returncode == 1
    assert "column 1: there is no command 'nonsense'" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--address", "no.such.host.invalid"], "address 'no.such.host.invalid' given"),
        (["--port-in", "70000"], "'70000' given; allowed: a port from 1 to 65535"),
        (["--port-out", "none"], "'none' given; allowed: a port from 1 to 65535"),
    ],
)
def test_invalid_address_is_rejected_with_clear_message(tmp_path: Path, arguments: list[str], words: str) -> None:
    result = without_input(tmp_path, *arguments)
    assert result.returncode in (1, 2)
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_port_used_by_another_client_is_reported(tmp_path: Path, ground: Ground) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", ground.port_out))
        result = without_input(tmp_path, *ground.ports)
    assert result.returncode == 1
    assert re.search(rf"cannot receive on UDP port {ground.port_out} .*another client", result.stderr)
    assert "Traceback" not in result.stderr


def test_missing_peer_is_reported(ground: Ground) -> None:
    ground.socket.close()
    result = piped("request_plane_list\n", *ground.ports)
    assert "no reply from UDP 127.0.0.1:" in result.stderr

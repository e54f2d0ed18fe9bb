"""The thread that waits for a socket."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import pytest

from rosflight_py_sim.bridge.socket_watch import SocketWatch

# Far longer than waking a thread takes on a busy machine, s.
TIMEOUT_S = 20.0


class Watched:
    """A pipe and a watch on it."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()
        self.calls = threading.Semaphore(0)
        self.watch = SocketWatch([self.reader], self.calls.release)

    def called(self, timeout_s: float = TIMEOUT_S) -> bool:
        return self.calls.acquire(timeout=timeout_s)


@pytest.fixture
def watched() -> Iterator[Watched]:
    made = Watched()
    yield made
    made.watch.close()
    os.close(made.reader)
    os.close(made.writer)


def test_armed_watch_calls_back_when_data_arrives(watched: Watched) -> None:
    watched.watch.arm()
    assert not watched.called(0.05)
    os.write(watched.writer, b"x")
    assert watched.called()


def test_watch_calls_back_immediately_for_pending_data(watched: Watched) -> None:
    os.write(watched.writer, b"x")
    assert not watched.called(0.05)
    watched.watch.arm()
    assert watched.called()


def test_watch_calls_back_once_per_arming(watched: Watched) -> None:
    os.write(watched.writer, b"x")
    for _ in range(3):
        watched.watch.arm()
        assert watched.called()
        assert not watched.called(0.05)


def test_arming_twice_equals_arming_once(watched: Watched) -> None:
    watched.watch.arm()
    watched.watch.arm()
    os.write(watched.writer, b"x")
    assert watched.called()
    assert not watched.called(0.05)


@pytest.mark.parametrize("armed", [False, True])
def test_closing_stops_the_thread(watched: Watched, armed: bool) -> None:
    if armed:
        watched.watch.arm()
        time.sleep(0.05)
    watched.watch.close()
    watched.watch.close()
    assert not any(thread.name == "socket_watch" for thread in threading.enumerate())
    assert not watched.called(0.0)


def test_reused_descriptor_is_still_watched(watched: Watched) -> None:
    watched.watch.arm()
    assert not watched.called(0.05)
    reader, writer = os.pipe()
    os.dup2(reader, watched.reader)
    os.write(writer, b"x")
    assert watched.called()
    os.close(reader)
    os.close(writer)

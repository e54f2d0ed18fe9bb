"""Sidecar nodes of a composed graph: separate processes that start and end with it."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tf2_msgs.msg import TFMessage

from rosflight_py_sim.ground.stamps import time_ns_of
from test.processes.conftest import SLOWLY, few_steps

pytestmark = pytest.mark.timeout(120)

_PR_SET_CHILD_SUBREAPER = 36


@pytest.fixture
def drawn(processes: Any) -> tuple[Any, Any, list[Any]]:
    """A composed run with the visualizer as a sidecar, an observer, and the messages on /tf."""
    slowly = ("--real-time-multiplier", str(SLOWLY), "--ros-args", *few_steps("lockstep"))
    program = processes.run("commands.cli", "sim", "--visualizer", *slowly, "-p", "device:=none")
    observer = processes.observer()
    received: list[Any] = []
    observer.node.create_subscription(TFMessage, "/tf", received.append, 10)
    observer.wait_for(lambda: len(received) > 3, "frames")
    return program, observer, received


def children(program: Any) -> list[int]:
    """Child processes of a program."""
    task = Path(f"/proc/{program.process.pid}/task/{program.process.pid}/children")
    return [int(one) for one in task.read_text().split()]


def has_exited(process_id: int) -> Callable[[], bool]:
    """A condition: the process has ended, even if its parent has not yet collected its exit code."""

    def gone() -> bool:
        try:
            return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except (FileNotFoundError, ProcessLookupError):
            return True

    return gone


def test_frames_come_from_separate_process_that_simulation_does_not_depend_on(drawn: Any) -> None:
    program, observer, received = drawn
    observer.wait_for_advance(0.2)
    (child,) = children(program)
    assert child != program.process.pid
    observer.wait_for(lambda: observer.has_node("visualizer"), "the node")
    stamps = [one.transforms[0].header.stamp for one in received]
    times_ns = [time_ns_of(stamp) for stamp in stamps]
    assert times_ns == sorted(times_ns)
    assert set(times_ns) & set(observer.stamps)
    os.kill(child, signal.SIGTERM)
    observer.wait_for(has_exited(child), "the end of the node")
    observer.wait_for_advance(0.2)


def test_ctrl_c_in_shared_terminal_ends_both_processes_cleanly(drawn: Any) -> None:
    program, observer, _ = drawn
    (child,) = children(program)
    os.killpg(program.process.pid, signal.SIGINT)
    assert program.wait() == 130
    observer.wait_for(has_exited(child), "the end of the node")
    assert program.error_lines == []


@pytest.fixture
def child_subreaper() -> Iterator[None]:
    """Make this process the parent of orphans, to collect their exit codes; not every container has an init process."""
    prctl = ctypes.CDLL(None).prctl
    assert prctl(_PR_SET_CHILD_SUBREAPER, 1) == 0
    yield
    prctl(_PR_SET_CHILD_SUBREAPER, 0)


def test_sidecar_exits_when_simulation_is_killed(child_subreaper: None, drawn: Any) -> None:
    program, observer, _ = drawn
    (child,) = children(program)
    program.kill()
    observer.wait_for(has_exited(child), "the end of the node")
    os.waitpid(child, 0)

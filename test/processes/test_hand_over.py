"""The command that arms vehicles of a running simulation and hands them over."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rosflight_msgs.msg import Status

from rosflight_py_sim.firmware import Override
from rosflight_py_sim.interfaces.qos import CHAIN
from rosflight_py_sim.interfaces.step_topics import STATUS
from test.processes.conftest import Processes, SimulationProcesses


def test_hand_over_arms_and_disables_override_and_is_idempotent(
    simulate: Callable[..., SimulationProcesses],
) -> None:
    simulation = simulate("lockstep", 0.0)
    observer = simulation.observer()
    received: list[Status] = []
    observer.node.create_subscription(Status, STATUS.name, received.append, CHAIN)
    observer.wait_for(lambda: bool(received), "the status")
    for _ in range(2):
        command = simulation.command("hand-over")
        observer.wait_for(lambda command=command: command.process.poll() is not None, "the end", 90.0)
        assert command.wait() == 0, command.stderr
        assert "Traceback" not in command.stderr
        assert command.stdout.splitlines()[-1] == "handed over"
        received.clear()
        observer.wait_for(lambda: len(received) > 1, "the status")
        assert received[-1].armed
        assert not received[-1].rc_override & (Override.ATT_SWITCH | Override.THR_SWITCH)
    assert "arming" not in command.stdout


def test_invalid_ros_namespace_is_rejected(processes: Processes) -> None:
    command = processes.command("hand-over", "--namespace", "two words")
    assert command.wait() == 1
    assert len(command.error_lines) == 1
    assert command.error_lines[0].startswith("rosflight_py_sim: ")


def test_hand_over_covers_every_discovered_vehicle(processes: Processes) -> None:
    simulation = processes.command("sim", "--vehicle", "multirotor", "--count", "2")
    observer = processes.observer()
    received: dict[str, Status] = {}
    for name in ("multirotor_1", "multirotor_2"):
        observer.node.create_subscription(
            Status, f"/{name}/{STATUS.name}", lambda status, name=name: received.update({name: status}), CHAIN
        )
    observer.wait_for(lambda: len(received) == 2, "the status of both")
    command = processes.command("hand-over")
    observer.wait_for(lambda: command.process.poll() is not None, "the end", 90.0)
    assert command.wait() == 0, command.stderr
    lines = command.stdout.splitlines()
    assert {"multirotor_1: handed over", "multirotor_2: handed over"} <= set(lines), (lines, command.stderr)
    assert simulation.process.poll() is None
    received.clear()
    observer.wait_for(lambda: len(received) == 2, "the status of both")
    assert all(status.armed for status in received.values())


def test_hand_over_reports_when_no_vehicle_is_found(processes: Processes) -> None:
    command = processes.command("hand-over")
    assert command.wait() == 1
    assert command.error_lines[0].startswith("rosflight_py_sim: no flight controller found within 3 s")


def test_hand_over_promptly_reports_namespace_without_flight_controller(processes: Processes) -> None:
    command = processes.command("hand-over", "--namespace", "plane_7")
    observer = processes.observer()
    observer.wait_for(lambda: "in namespace plane_7 yet; waiting up to 60 s" in command.stderr, "the notice")
    assert command.process.poll() is None


# A KeyboardInterrupt in a `__del__`, which rclpy has many of, is printed and lost.
INTERRUPTED = """
import os, signal, sys, time, rclpy
class Interrupt:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        list(range(10))
def interrupting(function):
    def call(*arguments):
        if not done:
            done.append(Interrupt())
            done[0] = None
        return function(*arguments)
    done = []
    return call
place, name = (time, "sleep") if sys.argv[1] == "search" else (rclpy, "ok")
setattr(place, name, interrupting(getattr(place, name)))
from rosflight_py_sim.commands.cli import main
main(["hand-over", *sys.argv[2:]])
"""


@pytest.mark.parametrize(
    "arguments", [("search",), ("wait", "--namespace", "plane_7")], ids=["search", "wait for the status"]
)
def test_ctrl_c_ends_hand_over_without_traceback(arguments: tuple[str, ...], ros_domain: int) -> None:
    result = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *arguments],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=30.0,
        check=False,
    )
    assert (result.returncode, result.stderr) == (130, "")

"""The command that arms vehicles of a running simulation and hands them over."""

from __future__ import annotations

import pytest
from rosflight_msgs.msg import Status

from rosflight_py_sim.firmware import Override
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import STATUS
from test.processes.conftest import Interrupted, Processes


def test_hand_over_arms_and_disables_override_and_is_idempotent(processes: Processes) -> None:
    processes.command("sim")
    observer = processes.observer(truth="none")
    received: list[Status] = []
    observer.node.create_subscription(Status, STATUS.name, received.append, CHAIN)
    observer.wait_for(lambda: bool(received), "the status")
    for _ in range(2):
        command = processes.command("hand-over")
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
    observer = processes.observer(truth="none")
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
    observer = processes.observer(truth="none")
    observer.wait_for(lambda: "in namespace plane_7 yet; waiting up to 60 s" in command.stderr, "the notice")
    assert command.process.poll() is None


@pytest.mark.parametrize(
    ("place", "arguments"), [("time.sleep", ()), ("rclpy.ok", ("--namespace", "plane_7"))], ids=["search", "wait"]
)
def test_ctrl_c_ends_hand_over_without_traceback(
    interrupted_command: Interrupted, place: str, arguments: tuple[str, ...]
) -> None:
    assert interrupted_command(place, "hand-over", *arguments)[::2] == (130, "")

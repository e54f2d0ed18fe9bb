"""The command that arms vehicles of a running simulation and hands them over."""

from __future__ import annotations

from collections.abc import Callable

from rosflight_msgs.msg import Status

from rosflight_py_sim.firmware import Override
from rosflight_py_sim.interfaces.qos import CHAIN
from rosflight_py_sim.interfaces.step_topics import STATUS
from test.processes.conftest import Processes, SimulationProcesses


def test_it_arms_switches_the_override_off_and_does_nothing_the_second_time(
    simulate: Callable[..., SimulationProcesses],
) -> None:
    simulation = simulate("lockstep", 0.0)
    observer = simulation.observer()
    heard: list[Status] = []
    observer.node.create_subscription(Status, STATUS.name, heard.append, CHAIN)
    observer.wait_for(lambda: bool(heard), "the status")
    for _ in range(2):
        command = simulation.command("hand-over")
        observer.wait_for(lambda command=command: command.process.poll() is not None, "the end", 90.0)
        assert command.wait() == 0, command.stderr
        assert "Traceback" not in command.stderr
        assert command.stdout.splitlines()[-1] == "handed over"
        heard.clear()
        observer.wait_for(lambda: len(heard) > 1, "the status")
        assert heard[-1].armed
        assert not heard[-1].rc_override & (Override.ATT_SWITCH | Override.THR_SWITCH)
    assert "arming" not in command.stdout


def test_namespace_that_ros_does_not_take_is_refused(processes: Processes) -> None:
    command = processes.command("hand-over", "--namespace", "two words")
    assert command.wait() == 1
    assert len(command.complaints) == 1
    assert command.complaints[0].startswith("rosflight_py_sim: ")


def test_it_hands_over_every_vehicle_that_it_finds(processes: Processes) -> None:
    simulation = processes.command("sim", "--vehicle", "multirotor", "--count", "2")
    observer = processes.observer()
    heard: dict[str, Status] = {}
    for name in ("multirotor_1", "multirotor_2"):
        observer.node.create_subscription(
            Status, f"/{name}/{STATUS.name}", lambda status, name=name: heard.update({name: status}), CHAIN
        )
    observer.wait_for(lambda: len(heard) == 2, "the status of both")
    command = processes.command("hand-over")
    observer.wait_for(lambda: command.process.poll() is not None, "the end", 90.0)
    assert command.wait() == 0, command.stderr
    assert {"multirotor_1: handed over", "multirotor_2: handed over"} <= set(command.stdout.splitlines())
    assert simulation.process.poll() is None
    heard.clear()
    observer.wait_for(lambda: len(heard) == 2, "the status of both")
    assert all(status.armed for status in heard.values())


def test_it_reports_that_it_has_found_nothing(processes: Processes) -> None:
    command = processes.command("hand-over")
    assert command.wait() == 1
    assert command.complaints[0].startswith("rosflight_py_sim: no flight controller found within 3 s")


def test_it_reports_a_namespace_without_a_flight_controller_long_before_it_gives_up(processes: Processes) -> None:
    command = processes.command("hand-over", "--namespace", "plane_7")
    observer = processes.observer()
    observer.wait_for(lambda: "in namespace plane_7 yet; waiting up to 60 s" in command.stderr, "the notice")
    assert command.process.poll() is None

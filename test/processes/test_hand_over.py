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

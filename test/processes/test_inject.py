"""The command that injects failures into a running simulation."""

from __future__ import annotations

from rosflight_msgs.msg import Status
from std_msgs.msg import String

from rosflight_py_sim.firmware import ErrorFlag
from rosflight_py_sim.step.qos import CHAIN, LATCHED_QUEUE
from rosflight_py_sim.step.topics import ACTIVE_FAILURES, STATUS
from test.processes.conftest import SLOWLY, Processes, few_steps


def test_failures_are_injected_into_every_node_or_none_and_cleared(processes: Processes) -> None:
    processes.command("sim", "--real-time-multiplier", str(SLOWLY), "--ros-args", *few_steps("lockstep"))
    observer = processes.observer()
    received: list[String] = []
    observer.node.create_subscription(String, ACTIVE_FAILURES.name, received.append, LATCHED_QUEUE)
    status: list[Status] = []
    observer.node.create_subscription(Status, STATUS.name, status.append, CHAIN)
    observer.wait_for(lambda: status and not status[-1].error_code & ErrorFlag.RC_LOST, "all nodes")

    def inject(*arguments: str) -> tuple[int, str, str]:
        command = processes.command("inject", *arguments)
        observer.wait_for(lambda: command.process.poll() is not None, "the end", 90.0)
        return command.wait(), command.stdout, command.stderr

    code, stdout, _ = inject("gnss jammed", "motor 2 off")
    assert code == 0
    assert "/dynamics, /forces_and_moments, /rc, /sensors, /sil_board" in stdout
    observer.wait_for(lambda: len(received) >= 2, "both failures")
    assert {message.data for message in received} == {"sensors: gnss jammed", "forces_and_moments: motor 2 off"}
    code, _, stderr = inject("motor 9 off")
    assert code == 1
    assert "failure 'motor 9 off': motor 9 given; allowed for this vehicle: motor 1 to 4" in stderr
    code, _, stderr = inject("gyro off", "link lost")
    assert code == 1
    assert "failure 'link lost': no running node has the part 'link'; allowed: accel, airspeed, baro, " in stderr
    received.clear()
    code, _, _ = inject("--clear")
    assert code == 0
    observer.wait_for(lambda: len(received) >= 2, "the end of both")
    assert {message.data for message in received} == {"sensors: none", "forces_and_moments: none"}


def test_words_that_describe_no_failure_are_refused_without_a_simulation(processes: Processes) -> None:
    command = processes.command("inject", "motr 2 off")
    assert command.wait() == 1
    assert command.error_lines[0].startswith("rosflight_py_sim: failure 'motr 2 off': motr given; allowed: motor, ")

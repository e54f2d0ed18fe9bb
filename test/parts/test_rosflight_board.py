"""The flight controller without ROS."""

from __future__ import annotations

from typing import Any

from std_srvs.srv import Trigger

from rosflight_py_sim.parts.sil_board import RosflightBoard
from rosflight_py_sim.step.ports import Service
from rosflight_py_sim.step.topics import ControlCommand, ImuSample, PulseWidths, StatusReport

STEP_NS = 2_500_000


def board(**values: Any) -> RosflightBoard:
    return RosflightBoard({**RosflightBoard.PARAMETERS.defaults(), **values})


def run(part: RosflightBoard, stop_ns: int, start_ns: int = 0) -> None:
    for time_ns in range(start_ns, stop_ns, STEP_NS):
        part.run(time_ns, ImuSample(time_ns, (0.0, 0.0, 0.0), (0.0, 0.0, -9.80665)))


def command(time_ns: int) -> ControlCommand:
    return ControlCommand(time_ns, 0, 0, (0.0,) * 10)


def test_each_imu_sample_is_answered_with_pulse_widths_and_status_is_sent_at_10_hz() -> None:
    part = board()
    pulses: list[PulseWidths] = []
    statuses: list[StatusReport] = []
    vars(part).update(send_pwm=pulses.append, send_status=statuses.append)
    run(part, 1_000_000_000)
    assert [one.time_ns for one in pulses] == list(range(0, 1_000_000_000, STEP_NS))
    assert all(isinstance(us, int) for us in pulses[-1].pulse_us)
    assert {one.time_ns for one in statuses} >= set(range(0, 1_000_000_000, 100_000_000))
    part.answer_again(part.answered_ns)
    assert pulses[-1] is pulses[-2]


def test_late_link_delays_a_command_of_the_step_in_which_the_failure_begins() -> None:
    part = board(link_latency=0.0, failures=["command late 0.1 at 0.5"])
    run(part, 500_000_000)
    part.held.take(497_500_000, part.answered_ns, part.receive_command, command(497_500_000))
    run(part, 550_000_000, 500_000_000)
    assert not part.firmware.command.offboard_active
    run(part, 650_000_000, 550_000_000)
    assert part.firmware.command.offboard_active


def test_services_are_those_of_rosflight_io_and_answer_without_ros() -> None:
    part = board()
    services = {one.topic: getattr(part, one.name) for one in part.ports(Service)}
    assert {"param_get", "param_set", "param_write", "calibrate_imu", "reboot", "print_mixing_matrix"} <= set(services)
    refused = services["reboot_to_bootloader"](Trigger.Request(), Trigger.Response())
    assert not refused.success and "bootloader" in refused.message
    before = part.firmware
    assert services["reboot"](Trigger.Request(), Trigger.Response()).success
    assert part.firmware is not before

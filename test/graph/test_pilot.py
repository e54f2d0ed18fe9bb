"""The pilot that hands vehicles over, when something prevents it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from rosflight_msgs.msg import SimState
from std_msgs.msg import String

from rosflight_py_sim.interfaces import part_ports
from rosflight_py_sim.nodes.pilot import Pilot
from rosflight_py_sim.parts.pilot_script import MissionScript


@pytest.mark.parametrize(("last", "landed"), [("land", True), ("roll out", True), ("loiter", False)])
def test_mission_has_landed_if_its_last_phase_was_a_landing(last: str, landed: bool) -> None:
    pilot = MissionScript({})
    for phase in ("wait", "take off", last):
        pilot.on_phase(String(data=phase))
        assert not pilot.has_landed
    pilot.on_phase(String(data="done"))
    assert pilot.has_landed is landed
    pilot.on_phase(String(data="take off"))
    assert not pilot.has_landed


def test_service_missing_in_system_time_is_named(graph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    made = graph("-r", "rc:toggle_arm:=another_name", "-p", "step_size:=0.02")
    monkeypatch.setattr(part_ports, "DISCOVERY_S", math.inf)
    pilot = made.join(Pilot)
    # Discovery takes system time: simulated time, in which a condition has a limit, is of no account.
    made.spin_until(lambda: pilot.activity == "arming", "arming")
    made.spin_for(2 * pilot.PATIENCE / 10.0)
    assert pilot.failure is None
    monkeypatch.setattr(part_ports, "DISCOVERY_S", 0.0)
    made.spin_until(lambda: pilot.failure, "giving up")
    assert str(pilot.failure) == "arming: the service toggle_arm is not available"
    assert not pilot.done


def test_calibration_spoiled_by_motion_is_retried(graph: Callable[..., Any]) -> None:
    made = graph().ready()
    pilot = made.join(Pilot)
    activities = set()
    made.spin_until(lambda: pilot.activity == "calibrating the IMU", "the calibration")
    made.spin_for(0.5)
    lifted = SimState()
    lifted.pose.position.z, lifted.pose.orientation.w = -0.3, 1.0
    made.set_state(lifted)
    made.spin_until(lambda: activities.add(pilot.activity) or pilot.done or pilot.failure, "handing over")
    assert pilot.done, pilot.failure
    assert "calibrating the IMU, attempt 2" in activities
    assert "calibrating the IMU, attempt 3" not in activities


def test_running_calibration_of_a_slow_imu_is_not_repeated(graph: Callable[..., Any]) -> None:
    made = graph("-p", "step_size:=0.02").ready()
    pilot = made.join(Pilot)
    made.spin_until(lambda: pilot.activity == "calibrating the IMU", "the calibration")
    assert "pilot" in _subscribers(made)
    made.spin_until(lambda: pilot.done or pilot.failure or "attempt" in pilot.activity, "handing over")
    assert pilot.done, pilot.failure or pilot.activity
    # 1001 messages, then arming and handing over.
    assert 20.0 < made.time_s < 22.0
    assert "pilot" not in _subscribers(made)


def test_calibrated_vehicle_is_armed_without_another_calibration(graph: Callable[..., Any]) -> None:
    made = graph().ready()
    made.calibrate()
    start_s = made.time_s
    pilot = made.join(Pilot)
    made.spin_until(lambda: pilot.done or pilot.failure, "handing over")
    assert pilot.done, pilot.failure
    assert made.time_s < start_s + 1.0


def _subscribers(made: Any) -> list[str]:
    return [one.node_name for one in made.tester.get_subscriptions_info_by_topic("/sim/sensors/imu/data")]

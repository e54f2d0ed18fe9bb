"""The sequence behind the button *Fly*: which services it calls, when, and why it ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rosflight_py_sim.firmware import ErrorFlag, Override
from rosflight_py_sim.viewer.web.fly_steps import FIRMWARE_STEPS, HOLDING_STEPS, FlySequence
from rosflight_py_sim.viewer.web.pilot_state import PilotState

AT_REST = PilotState(
    time_s=1.0,
    armed=False,
    error_code=ErrorFlag.UNCALIBRATED_IMU,
    rc_override=Override.ATT_SWITCH | Override.THR_SWITCH,
    offboard=True,
    arm_switch=False,
    override_switch=True,
    phase="wait",
)
CALIBRATED = replace(AT_REST, error_code=0)
ARMED = replace(CALIBRATED, armed=True, arm_switch=True)
HANDED_OVER = replace(ARMED, rc_override=0, override_switch=False)
FLYING = replace(HANDED_OVER, phase="side 1")
LANDED = replace(HANDED_OVER, phase="done", landed=True)
AT_HOME = replace(LANDED, armed=False, arm_switch=False)


class Calls(list[str]):
    """Services that a sequence has called."""

    def __init__(self) -> None:
        self.sequence = FlySequence(lambda _, service: self.append(service))
        self.sequence.steps = FIRMWARE_STEPS

    def of(self, *states: PilotState) -> list[str]:
        """Begin in the first state, pass the others, and return the services called."""
        self.sequence.begin(states[0])
        for state in states[1:]:
            self.sequence.update(state)
        return list(self)


def test_each_step_calls_its_service_once_the_previous_one_is_done() -> None:
    calls = Calls()
    flight = [AT_REST, AT_REST, CALIBRATED, CALIBRATED, ARMED, HANDED_OVER, HANDED_OVER, FLYING, FLYING, LANDED]
    assert calls.of(*flight) == [
        "calibrate_imu",
        "toggle_arm",
        "toggle_override",
        "autopilot/start",
        "toggle_arm",
    ]
    assert calls.sequence.is_running
    calls.sequence.update(AT_HOME)
    assert not calls.sequence.is_running and not calls.sequence.failure


def test_second_flight_begins_after_the_landing_of_the_first() -> None:
    again = replace(AT_HOME, rc_override=0)
    ready = replace(again, armed=True, arm_switch=True)
    assert Calls().of(again, ready, replace(ready, phase="take off")) == ["toggle_arm", "autopilot/start"]


def test_mission_that_another_program_has_started_is_the_step_under_way() -> None:
    sequence = Calls().sequence
    under_way = [[one.label for one in FIRMWARE_STEPS if sequence.is_present(one, state)] for state in (ARMED, FLYING)]
    assert under_way == [[], ["Fly the mission"]]
    assert not any(sequence.is_present(one, LANDED) for one in FIRMWARE_STEPS)


def test_switch_in_the_wanted_position_is_not_toggled() -> None:
    switched = replace(AT_REST, arm_switch=True)
    # The firmware arms as soon as it is calibrated.
    assert Calls().of(switched, replace(switched, error_code=0), ARMED) == ["calibrate_imu", "toggle_override"]


def test_calibration_is_repeated_and_its_refusal_is_the_reason() -> None:
    calls = Calls()
    states = [replace(AT_REST, time_s=1.0 + 16.0 * k) for k in range(11)]
    assert calls.of(*states) == ["calibrate_imu"] * 10
    assert calls.sequence.failure == "the IMU is not calibrated"


def test_arming_that_the_firmware_refuses_ends_the_sequence_with_its_reason() -> None:
    calls = Calls()
    lost = replace(CALIBRATED, error_code=ErrorFlag.RC_LOST)
    calls.of(CALIBRATED, lost, replace(lost, time_s=20.0))
    assert (calls.sequence.is_running, calls.sequence.failure) == (False, "no RC signal")


def test_pilot_may_take_control_during_the_mission() -> None:
    calls = Calls()
    calls.of(FLYING, replace(FLYING, rc_override=Override.ATT_SWITCH, override_switch=True))
    assert calls == [] and calls.sequence.is_running


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (replace(FLYING, armed=False), "the vehicle is disarmed"),
        (
            replace(FLYING, failsafe=True, error_code=ErrorFlag.RC_LOST),
            "the vehicle is armed, failsafe: no RC signal",
        ),
    ],
)
def test_lost_vehicle_ends_the_sequence(state: PilotState, reason: str) -> None:
    calls = Calls()
    calls.of(FLYING, state)
    assert (calls.sequence.is_running, calls.sequence.failure) == (False, reason)


def test_aircraft_that_loiters_after_its_mission_stays_armed() -> None:
    calls = Calls()
    assert calls.of(FLYING, replace(LANDED, landed=False)) == []
    assert not calls.sequence.is_running


def test_underwater_vehicle_holds_and_starts() -> None:
    calls = Calls()
    calls.sequence.steps = HOLDING_STEPS
    released = PilotState(time_s=0.0, holds=False, phase="wait")
    holding = replace(released, holds=True)
    dive = replace(holding, phase="dive")
    assert calls.of(released, released, holding, dive) == ["hold/here", "autopilot/start"]
    calls.sequence.update(replace(dive, holds=False))
    assert calls.sequence.failure == "the vehicle is released"


def test_head_of_the_page_gives_state_mission_target_and_battery() -> None:
    lines = replace(FLYING, progress=0.17, target_down=-5.0, battery_v=24.66).lines(4.8, underwater=False)
    assert list(lines.values()) == [
        "armed, flown by the autopilot",
        "mission: side 1, 17% done",
        "target height 5.0 m, 0.2 m away",
        "battery 24.7 V",
    ]
    assert AT_REST.lines(0.0, underwater=False)["status"] == "disarmed: the IMU is not calibrated"

"""The modes of a plane steered by programs: every transition, the deadman, and the ends of fly(), in simulated time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from cruising import CRUISE, INSIDE, observed
from recorded_targets import RecordedTargets

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.cage import CAGE_LIMITS, CageBit
from rosflight_py_sim.autopilot.fly_target import (
    AirspeedTarget,
    AltitudeTarget,
    ClimbTarget,
    FlyTarget,
    HeadingTarget,
    PitchTarget,
    PositionTarget,
    RollTarget,
    ThrottleTarget,
)
from rosflight_py_sim.autopilot.guided_mode_states import TRANSITIONS, Event, Mode
from rosflight_py_sim.autopilot.guided_mode_supervisor import (
    GUIDED_MODE_PARAMETERS,
    MOST_WAYPOINTS,
    GuidedModeSupervisor,
)
from rosflight_py_sim.autopilot.waypoint_route import RouteWaypoint
from rosflight_py_sim.ground.parameters import ParameterError

DT = 0.01
ON_GROUND = {"position_ned": (0.0, 0.0, -0.2), "airspeed": 0.0, "ground_speed": 0.0, "velocity_ned": (0.0, 0.0, 0.0)}

HOME = FlyTarget(PositionTarget(0.0, 0.0), AirspeedTarget(18.0), AltitudeTarget(60.0))
AHEAD = FlyTarget(HeadingTarget(0.0), AirspeedTarget(20.0), ClimbTarget(1.0))
PLACE = FlyTarget(PositionTarget(200.0, 50.0), AirspeedTarget(17.0), AltitudeTarget(80.0))
TOO_STEEP = FlyTarget(RollTarget(1.5), PitchTarget(0.0), ThrottleTarget(0.6))


class Flown:
    """A pilot, and the plane that it observes; fields stay the same until changed."""

    def __init__(self, **parameters: Any) -> None:
        self.controller = RecordedTargets()
        self.pilot = GuidedModeSupervisor(GUIDED_MODE_PARAMETERS.checked(parameters), self.controller)
        self.observation = INSIDE

    @property
    def mode(self) -> Mode:
        return self.pilot.mode

    def observe(self, **changed: Any) -> AutopilotCommand | None:
        """Advance by one command period, with changed fields of the state or other fields."""
        self.observation = observed(self.observation, time_s=self.observation.time_s + DT, **changed)
        return self.pilot.update(self.observation, DT)

    def wait(self, seconds: float) -> None:
        """Advance time by this many seconds, in contact with a ground station."""
        for _ in range(round(seconds / DT)):
            self.pilot.note_packet()
            self.observe()

    def fly(self, target: FlyTarget, seconds: float) -> list[str]:
        """Stream a target at 5 Hz."""
        answers = []
        for _ in range(round(seconds / 0.2)):
            answers.append(self.pilot.fly(target))
            self.wait(0.2)
        return answers


def in_mode(mode: Mode, **parameters: Any) -> Flown:
    """A plane in a mode, brought there as by a user."""
    flown = Flown(**parameters)
    if mode is Mode.STANDBY:
        flown.observe(armed=False, **ON_GROUND)
    elif mode is Mode.MANUAL:
        flown.observe(override=True)
    elif mode is Mode.TAKE_OFF:
        flown.observe(**ON_GROUND)
    else:
        flown.observe()
        if mode in (Mode.PACKET_TARGET, Mode.RETURN_HOME):
            assert flown.pilot.engage() == ""
            assert flown.pilot.fly(AHEAD) == ""
        if mode is Mode.RETURN_HOME:
            assert flown.pilot.disengage() == ""
        flown.observe()
    assert flown.mode is mode
    return flown


STEADY = [mode for mode in Mode if mode is not Mode.LOST_SIGNAL]
IN_THE_AIR = [Mode.WAYPOINT, Mode.PACKET_TARGET, Mode.RETURN_HOME]


def test_mode_numbers_match_documentation() -> None:
    assert {mode.value: mode.label for mode in Mode} == {
        0: "standby",
        1: "manual",
        2: "take off",
        3: "waypoint",
        5: "return home",
        7: "lost signal",
        24: "packet target",
    }


STIMULI = {
    Event.OVERRIDE_ON: lambda flown: flown.observe(override=True),
    Event.DISARMED: lambda flown: flown.observe(override=False, armed=False),
    Event.ON_GROUND: lambda flown: flown.observe(override=False, armed=True, **ON_GROUND),
    Event.IN_AIR: lambda flown: flown.observe(override=False, armed=True, **CRUISE._asdict()),
    Event.HIGH_ENOUGH: lambda flown: flown.observe(position_ned=(0.0, 0.0, -31.0)),
    Event.FLY: lambda flown: flown.pilot.engage() or flown.pilot.fly(AHEAD),
    Event.WAYPOINT_COMMAND: lambda flown: flown.pilot.fly_to(PLACE),
    Event.TARGET_OUTSIDE: lambda flown: flown.pilot.engage() or flown.pilot.fly(TOO_STEEP),
    Event.CAGE_LEFT: lambda flown: flown.observe(roll=1.5),
    Event.DISENGAGED: lambda flown: flown.pilot.disengage(),
    Event.ENGAGED: lambda flown: flown.pilot.engage(),
}
"""Action of a user or the plane that causes an event."""


def after(mode: Mode, event: Event, lost_signal_mode: str) -> Mode:
    """Target of an event's transition in the table."""
    to = TRANSITIONS[mode].get(event, mode)
    if to is Mode.LOST_SIGNAL:
        goes = Event.GOES_HOME if lost_signal_mode == "return_home" else Event.GOES_TO_WAYPOINT
        return TRANSITIONS[to][goes]
    return to


@pytest.mark.parametrize("lost_signal_mode", ["waypoint", "return_home"])
@pytest.mark.parametrize(
    ("mode", "event"),
    [(mode, event) for mode in STEADY for event in TRANSITIONS[mode]],
    ids=lambda item: item.name.lower(),
)
def test_every_transition_in_table_is_taken(mode: Mode, event: Event, lost_signal_mode: str) -> None:
    if mode is Mode.RETURN_HOME and lost_signal_mode == "waypoint":
        flown = in_mode(mode, lost_signal_mode="return_home")
        flown.pilot.configure(GUIDED_MODE_PARAMETERS.checked({"lost_signal_mode": "waypoint"}), flown.controller)
    else:
        flown = in_mode(mode, lost_signal_mode=lost_signal_mode)
    STIMULI[event](flown)
    assert flown.mode is after(mode, event, lost_signal_mode)


# A climbing plane is airborne, but not yet high enough.
_RISING = {"position_ned": (0.0, 0.0, -20.0)}


@pytest.mark.parametrize(
    ("mode", "event"),
    [(mode, event) for mode in STEADY for event in STIMULI if event not in TRANSITIONS[mode]],
    ids=lambda item: item.name.lower(),
)
def test_unlisted_events_do_not_change_mode(mode: Mode, event: Event) -> None:
    # A cage that includes a plane on the ground.
    flown = in_mode(mode, cage_altitude_minimum=-10.0, cage_airspeed_min=0.0)
    if event in (Event.FLY, Event.TARGET_OUTSIDE):
        flown.pilot.fly(AHEAD if event is Event.FLY else TOO_STEEP)
    elif (mode, event) == (Mode.TAKE_OFF, Event.IN_AIR):
        flown.observe(**_RISING)
    else:
        STIMULI[event](flown)
    assert flown.mode is mode


def test_plane_armed_on_ground_takes_off_and_loiters_near_home() -> None:
    flown = in_mode(Mode.STANDBY)
    assert flown.controller.last_command == "stand"
    flown.observe(armed=True)
    assert (flown.mode, flown.controller.last_command) == (Mode.TAKE_OFF, "take off")
    flown.observe(position_ned=(50.0, 0.0, -25.0))
    assert flown.mode is Mode.TAKE_OFF
    flown.observe(position_ned=(90.0, 0.0, -31.0))
    flown.observe()
    assert (flown.mode, flown.controller.last_command) == (Mode.WAYPOINT, HOME)


def test_plane_handed_over_in_flight_loiters_near_home_without_take_off() -> None:
    flown = in_mode(Mode.MANUAL)
    assert flown.observe() is None
    flown.observe(override=False)
    assert (flown.mode, flown.controller.last_command) == (Mode.WAYPOINT, HOME)


def test_rc_override_takes_control_from_client_and_ends_fly() -> None:
    flown = in_mode(Mode.PACKET_TARGET)
    before = flown.controller.forgotten
    assert flown.observe(override=True) is None
    assert flown.mode is Mode.MANUAL
    assert not flown.pilot.enabled
    assert flown.pilot.triggered_last == 0
    assert flown.controller.forgotten == before + 1
    flown.observe(override=False)
    assert flown.mode is Mode.WAYPOINT


def test_rc_loss_leaves_clients_in_control() -> None:
    flown = in_mode(Mode.PACKET_TARGET)
    flown.observe(rc_lost=True)
    assert flown.fly(AHEAD, 3.0) == [""] * 15
    assert flown.pilot.disengage() == ""
    assert flown.pilot.engage() == ""
    assert flown.fly(AHEAD, 1.0) == [""] * 5
    assert (flown.mode, flown.pilot.cage_triggered) == (Mode.PACKET_TARGET, 0)


def test_rc_override_is_ignored_while_rc_is_lost() -> None:
    flown = in_mode(Mode.MANUAL)
    flown.observe(rc_lost=True)
    assert flown.mode is Mode.WAYPOINT
    flown.observe(rc_lost=False)
    assert flown.mode is Mode.MANUAL


@pytest.mark.parametrize("mode", [mode for mode in STEADY if mode not in (Mode.WAYPOINT, Mode.PACKET_TARGET)])
def test_waypoints_and_fly_are_accepted_only_in_modes_3_and_24(mode: Mode) -> None:
    flown = in_mode(mode)
    last_command = flown.controller.last_command
    for answer in (flown.pilot.fly(AHEAD), flown.pilot.fly_to(PLACE), flown.pilot.fly_to_waypoint(12)):
        assert answer.endswith(f"refused: control_operate_mode is {mode.value} ({mode.label})")
    flown.observe()
    assert flown.mode is mode
    assert flown.controller.last_command == last_command


def test_only_disengage_is_accepted_while_safety_pilot_flies() -> None:
    pilot = in_mode(Mode.MANUAL).pilot
    waypoint = RouteWaypoint(12, -1, (0.0, 0.0, -80.0), 18.0)
    answers = [
        pilot.engage(),
        pilot.fly(AHEAD),
        pilot.fly_to(PLACE),
        pilot.add_waypoint(waypoint),
        pilot.clear_waypoints(),
    ]
    named = ["fly_engage", "fly", "fly_to", "waypoint_add", "waypoint_clear_all"]
    assert [answer.split()[0] for answer in answers] == named
    assert all(answer.endswith("refused: control_operate_mode is 1 (manual)") for answer in answers)
    assert not pilot.has_waypoint(12)
    assert pilot.disengage() == ""


def test_fly_before_engage_is_ignored() -> None:
    flown = in_mode(Mode.WAYPOINT)
    assert flown.pilot.fly(AHEAD) == "fly refused: ap_target_from_packet_enabled is 0; send fly_engage first"
    flown.observe()
    assert (flown.mode, flown.controller.last_command) == (Mode.WAYPOINT, HOME)


def test_streamed_targets_take_effect_immediately() -> None:
    flown = in_mode(Mode.WAYPOINT)
    flown.pilot.engage()
    for degrees in range(0, 100, 10):
        target = FlyTarget(HeadingTarget(degrees / 57.3), AirspeedTarget(20.0), AltitudeTarget(100.0))
        assert flown.fly(target, 0.2) == [""]
        assert flown.controller.last_command == target
    assert flown.mode is Mode.PACKET_TARGET


@pytest.mark.parametrize(
    ("timeout", "lost", "mode"), [(2.0, "return_home", Mode.RETURN_HOME), (3.5, "waypoint", Mode.WAYPOINT)]
)
def test_deadman_ends_fly_after_command_timeout(timeout: float, lost: str, mode: Mode) -> None:
    flown = in_mode(Mode.PACKET_TARGET, ap_target_from_packet_timeout=timeout, lost_signal_mode=lost)
    assert flown.fly(AHEAD, 2.0 * timeout) == [""] * round(2.0 * timeout / 0.2)
    # The last command is 0.2 s old, and times are whole command periods.
    flown.wait(timeout - 0.2 - DT)
    assert (flown.mode, flown.pilot.enabled, flown.pilot.cage_triggered) == (Mode.PACKET_TARGET, True, 0)
    flown.wait(3 * DT)
    assert (flown.mode, flown.pilot.enabled) == (mode, False)
    assert flown.pilot.triggered_last == 1 << CageBit.PACKET_TIMEOUT_FOR_SELECTED_MODE
    assert flown.pilot.fly(AHEAD) == (
        "fly refused: ap_target_from_packet_enabled is 0, switched off by packet timeout for selected mode; "
        "send fly_engage first"
        if mode is Mode.WAYPOINT
        else "fly refused: control_operate_mode is 5 (return home)"
    )
    flown.observe()
    assert flown.pilot.cage_triggered == 0
    assert flown.controller.last_command == HOME


def test_deadman_is_inactive_in_waypoint_mode() -> None:
    flown = in_mode(Mode.WAYPOINT)
    flown.pilot.engage()
    flown.wait(30.0)
    assert flown.pilot.enabled
    assert flown.fly(AHEAD, 0.2) == [""]


def test_rejected_targets_do_not_reset_deadman() -> None:
    flown = in_mode(Mode.PACKET_TARGET, cage_range=100.0)
    other = in_mode(Mode.PACKET_TARGET)
    for _ in range(12):
        other.pilot.fly_to_waypoint(99)
        other.wait(0.2)
    assert other.pilot.triggered_last == 1 << CageBit.PACKET_TIMEOUT_FOR_SELECTED_MODE
    assert "outside the cage: range 206.2 m given, allowed: up to 100 m" in flown.pilot.fly(PLACE)
    assert flown.mode is Mode.RETURN_HOME


@pytest.mark.parametrize("first_fly", [True, False])
@pytest.mark.parametrize(("lost", "mode"), [("waypoint", Mode.WAYPOINT), ("return_home", Mode.RETURN_HOME)])
def test_target_outside_cage_ends_fly_and_reports_exceeded_limit(lost: str, mode: Mode, first_fly: bool) -> None:
    flown = in_mode(Mode.WAYPOINT if first_fly else Mode.PACKET_TARGET, lost_signal_mode=lost)
    flown.pilot.engage()
    bits = 1 << CageBit.ROLL | 1 << CageBit.TARGET
    assert (
        flown.pilot.fly(TOO_STEEP)
        == "fly refused and switched off: outside the cage: roll 1.5 rad given, allowed: up to 1.05 rad"
    )
    assert flown.pilot.cage_triggered == bits
    assert (flown.mode, flown.pilot.enabled, flown.pilot.triggered_last) == (mode, False, bits)
    flown.observe()
    assert flown.pilot.cage_triggered == 0
    assert flown.pilot.triggered_last == bits
    assert flown.controller.last_command == HOME


CAUSES: dict[CageBit, dict[str, Any]] = {
    CageBit.ALTITUDE: {"position_ned": (0.0, 0.0, -301.0)},
    CageBit.CLIMB: {"velocity_ned": (10.0, 0.0, 16.0)},
    CageBit.THROTTLE: {"throttle": 0.95},
    CageBit.RANGE_SOFT: {"position_ned": (900.0, 900.0, -100.0)},
    CageBit.HANDHELD_LOST_COMM: {"rc_lost": True},
    CageBit.AIRSPEED: {"airspeed": 9.0},
    CageBit.ROLL: {"roll": -1.1},
    CageBit.PITCH: {"pitch": 0.8},
    CageBit.WINGLOAD: {"wing_load": 4.5},
    CageBit.GPS_BAD: {"gps_ok": False},
    CageBit.IMU_DISABLED: {"imu_ok": False},
}


@pytest.mark.parametrize("bit", CAUSES, ids=lambda bit: bit.name.lower())
def test_each_cage_breach_ends_fly_and_stays_latched_until_engage(bit: CageBit) -> None:
    flown = in_mode(Mode.PACKET_TARGET, cage_throttle_maximum=0.9, cage_handheld_lost_comm=True)
    before = flown.observation
    flown.observe(**CAUSES[bit])
    assert flown.pilot.cage_triggered == flown.pilot.triggered_last == 1 << bit
    assert (flown.mode, flown.pilot.enabled) == (Mode.RETURN_HOME, False)
    assert flown.pilot.engage().startswith("fly_engage refused: outside the cage (")
    assert not flown.pilot.enabled
    flown.observation = replace(before, time_s=flown.observation.time_s)
    flown.observe()
    assert (flown.pilot.cage_triggered, flown.pilot.triggered_last) == (0, 1 << bit)
    assert flown.pilot.engage() == ""
    assert (flown.mode, flown.pilot.enabled, flown.pilot.triggered_last) == (Mode.WAYPOINT, True, 0)
    assert flown.fly(AHEAD, 1.0) == [""] * 5
    assert flown.mode is Mode.PACKET_TARGET


def test_hard_range_and_battery_limits_end_fly_like_soft_limits() -> None:
    flown = in_mode(Mode.PACKET_TARGET)
    flown.observe(position_ned=(0.0, 1600.0, -100.0))
    assert flown.pilot.triggered_last == 1 << CageBit.RANGE_SOFT | 1 << CageBit.RANGE_HARD
    flown = in_mode(Mode.PACKET_TARGET, cage_battery_warn=21.0, cage_battery_emergency=19.0)
    flown.observation = replace(flown.observation, battery_voltage=20.0)
    flown.fly(AHEAD, 20.0)
    assert flown.pilot.triggered_last == 1 << CageBit.BATTERY_WARN
    assert flown.pilot.cage_triggered == 1 << CageBit.BATTERY_WARN
    flown.observation = replace(flown.observation, battery_voltage=18.0)
    flown.wait(20.0)
    assert flown.pilot.cage_triggered == 1 << CageBit.BATTERY_WARN | 1 << CageBit.BATTERY_EMERGENCY
    flown.observation = replace(flown.observation, battery_voltage=23.0)
    flown.wait(20.0)
    assert flown.pilot.cage_triggered == 0


def test_single_low_battery_reading_is_ignored() -> None:
    flown = in_mode(Mode.PACKET_TARGET, cage_battery_warn=21.0)
    flown.observe(battery_voltage=1.0)
    flown.observe(battery_voltage=23.0)
    assert flown.pilot.enabled


def test_cage_is_checked_in_every_mode() -> None:
    for mode in STEADY:
        flown = in_mode(mode)
        flown.observe(pitch=-1.2)
        assert flown.pilot.cage_triggered >> CageBit.PITCH & 1
        flown.observe(pitch=0.0)
        assert not flown.pilot.cage_triggered >> CageBit.PITCH & 1


def test_leaving_cage_on_waypoints_disables_fly_and_flight_continues() -> None:
    flown = in_mode(Mode.WAYPOINT)
    flown.pilot.engage()
    flown.pilot.fly_to(PLACE)
    flown.observe(roll=1.2)
    assert (flown.mode, flown.pilot.enabled, flown.pilot.triggered_last) == (Mode.WAYPOINT, False, 1 << CageBit.ROLL)
    flown.observe(roll=0.0)
    assert flown.controller.last_command == PLACE


def test_latch_keeps_first_exceeded_limit() -> None:
    flown = in_mode(Mode.PACKET_TARGET)
    flown.observe(pitch=0.9)
    flown.observe(pitch=0.0, airspeed=5.0)
    assert flown.pilot.cage_triggered == 1 << CageBit.AIRSPEED
    assert flown.pilot.triggered_last == 1 << CageBit.PITCH


def test_loss_of_all_ground_stations_sets_bit_until_next_packet() -> None:
    flown = in_mode(Mode.WAYPOINT, lost_comm_timeout=5.0)
    flown.pilot.note_packet()
    for _ in range(499):
        flown.observe()
    assert flown.pilot.cage_triggered == 0
    for _ in range(3):
        flown.observe()
    assert flown.pilot.cage_triggered == 1 << CageBit.PACKET_TIMEOUT_LOST_COMM
    assert flown.mode is Mode.WAYPOINT
    flown.pilot.note_packet()
    assert flown.pilot.engage() == ""
    flown.observe()
    assert flown.pilot.cage_triggered == 0
    assert flown.pilot.enabled


@pytest.mark.parametrize("cause", ["nav_ok", "gps_ok"])
def test_navigation_is_lost_after_invalid_attitude_or_position_timeout(cause: str) -> None:
    flown = in_mode(Mode.WAYPOINT, nav_lost_timeout=3.0)
    nav_lost = 1 << CageBit.NAV_LOST
    flown.observe(**{cause: False})
    flown.wait(2.9)
    assert not flown.pilot.cage_triggered & nav_lost
    flown.wait(0.2)
    assert flown.pilot.cage_triggered & nav_lost
    flown.observe(**{cause: True})
    assert flown.pilot.cage_triggered == 0


def test_brief_attitude_dropout_does_not_end_fly() -> None:
    flown = in_mode(Mode.PACKET_TARGET)
    for _ in range(10):
        flown.observe(nav_ok=False)
        assert flown.fly(AHEAD, 1.0) == [""] * 5
        flown.observe(nav_ok=True)
    assert flown.pilot.enabled


def test_disengage_enters_lost_signal_mode_at_once_without_latching() -> None:
    for lost, mode in (("return_home", Mode.RETURN_HOME), ("waypoint", Mode.WAYPOINT)):
        flown = in_mode(Mode.PACKET_TARGET, lost_signal_mode=lost)
        assert flown.pilot.disengage() == ""
        assert (flown.mode, flown.pilot.enabled, flown.pilot.triggered_last) == (mode, False, 0)
        assert flown.pilot.fly(AHEAD).startswith("fly refused")


def test_lost_signal_mode_waypoint_resumes_last_waypoint_command() -> None:
    flown = in_mode(Mode.WAYPOINT, lost_signal_mode="waypoint")
    flown.pilot.engage()
    flown.pilot.fly_to(PLACE)
    flown.fly(AHEAD, 1.0)
    assert flown.controller.last_command == AHEAD
    flown.pilot.disengage()
    flown.observe()
    assert (flown.mode, flown.controller.last_command) == (Mode.WAYPOINT, PLACE)


def test_return_home_discards_last_waypoint_command() -> None:
    flown = in_mode(Mode.WAYPOINT)
    flown.pilot.engage()
    flown.pilot.fly_to(PLACE)
    flown.fly(AHEAD, 1.0)
    flown.pilot.disengage()
    flown.pilot.engage()
    flown.observe()
    assert (flown.mode, flown.controller.last_command) == (Mode.WAYPOINT, HOME)


def test_waypoints_and_fly_alternate_between_engage_and_disengage() -> None:
    flown = in_mode(Mode.WAYPOINT)
    pilot = flown.pilot
    assert pilot.add_waypoint(RouteWaypoint(1, -1, (400.0, 0.0, -100.0), 18.0)) == ""
    assert pilot.engage() == ""
    assert flown.fly(AHEAD, 2.0) == [""] * 10
    assert pilot.fly_to_waypoint(1) == ""
    flown.wait(10.0)
    assert (flown.mode, pilot.enabled, pilot.variables()["waypoint_id"]) == (Mode.WAYPOINT, True, 1.0)
    assert flown.fly(AHEAD, 2.0) == [""] * 10
    assert flown.mode is Mode.PACKET_TARGET
    assert pilot.fly_to(PLACE) == ""
    flown.wait(10.0)
    assert flown.controller.last_command == PLACE
    assert flown.fly(AHEAD, 1.0) == [""] * 5
    assert pilot.disengage() == ""
    assert flown.mode is Mode.RETURN_HOME


def test_unknown_waypoint_is_rejected() -> None:
    flown = in_mode(Mode.PACKET_TARGET)
    flown.pilot.add_waypoint(RouteWaypoint(3, 4, (100.0, 0.0, -80.0), 18.0))
    flown.pilot.clear_waypoints()
    assert flown.pilot.fly_to_waypoint(3) == "fly_to_waypoint refused: no waypoint 3 in the buffer"
    assert flown.mode is Mode.PACKET_TARGET


@pytest.mark.parametrize(
    ("height", "airspeed", "excess"),
    [
        (-150.0, 18.0, "altitude -150 m given, allowed: 10 to 300 m"),
        (80.0, 500.0, "airspeed 500 m/s given, allowed: 10 to 35 m/s"),
        (
            301.0,
            5.0,
            "airspeed 5 m/s given, allowed: 10 to 35 m/s; altitude 301 m given, allowed: 10 to 300 m",
        ),
    ],
)
def test_fly_to_and_waypoints_outside_cage_are_rejected_and_change_nothing(
    height: float, airspeed: float, excess: str
) -> None:
    flown = in_mode(Mode.WAYPOINT)
    flown.pilot.fly_to(PLACE)
    outside = FlyTarget(PositionTarget(50.0, 0.0), AirspeedTarget(airspeed), AltitudeTarget(height))
    assert flown.pilot.fly_to(outside) == f"fly_to refused: outside the cage: {excess}"
    waypoint = RouteWaypoint(5, -1, (50.0, 0.0, -height), airspeed)
    assert flown.pilot.add_waypoint(waypoint) == f"waypoint_add refused: outside the cage: {excess}"
    flown.observe()
    assert (flown.mode, flown.pilot.cage_triggered, flown.controller.last_command) == (Mode.WAYPOINT, 0, PLACE)
    assert not flown.pilot.has_waypoint(5)


def test_waypoint_buffer_is_bounded() -> None:
    pilot = in_mode(Mode.WAYPOINT).pilot
    for number in range(MOST_WAYPOINTS):
        assert pilot.add_waypoint(RouteWaypoint(number, -1, (0.0, 0.0, -80.0), 18.0)) == ""
    assert "full (10000 waypoints)" in pilot.add_waypoint(RouteWaypoint(MOST_WAYPOINTS, -1, (0.0, 0.0, -80.0), 18.0))
    assert pilot.add_waypoint(RouteWaypoint(7, 8, (0.0, 0.0, -80.0), 18.0)) == ""


def test_variables_report_modes_bits_and_limits() -> None:
    flown = in_mode(Mode.PACKET_TARGET, cage_roll_max=0.9)
    flown.observe(roll=1.0)
    variables = flown.pilot.variables()
    limits = {limit.name for limit in CAGE_LIMITS}
    assert {name: value for name, value in variables.items() if name not in limits} == {
        "control_operate_mode": 5.0,
        "cage_triggered": 512.0,
        "ap_target_from_packet_enabled": 0.0,
        "ap_target_from_packet_cage_triggered_last": 512.0,
        "ap_target_from_packet_timeout": 2.0,
        "waypoint_id": -1.0,
    }
    assert variables["cage_roll_max"] == 0.9
    assert limits <= variables.keys()


def test_parameter_changes_apply_immediately_in_flight() -> None:
    flown = in_mode(Mode.PACKET_TARGET)
    other = RecordedTargets()
    flown.pilot.configure(GUIDED_MODE_PARAMETERS.checked({"cage_altitude_maximum": 90.0}), other)
    assert other.adopted is flown.controller
    flown.observe()
    assert flown.pilot.triggered_last == 1 << CageBit.ALTITUDE
    assert other.last_command == HOME


def test_empty_cage_is_rejected_and_previous_cage_stays_active() -> None:
    flown = in_mode(Mode.PACKET_TARGET)
    with pytest.raises(ParameterError, match="cage_altitude_minimum"):
        flown.pilot.configure(GUIDED_MODE_PARAMETERS.checked({"cage_altitude_maximum": 5.0}), RecordedTargets())
    flown.observe()
    assert flown.pilot.enabled
    assert flown.controller.last_command == AHEAD


@pytest.mark.parametrize(
    ("parameters", "bit"),
    [
        ({"home_altitude": 301.0}, "altitude"),
        ({"cage_altitude_maximum": 59.0}, "altitude"),
        ({"cage_altitude_minimum": 61.0}, "altitude"),
        ({"home_airspeed": 9.0}, "airspeed"),
    ],
)
def test_home_outside_cage_is_rejected(parameters: dict[str, float], bit: str) -> None:
    with pytest.raises(ParameterError, match=rf"allowed: inside the cage; exceeded: {bit}"):
        Flown(**parameters)


def test_time_going_backwards_triggers_no_timeout() -> None:
    flown = in_mode(Mode.PACKET_TARGET)
    flown.wait(1.0)
    flown.observation = replace(flown.observation, time_s=0.0)
    flown.observe()
    assert flown.mode is Mode.PACKET_TARGET
    flown.wait(1.9)
    assert flown.mode is Mode.PACKET_TARGET
    flown.wait(0.2)
    assert flown.pilot.triggered_last == 1 << CageBit.PACKET_TIMEOUT_FOR_SELECTED_MODE


def test_non_finite_state_is_not_flown_and_changes_nothing() -> None:
    flown = in_mode(Mode.PACKET_TARGET)
    assert flown.observe(airspeed=float("nan")) is None
    assert (flown.mode, flown.pilot.enabled) == (Mode.PACKET_TARGET, True)
    assert flown.observe(airspeed=18.0) is not None

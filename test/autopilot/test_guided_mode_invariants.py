"""Invariants of modes and cage, whatever programs, safety pilot and plane do in any order."""

from __future__ import annotations

from typing import Any

from cruising import INSIDE, observed
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from recorded_targets import RecordedTargets

from rosflight_py_sim.autopilot.cage import CageBit
from rosflight_py_sim.autopilot.fly_target import (
    AirspeedTarget,
    AltitudeTarget,
    FlyTarget,
    HeadingTarget,
    PositionTarget,
)
from rosflight_py_sim.autopilot.guided_mode_states import TRANSITIONS, Mode
from rosflight_py_sim.autopilot.guided_mode_supervisor import GUIDED_MODE_PARAMETERS, GuidedModeSupervisor
from rosflight_py_sim.autopilot.waypoint_route import RouteWaypoint

DT = 0.1

# A call may end in the transition's mode, or in one more transition from there.
REACHED = {
    mode: {mode, *ways.values()} | {to for through in ways.values() for to in TRANSITIONS[through].values()}
    for mode, ways in TRANSITIONS.items()
}

flags = {name: st.booleans() for name in ("armed", "override", "rc_lost", "gps_ok", "nav_ok", "imu_ok")}
numbers = {
    "airspeed": st.sampled_from([0.0, 18.0, 50.0]),
    "roll": st.sampled_from([0.0, -0.5, 2.0]),
    "position_ned": st.sampled_from([(0.0, 0.0, -0.2), (0.0, 0.0, -50.0), (900.0, 900.0, -80.0), (0.0, 0.0, -999.0)]),
}
changes = st.one_of(*(st.tuples(st.just(name), values) for name, values in {**flags, **numbers}.items()))
places = st.tuples(st.floats(-2000.0, 2000.0), st.floats(-2000.0, 2000.0))


class SupervisorMachine(RuleBasedStateMachine):
    """A plane, a careless program, and a nervous safety pilot."""

    def __init__(self) -> None:
        super().__init__()
        parameters: dict[str, Any] = {"ap_target_from_packet_timeout": 1.0, "lost_comm_timeout": 2.0}
        self.pilot = GuidedModeSupervisor(GUIDED_MODE_PARAMETERS.checked(parameters), RecordedTargets())
        self.observation = INSIDE
        self.before = self.pilot.mode

    @rule(changed=st.lists(changes, max_size=2), periods=st.sampled_from([1, 1, 1, 12]))
    def advance(self, changed: list[tuple[str, Any]], periods: int) -> None:
        self.observation = observed(self.observation, **dict(changed))
        for _ in range(periods):
            self._moved()
            self.observation = observed(self.observation, time_s=self.observation.time_s + DT)
            self.pilot.update(self.observation, DT)

    @rule()
    def recover(self) -> None:
        """Put the plane inside the cage, in the air, under the program's control."""
        self.observation = observed(INSIDE, time_s=self.observation.time_s)
        self.advance([], 1)

    @rule(height=st.sampled_from([0.2, 20.0, 40.0]))
    def take_off(self, height: float) -> None:
        """Put the plane on its climb from the ground, under the program's control."""
        self.observation = observed(INSIDE, time_s=self.observation.time_s, position_ned=(0.0, 0.0, -height))
        self.advance([], 1)

    @rule(periods=st.integers(0, 3))
    def stream_target(self, periods: int) -> None:
        """Stream a target, as a program should after a cage_triggered of 0."""
        self.recover()
        self.engage_fly()
        self.send_fly(1.0, 20.0, 1)
        self.advance([], periods)

    @rule()
    def engage_fly(self) -> None:
        self._moved()
        self.pilot.note_packet()
        refused = self.pilot.engage()
        assert self.pilot.enabled or refused
        assert refused or self.pilot.triggered_last == 0

    @rule()
    def disengage_fly(self) -> None:
        self._moved()
        assert self.pilot.disengage() == ""
        assert not self.pilot.enabled

    @rule(heading=st.floats(-3.0, 3.0), airspeed=st.sampled_from([15.0, 20.0, 90.0]), times=st.integers(1, 3))
    def send_fly(self, heading: float, airspeed: float, times: int) -> None:
        for _ in range(times):
            self._moved()
            target = FlyTarget(HeadingTarget(heading), AirspeedTarget(airspeed), AltitudeTarget(80.0))
            if not self.pilot.fly(target):
                assert self.pilot.mode is Mode.PACKET_TARGET
                assert airspeed < 90.0

    @rule(place=places)
    def fly_to_position(self, place: tuple[float, float]) -> None:
        self._moved()
        refused = self.pilot.fly_to(FlyTarget(PositionTarget(*place), AirspeedTarget(18.0), AltitudeTarget(80.0)))
        assert refused or self.pilot.mode is Mode.WAYPOINT

    @rule(number=st.integers(0, 4), after=st.integers(-1, 4), place=places)
    def append_waypoint(self, number: int, after: int, place: tuple[float, float]) -> None:
        self._moved()
        self.pilot.add_waypoint(RouteWaypoint(number, after, (*place, -80.0), 18.0))

    @rule(number=st.integers(0, 4))
    def fly_waypoint_route(self, number: int) -> None:
        self._moved()
        refused = self.pilot.fly_to_waypoint(number)
        assert refused or self.pilot.mode is Mode.WAYPOINT

    @rule()
    def clear_waypoint_buffer(self) -> None:
        self._moved()
        self.pilot.clear_waypoints()

    def _moved(self) -> None:
        self.before = self.pilot.mode

    @invariant()
    def mode_is_reachable_by_the_table(self) -> None:
        assert self.pilot.mode in REACHED[self.before]
        assert self.pilot.mode is not Mode.LOST_SIGNAL

    @invariant()
    def fly_is_accepted_only_in_two_modes_and_flown_only_while_accepted(self) -> None:
        assert not self.pilot.enabled or self.pilot.mode in (Mode.WAYPOINT, Mode.PACKET_TARGET)
        assert self.pilot.enabled or self.pilot.mode is not Mode.PACKET_TARGET

    @invariant()
    def cause_of_fly_ending_is_latched_until_next_engage(self) -> None:
        assert not (self.pilot.enabled and self.pilot.triggered_last)

    @invariant()
    def bits_match_documentation(self) -> None:
        for bits in (self.pilot.cage_triggered, self.pilot.triggered_last):
            assert 0 <= bits < 1 << len(CageBit)
            assert not bits >> CageBit.UNSPECIFIED & 1

    @invariant()
    def variables_are_numbers(self) -> None:
        variables = self.pilot.variables()
        assert variables["control_operate_mode"] == self.pilot.mode
        assert all(isinstance(value, float) for value in variables.values())


TestSupervisorMachine = SupervisorMachine.TestCase
TestSupervisorMachine.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

"""Formation mission (take off, follow a leader at an offset, land): a state machine in simulated time."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple, cast

from rosflight_py_sim.autopilot.mission_phase import MissionPhase
from rosflight_py_sim.autopilot.setpoint import Setpoint, Vector3
from rosflight_py_sim.autopilot.straight_leg import StraightLeg
from rosflight_py_sim.autopilot.take_off_and_landing import VERTICAL_PARAMETERS, TouchDown, climb, descent
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number

FORMATION_RADIUS = Parameter(
    "formation_radius",
    2.0,
    "Distance from the position in the formation within which the vehicle counts as in formation; a completed mission "
    "has not left it before the landing",
    "m",
    minimum=0.1,
    maximum=1e4,
)

FORMATION_PARAMETERS = ParameterTable(
    Parameter(
        "leader",
        "",
        "Namespace of the vehicle to follow: absolute, or relative to the parent of the follower's namespace",
        required=True,
        read_only=True,
    ),
    Parameter(
        "formation_offset",
        [-8.0, 0.0, 0.0],
        "Position in the formation, relative to the leader: north, east, down",
        "m",
        minimum=-1e4,
        maximum=1e4,
        length=3,
    ),
    Parameter(
        "formation_height",
        3.0,
        "Minimum height above the take-off point until the landing",
        "m",
        minimum=0.5,
        maximum=1e4,
    ),
    FORMATION_RADIUS,
    Parameter(
        "leader_latency",
        0.02,
        "Minimum age of a leader state before the follower uses it, extrapolated to the present",
        "s",
        minimum=0.0,
        maximum=1.0,
    ),
    Parameter(
        "leader_timeout",
        1.0,
        "Age of the newest leader state at which the follower stops and waits for the next state",
        "s",
        minimum=0.1,
        maximum=1e6,
    ),
    Parameter(
        "formation_acceleration",
        2.0,
        "Acceleration limit in climb and descent, and deceleration to a stop",
        "m/s^2",
        minimum=0.01,
        maximum=200.0,
    ),
    *VERTICAL_PARAMETERS,
)

# Time span over which the leader's acceleration is measured, s.
_ACCELERATION_SPAN_S = 0.1

# Tolerance of comparisons of times, which are sums of steps, s.
_ROUNDING_S = 1e-9

# A leader has landed when it is lower than landing_height above the follower's take-off point, and slower than this
# speed (m/s) for this time (s).
_LANDED_SPEED, _LANDED_TIME_S = 0.3, 1.0

# Speed below which the descent begins, m/s.
_SLOW = 1.0


class FormationPhase(MissionPhase):
    """Phase of the mission; the numbers are those of the flight log."""

    WAIT = 0
    TAKE_OFF = 1
    JOIN = 2
    IN_FORMATION = 3
    STOP = 4
    LAND = 5
    DONE = 6

    @property
    def on_path(self) -> bool:
        """Whether the vehicle is in formation."""
        return self is FormationPhase.IN_FORMATION


class _LeaderState(NamedTuple):
    time_s: float
    position_ned: Vector3
    velocity_ned: Vector3


class FormationMission:
    """Take off, follow a leader at a constant offset, and land on the spot once the leader has landed.

    The setpoint follows the leader's position, velocity and acceleration, but stays at least `formation_height` above
    the take-off point. `land` ends the formation early.

    The mission uses the newest state of the leader that is at least `leader_latency` old. Unless the latency is 0, the
    setpoint therefore does not depend on the order in which messages of the same step arrive.
    """

    def __init__(self, values: Values, previous: FormationMission | None = None) -> None:
        """Wait for the start.

        Args:
            values: contains the checked values of FORMATION_PARAMETERS; others are ignored.
            previous: mission with the same leader, whose received states are reused; None for the first.
        """
        self._values = values
        north, east, down = cast("list[float]", values["formation_offset"])
        self._offset: Vector3 = (north, east, down)
        self._latency_s = number(values, "leader_latency")
        self._phase = FormationPhase.WAIT
        self._home: Vector3 = (0.0, 0.0, 0.0)
        self._yaw_rad = 0.0
        self._leader: deque[_LeaderState] = deque(previous._leader if previous is not None else ())
        self._leg_start_s = 0.0
        self._legs: Sequence[StraightLeg] = ()
        self._stop: Vector3 | None = None
        self._touch_down = TouchDown(values)
        self._slow_since_s = math.inf
        self._leader_flew = False

    @property
    def phase(self) -> FormationPhase:
        """Phase after the last call of `setpoint`."""
        return self._phase

    @property
    def progress(self) -> float:
        """Completed share of the phases, 0 to 1."""
        return self._phase / FormationPhase.DONE

    @property
    def thrust_on(self) -> bool:
        """Whether the vehicle is flying or about to take off; otherwise, let motors idle and reset integrators."""
        return self._phase not in (FormationPhase.WAIT, FormationPhase.DONE)

    @property
    def has_lost_leader(self) -> bool:
        """Whether the vehicle waits at a fixed point for the next state of the leader."""
        return self._phase is FormationPhase.JOIN and self._stop is not None

    def add_leader(self, time_s: float, position_ned: Sequence[float], velocity_ned: Sequence[float]) -> None:
        """Store a state of the leader: simulated time (s), position (m) and velocity (m/s)."""
        states = self._leader
        if states and time_s <= states[-1].time_s:
            if time_s == states[-1].time_s:
                return
            states.clear()  # the leader's time was set back
        (x, y, z), (u, v, w) = map(float, position_ned), map(float, velocity_ned)
        states.append(_LeaderState(time_s, (x, y, z), (u, v, w)))
        while states[0].time_s < time_s - self._latency_s - 2.0 * _ACCELERATION_SPAN_S:
            states.popleft()

    def start(self, time_s: float, position_ned: Sequence[float], yaw_rad: float) -> None:
        """Start the take-off from `position_ned` (m) at the yaw angle `yaw_rad`, which the vehicle keeps.

        Raises:
            RuntimeError: the mission has already begun, or no state of the leader has been received.
        """
        if self._phase is not FormationPhase.WAIT:
            raise RuntimeError(f"the mission has already begun: {self._phase.label}")
        if not self._leader:
            raise RuntimeError(f"no state of the leader '{self._values['leader']}' has been received")
        north, east, down = map(float, position_ned)
        self._home = (north, east, down)
        self._yaw_rad = float(yaw_rad)
        height, acceleration = number(self._values, "formation_height"), self._acceleration
        self._legs = (climb(self._values, self._home, height, acceleration),)
        self._begin(FormationPhase.TAKE_OFF, time_s)

    def land(self) -> None:
        """Stop, then land; no effect if the vehicle is already stopping or landing.

        Raises:
            RuntimeError: the vehicle is not flying.
        """
        if not self.thrust_on:
            raise RuntimeError(f"the vehicle is not flying: {self._phase.label}")
        if self._phase < FormationPhase.STOP:
            self._phase = FormationPhase.STOP

    def setpoint(self, time_s: float, position_ned: Sequence[float], velocity_ned: Sequence[float]) -> Setpoint:
        """Setpoint for the simulated time `time_s`, given the vehicle's position (m) and velocity (m/s)."""
        north, east, down = map(float, position_ned)
        u, v, w = map(float, velocity_ned)
        here, velocity = (north, east, down), (u, v, w)
        if self._phase is FormationPhase.LAND and self._touch_down.detected(time_s, self._home[2] - down, w):
            self._begin(FormationPhase.DONE, time_s)
        if not self.thrust_on:
            return Setpoint(here, yaw_rad=self._yaw_rad)
        if self._phase is FormationPhase.TAKE_OFF:
            elapsed = time_s - self._leg_start_s
            if elapsed < self._legs[0].duration:
                position, speed, acceleration = self._legs[0].at(elapsed)
                return Setpoint(position, speed, self._yaw_rad, acceleration)
            self._begin(FormationPhase.JOIN, time_s)
        if self._phase in (FormationPhase.JOIN, FormationPhase.IN_FORMATION):
            return self._in_formation(time_s, here, velocity)
        if self._phase is FormationPhase.STOP:
            return self._stopping(time_s, here, velocity)
        return self._landing(time_s)

    @property
    def _acceleration(self) -> float:
        return number(self._values, "formation_acceleration")

    def _begin(self, phase: FormationPhase, time_s: float) -> None:
        self._phase = phase
        self._leg_start_s = time_s

    def _in_formation(self, time_s: float, here: Vector3, velocity: Vector3) -> Setpoint:
        """Setpoint at the position in the formation; at the stopping point if the leader is lost."""
        leader = self._leader_at(time_s)
        if leader is None:
            self._phase = FormationPhase.JOIN
            return self._hold(here, velocity)
        self._stop = None
        if self._has_landed(time_s, leader):
            self.land()
            return self._stopping(time_s, here, velocity)
        position = leader.position_ned
        place = (position[0] + self._offset[0], position[1] + self._offset[1], position[2] + self._offset[2])
        lowest = self._home[2] - number(self._values, "formation_height")
        speed, acceleration = leader.velocity_ned, leader.acceleration_ned
        if place[2] > lowest:
            place = (*place[:2], lowest)
            speed, acceleration = (*speed[:2], 0.0), (*acceleration[:2], 0.0)
        near = math.dist(place, here) < number(self._values, "formation_radius")
        if near and self._phase is FormationPhase.JOIN and self._leader_flew:
            self._begin(FormationPhase.IN_FORMATION, time_s)
        return Setpoint(place, speed, self._yaw_rad, acceleration)

    def _leader_at(self, time_s: float) -> Setpoint | None:
        """Motion of the leader, extrapolated to a time; None if its newest state is too old."""
        newest: _LeaderState | None = None
        before: _LeaderState | None = None
        for state in reversed(self._leader):
            if state.time_s > time_s - self._latency_s + _ROUNDING_S:
                continue
            newest, before = newest or state, state
            if newest.time_s - before.time_s >= _ACCELERATION_SPAN_S:
                break
        if newest is None or before is None or time_s - newest.time_s > number(self._values, "leader_timeout"):
            return None
        span_s, age_s = newest.time_s - before.time_s, time_s - newest.time_s
        share = 1.0 / span_s if span_s > 0.0 else 0.0
        change = [share * (new - old) for new, old in zip(newest.velocity_ned, before.velocity_ned, strict=True)]
        velocity = [v + a * age_s for v, a in zip(newest.velocity_ned, change, strict=True)]
        position = [
            p + (v - 0.5 * a * age_s) * age_s for p, v, a in zip(newest.position_ned, velocity, change, strict=True)
        ]
        return Setpoint(_vector(position), _vector(velocity), 0.0, _vector(change))

    def _has_landed(self, time_s: float, leader: Setpoint) -> bool:
        """Whether the leader has landed after a flight."""
        low = self._home[2] - leader.position_ned[2] < number(self._values, "landing_height")
        self._leader_flew = self._leader_flew or not low
        if not low or math.hypot(*leader.velocity_ned) >= _LANDED_SPEED:
            self._slow_since_s = math.inf
            return False
        self._slow_since_s = min(self._slow_since_s, time_s)
        return self._leader_flew and time_s - self._slow_since_s >= _LANDED_TIME_S

    def _stopping_point(self, here: Vector3, velocity: Vector3) -> Vector3:
        """Point at which the vehicle comes to rest: v |v| / (2 a) ahead, at its present height."""
        north, east, _ = velocity
        per_speed = math.hypot(north, east) / (2.0 * self._acceleration)
        return here[0] + north * per_speed, here[1] + east * per_speed, here[2]

    def _hold(self, here: Vector3, velocity: Vector3) -> Setpoint:
        """Setpoint at the stopping point, which stays fixed until the vehicle follows the leader again."""
        self._stop = self._stop or self._stopping_point(here, velocity)
        return Setpoint(self._stop, yaw_rad=self._yaw_rad)

    def _stopping(self, time_s: float, here: Vector3, velocity: Vector3) -> Setpoint:
        setpoint = self._hold(here, velocity)
        if math.hypot(*velocity) < _SLOW:
            self._legs = descent(self._values, setpoint.position_ned, self._home[2], self._acceleration)
            self._begin(FormationPhase.LAND, time_s)
        return setpoint

    def _landing(self, time_s: float) -> Setpoint:
        first, second = self._legs
        elapsed = time_s - self._leg_start_s
        leg, elapsed = (first, elapsed) if elapsed < first.duration else (second, elapsed - first.duration)
        position, velocity, acceleration = leg.at(elapsed)
        return Setpoint(position, velocity, self._yaw_rad, acceleration)


def _vector(values: Sequence[float]) -> Vector3:
    x, y, z = values
    return x, y, z

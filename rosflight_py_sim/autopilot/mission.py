"""Square mission (take off, fly a square, land): a state machine in simulated time that yields setpoints."""

from __future__ import annotations

from collections.abc import Sequence

from rosflight_py_sim.autopilot.leg_flight import ARRIVED, LANDED, LegFlight, leg_event, leg_setpoint
from rosflight_py_sim.autopilot.mission_phase import MissionPhase
from rosflight_py_sim.autopilot.setpoint import Setpoint, Vector3
from rosflight_py_sim.autopilot.straight_leg import StraightLeg
from rosflight_py_sim.autopilot.take_off_and_landing import VERTICAL_PARAMETERS, Stillness, TouchDown, climb, descent
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
        self._phase = Phase.WAIT
        self._home: Vector3 = (0.0, 0.0, 0.0)
        self._corners = self._square(self._home)
        self._legs: list[tuple[Phase, StraightLeg, float]] = []
        self._leg_index = 0
        self._nominal_before: list[float] = []
        self._still = TouchDown(values).still
        self._flight = LegFlight(
            leg=StraightLeg(self._home, self._home, 1.0, 1.0).numbers,
            flies=False,
            lands=False,
            is_last=False,
            start_s=0.0,
            nominal_s=0.0,
            arrival_radius=number(values, "arrival_radius"),
            home_down=0.0,
            yaw=0.0,
            before_s=0.0,
            total_s=1.0,
            progress=0.0,
        )

    @property
    def leg_flight(self) -> tuple[LegFlight, Stillness]:
        """State of the mission and of its touch-down detection, for kernels that advance it as `setpoint` does."""
        return self._flight, self._still

    @property
    def phase(self) -> Phase:
        """Phase after the last call of `setpoint`."""
        return self._phase

    @property
    def progress(self) -> float:
        """Completed share of the mission, 0 to 1; never decreases, and is 1 when the mission is done."""
        return self._flight.progress

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
        return self._flight.total_s if self._legs else 0.0

    def start(self, time_s: float, position_ned: Sequence[float], yaw_rad: float) -> None:
        """Start the take-off from `position_ned` (m) at the yaw angle `yaw_rad`.

        Raises:
            RuntimeError: the mission has already begun.
        """
        if self._phase is not Phase.WAIT:
            raise RuntimeError(f"the mission has already begun: {self._phase.label}")
        north, east, down = map(float, position_ned)
        self._home = (north, east, down)
        self._corners = self._square(self._home)
        self._legs = self._planned()
        durations = [leg.duration + pause for _, leg, pause in self._legs]
        self._nominal_before = [sum(durations[:i]) for i in range(len(durations))]
        flight = self._flight
        flight.total_s, flight.home_down, flight.yaw, flight.flies = sum(durations), down, float(yaw_rad), True
        self._enter(0, time_s)

    def setpoint(self, time_s: float, position_ned: Sequence[float], velocity_ned: Sequence[float]) -> Setpoint:
        """Setpoint for the simulated time `time_s`, given the vehicle's position (m) and velocity (m/s)."""
        north, east, down = map(float, position_ned)
        flight = self._flight
        if flight.flies:
            event = leg_event(flight, self._still, time_s, north, east, down, float(velocity_ned[2]))
            if event == LANDED:
                self._phase, flight.progress, flight.flies = Phase.DONE, 1.0, False
            elif event == ARRIVED:
                self._enter(self._leg_index + 1, time_s)
        if not flight.flies:
            return Setpoint((north, east, down), yaw_rad=flight.yaw)
        to_north, to_east, to_down, u, v, w, ahead, right, below = leg_setpoint(flight, time_s)
        return Setpoint((to_north, to_east, to_down), (u, v, w), flight.yaw, (ahead, right, below))

    def _enter(self, index: int, time_s: float) -> None:
        """Begin a leg."""
        self._leg_index = index
        self._phase, leg, pause = self._legs[index]
        flight = self._flight
        flight.leg, flight.start_s, flight.nominal_s = leg.numbers, time_s, leg.duration + pause
        flight.before_s = self._nominal_before[index]
        flight.is_last, flight.lands = index + 1 == len(self._legs), self._phase is Phase.LAND

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

"""Vertical parts of a mission: climb of a multirotor after its take-off, its descent, and touch-down detection."""

from __future__ import annotations

import math

from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.autopilot.straight_leg import StraightLeg
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record

TOUCH_DOWN_PARAMETERS = ParameterTable(
    Parameter(
        "touch_down_height", 0.15, "Height below which a landing can be detected", "m", minimum=0.0, maximum=100.0
    ),
    Parameter(
        "touch_down_speed",
        0.2,
        "Vertical speed below which the vehicle counts as landed after touch_down_time",
        "m/s",
        minimum=0.0,
        maximum=100.0,
    ),
    Parameter(
        "touch_down_time",
        0.1,
        "Time below touch_down_height and touch_down_speed after which the vehicle counts as landed",
        "s",
        minimum=0.0,
        maximum=100.0,
    ),
)

_LEG_PARAMETERS = ParameterTable(
    Parameter("climb_speed", 1.5, "Speed of the take-off", "m/s", minimum=0.01, maximum=200.0),
    Parameter("descent_speed", 1.0, "Speed of the descent", "m/s", minimum=0.01, maximum=200.0),
    Parameter("landing_height", 1.0, "Height below which the descent slows down", "m", minimum=0.0, maximum=1e3),
    Parameter("landing_speed", 0.4, "Speed of the last part of the descent", "m/s", minimum=0.01, maximum=200.0),
)

VERTICAL_PARAMETERS = _LEG_PARAMETERS + TOUCH_DOWN_PARAMETERS


def climb(values: Values, home_ned: Vector3, height: float, acceleration: float) -> StraightLeg:
    """Leg from the take-off point `home_ned` (m) up to a height above it (m), with an acceleration limit (m/s^2)."""
    north, east, ground = home_ned
    return StraightLeg(home_ned, (north, east, ground - height), number(values, "climb_speed"), acceleration)


def descent(values: Values, from_ned: Vector3, ground: float, acceleration: float) -> tuple[StraightLeg, StraightLeg]:
    """Two legs from `from_ned` (m) straight down, the second of which is slow.

    The second leg ends 1 m below the ground, so that the vehicle descends until it touches the ground.

    Args:
        values: values of VERTICAL_PARAMETERS.
        from_ned: start, m.
        ground: down coordinate of the ground, m.
        acceleration: limit, m/s^2.
    """
    north, east, down = from_ned
    slow_from = (north, east, max(ground - number(values, "landing_height"), down))
    return (
        StraightLeg(from_ned, slow_from, number(values, "descent_speed"), acceleration),
        StraightLeg(slow_from, (north, east, ground + 1.0), number(values, "landing_speed"), acceleration),
    )


@kernel_record
class Stillness:
    """State of `TouchDown`, and its parameters.

    Attributes:
        height: touch_down_height (m).
        speed: touch_down_speed (m/s).
        time_s: touch_down_time (s).
        since_s: time since which the vehicle has been low and still, s; infinite if it is not.
    """

    height: float
    speed: float
    time_s: float
    since_s: float


@kernel
def has_touched_down(still: Stillness, time_s: float, height: float, velocity_down: float) -> bool:
    """`TouchDown.detected`."""
    if height >= still.height or abs(velocity_down) >= still.speed:
        still.since_s = math.inf
        return False
    still.since_s = min(still.since_s, time_s)
    return time_s - still.since_s >= still.time_s


class TouchDown:
    """Detects the touch-down: the vehicle stays low and still.

    Attributes:
        still: state and parameters, for kernels.
    """

    def __init__(self, values: Values) -> None:
        """`values` contains the checked values of TOUCH_DOWN_PARAMETERS; others are ignored."""
        height, speed, time_s = (number(values, f"touch_down_{name}") for name in ("height", "speed", "time"))
        self.still = Stillness(height=height, speed=speed, time_s=time_s, since_s=math.inf)

    def detected(self, time_s: float, height: float, velocity_down: float) -> bool:
        """Whether the vehicle has landed.

        Args:
            time_s: simulated time, s.
            height: height above the ground, m.
            velocity_down: vertical speed, m/s.
        """
        return has_touched_down(self.still, time_s, height, velocity_down)

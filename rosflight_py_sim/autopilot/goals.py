"""Goals of a policy: where the vehicle is to be now, how fast, and where next, from a task and the time."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number

TASKS = ("hover", "waypoints", "path", "landing", "depth_heading")
"""Choices of the parameter `task`."""

GOAL_PARAMETERS = ParameterTable(
    Parameter(
        "task",
        "hover",
        "Task of the policy: hover (hold goal_position), waypoints (pass goal_waypoints in order), path (follow a "
        "figure eight around goal_position), landing (touch down at goal_position) or depth_heading (hold the down "
        "coordinate of goal_position, anywhere)",
        choices=TASKS,
        read_only=True,
    ),
    Parameter(
        "goal_position",
        [0.0, 0.0, -5.0],
        "Place of the task: north, east and down",
        "m",
        minimum=-1e6,
        maximum=1e6,
        length=3,
        read_only=True,
    ),
    Parameter(
        "goal_heading",
        0.0,
        "Direction of the nose, clockwise from north",
        "deg",
        minimum=-360.0,
        maximum=360.0,
        read_only=True,
    ),
    Parameter(
        "goal_waypoints",
        [5.0, 0.0, -5.0, 5.0, 5.0, -7.0, 0.0, 5.0, -5.0, 0.0, 0.0, -5.0],
        "Waypoints of the task waypoints: north, east and down each",
        "m",
        minimum=-1e6,
        maximum=1e6,
        read_only=True,
    ),
    Parameter(
        "goal_radius",
        0.5,
        "Distance from a waypoint at which it counts as passed",
        "m",
        minimum=0.01,
        maximum=1e4,
        read_only=True,
    ),
    Parameter(
        "path_size",
        [3.0, 2.0],
        "Largest distance of the path from goal_position: north and east",
        "m",
        minimum=0.01,
        maximum=1e4,
        length=2,
        read_only=True,
    ),
    Parameter("path_period", 12.0, "Duration of one turn of the path", "s", minimum=0.1, maximum=1e4, read_only=True),
)

_LOOK_AHEAD_S = 0.5


class Goal(NamedTuple):
    """Where the vehicle is to be now, and next.

    Attributes:
        position_ned: place, m.
        velocity_ned: velocity of that place, m/s.
        next_ned: the place after it, m: the next waypoint, or the place on the path half a second later.
        yaw_rad: direction of the nose.
    """

    position_ned: Vector3
    velocity_ned: Vector3
    next_ned: Vector3
    yaw_rad: float

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The attributes in their order (10,)."""
        return np.array((*self.position_ned, *self.velocity_ned, *self.next_ned, self.yaw_rad))


class Task(ABC):
    """Sequence of goals.

    Class attributes:
        ENDS_ON_GROUND: whether the task is to touch down.
        IS_STEADY: whether the goal stays, and the task is never done.

    Attributes:
        is_done: whether all goals have been reached.
        passed: number of goals passed.
    """

    ENDS_ON_GROUND: ClassVar[bool] = False
    IS_STEADY: ClassVar[bool] = False
    is_done = False
    passed = 0

    def __init__(self, values: Values) -> None:
        """`values` contains the checked values of GOAL_PARAMETERS; others are ignored.

        Raises:
            ParameterError: the values do not fit together.
        """
        self.place = _vector(cast("list[float]", values["goal_position"]))
        self.yaw_rad = math.radians(number(values, "goal_heading"))

    @abstractmethod
    def goal(self, time_s: float, position_ned: Vector3) -> Goal:
        """Goal at a time (s) since the beginning of the task, of a vehicle at a position (m)."""


class Hover(Task):
    """Hold a place."""

    IS_STEADY = True

    def goal(self, time_s: float, position_ned: Vector3) -> Goal:
        """The place."""
        return Goal(self.place, _STILL, self.place, self.yaw_rad)


class Landing(Hover):
    """Touch down at a place."""

    ENDS_ON_GROUND, IS_STEADY = True, False


class DepthHeading(Task):
    """Hold a depth and a heading, at any place."""

    def goal(self, time_s: float, position_ned: Vector3) -> Goal:
        """The place at that depth above or below the vehicle."""
        place = (*position_ned[:2], self.place[2])
        return Goal(place, _STILL, place, self.yaw_rad)


class Waypoints(Task):
    """Pass waypoints in order."""

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        given = cast("list[float]", values["goal_waypoints"])
        if not given or len(given) % 3:
            raise ParameterError(
                f"parameter 'goal_waypoints': {len(given)} numbers given; allowed: north, east and down of each "
                "waypoint, for at least one"
            )
        self._waypoints = [_vector(given[k : k + 3]) for k in range(0, len(given), 3)]
        self._radius = number(values, "goal_radius")

    def goal(self, time_s: float, position_ned: Vector3) -> Goal:
        """The first waypoint not yet passed; the last one once all are."""
        last = len(self._waypoints) - 1
        if not self.is_done and math.dist(position_ned, self._waypoints[self.passed]) <= self._radius:
            self.passed += 1
            self.is_done = self.passed > last
        here, after = (self._waypoints[min(k, last)] for k in (self.passed, self.passed + 1))
        return Goal(here, _STILL, after, self.yaw_rad)


class FigureEight(Task):
    """Follow a place that moves on a figure eight, the lemniscate of Gerono.

    With the angle a = 2 pi t / T, the place is A sin(a) north and B sin(2 a) east of the centre.
    """

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        self._north, self._east = cast("list[float]", values["path_size"])
        self._rate = 2.0 * math.pi / number(values, "path_period")

    def goal(self, time_s: float, position_ned: Vector3) -> Goal:
        """The moving place."""
        return Goal(self._at(time_s), self._velocity(time_s), self._at(time_s + _LOOK_AHEAD_S), self.yaw_rad)

    def _at(self, time_s: float) -> Vector3:
        north, east, down = self.place
        angle = self._rate * time_s
        return north + self._north * math.sin(angle), east + self._east * math.sin(2.0 * angle), down

    def _velocity(self, time_s: float) -> Vector3:
        angle = self._rate * time_s
        north, east = self._north * math.cos(angle), 2.0 * self._east * math.cos(2.0 * angle)
        return self._rate * north, self._rate * east, 0.0


_CLASSES: dict[str, Callable[[Values], Task]] = {
    "hover": Hover,
    "waypoints": Waypoints,
    "path": FigureEight,
    "landing": Landing,
    "depth_heading": DepthHeading,
}
_STILL = (0.0, 0.0, 0.0)


def new_task(values: Values) -> Task:
    """The task that the parameter `task` names, not begun.

    Raises:
        ParameterError: the values do not fit together.
    """
    return _CLASSES[str(values["task"])](values)


def _vector(values: Sequence[float]) -> Vector3:
    north, east, down = values
    return north, east, down

"""Rewards of the tasks, from the true state."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from rosflight_py_sim.autopilot.goals import Goal, Task
from rosflight_py_sim.autopilot.held_goal import distance_from, held
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.parts.policy import Array
from rosflight_py_sim.step.vehicle_state import VehicleState

CRASH = -10.0
"""Reward of the decision that ends an episode out of bounds."""

_PASSED, _TOUCH_DOWN = 10.0, 10.0
_UNREST = 0.05
# Distance (m) from the goal of a landing at which the vehicle stands, and gentle speed (m/s) of a touch-down.
_STANDING, _GENTLE = 0.03, 0.5


class Outcome(NamedTuple):
    """Outcome of a decision.

    Attributes:
        reward: of the decision, without the part of `unrest`.
        is_done: whether the task is done, which ends the episode.
    """

    reward: float
    is_done: bool = False


class Reward(ABC):
    """Reward of a task; one object for each episode."""

    def __init__(self, task: Task) -> None:
        """Begin an episode of `task`."""
        self._task = task

    def distance(self, state: VehicleState, goal: Goal) -> float:
        """Distance from the goal, m."""
        return distance_from(state.truth, *goal.position_ned)

    @abstractmethod
    def of(self, state: VehicleState, goal: Goal) -> Outcome:
        """Outcome of a decision that has led to a state; the goal is that of the next decision."""


class HoldReward(Reward):
    """How well the goal is held, from 0 to 1 (`held_goal.held`)."""

    def of(self, state: VehicleState, goal: Goal) -> Outcome:
        """Reward of a place, never done."""
        return Outcome(held(state.truth, self.distance(state, goal), goal.yaw_rad))


class DepthReward(HoldReward):
    """As HoldReward, with the error of the depth as the distance."""

    def distance(self, state: VehicleState, goal: Goal) -> float:
        """Error of the depth, m."""
        return abs(float(state.position_ned[2]) - goal.position_ned[2])


class WaypointReward(Reward):
    """Metres by which the vehicle has come nearer to the waypoint, and 10 for each waypoint that it has passed."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._passed = 0
        self._target: Vector3 | None = None
        self._before = 0.0

    def of(self, state: VehicleState, goal: Goal) -> Outcome:
        """Progress since the last decision; done after the last waypoint."""
        place = state.position_ned.tolist()
        target = goal.position_ned if self._target is None else self._target
        gained = self._before - math.dist(place, target) if self._target is not None else 0.0
        passed = self._task.passed - self._passed
        self._target, self._passed = goal.position_ned, self._task.passed
        self._before = math.dist(place, goal.position_ned)
        return Outcome(gained + _PASSED * passed, self._task.is_done)


class LandingReward(WaypointReward):
    """Metres by which the vehicle has come nearer to the place, and a reward for the touch-down, which ends the task.

    It is 10 exp(-d) with the horizontal distance d (m), less 10 for each m/s of vertical speed beyond 0.5 m/s.
    """

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._sink = 0.0

    def of(self, state: VehicleState, goal: Goal) -> Outcome:
        """Progress since the last decision; done once the vehicle is on the ground."""
        reward = super().of(state, goal).reward
        north, east, down = (
            one - other for one, other in zip(state.position_ned.tolist(), goal.position_ned, strict=True)
        )
        sink, self._sink = self._sink, abs(float(state.velocity_body[2]))
        if down < -_STANDING:
            return Outcome(reward)
        # The speed before this decision, as the ground may have stopped the vehicle since.
        return Outcome(reward + _TOUCH_DOWN * (math.exp(-math.hypot(north, east)) - max(0.0, sink - _GENTLE)), True)


REWARDS: dict[str, type[Reward]] = {
    "hover": HoldReward,
    "waypoints": WaypointReward,
    "path": HoldReward,
    "landing": LandingReward,
    "depth_heading": DepthReward,
}
"""Rewards by task."""


def unrest(action: Array, before: Array) -> float:
    """Part of the reward for a change of the action (m,): -0.05 times the mean square of the differences."""
    return float(unrests(action[np.newaxis], before[np.newaxis])[0])


def unrests(actions: Array, before: Array) -> Any:
    """`unrest` (n,) of several vehicles, for their actions (n, m)."""
    return -_UNREST * np.mean(np.square(actions - before), axis=1, dtype=np.float64)

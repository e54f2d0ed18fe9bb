"""Lanes: vehicles of a vectorised environment that fly to their next decisions in one call of compiled code.

The chain of each vehicle's pipeline pauses where an observation waits for an action (`step/compiled_steps.py`). If a
decision depends only on the true state and on a goal that stays, nothing else is left to Python: the actions of all
vehicles become commands in the memory of their chains, one call runs the chains to the next pause, and the observations
and rewards are computed from the states, which are rows of one array. A flight is the same as that of a single
environment, bit for bit. A vehicle for which Python has something else to do is flown by its own pipeline until its
next decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.autopilot.held_goal import DISTANCE, HELD, JUDGED, TILT, judge_holds
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import NEVER_NS
from rosflight_py_sim.kernels.jit import run_chains
from rosflight_py_sim.learning.environment import PolicyEnv
from rosflight_py_sim.learning.rewards import HoldReward, unrests
from rosflight_py_sim.learning.world import Memory
from rosflight_py_sim.parts.policy import OBSERVED, Array, action_of, observe_lanes
from rosflight_py_sim.parts.policy_autopilot import write_commands
from rosflight_py_sim.step.compiled_steps import CompiledSteps
from rosflight_py_sim.step.vehicle_state import TRUTH_SIZE

_ACTION, _COMMAND, _GOAL = 4, 12, 10


class Decided(NamedTuple):
    """Outcome of decisions.

    Attributes:
        is_going: whether the decision has been taken with those of others, and the episode goes on (n,).
        rewards: of these lanes (n,).
        distances: of these lanes from their goals, m (n,).
        before: the actions before (n, 4).
    """

    is_going: NDArray[np.bool_]
    rewards: NDArray[np.float64]
    distances: NDArray[np.float64]
    before: Array


class Lanes:
    """Memory and chains of several vehicles.

    Attributes:
        observations: the last observations (n, 17 + 4).
    """

    def __init__(self, count: int) -> None:
        """Reserve the memory of `count` vehicles."""
        self.envs: Sequence[PolicyEnv] = ()
        self.observations = np.zeros((count, OBSERVED + _ACTION), dtype=np.float32)
        self._actions = np.zeros((count, _ACTION), dtype=np.float32)
        self._truths, self._commands = np.zeros((count, TRUTH_SIZE)), np.zeros((count, _COMMAND))
        self._goals, self._scales = np.zeros((count, _GOAL)), np.ones((count, _ACTION - 1))
        self._motion, self._observed = np.zeros(13), np.zeros((count, OBSERVED + _ACTION))
        self._judged = np.zeros((count, JUDGED))
        self._pauses, self._starts_ns, self._times_ns = np.zeros((3, count), dtype=np.int64)
        self._steps: list[CompiledSteps | None] = [None] * count

    def memory(self, lane: int) -> Memory:
        """Memory of one vehicle."""
        return Memory(self._truths[lane], self._commands[lane], self._actions[lane])

    def admit(self, lane: int) -> None:
        """Find out whether the next decision of a lane can be taken with those of others, after one by Python."""
        env, self._steps[lane] = self.envs[lane], None
        world = env.world
        compiled, seat = world.pipeline.compiled, world.seat
        if compiled is None or not compiled.is_suspended or not seat.is_waiting or seat.goal is None:
            return
        scales = seat.steady_scales()
        if scales is None or env.reward_type is not HoldReward:
            return
        self._steps[lane], self._pauses[lane], self._starts_ns[lane] = compiled, compiled.at, env.start_ns
        self._times_ns[lane] = compiled.time.time_ns
        self._scales[lane], self._goals[lane] = scales, seat.goal.numbers

    @property
    def ready(self) -> NDArray[np.bool_]:
        """Whether the next decision of each lane can be taken with those of others (n,)."""
        return np.array([one is not None for one in self._steps])

    def decide(self, lanes: NDArray[np.intp], actions: Any) -> Decided:
        """Perform actions, and fly until the next decisions.

        A lane whose episode ends, or may end, is left to its environment's `outcome`.

        Args:
            lanes: numbers of lanes that are ready (k,).
            actions: actions of all lanes (n, 4).

        Raises:
            PolicyError: an action is not allowed.
        """
        given = np.asarray(actions, dtype=np.float32)
        if not np.isfinite(given[lanes]).all():
            for lane in lanes:
                action_of(given[lane], _ACTION, "given")
        before = self._actions.copy()
        self._actions[lanes] = np.clip(given[lanes], np.float32(-1.0), np.float32(1.0))
        write_commands(self._actions.astype(np.float64), self._scales, self._commands)
        off = self._fly(lanes)
        observe_lanes(self._truths, self._goals, self._actions.astype(np.float64), self._motion, self._observed)
        self.observations[lanes] = self._observed[lanes]
        judge_holds(self._truths, self._goals, self._judged)
        going = self._going(lanes)
        going[off] = False
        for lane in lanes[~going[lanes]].tolist():
            world = self.envs[lane].world
            if lane not in off:
                world.read_state()
                world.seat.observation = self.observations[lane].copy()
            self.observations[lane] = world.seat.observation
        rewards = self._judged[:, HELD] + unrests(self._actions, before)
        return Decided(going, rewards, self._judged[:, DISTANCE], before)

    def _fly(self, lanes: NDArray[np.intp]) -> list[int]:
        """Fly until the next decisions; return the lanes that Python had to fly."""
        steps = [one for one in (self._steps[lane] for lane in lanes.tolist()) if one is not None]
        for one in steps:
            one.time.until_ns = NEVER_NS
        at, status = self._pauses[lanes] + 1, np.zeros(len(lanes), dtype=np.int64)
        run_chains([one.chain for one in steps], at, status)
        off: list[int] = []
        for number in np.flatnonzero(at != self._pauses[lanes]).tolist():
            lane = int(lanes[number])
            index, at_status = steps[number].pass_closed(int(at[number]), int(status[number]))
            if index == self._pauses[lane]:
                continue
            world = self.envs[lane].world
            world.seat.is_waiting = False
            world.go_on(partial(world.pipeline.arrive, index, at_status, int(self._times_ns[lane])))
            off.append(lane)
        self._times_ns[lanes] = [one.time.time_ns for one in steps]
        return off

    def _going(self, lanes: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the episode of each lane goes on for certain (n,)."""
        episodes, judged = self.envs[0].episodes, self._judged
        step_ns = next(one.time.step_ns for one in self._steps if one is not None)
        elapsed_s = (self._times_ns + step_ns - self._starts_ns) / NANOSECONDS
        is_near = (judged[:, DISTANCE] <= episodes.farthest_m) & (-self._truths[:, 2] >= episodes.lowest_m)
        is_going = is_near & (judged[:, TILT] <= 1.0) & (elapsed_s < episodes.time_limit_s)
        chosen = np.zeros(len(is_going), dtype=np.bool_)
        chosen[lanes] = is_going[lanes]
        return chosen

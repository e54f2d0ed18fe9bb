"""Gymnasium environment: one vehicle that a policy flies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rosflight_py_sim.autopilot.held_goal import tilt_of
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.learning.episodes import Episodes, read_episodes
from rosflight_py_sim.learning.rewards import CRASH, REWARDS, unrest
from rosflight_py_sim.learning.world import Memory, World
from rosflight_py_sim.parts.policy import Array
from rosflight_py_sim.physics.truth_step import LARGEST_BODY_RATE, LARGEST_POSITION, LARGEST_VELOCITY

_LARGEST_SEED = 2**31


def observation_space(acts: int) -> Any:
    """Space of observations of a policy with `acts` actions; the state is bounded: beyond, it counts as diverged."""
    # The length of a vector whose components are all at their limit.
    place, speed = 2.0 * LARGEST_POSITION, 2.0 * LARGEST_VELOCITY
    limits = [(place, 3), (speed, 3), (place, 3), (1.0, 3), (LARGEST_BODY_RATE, 3), (1.0, 2), (1.0, acts)]
    # A little more, because unit vectors and sines are rounded.
    most = [1.0001 * limit for limit, count in limits for _ in range(count)]
    high = np.array(most, dtype=np.float32)
    return spaces.Box(-high, high, dtype=np.float32)


class PolicyEnv(gymnasium.Env[Array, Array]):
    """One vehicle in a pipeline; each step performs one decision of the policy.

    `reset(seed=S)` begins episode 0 of the root seed S, each further `reset()` the next one: parameters, start, noise,
    turbulence and failures of an episode depend only on the root seed and its number. `options` of `reset` may be
    `{"seed": S, "number": N}`, which selects an episode.

    `info` contains `seed` and `number`, which determine the episode, `distance` (m) from the goal, `passed` goals,
    `is_success` once the task is done, and after an episode that ended out of bounds the reason, `crash`.

    Attributes:
        start_ns: time of the first observation, ns.
        reward_type: class of the reward.
        episodes: definition of the episodes.
        world: the vehicle.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (declared so by Gymnasium)

    def __init__(
        self,
        environment: str | Episodes,
        render_mode: str | None = None,
        *,
        memory: Memory | None = None,
        **options: Any,
    ) -> None:
        """Define the episodes, and build the vehicle of the first one.

        Args:
            environment: name of an environment of this package, the path of a file of your own, or episodes that have
                been read, options included.
            render_mode: only None.
            memory: memory of the vehicle's decisions; None: its own.
            options: values with the keys of the file, which override it.

        Raises:
            ParameterError: a file or an option is invalid; the text names file, line and key.
            TypeError: a render_mode is given.
        """
        if render_mode is not None:
            # Libraries that ask for a render_mode first take this type of error for an answer.
            raise TypeError(f"render_mode '{render_mode}' given; allowed: None, because the node graph shows flights")
        if isinstance(environment, Episodes) and options:
            raise ParameterError(f"options {sorted(options)} given with episodes that have been read; allowed: none")
        self.episodes = environment if isinstance(environment, Episodes) else read_episodes(environment, options)
        self.world = World(memory=memory)
        self._root, self._number = 0, -1
        self._has_root = False
        self.world.reset(self.episodes.scenario(0, 0))
        acts = self.world.seat.action_size
        self.observation_space = observation_space(acts)
        self.action_space = spaces.Box(-1.0, 1.0, (acts,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin an episode.

        Raises:
            ParameterError: an option is not allowed, or the drawn parameters do not fit together.
        """
        super().reset(seed=seed)
        chosen = dict(options or {})
        if seed is not None:
            self._root, self._number = seed, -1
        elif not self._has_root:
            self._root = int(self.np_random.integers(_LARGEST_SEED))
        self._has_root = True
        self._root = int(chosen.pop("seed", self._root))
        self._number = int(chosen.pop("number", self._number + 1))
        if chosen:
            raise ParameterError(f"options {sorted(chosen)} of reset given; allowed: seed, number")
        world = self.world
        observation = world.reset(self.episodes.scenario(self._root, self._number))
        seat = world.seat
        self.reward_type = REWARDS[str(seat.values["task"])]
        self._reward = self.reward_type(seat.task)
        assert seat.goal is not None
        self._reward.of(world.state, seat.goal)
        self.start_ns = world.state.time_ns
        return observation, self._info()

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Perform a decision, and fly until the next one.

        Raises:
            PolicyError: the action is not allowed.
        """
        before = self.world.seat.last_action.copy()
        observation = self.world.step(action)
        return observation, *self.outcome(before)

    def outcome(self, before: Array) -> tuple[float, bool, bool, dict[str, Any]]:
        """Reward, end and info of the last decision, given the action of the one before it (m,)."""
        world = self.world
        goal = world.seat.goal
        assert goal is not None
        reward, is_done = self._reward.of(world.state, goal)
        reward += unrest(world.seat.last_action, before)
        crash = "" if is_done else self._crash()
        info = self._info()
        if crash:
            reward, info["crash"] = reward + CRASH, crash
        if is_done or crash:
            info["is_success"] = is_done
        elapsed_s = (world.state.time_ns - self.start_ns) / NANOSECONDS
        is_over = is_done or bool(crash)
        return reward, is_over, not is_over and elapsed_s >= self.episodes.time_limit_s, info

    def write_parameters(self, file: str | Path) -> None:
        """Write a ROS parameter file with which the node graph flies the present episode; it lacks the policy.

        The graph also needs the `parameter_files` of the environment, before this file.

        Raises:
            OSError: the file cannot be written.
        """
        Path(file).write_text(self.episodes.parameters(self._root, max(self._number, 0)), encoding="utf-8")

    def _crash(self) -> str:
        """Why the episode ends out of bounds; empty if it does not."""
        world, episodes = self.world, self.episodes
        state, goal = world.state, world.seat.goal
        assert goal is not None
        if world.diverged:
            return "the state has diverged"
        distance = self._reward.distance(state, goal)
        if distance > episodes.farthest_m:
            return f"{distance:.2f} m from the goal"
        if -state.position_ned[2] < episodes.lowest_m:
            return f"{-state.position_ned[2]:.2f} m above the origin"
        if tilt_of(state.truth) > 1.0:
            return "upside down"
        return "the mission is over" if world.is_over else ""

    @property
    def episode(self) -> tuple[int, int]:
        """Root seed and number of the present episode."""
        return self._root, self._number

    def _info(self) -> dict[str, Any]:
        world = self.world
        goal = world.seat.goal
        assert goal is not None
        distance = self._reward.distance(world.state, goal)
        return {"seed": self._root, "number": self._number, "distance": distance, "passed": world.seat.task.passed}

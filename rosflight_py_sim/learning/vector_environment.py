"""Vectorised environment: several vehicles of one environment, which fly in one call of compiled code."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from rosflight_py_sim.learning.environment import PolicyEnv
from rosflight_py_sim.learning.episodes import read_episodes
from rosflight_py_sim.learning.lanes import Lanes


class PolicyVectorEnv(SyncVectorEnv):
    """Environments that share one definition, with each of Gymnasium's autoresets.

    Decisions from the true state, with a goal that stays and the actions `attitude` or `rates`, are taken together
    (`Lanes`); other environments are stepped one after the other. `reset(seed=S)` begins episode 0 of the root seed S +
    k in environment k. Each lane gives the same results as a single environment.
    """

    def __init__(
        self,
        environment: str,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """Define the episodes, once, and build the vehicles.

        Args:
            environment: as for PolicyEnv.
            num_envs: number of vehicles.
            autoreset_mode: when a new episode begins after the end of one: in the next step, in the same step, or only
                by a call of `reset` (Disabled).
            render_mode: only None.
            options: as for PolicyEnv.

        Raises:
            ParameterError: a file or an option is invalid; the text names file, line and key.
        """
        episodes = read_episodes(environment, options)
        self._lanes = Lanes(num_envs)
        self._roots, self._numbers = np.zeros((2, num_envs), dtype=int)
        make = [partial(PolicyEnv, episodes, render_mode, memory=self._lanes.memory(lane)) for lane in range(num_envs)]
        super().__init__(make, autoreset_mode=autoreset_mode)
        self._policies = cast("list[PolicyEnv]", self.envs)
        self._lanes.envs = self._policies

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        """Begin episodes; as for PolicyEnv, and with the option `reset_mask` of Gymnasium."""
        self._env_obs = [*np.copy(self._observations)]
        observations, infos = super().reset(**given)
        for lane in range(self.num_envs):
            self._admit(lane)
        return observations, infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Perform a decision of each environment, and fly until the next one.

        Raises:
            PolicyError: an action is not allowed.
            RuntimeError: an episode has ended, and the mode is Disabled.
        """
        ended = self._autoreset_envs
        if self.autoreset_mode is AutoresetMode.DISABLED and ended.any():
            raise RuntimeError(f"episodes {np.flatnonzero(ended).tolist()} have ended: call reset with a reset_mask")
        resets = ended if self.autoreset_mode is AutoresetMode.NEXT_STEP else np.zeros_like(ended)
        infos: dict[str, Any] = {}
        together = self._lanes.ready & ~resets
        is_going = np.zeros_like(together)
        if together.any():
            decided = self._lanes.decide(np.flatnonzero(together), actions)
            is_going = decided.is_going
            self._observations[is_going] = self._lanes.observations[is_going]
            self._rewards[is_going] = decided.rewards[is_going]
            self._terminations[is_going] = self._truncations[is_going] = False
            self._add_infos(infos, is_going, decided.distances)
        for lane in np.flatnonzero(~is_going).tolist():
            env = self._policies[lane]
            if resets[lane]:
                observation, info = env.reset()
                reward, is_done, is_cut = 0.0, False, False
            elif together[lane]:
                observation = self._lanes.observations[lane]
                reward, is_done, is_cut, info = env.outcome(decided.before[lane])
            else:
                observation, reward, is_done, is_cut, info = env.step(actions[lane])
            self._rewards[lane], self._terminations[lane], self._truncations[lane] = reward, is_done, is_cut
            if self.autoreset_mode is AutoresetMode.SAME_STEP and (is_done or is_cut):
                final = {"final_obs": observation, "final_info": info}
                infos = self._add_info(infos, final, lane)
                observation, info = env.reset()
            self._observations[lane] = observation
            self._admit(lane)
            infos = self._add_info(infos, info, lane)
        self._autoreset_envs = self._terminations | self._truncations
        return (
            np.copy(self._observations),
            np.copy(self._rewards),
            np.copy(self._terminations),
            np.copy(self._truncations),
            infos,
        )

    def _admit(self, lane: int) -> None:
        self._lanes.admit(lane)
        self._roots[lane], self._numbers[lane] = self._policies[lane].episode

    def _add_infos(self, infos: dict[str, Any], lanes: NDArray[np.bool_], distances: NDArray[np.float64]) -> None:
        """Add the infos of lanes whose episodes go on, as `_add_info` does."""
        zeros = np.zeros(self.num_envs, dtype=int)
        values = {"seed": self._roots, "number": self._numbers, "distance": distances, "passed": zeros}
        for key, value in values.items():
            infos[key], infos[f"_{key}"] = np.where(lanes, value, 0), lanes.copy()

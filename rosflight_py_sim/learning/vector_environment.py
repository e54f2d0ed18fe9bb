"""Vectorised environment: several vehicles of one environment, each in a world of its own."""

from __future__ import annotations

from functools import partial
from typing import Any

from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rosflight_py_sim.learning.environment import PolicyEnv
from rosflight_py_sim.learning.episodes import read_episodes


class PolicyVectorEnv(SyncVectorEnv):
    """Environments that share one definition and are stepped one after the other, with each of Gymnasium's autoresets.

    `reset(seed=S)` begins episode 0 of the root seed S + k in environment k.
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
        make = partial(PolicyEnv, episodes, render_mode)
        super().__init__([make] * num_envs, autoreset_mode=autoreset_mode)

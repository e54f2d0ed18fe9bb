"""Abstract part of a vehicle's dynamics, driven by a wrench."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.parts.truth import Truth
from rosflight_py_sim.step.ports import trigger
from rosflight_py_sim.step.topics import FORCES_AND_MOMENTS, Wrench

# Faster than an assignment to a slice.
_write: Callable[..., None] = Struct("6d").pack_into


class Dynamics(Truth):
    """Answers each wrench on sim/forces_and_moments with the truth state and the wind."""

    wrenches = trigger(FORCES_AND_MOMENTS, needed=True)

    def initialise(self) -> None:
        """Set the state before the first message."""
        super().initialise()
        self._wrench = np.zeros(6)

    @abstractmethod
    def apply_forces_and_torques(self, wrench: NDArray[np.float64], dt: float) -> None:
        """Advance the state by `dt` seconds under a constant wrench.

        Args:
            wrench: force (N) and moment (N m) in body axes, gravity and contact excluded, (6,).
            dt: s, greater than 0.

        Raises:
            StateDivergedError: the new state is not finite; the old one has been kept.
        """

    def move(self, driver: Wrench, dt: float) -> None:
        """Advance the state under the wrench."""
        _, (fx, fy, fz), (mx, my, mz) = driver
        _write(self._wrench, 0, fx, fy, fz, mx, my, mz)
        self.apply_forces_and_torques(self._wrench, dt)

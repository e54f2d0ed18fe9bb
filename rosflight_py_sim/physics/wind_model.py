"""Base classes of wind models, which are chosen by name and summed (`wind.py`)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import ParameterTable, Values
from rosflight_py_sim.kernels.chain import ChainLink
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.physics.rotations import rotate_to_inertial

Array: TypeAlias = NDArray[np.float64]

SLOWEST_AIRSPEED = 1.0
"""Smallest speed (m/s) at which gusts and turbulence pass a vehicle, for one that drifts with the mean wind."""

NO_ROTATION = np.zeros(3)
"""Angular velocity (3,) of air or water without rotational gusts, rad/s."""


class WindModel(ABC):
    """Velocity added to the wind at the vehicle; may depend on the vehicle's path through the air.

    A wind that depends only on position and time derives from `WindField`.

    Class attributes:
        PARAMETERS: parameters of the model. The dynamics nodes declare those of this package's models always, and those
            of another package's model if `wind_models` names it when the node starts.
        IS_CONSTANT: whether the velocity never changes; it is then added once.
        IS_MEAN: whether the velocity belongs to the mean wind, which sets the direction of gusts and turbulence.
    """

    PARAMETERS: ClassVar[ParameterTable] = ParameterTable()
    IS_CONSTANT: ClassVar[bool] = False
    IS_MEAN: ClassVar[bool] = False

    rates_body: Array | None = None
    """Angular velocity of the air at the vehicle, body axes, rad/s (3,), changed in place by `add`; None if the model
    has none."""

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        """Build the model.

        Args:
            values: parameters of the dynamics node.
            rng: the only source of random numbers; seeded from the node's `seed`.

        Raises:
            ParameterError: the values contradict each other.
        """
        super().__init__()

    @classmethod
    def is_switched_on(cls, values: Values) -> bool:
        """Whether the values select the model even if `wind_models` does not name it."""
        return False

    @classmethod  # noqa: B027 (not every model has such values)
    def check(cls, values: Values) -> None:
        """Check values against each other; called even while the model is off. By default do nothing.

        Raises:
            ParameterError: the values contradict each other.
        """

    @abstractmethod
    def add(self, wind_ned: Array, mean_ned: Array, truth: Array, dt: float) -> None:
        """Advance by a step and add the velocity at its end to `wind_ned`.

        Args:
            wind_ned: sum of the models so far, NED, m/s (3,); changed in place.
            mean_ned: mean wind at the vehicle, NED, m/s (3,); for a model with IS_MEAN the same array as `wind_ned`.
            truth: state of the vehicle at the end of the step (19,): see `physics`.
            dt: s; 0 in the first call, at the start of a simulation, which adds the velocity there.
        """

    def links(self, wind_ned: Array, mean_ned: Array, truth: Array, dt: float) -> Sequence[ChainLink] | None:
        """`add` for steps of `dt` as links of a chain, which work on the arrays by their memory; by default None."""
        return None

    def adopt(self, other: Any) -> None:  # noqa: B027 (not every model has a state)
        """Copy the state of a model of the same class with other parameters; by default do nothing."""


class WindField(WindModel):
    """Wind that is a function of position and time."""

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        """Start at time 0."""
        super().__init__(values, rng)
        self._time_s = 0.0

    @abstractmethod
    def velocity_ned(self, position_ned: Array, time_s: float) -> Sequence[float]:
        """Velocity of the air, north, east and down, m/s.

        Args:
            position_ned: position of the vehicle, m (3,).
            time_s: simulated time since the field was switched on, s.
        """

    def add(self, wind_ned: Array, mean_ned: Array, truth: Array, dt: float) -> None:
        """Add the velocity at the vehicle."""
        self._time_s += dt
        north, east, down = self.velocity_ned(truth[:3].copy(), self._time_s)
        wind_ned += (north, east, down)

    def adopt(self, other: WindField) -> None:
        """Copy the time of the other field."""
        self._time_s = other._time_s


@kernel
def airspeed_in(mean_ned: NDArray[np.float64], truth: NDArray[np.float64]) -> float:
    """Speed (m/s) of the vehicle through the mean wind, at least SLOWEST_AIRSPEED."""
    vn, ve, vd = rotate_to_inertial(truth[3], truth[4], truth[5], truth[6], truth[7], truth[8], truth[9])
    vn, ve, vd = vn - mean_ned[0], ve - mean_ned[1], vd - mean_ned[2]
    return max(SLOWEST_AIRSPEED, math.sqrt(vn * vn + ve * ve + vd * vd))

"""Steady-flight model of a vehicle for trim and linearisation: wrench, inputs and rigid body.

Any model that provides its wrench with all lags settled can be trimmed and linearised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Values, number
from rosflight_py_sim.physics.contact import ANCHOR_SIZE, Surface
from rosflight_py_sim.physics.earth import earth_of, flat_earth
from rosflight_py_sim.physics.inertia import inertia_matrix
from rosflight_py_sim.physics.rigid_body import derivative
from rosflight_py_sim.physics.truth_step import load_state, store_state

Array: TypeAlias = NDArray[np.float64]
SteadyWrench: TypeAlias = Callable[[Array, Array], Array]
"""(truth (19,), inputs (n,)) to the wrench (6,) in still air: N and N m in body axes, without gravity and contact."""


@dataclass(frozen=True)
class ModelInput:
    """One input of a vehicle: its range, and a start value for a search. Angles are in rad."""

    name: str
    minimum: float
    maximum: float
    start: float
    is_angle: bool = False


@dataclass(frozen=True)
class SteadyVehicle:
    """A vehicle for trim and linearisation.

    Attributes:
        model: its steady model.
        pulse_widths: function from the model's inputs to the pulse width (us) of each output in use.
    """

    model: SteadyModel
    pulse_widths: Callable[[Array], dict[int, float]]


class SteadyModel:
    """A vehicle in still air, for steady flight and small motions about it.

    `values` holds the mass, the inertia and the earth as DYNAMICS_PARAMETERS name them. The motion is that of
    `rigid_body.py`, without contact, over a flat earth with the gravity of the launch point.
    """

    def __init__(self, values: Values, inputs: Sequence[ModelInput], wrench: SteadyWrench) -> None:
        self.inputs = tuple(inputs)
        self.mass = number(values, "mass")
        self.gravity = earth_of(values).gravity
        inertia = inertia_matrix(values)
        self._wrench = wrench
        self._body = np.array([self.mass, *inertia.ravel(), *np.linalg.inv(inertia).ravel()])
        surface = Surface(stiffness=0.0, damping=0.0, friction=0.0, radius=0.0)
        self._nothing = (
            flat_earth(self.gravity),
            np.zeros(0),
            False,
            np.zeros((0, 4)),
            np.zeros((0, 9)),
            np.zeros((0, 0, ANCHOR_SIZE)),
            surface,
        )
        self._state, self._rate = np.zeros(13), np.zeros(13)

    def replaced(self, inputs: Sequence[ModelInput], wrench: SteadyWrench) -> SteadyModel:
        """The same rigid body with other inputs and another wrench."""
        other = copy(self)
        other.inputs, other._wrench = tuple(inputs), wrench
        other._state, other._rate = np.zeros(13), np.zeros(13)
        return other

    def wrench(self, truth: Array, inputs: Array) -> Array:
        """Copy of the model's wrench (6,) at `truth` (19,), whose accelerations are not used."""
        return np.array(self._wrench(truth, inputs), dtype=np.float64)

    def derivative(self, truth: Array, inputs: Array) -> Array:
        """d/dt (13,) of position, quaternion, velocity in NED axes and body rates; fills in truth[13:19]."""
        wrench = self.wrench(truth, inputs)
        load_state(truth, self._state)
        derivative(self._state, wrench, self._body, *self._nothing, self._rate)
        store_state(self._state, self._rate, truth)
        return self._rate.copy()

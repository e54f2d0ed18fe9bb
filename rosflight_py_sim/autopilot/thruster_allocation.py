"""Control allocation: thruster commands for a commanded force and moment."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rosflight_py_sim.ground.parameters import ParameterError

Array = npt.NDArray[np.float64]

SURGE, SWAY, HEAVE, YAW = range(4)

# Share of a commanded force that may be missing or appear on another axis before it counts as infeasible.
_EXACT = 1e-6


class Demand(NamedTuple):
    """Forces (N) and moment (N m) along body axes, forward, right, down."""

    surge: float
    sway: float
    heave: float
    yaw: float


class ThrusterAllocation:
    """Allocation of body forces and yaw moment to fixed thrusters, as commands from -1 to 1 of full thrust.

    With e_i the direction and r_i the position of thruster i, and T_i its full thrust, a command u gives

        tau = B u,    column i of B:  T_i (e_x, e_y, e_z, (r x e)_z)

    and the commands of minimum norm for tau are u = B^+ tau, B^+ the pseudo-inverse (T. Fossen, Handbook of Marine
    Craft Hydrodynamics and Motion Control, 2011, sec. 12.3.2, with the weights 1/T_i^2). Roll and pitch are
    left to the vehicle's righting moment; a symmetric pair of thrusters affects neither.

    Valid for thrust proportional to the command and equal in both directions; the outer loops compensate deviations.
    """

    def __init__(self, positions: npt.ArrayLike, directions: npt.ArrayLike, full_thrust: npt.ArrayLike) -> None:
        """Positions from the centre of gravity (n, 3), m, thrust directions (n, 3), full thrusts (n,), N.

        Raises:
            ParameterError: the thrusters cannot produce pure heave or pure yaw.
        """
        places = np.asarray(positions, dtype=np.float64).reshape(-1, 3)
        ways = np.asarray(directions, dtype=np.float64).reshape(-1, 3)
        ways = ways / np.linalg.norm(ways, axis=1, keepdims=True)
        moments = np.cross(places, ways)
        effect = np.vstack([ways.T, moments[:, 2]]) * np.asarray(full_thrust, dtype=np.float64)
        self._share: Array = np.linalg.pinv(effect)
        missing = np.abs(effect @ self._share - np.eye(4)).max(axis=0)
        self.reachable = tuple(bool(gap < _EXACT) for gap in missing)
        for axis, word in ((HEAVE, "down"), (YAW, "about the vertical axis")):
            if not self.reachable[axis]:
                raise ParameterError(
                    f"{len(places)} thrusters given that cannot push {word} alone; allowed: thrusters that can"
                )
        self.limits = Demand(
            *(1.0 / float(np.abs(self._share[:, axis]).max()) if self.reachable[axis] else 0.0 for axis in range(4))
        )
        """Largest force or moment along each axis, with none along the others."""

    def __call__(self, demand: Demand) -> Array:
        """Commands (n,) of the thrusters, each from -1 to 1.

        Heave and yaw have priority: both are scaled down together if infeasible; surge and sway are then scaled
        together to the remaining thrust.
        """
        steady = self._share[:, HEAVE] * demand.heave + self._share[:, YAW] * demand.yaw
        steady /= max(1.0, float(np.abs(steady).max()))
        pushing = self._share[:, SURGE] * demand.surge + self._share[:, SWAY] * demand.sway
        room = 1.0
        for held, push in zip(steady.tolist(), pushing.tolist(), strict=True):
            if abs(held + push) > 1.0:
                room = min(room, (math.copysign(1.0, push) - held) / push)
        return np.asarray(np.clip(steady + room * pushing, -1.0, 1.0))

"""Control allocation: thruster commands for a commanded force and moment."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.kernels.jit import kernel

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


@kernel
def allocate(share: Array, surge: float, sway: float, heave: float, yaw: float, commands: Array) -> None:
    """Write the commands (n,) of the thrusters, each from -1 to 1, for forces (N) and a moment (N m).

    `share` (n, 4) is the pseudo-inverse. Heave and yaw have priority: both are scaled down together if infeasible;
    surge and sway are then scaled together to the remaining thrust.
    """
    largest, room = 1.0, 1.0
    for i in range(len(commands)):
        commands[i] = share[i, HEAVE] * heave + share[i, YAW] * yaw
        largest = max(largest, abs(commands[i]))
    for i in range(len(commands)):
        commands[i] /= largest
        push = share[i, SURGE] * surge + share[i, SWAY] * sway
        if abs(commands[i] + push) > 1.0:
            room = min(room, (math.copysign(1.0, push) - commands[i]) / push)
    for i in range(len(commands)):
        push = share[i, SURGE] * surge + share[i, SWAY] * sway
        commands[i] = min(1.0, max(-1.0, commands[i] + room * push))


class ThrusterAllocation:
    """Allocation of body forces and yaw moment to fixed thrusters, as commands from -1 to 1 of full thrust.

    With e_i the direction and r_i the position of thruster i, and T_i its full thrust, a command u gives

        tau = B u,    column i of B:  T_i (e_x, e_y, e_z, (r x e)_z)

    and the commands of minimum norm for tau are u = B^+ tau, B^+ the pseudo-inverse (T. Fossen, Handbook of Marine
    Craft Hydrodynamics and Motion Control, 2011, sec. 12.3.2, with the weights 1/T_i^2). Roll and pitch are
    left to the vehicle's righting moment; a symmetric pair of thrusters affects neither.

    Valid for thrust proportional to the command and equal in both directions; the outer loops compensate deviations.

    Attributes:
        share: B^+ (n, 4).
        limits: largest force or moment along each axis, with none along the others.
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
        self.share: Array = np.ascontiguousarray(np.linalg.pinv(effect))
        missing = np.abs(effect @ self.share - np.eye(4)).max(axis=0)
        self.reachable = tuple(bool(gap < _EXACT) for gap in missing)
        for axis, word in ((HEAVE, "down"), (YAW, "about the vertical axis")):
            if not self.reachable[axis]:
                raise ParameterError(
                    f"{len(places)} thrusters given that cannot push {word} alone; allowed: thrusters that can"
                )
        self.limits = Demand(
            *(1.0 / float(np.abs(self.share[:, axis]).max()) if self.reachable[axis] else 0.0 for axis in range(4))
        )

    def __call__(self, demand: Demand) -> Array:
        """Commands (n,) of the thrusters, each from -1 to 1, as `allocate`."""
        commands = np.empty(len(self.share))
        allocate(self.share, demand.surge, demand.sway, demand.heave, demand.yaw, commands)
        return commands

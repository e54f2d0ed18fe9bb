"""Vehicle model of the hold controller, from the vehicle's parameters."""

from __future__ import annotations

import numpy as np

from rosflight_py_sim.autopilot.hold_controller import HeldBody
from rosflight_py_sim.autopilot.thruster_allocation import ThrusterAllocation
from rosflight_py_sim.ground.parameters import ParameterTable, Values, number
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS
from rosflight_py_sim.physics.hydrodynamics import DAMPING_PARAMETERS, added_mass, matrix_of
from rosflight_py_sim.physics.thrusters import (
    AXIS,
    FORWARD,
    PLACE,
    REVERSE,
    THRUSTER_PARAMETERS,
    thruster_numbers,
)

UNDERWATER_BODY_PARAMETERS = (
    ParameterTable(*(DYNAMICS_PARAMETERS[name] for name in ("mass", "Jzz", "added_mass")))
    + DAMPING_PARAMETERS
    + THRUSTER_PARAMETERS
)
"""Parameters of dynamics and of forces and moments used in the design of the loops."""

_SURGE, _HEAVE, _YAW = 0, 2, 5


class UnderwaterBody:
    """Mass, damping and thrusters of a vehicle.

    Attributes:
        held: mass and damping of vertical motion and of yaw; couplings with other motions are left out.
        surge_mass: mass with added mass of motion ahead, kg.
        surge_damping: its linear and quadratic damping, N s/m and N s^2/m^2.
        allocation: allocation of forces to shares of full thrust, which is the smaller of forward and reverse.
        thrusters: rows as in `thrusters.py`.
        full_thrust: full thrust (n,), N.
    """

    def __init__(self, values: Values) -> None:
        """`values` contains UNDERWATER_BODY_PARAMETERS.

        Raises:
            ParameterError: lists have a wrong length, or the thrusters cannot hold depth and yaw.
        """
        added = np.diag(added_mass(values))
        linear, quadratic = (np.diag(matrix_of(values, f"{name}_damping")) for name in ("linear", "quadratic"))
        self.held = HeldBody(
            heave_mass=number(values, "mass") + float(added[_HEAVE]),
            heave_damping=(float(linear[_HEAVE]), float(quadratic[_HEAVE])),
            yaw_inertia=number(values, "Jzz") + float(added[_YAW]),
            yaw_damping=(float(linear[_YAW]), float(quadratic[_YAW])),
        )
        self.surge_mass = number(values, "mass") + float(added[_SURGE])
        self.surge_damping = float(linear[_SURGE]), float(quadratic[_SURGE])
        self.thrusters = thruster_numbers(values)
        self.full_thrust = self.thrusters[:, [FORWARD, REVERSE]].min(axis=1)
        places, axes = self.thrusters[:, PLACE : PLACE + 3], self.thrusters[:, AXIS : AXIS + 3]
        self.allocation = ThrusterAllocation(places, axes, self.full_thrust)

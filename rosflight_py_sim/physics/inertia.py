"""Inertia parameters of a vehicle, and its inertia matrix."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.ground.remembered import remembered
from rosflight_py_sim.ground.shared_parameters import MASS

_moment = partial(Parameter, unit="kg m^2", minimum=1e-7, maximum=1e8, required=True)
_product = partial(Parameter, unit="kg m^2", minimum=-1e8, maximum=1e8)

INERTIA_PARAMETERS = ParameterTable(
    MASS,
    _moment("Jxx", 0.08, "Moment of inertia about the body x axis"),
    _moment("Jyy", 0.08, "Moment of inertia about the body y axis"),
    _moment("Jzz", 0.12, "Moment of inertia about the body z axis"),
    _product("Jxy", 0.0, "Element xy of the inertia matrix, used with the sign given"),
    _product("Jxz", 0.0, "Element xz of the inertia matrix, used with the sign given"),
    _product("Jyz", 0.0, "Element yz of the inertia matrix, used with the sign given"),
)

INERTIA = ("Jxx", "Jyy", "Jzz", "Jxy", "Jxz", "Jyz")
"""Names of the elements of the inertia matrix, kg m^2."""


@remembered
def inertia_matrix(values: Values) -> NDArray[np.float64]:
    """Inertia matrix (3, 3), kg m^2, from Jxx ... Jyz.

    Raises ParameterError if it is not positive definite. The triangle inequality of the principal moments is not
    enforced: published vehicles, including ROSflight's anaconda, violate it slightly.
    """
    xx, yy, zz, xy, xz, yz = (number(values, name) for name in INERTIA)
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    principal = np.linalg.eigvalsh(matrix)
    given = ", ".join(f"{name} {number(values, name):g}" for name in INERTIA)
    if not principal[0] > 0.0:
        raise ParameterError(
            f"parameters of inertia: {given} kg m^2 given; allowed: a positive definite matrix "
            f"(its smallest principal moment is {principal[0]:g})"
        )
    return matrix

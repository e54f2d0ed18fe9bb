"""Added mass and damping of a hull as matrices (6, 6) of the motions along and about the body axes.

Fossen, Handbook of Marine Craft Hydrodynamics and Motion Control (Wiley, 2011): added mass A in section 6.3.1, damping
in section 6.4. Reference point is the centre of mass. Units of the elements follow from force (N) and moment (N m) over
the motion: for added mass kg, kg m and kg m^2, for linear damping N s/m, N s, N m s/m and N m s.

At the surface A is scaled by the submerged share s of the hull. The mass matrix M + s A is solved at any share without
an inversion in the kernel: the modes t_k of the generalised eigenvalue problem A t = e M t, normalised to t' M t = 1,
diagonalise both matrices (Golub and Van Loan, Matrix Computations, 4th ed., section 8.7), so

    (M + s A)^-1 f = sum_k t_k (t_k . f) / (1 + s e_k)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.ground.remembered import remembered
from rosflight_py_sim.physics.immersion import HULL_PARAMETERS, hull_numbers
from rosflight_py_sim.physics.inertia import inertia_matrix

_FORM = "6 numbers, along and about the body axes, or all 36 elements of the matrix row by row"

ADDED_MASS_PARAMETER = Parameter(
    "added_mass", [0.0] * 6, f"Added mass (kg, kg m, kg m^2): {_FORM}", minimum=-1e8, maximum=1e8
)

DAMPING_PARAMETERS = ParameterTable(
    Parameter(
        "linear_damping",
        [0.0] * 6,
        f"Linear damping (N s/m, N s, N m s): {_FORM}",
        minimum=-1e6,
        maximum=1e6,
        required=True,
    ),
    Parameter(
        "quadratic_damping",
        [0.0] * 6,
        f"Quadratic damping (N s^2/m^2, N s^2/m, N s^2, N m s^2), each element by the square of its column's velocity: "
        f"{_FORM}",
        minimum=-1e6,
        maximum=1e6,
        required=True,
    ),
)

WATER_PARAMETERS = HULL_PARAMETERS + ParameterTable(ADDED_MASS_PARAMETER)

HULL, WATER_CURRENT, SEA, ADDED_MASS, MODES, RATIOS = 0, 6, 9, 19, 55, 91
"""First elements of the parts of the array `water` of the kernels: hull (6) of `immersion.py`, velocity of the water
NED (3), m/s, sea (10) of `waves.py`, rows of the added mass (36), modes (36) one after the other, and their ratios e
(6).
"""


def matrix_of(values: Values, name: str) -> NDArray[np.float64]:
    """Matrix (6, 6) that a parameter gives by its diagonal or by all elements, row by row.

    Raises:
        ParameterError: the number of elements is neither 6 nor 36, or one on the diagonal is negative.
    """
    given = np.array(values[name], dtype=np.float64)
    if given.size not in (6, 36):
        raise ParameterError(
            f"parameter '{name}': {given.size} numbers given; allowed: 6, the diagonal of the matrix, or 36, the "
            "matrix row by row"
        )
    matrix = np.diag(given) if given.size == 6 else given.reshape(6, 6)
    if np.any(np.diag(matrix) < 0.0):
        raise ParameterError(
            f"parameter '{name}': {np.diag(matrix).tolist()} given on the diagonal; allowed: each at least 0"
        )
    return matrix


def added_mass(values: Values) -> NDArray[np.float64]:
    """Added mass (6, 6), exactly symmetric.

    Raises:
        ParameterError: as `matrix_of` does, or the matrix is not symmetric and positive semidefinite (Fossen,
            property 6.2: otherwise the energy of the water could become negative).
    """
    matrix = matrix_of(values, "added_mass")
    tolerance = 1e-9 * float(np.max(np.abs(matrix)))
    row, column = np.unravel_index(np.argmax(np.abs(matrix - matrix.T)), (6, 6))
    if abs(matrix[row, column] - matrix[column, row]) > tolerance:
        raise ParameterError(
            f"parameter 'added_mass': {matrix[row, column]:g} given in row {row + 1}, column {column + 1}, and "
            f"{matrix[column, row]:g} in row {column + 1}, column {row + 1}; allowed: a symmetric matrix"
        )
    matrix = 0.5 * (matrix + matrix.T)
    smallest = float(np.linalg.eigvalsh(matrix)[0])
    if smallest < -tolerance:
        raise ParameterError(
            f"parameter 'added_mass': a matrix with the eigenvalue {smallest:g} given; allowed: a positive "
            "semidefinite matrix, whose eigenvalues are at least 0"
        )
    return matrix


@remembered
def water_numbers(values: Values) -> NDArray[np.float64]:
    """The array `water` of the kernels, in still water; empty without added mass.

    `values` contains WATER_PARAMETERS and INERTIA_PARAMETERS. Raises ParameterError as `added_mass` and
    `inertia_matrix` do.
    """
    added = added_mass(values)
    if not np.any(added):
        return np.zeros(0)
    mass = np.zeros((6, 6))
    mass[:3, :3] = number(values, "mass") * np.eye(3)
    mass[3:, 3:] = inertia_matrix(values)
    root = np.linalg.inv(np.linalg.cholesky(mass))
    ratios, turn = np.linalg.eigh(root @ added @ root.T)
    modes = turn.T @ root
    calm = np.zeros(ADDED_MASS - WATER_CURRENT)
    return np.array([*hull_numbers(values), *calm, *added.ravel(), *modes.ravel(), *np.maximum(ratios, 0.0)])

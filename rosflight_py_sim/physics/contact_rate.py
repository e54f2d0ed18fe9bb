"""Rate of the fastest contact motion, and its upper limit for integration."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import ParameterError, Values, number
from rosflight_py_sim.ground.remembered import remembered
from rosflight_py_sim.physics.contact_points import CONTACT_PARAMETERS, contact_points
from rosflight_py_sim.physics.inertia import INERTIA, INERTIA_PARAMETERS, inertia_matrix

LARGEST_CONTACT_RATE = 1e5
"""1/s. Integration steps last 1/rate, so this is also the number of steps for one second of contact: a fifth of a
second of computing with eight points and compiled kernels. The longest step of the simulation, 0.02 s, takes 2000
integration steps. Typical vehicles on the ground have rates of 500 to 2000, a nano quadrotor with wide feet 40,000."""

_PARAMETERS = INERTIA_PARAMETERS + CONTACT_PARAMETERS

_HEAVIEST = 1e9
_ENDS = (
    *((name, _HEAVIEST) for name in INERTIA[:3]),
    ("mass", 1e-9),
    ("contact_frequency", CONTACT_PARAMETERS["contact_frequency"].minimum),
    ("contact_damping_ratio", 1e-3),
)
"""Parameters that affect the rate, each with the limit of its range that lowers the rate."""


def stiffness_and_damping(values: Values) -> tuple[float, float]:
    """Stiffness (N/m) and damping (N s/m) of each point, from the vehicle's vertical oscillation on four points."""
    mass = number(values, "mass")
    stiffness = mass * (2.0 * math.pi * number(values, "contact_frequency")) ** 2 / 4.0
    return stiffness, 2.0 * number(values, "contact_damping_ratio") * math.sqrt(stiffness * mass / 4.0)


@remembered
def fastest_contact_rate(values: Values) -> float:
    """Largest rate (1/s) of the linear motion with every contact point on the ground, which integration must resolve.

    The larger of the highest natural frequency sqrt(lambda) and the fastest damping rate lambda c / k, with lambda the
    largest eigenvalue of the stiffness k against the mass matrix (6 x 6). Fewer points on the ground, and added mass,
    only lower it. 0 without contact points.

    Raises ParameterError if the rate exceeds LARGEST_CONTACT_RATE; the text suggests acceptable values.
    """
    points = contact_points(values)
    if len(points) == 0:
        return 0.0
    jacobians = _jacobians(points)
    with np.errstate(all="ignore"):
        geometry = np.einsum("nki,nkj->ij", jacobians, jacobians)
        rate = _rate(values, geometry)
        if rate <= LARGEST_CONTACT_RATE:
            return rate
        allowed = [
            *_sufficient_changes(values, geometry),
            "fewer contact_points or points closer to the centre of mass",
        ]
    reach = float(np.max(np.linalg.norm(points[:, :3], axis=1)))
    raise ParameterError(
        f"parameters {_PARAMETERS.given(values, [name for name, _ in _ENDS])} and {len(points)} contact_points up to "
        f"{reach:g} m from the centre of mass given: contact needs {rate:.3g} integration steps per simulated second; "
        f"allowed: at most {LARGEST_CONTACT_RATE:g}, for instance with {', or '.join(allowed)}"
    )


def _jacobians(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Jacobian (n, 3, 6) of each point's velocity with respect to velocity and rates of the body, in body axes."""
    x, y, z = points[:, 0], points[:, 1], points[:, 2]
    jacobians = np.zeros((len(points), 3, 6))
    jacobians[:, :, :3] = np.eye(3)
    jacobians[:, 0, 4], jacobians[:, 0, 5] = z, -y
    jacobians[:, 1, 3], jacobians[:, 1, 5] = -z, x
    jacobians[:, 2, 3], jacobians[:, 2, 4] = y, -x
    return jacobians


def _rate(values: Values, geometry: NDArray[np.float64]) -> float:
    """Rate as in `fastest_contact_rate`, from the sum of the points' J^T J (6, 6); infinite if not computable."""
    stiffness, damping = stiffness_and_damping(values)
    inverse_mass = np.zeros((6, 6))
    try:
        inverse_mass[:3, :3] = np.eye(3) / number(values, "mass")
        inverse_mass[3:, 3:] = np.linalg.inv(inertia_matrix(values))
        largest = stiffness * float(np.max(np.linalg.eigvals(inverse_mass @ geometry).real))
        rate = max(math.sqrt(largest), largest * damping / stiffness)
    except (np.linalg.LinAlgError, ArithmeticError, ValueError):
        return math.inf
    return rate if math.isfinite(rate) else math.inf


def _sufficient_changes(values: Values, geometry: NDArray[np.float64]) -> Iterator[str]:
    """Single-parameter changes that bring the rate within its limit; all of the inertia if no one element suffices."""

    def fits(name: str, value: float) -> bool:
        return _rate({**values, name: value}, geometry) <= LARGEST_CONTACT_RATE

    def fits_with_inertia(factor: float) -> bool:
        larger = {name: factor * number(values, name) for name in INERTIA}
        return _rate({**values, **larger}, geometry) <= LARGEST_CONTACT_RATE

    one_suffices = False
    for name, end in _ENDS:
        given = number(values, name)
        value = _nearest(partial(fits, name), given, end)
        if value is not None:
            one_suffices |= name in INERTIA
            yield f"{name} at {'least' if end > given else 'most'} {_PARAMETERS[name].text_of(value)}"
    if not one_suffices:
        least = min(number(values, name) for name in INERTIA[:3])
        factor = _nearest(fits_with_inertia, 1.0, _HEAVIEST / least)
        if factor is not None:
            yield f"every element of the inertia matrix at least {factor:.3g} times as large"


def _nearest(fits: Callable[[float], bool], given: float, end: float) -> float | None:
    """First accepted value with three significant digits on the way from `given` to `end`.

    None if `end` is not accepted. Every value between an accepted one and `end` must be accepted.
    """
    if given <= 0.0 or not fits(end):
        return None
    near, far = math.log(given), math.log(end)
    for _ in range(60):
        middle = 0.5 * (near + far)
        near, far = (near, middle) if fits(math.exp(middle)) else (middle, far)
    value = math.exp(far)
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return unit * (math.ceil(value / unit) if end > given else math.floor(value / unit))

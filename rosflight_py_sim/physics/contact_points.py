"""Contact points of a vehicle, and the check for overlap with a solid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values
from rosflight_py_sim.ground.shared_parameters import GROUND_ALTITUDE
from rosflight_py_sim.physics.contact import (
    DOES_NOT_ROLL,
    POINT_SIZE,
    ROLLING,
    STEERING_COSINE,
    deepest_penetration,
    separates,
)
from rosflight_py_sim.physics.immersion import hull_numbers
from rosflight_py_sim.physics.solids import PLANE, Solids

FEET_AND_ROTOR_TIPS: list[float] = [
    *(0.2, 0.2, 0.1, 0.2, -0.2, 0.1, -0.2, 0.2, 0.1, -0.2, -0.2, 0.1),
    *(0.2, 0.2, -0.1, 0.2, -0.2, -0.1, -0.2, 0.2, -0.1, -0.2, -0.2, -0.1),
]

CONTACT_PARAMETERS = ParameterTable(
    Parameter("ground_contact", True, "Contact with ground, walls and objects"),
    GROUND_ALTITUDE,
    Parameter(
        "contact_points",
        FEET_AND_ROTOR_TIPS,
        "Contact points, x y z each, in body axes from the centre of mass; if empty, corners and face centres of the "
        "box given by hull_size; the default is a small multirotor's four feet and four rotor tips",
        "m",
        minimum=-1000.0,
        maximum=1000.0,
    ),
    Parameter(
        "contact_frequency",
        20.0,
        "Stiffness of each point, as the natural frequency of the vehicle bouncing on four of them",
        "Hz",
        minimum=1.0,
        maximum=200.0,
    ),
    Parameter(
        "contact_damping_ratio",
        0.7,
        "Damping of each point, as the damping ratio of that bounce",
        minimum=0.0,
        maximum=2.0,
    ),
    Parameter("contact_friction", 0.6, "Coulomb friction coefficient of the contact points", minimum=0.0, maximum=10.0),
    Parameter(
        "contact_rolling_friction",
        [],
        "Rolling friction coefficient of each point's wheel; points beyond the end of the list have no wheel",
        minimum=0.0,
        maximum=10.0,
    ),
)


def contact_points(values: Values) -> NDArray[np.float64]:
    """Contact points (n, 6) of `contact.py`, none without ground contact; ParameterError for an invalid list."""
    if not values["ground_contact"]:
        return np.zeros((0, POINT_SIZE))
    flat = np.array(values["contact_points"], dtype=np.float64)
    hull = hull_numbers(values)
    if len(flat) == 0 and np.all(hull[:3] > 0.0):
        places = np.array(list(np.ndindex(3, 3, 3))) - 1.0
        off_middle = np.count_nonzero(places, axis=1)
        flat = (hull[3:] + places[(off_middle == 3) | (off_middle == 1)] * 0.5 * hull[:3]).ravel()
    if len(flat) == 0 or len(flat) % 3 != 0:
        raise ParameterError(
            f"parameter 'contact_points': {len(flat)} numbers given; allowed: x y z for each point, at least one point"
        )
    points = np.zeros((len(flat) // 3, POINT_SIZE))
    points[:, :3] = flat.reshape(-1, 3)
    rolling = np.array(values["contact_rolling_friction"], dtype=np.float64)
    if len(rolling) > len(points):
        raise ParameterError(
            f"parameter 'contact_rolling_friction': {len(rolling)} numbers given; allowed: at most {len(points)}, one "
            "for each of contact_points"
        )
    points[:, ROLLING] = DOES_NOT_ROLL
    points[: len(rolling), ROLLING] = rolling
    points[:, STEERING_COSINE] = 1.0
    return points


def _filled(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (n, 3): the centre of mass and the contact points (m, 6), and a grid in the box around the latter."""
    low, high = corners[1:, :3].min(axis=0), corners[1:, :3].max(axis=0)
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 5).T, indexing="ij"), axis=-1).reshape(-1, 3)
    return np.vstack((corners[:, :3], grid))


_OVERLAP = 1e-3
"""Penetration depth up to which no vehicle counts as overlapping a solid, m."""


def overlapped_solid(
    state: NDArray[np.float64], points: NDArray[np.float64], solids: Solids, resting_depth: float
) -> str:
    """Name of a solid that a vehicle overlaps in a working state (13,), empty if none.

    The check covers the contact points and, for parts, the centre of mass, the lines between all these that are
    outside, and a grid in their bounding box. A slender part that stands between them can go undetected. Twice the
    depth in which the vehicle rests on the ground is allowed.
    """
    if len(points) == 0:
        return ""
    allowed = max(_OVERLAP, 2.0 * resting_depth)
    corners = np.zeros((len(points) + 1, POINT_SIZE))
    corners[1:] = points
    for j, (name, row) in enumerate(zip(solids.names, solids.rows, strict=True)):
        if deepest_penetration(state, points if row[0] == PLANE else _filled(corners), row[np.newaxis]) > allowed:
            return name
        if row[0] != PLANE and separates(state, corners, solids.rows, j, allowed):
            return name
    return ""

"""Immersion of a hull: the submerged share of its volume, and the centroid of the submerged part.

The hull is a box; the surface is a plane: down = 0, or in waves the plane that touches the surface above the vehicle.
The box is divided into the six tetrahedra of Kuhn's division, each along one path of edges from the highest corner to
the deepest. A plane cuts off a tetrahedron, all but a tetrahedron, or a prism of three tetrahedra. The result is exact
at every attitude, and continuous.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.physics.waves import ELEVATION, SLOPE

HULL_PARAMETERS = ParameterTable(
    Parameter(
        "hull_size",
        [0.0, 0.0, 0.0],
        "Length, width and height of the hull's box along the body axes, over which buoyancy is distributed evenly; "
        "zeros for a point",
        "m",
        minimum=0.0,
        maximum=1000.0,
        length=3,
    ),
    Parameter(
        "centre_of_buoyancy",
        [0.0, 0.0, 0.0],
        "Centre of the hull's box, where buoyancy acts when fully submerged; body axes from the centre of mass",
        "m",
        minimum=-1000.0,
        maximum=1000.0,
        length=3,
    ),
)

SIZE, CENTRE = 0, 3


def hull_numbers(values: Values) -> NDArray[np.float64]:
    """The `hull` array (6,) of the kernels: from SIZE on the lengths of the box, from CENTRE on its centre (m)."""
    return np.array([*values["hull_size"], *values["centre_of_buoyancy"]], dtype=np.float64)  # type: ignore[misc]


def reach_of(values: Values) -> float:
    """Largest distance (m) of the box's corners from the centre of mass, as if its centre were on a diagonal."""
    hull = hull_numbers(values)
    return float(np.linalg.norm(hull[CENTRE:]) + 0.5 * np.linalg.norm(hull[:CENTRE]))


@kernel
def immersed_part(
    state: NDArray[np.float64], hull: NDArray[np.float64], sea: NDArray[np.float64]
) -> tuple[float, float, float, float]:
    """Submerged share of the box (0 to 1), and the centroid x, y, z of that part (m, body axes).

    `state` begins with the position NED and the quaternion of the centre of mass; `sea` as in `waves.py`.
    """
    # Gradient of the depth.
    x, y, z = rotate_to_body(state[3], state[4], state[5], state[6], sea[SLOPE], sea[SLOPE + 1], 1.0)
    depth = state[2] + sea[ELEVATION] + x * hull[CENTRE] + y * hull[CENTRE + 1] + z * hull[CENTRE + 2]
    # Depth difference between opposite faces, and the depth of the highest corner.
    gx, gy, gz = x * hull[SIZE], y * hull[SIZE + 1], z * hull[SIZE + 2]
    ax, ay, az = abs(gx), abs(gy), abs(gz)
    top = depth - 0.5 * (ax + ay + az)
    if top >= 0.0:
        return 1.0, float(hull[CENTRE]), float(hull[CENTRE + 1]), float(hull[CENTRE + 2])
    if top + ax + ay + az <= 0.0:
        return 0.0, float(hull[CENTRE]), float(hull[CENTRE + 1]), float(hull[CENTRE + 2])
    share, ux, uy, uz = 0.0, 0.0, 0.0, 0.0
    for first in range(3):
        for second in range(3):
            if first == second:
                continue
            # From the highest corner along one axis, then another, then the third.
            d = top
            c = d + (ax if first == 0 else (ay if first == 1 else az))
            b = c + (ax if second == 0 else (ay if second == 1 else az))
            part, wa, wb, wc = _below(top + ax + ay + az, b, c, d)
            share += part
            for axis in range(3):
                way = wa + (wb if axis in (first, second) else 0.0) + (wc if axis == first else 0.0)
                if axis == 0:
                    ux += way
                elif axis == 1:
                    uy += way
                else:
                    uz += way
    if share <= 0.0:
        return 0.0, float(hull[CENTRE]), float(hull[CENTRE + 1]), float(hull[CENTRE + 2])
    # Measured from the highest corner, which lies at the upper end of each axis.
    cx = hull[CENTRE] + (ux / share - 0.5) * hull[SIZE] * (1.0 if gx >= 0.0 else -1.0)
    cy = hull[CENTRE + 1] + (uy / share - 0.5) * hull[SIZE + 1] * (1.0 if gy >= 0.0 else -1.0)
    cz = hull[CENTRE + 2] + (uz / share - 0.5) * hull[SIZE + 2] * (1.0 if gz >= 0.0 else -1.0)
    return share / 6.0, cx, cy, cz


@kernel
def _below(a: float, b: float, c: float, d: float) -> tuple[float, float, float, float]:
    """Submerged share of a tetrahedron whose corners have the depths a >= b >= c >= d.

    Also returns that share times the barycentric coordinates of its centroid for the corners of a, b and c.
    """
    if d >= 0.0:
        return 1.0, 0.25, 0.25, 0.25
    if a <= 0.0:
        return 0.0, 0.0, 0.0, 0.0
    if c >= 0.0:
        ta, tb, tc = d / (d - a), d / (d - b), d / (d - c)
        dry = ta * tb * tc
        return 1.0 - dry, 0.25 - dry * ta / 4.0, 0.25 - dry * tb / 4.0, 0.25 - dry * tc / 4.0
    if b <= 0.0:
        tb, tc, td = a / (a - b), a / (a - c), a / (a - d)
        wet = tb * tc * td
        return wet, wet * (1.0 - (tb + tc + td) / 4.0), wet * tb / 4.0, wet * tc / 4.0
    # The edges from a and from b to c and d are cut this far along: a prism, divided into three tetrahedra.
    ac, ad, bc, bd = a / (a - c), a / (a - d), b / (b - c), b / (b - d)
    one, two, three = ac * ad * (1.0 - bd), ac * bd * (1.0 - bc), bc * bd
    wa = one * (3.0 - ac - ad) + two * (2.0 - ac) + three
    wb = one * (1.0 - bd) + two * (2.0 - bd - bc) + three * (3.0 - bc - bd)
    wc = one * ac + two * (ac + bc) + three * bc
    return one + two + three, wa / 4.0, wb / 4.0, wc / 4.0

"""Contact between body points and solids: spring and damper along the normal, Coulomb friction with stiction.

Each point is a unilateral Kelvin-Voigt element, f_n = max(0, k d + c d'), with penetration depth d > 0. Tangentially a
spring of the same stiffness and damping holds the point to an anchor on the solid, its force limited to the friction
cone |f_t| <= mu f_n; when the elastic part would leave the cone, the sliding point drags the anchor along (Cundall and
Strack, A discrete numerical model for granular assemblies, Geotechnique 29, 1979). A point that sticks therefore does
not creep, unlike under a friction law regularised in velocity. A wheel is a point whose force along its rolling
direction has a separate, lower limit, mu_r f_n. The rolling direction is the body's x axis seen from above, turned to
the right by the wheel's steering angle.

Arrays: `state` is the working state of `rigid_body.py`: position NED, quaternion, velocity NED, body rates. `points` is
(n, 6): x, y, z in body axes from the centre of mass (m), the rolling friction mu_r, DOES_NOT_ROLL for a point without a
wheel, and the cosine and sine of the steering angle. `solids` is (s, 9), a row as `solids.py` has them. `anchors` is
(s, n, 4): north, east and down of the anchor of each point on each solid (m), and 1 where it is anchored, else 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.jit import kernel
from rosflight_py_sim.kernel_record import kernel_record
from rosflight_py_sim.physics.rotations import rotate_to_body, rotate_to_inertial
from rosflight_py_sim.physics.solids import OFFSET, PLANE, depth_in_part

NORTH, EAST, DOWN, ANCHORED = range(4)
ROLLING, STEERING_COSINE, STEERING_SINE = 3, 4, 5
POINT_SIZE = 6
DOES_NOT_ROLL = 1e9
"""Rolling friction coefficient that marks a point without a wheel; larger than any real one."""


@kernel_record
class Surface:
    """Contact of the points with solids.

    Attributes:
        stiffness: of a point (N/m).
        damping: of a point (N s/m).
        friction: Coulomb friction coefficient.
        radius: distance of the farthest point from the centre of mass (m).
    """

    stiffness: float
    damping: float
    friction: float
    radius: float


@kernel
def depth_in(
    state: NDArray[np.float64], solids: NDArray[np.float64], j: int, x: float, y: float, z: float
) -> tuple[float, float, float, float]:
    """Depth of a body point in solid `j` (m, negative outside), and the unit vector NED that points deeper."""
    qw, qx, qy, qz = state[3], state[4], state[5], state[6]
    if solids[j, 0] == PLANE:
        dn, de, dd = solids[j, 1], solids[j, 2], solids[j, 3]
        bx, by, bz = rotate_to_body(qw, qx, qy, qz, dn, de, dd)
        centre = dn * state[0] + de * state[1] + dd * state[2]
        return centre + (bx * x + by * y + bz * z) + solids[j, OFFSET], dn, de, dd
    north, east, down = rotate_to_inertial(qw, qx, qy, qz, x, y, z)
    return depth_in_part(solids[j], state[0] + north, state[1] + east, state[2] + down)


@kernel
def rolling_direction(qw: float, qx: float, qy: float, qz: float) -> tuple[float, float]:
    """Horizontal unit vector (north, east) along the body's x axis; north if that is vertical."""
    north, east, _ = rotate_to_inertial(qw, qx, qy, qz, 1.0, 0.0, 0.0)
    length = math.sqrt(north * north + east * east)
    if length < 1e-9:
        return 1.0, 0.0
    return north / length, east / length


@kernel
def limited(
    north: float,
    east: float,
    down: float,
    roll_north: float,
    roll_east: float,
    roll_limit: float,
    limit: float,
) -> tuple[float, float, float]:
    """Tangential vector, limited to `roll_limit` along the rolling direction, then to `limit` as a whole."""
    along = north * roll_north + east * roll_east
    if abs(along) > roll_limit:
        excess = along - math.copysign(roll_limit, along)
        north, east = north - excess * roll_north, east - excess * roll_east
    length = math.sqrt(north * north + east * east + down * down)
    if length > limit:
        north, east, down = north * limit / length, east * limit / length, down * limit / length
    return north, east, down


@kernel
def deepest_penetration(state: NDArray[np.float64], points: NDArray[np.float64], solids: NDArray[np.float64]) -> float:
    """Greatest penetration depth of any point (m); while all are outside, a negative bound on their distance."""
    deepest = -np.inf
    for j in range(solids.shape[0]):
        for i in range(points.shape[0]):
            deepest = max(deepest, depth_in(state, solids, j, points[i, 0], points[i, 1], points[i, 2])[0])
    return deepest


@kernel
def may_touch(
    state: NDArray[np.float64],
    points: NDArray[np.float64],
    solids: NDArray[np.float64],
    surface: Surface,
    reach: float,
) -> bool:
    """Whether any point is inside a solid or less than `reach` (m) away from one."""
    for j in range(solids.shape[0]):
        if depth_in(state, solids, j, 0.0, 0.0, 0.0)[0] + surface.radius + reach > 0.0:
            for i in range(points.shape[0]):
                if depth_in(state, solids, j, points[i, 0], points[i, 1], points[i, 2])[0] + reach > 0.0:
                    return True
    return False


@kernel
def contact_wrench(
    state: NDArray[np.float64],
    points: NDArray[np.float64],
    solids: NDArray[np.float64],
    anchors: NDArray[np.float64],
    surface: Surface,
) -> tuple[float, float, float, float, float, float]:
    """Sum of the contact forces (N, NED) and of their moments about the centre of mass (N m, body axes)."""
    qw, qx, qy, qz = state[3], state[4], state[5], state[6]
    p, q, r = state[10], state[11], state[12]
    k, c, mu = surface.stiffness, surface.damping, surface.friction
    roll_north, roll_east = rolling_direction(qw, qx, qy, qz)
    fn, fe, fd, mx, my, mz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(solids.shape[0]):
        if depth_in(state, solids, j, 0.0, 0.0, 0.0)[0] < -surface.radius:
            continue
        for i in range(points.shape[0]):
            x, y, z = points[i, 0], points[i, 1], points[i, 2]
            depth, dn, de, dd = depth_in(state, solids, j, x, y, z)
            if depth <= 0.0:
                continue
            north, east, down = rotate_to_inertial(qw, qx, qy, qz, x, y, z)
            vn, ve, vd = rotate_to_inertial(qw, qx, qy, qz, q * z - r * y, r * x - p * z, p * y - q * x)
            vn, ve, vd = vn + state[7], ve + state[8], vd + state[9]
            closing = dn * vn + de * ve + dd * vd
            normal = k * depth + c * closing
            if normal <= 0.0:
                continue
            tn, te, td = -c * (vn - closing * dn), -c * (ve - closing * de), -c * (vd - closing * dd)
            if anchors[j, i, ANCHORED] != 0.0:
                sn = anchors[j, i, NORTH] - state[0] - north
                se = anchors[j, i, EAST] - state[1] - east
                sd = anchors[j, i, DOWN] - state[2] - down
                along = dn * sn + de * se + dd * sd
                tn, te, td = tn + k * (sn - along * dn), te + k * (se - along * de), td + k * (sd - along * dd)
            cosine, sine = points[i, STEERING_COSINE], points[i, STEERING_SINE]
            rn, re = cosine * roll_north - sine * roll_east, cosine * roll_east + sine * roll_north
            tn, te, td = limited(tn, te, td, rn, re, points[i, ROLLING] * normal, mu * normal)
            tn, te, td = tn - normal * dn, te - normal * de, td - normal * dd
            fn, fe, fd = fn + tn, fe + te, fd + td
            bx, by, bz = rotate_to_body(qw, qx, qy, qz, tn, te, td)
            mx, my, mz = mx + y * bz - z * by, my + z * bx - x * bz, mz + x * by - y * bx
    return fn, fe, fd, mx, my, mz


@kernel
def update_anchors(
    state: NDArray[np.float64],
    points: NDArray[np.float64],
    solids: NDArray[np.float64],
    anchors: NDArray[np.float64],
    surface: Surface,
) -> None:
    """Anchor the points that have touched down, drag the anchors of those that slide, free those that have lifted."""
    qw, qx, qy, qz = state[3], state[4], state[5], state[6]
    p, q, r = state[10], state[11], state[12]
    roll_north, roll_east = rolling_direction(qw, qx, qy, qz)
    for j in range(solids.shape[0]):
        if depth_in(state, solids, j, 0.0, 0.0, 0.0)[0] < -surface.radius:
            continue
        for i in range(points.shape[0]):
            x, y, z = points[i, 0], points[i, 1], points[i, 2]
            depth, dn, de, dd = depth_in(state, solids, j, x, y, z)
            if depth <= 0.0:
                anchors[j, i, ANCHORED] = 0.0
                continue
            north, east, down = rotate_to_inertial(qw, qx, qy, qz, x, y, z)
            north, east, down = north + state[0], east + state[1], down + state[2]
            if anchors[j, i, ANCHORED] == 0.0:
                anchors[j, i, NORTH], anchors[j, i, EAST], anchors[j, i, DOWN] = north, east, down
                anchors[j, i, ANCHORED] = 1.0
                continue
            vn, ve, vd = rotate_to_inertial(qw, qx, qy, qz, q * z - r * y, r * x - p * z, p * y - q * x)
            closing = dn * (vn + state[7]) + de * (ve + state[8]) + dd * (vd + state[9])
            normal = max(0.0, surface.stiffness * depth + surface.damping * closing)
            hold = normal / surface.stiffness
            sn, se, sd = anchors[j, i, NORTH] - north, anchors[j, i, EAST] - east, anchors[j, i, DOWN] - down
            along = dn * sn + de * se + dd * sd
            sn, se, sd = sn - along * dn, se - along * de, sd - along * dd
            cosine, sine = points[i, STEERING_COSINE], points[i, STEERING_SINE]
            rn, re = cosine * roll_north - sine * roll_east, cosine * roll_east + sine * roll_north
            hn, he, hd = limited(sn, se, sd, rn, re, points[i, ROLLING] * hold, surface.friction * hold)
            # A sticking point keeps its anchor to the bit.
            if hn != sn or he != se or hd != sd:
                anchors[j, i, NORTH], anchors[j, i, EAST] = north + hn, east + he
                anchors[j, i, DOWN] = down + hd

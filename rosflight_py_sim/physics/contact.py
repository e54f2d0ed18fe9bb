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
(s, n, ANCHOR_SIZE) for each point and solid: the face through which the point has entered (`faces.py`), FREE if it has
not; north, east and down (m) of the anchor or, of a free point, of the place where it was last seen outside;
`side_north` and `side_east` of that face; and, for the first point, 1 if the solid may be touched in this step, else 0.

No point passes through a solid, however thin and however fast: a free point that enters is found by its path since the
last integration step, and it is pushed back through the face of its entry, as in the god-object method (Zilles and
Salisbury, A constraint-based god-object method for haptic display, IROS 1995). The path of a point that presses on
other solids runs along their surfaces, not below them, so that a point that slides from one part onto its flush
neighbour enters this through the common surface, not through the seam.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.faces import FREE, SIDE, depth_below, entry
from rosflight_py_sim.physics.rotations import rotate_to_body, rotate_to_inertial
from rosflight_py_sim.physics.solids import OFFSET, PLANE, depth_in_part

NORTH, EAST, DOWN, FACE, SIDE_NORTH, SIDE_EAST, NEAR = range(7)
ANCHOR_SIZE = 7
ROLLING, STEERING_COSINE, STEERING_SINE = 3, 4, 5
POINT_SIZE = 6
DOES_NOT_ROLL = 1e9
"""Rolling friction coefficient that marks a point without a wheel; larger than any real one."""

_CLEARANCE = 1e-6
"""Height of the path of a point above the surfaces that it presses on, m: parts that differ less are flush."""


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
def begin_step(
    state: NDArray[np.float64],
    points: NDArray[np.float64],
    solids: NDArray[np.float64],
    anchors: NDArray[np.float64],
    surface: Surface,
    reach: float,
) -> bool:
    """Mark the solids that a point is in, or less than `reach` (m) away from; returns whether there are any."""
    touching = False
    for j in range(solids.shape[0]):
        was_near = anchors[j, 0, NEAR] != 0.0
        near = False
        if was_near:
            for i in range(points.shape[0]):
                near = near or anchors[j, i, FACE] != FREE
        if not near and depth_in(state, solids, j, 0.0, 0.0, 0.0)[0] + surface.radius + reach > 0.0:
            for i in range(points.shape[0]):
                near = near or depth_in(state, solids, j, points[i, 0], points[i, 1], points[i, 2])[0] + reach > 0.0
        anchors[j, 0, NEAR] = 1.0 if near else 0.0
        if near and not was_near:
            for i in range(points.shape[0]):
                north, east, down = rotate_to_inertial(
                    state[3], state[4], state[5], state[6], points[i, 0], points[i, 1], points[i, 2]
                )
                anchors[j, i, NORTH], anchors[j, i, EAST] = state[0] + north, state[1] + east
                anchors[j, i, DOWN] = state[2] + down
        touching = touching or near
    return touching


@kernel
def held_depth(
    solid: NDArray[np.float64], anchor: NDArray[np.float64], north: float, east: float, down: float
) -> tuple[float, float, float, float, bool]:
    """Depth of a point in a plane, or below the face through which it has entered (m), as `depth_below`.

    Negative for a point that is free of a part. `solid` is a row of `solids`, `anchor` one of `anchors`.
    """
    if solid[0] == PLANE:
        depth = solid[1] * north + solid[2] * east + solid[3] * down + solid[OFFSET]
        return depth, solid[1], solid[2], solid[3], True
    if anchor[FACE] == FREE:
        return -1.0, 0.0, 0.0, 0.0, False
    return depth_below(solid, anchor[FACE], anchor[SIDE_NORTH], anchor[SIDE_EAST], north, east, down)


@kernel
def lift_of_point(
    solids: NDArray[np.float64], anchors: NDArray[np.float64], i: int, north: float, east: float, down: float
) -> tuple[float, float, float]:
    """Vector NED (m) from point `i` to just above the surfaces that it presses on; these have no edges here."""
    ln, le, ld = 0.0, 0.0, 0.0
    for j in range(solids.shape[0]):
        if anchors[j, 0, NEAR] != 0.0:
            depth, dn, de, dd, _ = held_depth(solids[j], anchors[j, i], north, east, down)
            if depth > 0.0:
                up = depth + _CLEARANCE
                ln, le, ld = ln - up * dn, le - up * de, ld - up * dd
    return ln, le, ld


@kernel
def depth_of_point(
    solid: NDArray[np.float64],
    anchor: NDArray[np.float64],
    north: float,
    east: float,
    down: float,
    lift_north: float,
    lift_east: float,
    lift_down: float,
) -> tuple[float, float, float, float, float, float, float]:
    """Depth of a point in a solid (m, positive in contact) and the unit vector NED that points deeper.

    Also the face through which it has entered, with `side_north` and `side_east`. The path of a free point leads from
    its anchor along the surfaces that it presses on, by `lift_of_point` above its place, and from there to its place.
    """
    if solid[0] == PLANE:
        depth, dn, de, dd, _ = held_depth(solid, anchor, north, east, down)
        return depth, dn, de, dd, SIDE, 1.0, 0.0
    over_north, over_east, over_down = north + lift_north, east + lift_east, down + lift_down
    face, side_north, side_east = anchor[FACE], anchor[SIDE_NORTH], anchor[SIDE_EAST]
    if face == FREE:
        face, side_north, side_east = entry(
            solid, anchor[NORTH], anchor[EAST], anchor[DOWN], over_north, over_east, over_down
        )
        if face == FREE and (lift_north != 0.0 or lift_east != 0.0 or lift_down != 0.0):
            face, side_north, side_east = entry(solid, over_north, over_east, over_down, north, east, down)
        if face == FREE:
            return -1.0, 0.0, 0.0, 0.0, FREE, 1.0, 0.0
    depth, dn, de, dd, _ = depth_below(solid, face, side_north, side_east, north, east, down)
    # In a corner, the depth in one wall does not carry the point past the edge of the other.
    if not depth_below(solid, face, side_north, side_east, over_north, over_east, over_down)[4]:
        depth = -1.0
    return depth, dn, de, dd, face, side_north, side_east


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
    for i in range(points.shape[0]):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        north, east, down = rotate_to_inertial(qw, qx, qy, qz, x, y, z)
        north, east, down = north + state[0], east + state[1], down + state[2]
        ln, le, ld = lift_of_point(solids, anchors, i, north, east, down)
        for j in range(solids.shape[0]):
            if anchors[j, 0, NEAR] == 0.0:
                continue
            depth, dn, de, dd, _, _, _ = depth_of_point(solids[j], anchors[j, i], north, east, down, ln, le, ld)
            if depth <= 0.0:
                continue
            vn, ve, vd = rotate_to_inertial(qw, qx, qy, qz, q * z - r * y, r * x - p * z, p * y - q * x)
            vn, ve, vd = vn + state[7], ve + state[8], vd + state[9]
            closing = dn * vn + de * ve + dd * vd
            normal = k * depth + c * closing
            if normal <= 0.0:
                continue
            tn, te, td = -c * (vn - closing * dn), -c * (ve - closing * de), -c * (vd - closing * dd)
            if anchors[j, i, FACE] != FREE:
                sn, se, sd = anchors[j, i, NORTH] - north, anchors[j, i, EAST] - east, anchors[j, i, DOWN] - down
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
    for i in range(points.shape[0]):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        north, east, down = rotate_to_inertial(qw, qx, qy, qz, x, y, z)
        north, east, down = north + state[0], east + state[1], down + state[2]
        ln, le, ld = lift_of_point(solids, anchors, i, north, east, down)
        for j in range(solids.shape[0]):
            if anchors[j, 0, NEAR] == 0.0 or (anchors[j, i, FACE] == FREE and solids[j, 0] != PLANE):
                continue
            depth, dn, de, dd, face, _, _ = depth_of_point(solids[j], anchors[j, i], north, east, down, ln, le, ld)
            if depth <= 0.0:
                anchors[j, i, FACE] = FREE
                anchors[j, i, NORTH], anchors[j, i, EAST], anchors[j, i, DOWN] = north, east, down
                continue
            if anchors[j, i, FACE] == FREE:
                anchors[j, i, NORTH], anchors[j, i, EAST], anchors[j, i, DOWN] = north, east, down
                anchors[j, i, FACE] = face
                continue
            # The side of a cylinder turns with the point.
            anchors[j, i, SIDE_NORTH], anchors[j, i, SIDE_EAST] = -dn, -de
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
        # What a point enters changes its path through the others; what it has just left still counts.
        entered = True
        while entered:
            entered = False
            for j in range(solids.shape[0]):
                if anchors[j, 0, NEAR] == 0.0 or anchors[j, i, FACE] != FREE or solids[j, 0] == PLANE:
                    continue
                depth, dn, de, dd, face, side_north, side_east = depth_of_point(
                    solids[j], anchors[j, i], north, east, down, ln, le, ld
                )
                if depth > 0.0:
                    entered = True
                    anchors[j, i, NORTH], anchors[j, i, EAST], anchors[j, i, DOWN] = north, east, down
                    anchors[j, i, FACE] = face
                    anchors[j, i, SIDE_NORTH], anchors[j, i, SIDE_EAST] = side_north, side_east
                    up = depth + _CLEARANCE
                    ln, le, ld = ln - up * dn, le - up * de, ld - up * dd
        ln, le, ld = lift_of_point(solids, anchors, i, north, east, down)
        for j in range(solids.shape[0]):
            if anchors[j, 0, NEAR] != 0.0 and anchors[j, i, FACE] == FREE:
                anchors[j, i, NORTH], anchors[j, i, EAST], anchors[j, i, DOWN] = north + ln, east + le, down + ld


@kernel
def release(state: NDArray[np.float64], anchors: NDArray[np.float64]) -> None:
    """Free all points, as if they had grown out of the centre of mass: what they enter on this way holds them."""
    for j in range(anchors.shape[0]):
        for i in range(anchors.shape[1]):
            anchors[j, i, FACE] = FREE
            anchors[j, i, NORTH], anchors[j, i, EAST], anchors[j, i, DOWN] = state[0], state[1], state[2]
            anchors[j, i, NEAR] = 1.0


@kernel
def separates(
    state: NDArray[np.float64], points: NDArray[np.float64], solids: NDArray[np.float64], j: int, tolerance: float
) -> bool:
    """Whether solid `j`, a part, cuts a straight line between two points that are outside of it.

    Each of them must be more than `tolerance` (m) below the face that is turned to the other.
    """
    qw, qx, qy, qz = state[3], state[4], state[5], state[6]
    for i in range(points.shape[0]):
        n, e, d = rotate_to_inertial(qw, qx, qy, qz, points[i, 0], points[i, 1], points[i, 2])
        n, e, d = n + state[0], e + state[1], d + state[2]
        if depth_in_part(solids[j], n, e, d)[0] > 0.0:
            continue
        for k in range(i):
            m, f, g = rotate_to_inertial(qw, qx, qy, qz, points[k, 0], points[k, 1], points[k, 2])
            m, f, g = m + state[0], f + state[1], g + state[2]
            if depth_in_part(solids[j], m, f, g)[0] > 0.0:
                continue
            face, side_north, side_east = entry(solids[j], n, e, d, m, f, g)
            if face == FREE or depth_below(solids[j], face, side_north, side_east, m, f, g)[0] <= tolerance:
                continue
            face, side_north, side_east = entry(solids[j], m, f, g, n, e, d)
            if face != FREE and depth_below(solids[j], face, side_north, side_east, n, e, d)[0] > tolerance:
                return True
    return False

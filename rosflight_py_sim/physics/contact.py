"""Contact of body points with flat ground: spring and damper along the normal, Coulomb friction with stiction.

Each point is a unilateral Kelvin-Voigt element, f_n = max(0, k d + c d'), with penetration depth d > 0. Tangentially a
spring of the same stiffness and damping holds the point to an anchor on the ground, its force limited to the friction
cone |f_t| <= mu f_n; when the elastic part would leave the cone, the anchor is dragged along behind the sliding point
(Cundall and Strack, A discrete numerical model for granular assemblies, Geotechnique 29, 1979). A point that sticks
therefore does not creep, as it would under a friction law that is regularised in velocity. A wheel is a point whose
force along its rolling direction, the body's x axis seen from above, has a lower limit of its own, mu_r f_n.

Arrays: `state` is the working state of `rigid_body.py`: position NED, quaternion, velocity NED, body rates. `points` is
(n, 7): x, y, z in body axes from the centre of mass (m), then north and east of the anchor (m), 1 where a point is
anchored, else 0, and the rolling friction mu_r, DOES_NOT_ROLL for a point without a wheel. `ground` is STIFFNESS (N/m),
DAMPING (N s/m), FRICTION, ALTITUDE (m above the origin).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.jit import kernel
from rosflight_py_sim.physics.rotations import rotate_to_body, rotate_to_inertial

STIFFNESS, DAMPING, FRICTION, ALTITUDE = range(4)
NORTH, EAST, ANCHORED, ROLLING = 3, 4, 5, 6
POINT_SIZE = 7
DOES_NOT_ROLL = 1e9
"""A friction coefficient beyond all others."""


@kernel
def rolling_direction(qw: float, qx: float, qy: float, qz: float) -> tuple[float, float]:
    """North and east of the unit vector along the body's x axis seen from above; north where that is upright."""
    north, east, _ = rotate_to_inertial(qw, qx, qy, qz, 1.0, 0.0, 0.0)
    length = math.sqrt(north * north + east * east)
    if length < 1e-9:
        return 1.0, 0.0
    return north / length, east / length


@kernel
def limited(
    north: float, east: float, roll_north: float, roll_east: float, roll_limit: float, limit: float
) -> tuple[float, float]:
    """A horizontal vector, shortened along the rolling direction to `roll_limit`, then as a whole to `limit`."""
    along = north * roll_north + east * roll_east
    if abs(along) > roll_limit:
        excess = along - math.copysign(roll_limit, along)
        north, east = north - excess * roll_north, east - excess * roll_east
    length = math.sqrt(north * north + east * east)
    if length > limit:
        north, east = north * limit / length, east * limit / length
    return north, east


@kernel
def deepest_penetration(state: NDArray[np.float64], points: NDArray[np.float64], ground: NDArray[np.float64]) -> float:
    """Depth of the lowest point below the ground (m); negative while all are above it."""
    down_x, down_y, down_z = rotate_to_body(state[3], state[4], state[5], state[6], 0.0, 0.0, 1.0)
    deepest = -np.inf
    for i in range(points.shape[0]):
        down = down_x * points[i, 0] + down_y * points[i, 1] + down_z * points[i, 2]
        deepest = max(deepest, state[2] + down + ground[ALTITUDE])
    return deepest


@kernel
def contact_wrench(
    state: NDArray[np.float64],
    points: NDArray[np.float64],
    ground: NDArray[np.float64],
) -> tuple[float, float, float, float, float, float]:
    """Sum of the contact forces (N, NED) and of their moments about the centre of mass (N m, body axes)."""
    qw, qx, qy, qz = state[3], state[4], state[5], state[6]
    p, q, r = state[10], state[11], state[12]
    k, c, mu = ground[STIFFNESS], ground[DAMPING], ground[FRICTION]
    down_x, down_y, down_z = rotate_to_body(qw, qx, qy, qz, 0.0, 0.0, 1.0)
    roll_north, roll_east = rolling_direction(qw, qx, qy, qz)
    fn, fe, fd, mx, my, mz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(points.shape[0]):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        depth = state[2] + (down_x * x + down_y * y + down_z * z) + ground[ALTITUDE]
        if depth <= 0.0:
            continue
        north, east, _ = rotate_to_inertial(qw, qx, qy, qz, x, y, z)
        vn, ve, vd = rotate_to_inertial(qw, qx, qy, qz, q * z - r * y, r * x - p * z, p * y - q * x)
        vn, ve, vd = vn + state[7], ve + state[8], vd + state[9]
        normal = k * depth + c * vd
        if normal <= 0.0:
            continue
        tn, te = -c * vn, -c * ve
        if points[i, ANCHORED] != 0.0:
            tn += k * (points[i, NORTH] - state[0] - north)
            te += k * (points[i, EAST] - state[1] - east)
        tn, te = limited(tn, te, roll_north, roll_east, points[i, ROLLING] * normal, mu * normal)
        fn, fe, fd = fn + tn, fe + te, fd - normal
        bx, by, bz = rotate_to_body(qw, qx, qy, qz, tn, te, -normal)
        mx, my, mz = mx + y * bz - z * by, my + z * bx - x * bz, mz + x * by - y * bx
    return fn, fe, fd, mx, my, mz


@kernel
def update_anchors(
    state: NDArray[np.float64],
    points: NDArray[np.float64],
    ground: NDArray[np.float64],
) -> None:
    """Anchor the points that have touched down, drag the anchors of those that slide, free those that have lifted."""
    qw, qx, qy, qz = state[3], state[4], state[5], state[6]
    p, q, r = state[10], state[11], state[12]
    down_x, down_y, down_z = rotate_to_body(qw, qx, qy, qz, 0.0, 0.0, 1.0)
    roll_north, roll_east = rolling_direction(qw, qx, qy, qz)
    for i in range(points.shape[0]):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        depth = state[2] + (down_x * x + down_y * y + down_z * z) + ground[ALTITUDE]
        if depth <= 0.0:
            points[i, ANCHORED] = 0.0
            continue
        north, east, _ = rotate_to_inertial(qw, qx, qy, qz, x, y, z)
        north, east = north + state[0], east + state[1]
        if points[i, ANCHORED] == 0.0:
            points[i, NORTH], points[i, EAST], points[i, ANCHORED] = north, east, 1.0
        else:
            _, _, vd = rotate_to_inertial(qw, qx, qy, qz, q * z - r * y, r * x - p * z, p * y - q * x)
            normal = max(0.0, ground[STIFFNESS] * depth + ground[DAMPING] * (vd + state[9]))
            hold = normal / ground[STIFFNESS]
            stretch_north, stretch_east = points[i, NORTH] - north, points[i, EAST] - east
            held_north, held_east = limited(
                stretch_north,
                stretch_east,
                roll_north,
                roll_east,
                points[i, ROLLING] * hold,
                ground[FRICTION] * hold,
            )
            # A point that sticks keeps its anchor to the last bit.
            if held_north != stretch_north or held_east != stretch_east:
                points[i, NORTH], points[i, EAST] = north + held_north, east + held_east


def fastest_contact_rate(
    mass: float, inertia: NDArray[np.float64], points: NDArray[np.float64], stiffness: float, damping: float
) -> float:
    """Largest rate (1/s) of the linear motion with every point on the ground: what an integration step must resolve.

    The larger of the highest natural frequency sqrt(lambda) and the fastest damping rate lambda c / k, with lambda the
    largest eigenvalue of the stiffness against the mass matrix (6 x 6, `inertia` (3, 3) in kg m^2). Fewer points on
    the ground only lower it.
    """
    total = np.zeros((6, 6))
    for x, y, z in points[:, :3]:
        lever = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
        jacobian = np.hstack([np.eye(3), lever])
        total += stiffness * jacobian.T @ jacobian
    inverse_mass = np.zeros((6, 6))
    inverse_mass[:3, :3] = np.eye(3) / mass
    inverse_mass[3:, 3:] = np.linalg.inv(inertia)
    largest = float(np.max(np.linalg.eigvals(inverse_mass @ total).real))
    return max(math.sqrt(largest), largest * damping / stiffness)

"""Rigid body with six degrees of freedom: equations of motion and one Runge-Kutta step.

Beard and McLain, Small Unmanned Aircraft, eq. 3.14 to 3.17 (with quaternions, appendix B), with the velocity in
inertial instead of body axes while integrating: free motion is then exactly a straight line for any rotation.

    p' = v,   q' = q (0, w) / 2,   v' = R(q) F / m + (0, 0, g) + contact / m,   w' = J^-1 (M + M_contact - w x J w)

Under water the vehicle carries added mass A = diag(A_1, A_2), which is treated as inertia: as a force it would make an
explicit method unstable where it exceeds the body's own mass. Fossen, Handbook of Marine Craft Hydrodynamics and Motion
Control (Wiley, 2011), sections 6.3 (added mass and its Coriolis matrix, property 6.2) and 8.3 (velocity v_r relative to
an irrotational current, constant in inertial axes), in body axes at the centre of mass:

    (m + A_1) a = F_all + A_1 (w x v_r) - w x (A_1 v_r)
    (J + A_2) w' = M_all - w x (J + A_2) w - v_r x (A_1 v_r)

where F_all and M_all include weight and contact, and a is the acceleration relative to inertial axes, the v' above in
body axes (the book's v_r' is a - w x v_r). At the surface A is scaled by the submerged share of the hull; changes of
that share exert no force (no slamming).

Working state, float64 (13,): [0:3] position NED (m), [3:7] quaternion w x y z, [7:10] velocity NED (m/s), [10:13] body
rates (rad/s). Flat, non-rotating earth with constant gravity; mass and inertia constant.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.jit import kernel
from rosflight_py_sim.physics.contact import Surface, contact_wrench
from rosflight_py_sim.physics.immersion import immersed_part
from rosflight_py_sim.physics.rotations import rotate_to_body, rotate_to_inertial

MASS, GRAVITY, INERTIA, INVERSE = 0, 1, 2, 11
HULL, ADDED_MASS, WATER_CURRENT = 0, 6, 12


@kernel
def derivative(
    state: NDArray[np.float64],
    wrench: NDArray[np.float64],
    body: NDArray[np.float64],
    water: NDArray[np.float64],
    touching: bool,
    points: NDArray[np.float64],
    solids: NDArray[np.float64],
    anchors: NDArray[np.float64],
    surface: Surface,
    rate: NDArray[np.float64],
) -> None:
    """Write d(state)/dt into `rate`: rate[7:10] is the sum of all forces over mass in NED, rate[10:13] J^-1 (...).

    `wrench` (6,) in body axes (N, N m); `body`: MASS (kg), GRAVITY (m/s^2), from INERTIA on the inertia matrix
    (kg m^2), from INVERSE on its inverse. `water` is empty, or (15,): from HULL on the hull of `immersion.py`, from
    ADDED_MASS on six diagonal elements (kg, kg m^2), from WATER_CURRENT on the current NED (m/s). `points`, `solids`,
    `anchors` and `surface` as in `contact.py`, evaluated when `touching`.
    """
    qw, qx, qy, qz = state[3], state[4], state[5], state[6]
    p, q, r = state[10], state[11], state[12]
    fn, fe, fd = rotate_to_inertial(qw, qx, qy, qz, wrench[0], wrench[1], wrench[2])
    mx, my, mz = wrench[3], wrench[4], wrench[5]
    if touching:
        cn, ce, cd, cx, cy, cz = contact_wrench(state, points, solids, anchors, surface)
        fn, fe, fd = fn + cn, fe + ce, fd + cd
        mx, my, mz = mx + cx, my + cy, mz + cz
    rate[0], rate[1], rate[2] = state[7], state[8], state[9]
    rate[3] = 0.5 * (-qx * p - qy * q - qz * r)
    rate[4] = 0.5 * (qw * p + qy * r - qz * q)
    rate[5] = 0.5 * (qw * q + qz * p - qx * r)
    rate[6] = 0.5 * (qw * r + qx * q - qy * p)
    if water.shape[0] > 0:
        _accelerate_in_water(state, fn, fe, fd, mx, my, mz, body, water, rate)
        return
    hx = body[INERTIA] * p + body[INERTIA + 1] * q + body[INERTIA + 2] * r
    hy = body[INERTIA + 3] * p + body[INERTIA + 4] * q + body[INERTIA + 5] * r
    hz = body[INERTIA + 6] * p + body[INERTIA + 7] * q + body[INERTIA + 8] * r
    mx, my, mz = mx - (q * hz - r * hy), my - (r * hx - p * hz), mz - (p * hy - q * hx)
    rate[7], rate[8], rate[9] = fn / body[MASS], fe / body[MASS], fd / body[MASS] + body[GRAVITY]
    for i in range(3):
        row = INVERSE + 3 * i
        rate[10 + i] = body[row] * mx + body[row + 1] * my + body[row + 2] * mz


@kernel
def _accelerate_in_water(
    state: NDArray[np.float64],
    fn: float,
    fe: float,
    fd: float,
    mx: float,
    my: float,
    mz: float,
    body: NDArray[np.float64],
    water: NDArray[np.float64],
    rate: NDArray[np.float64],
) -> None:
    """Write rate[7:13] under a force (NED, N, without weight) and a moment (body axes, N m), added mass included."""
    qw, qx, qy, qz = state[3], state[4], state[5], state[6]
    p, q, r = state[10], state[11], state[12]
    wet = immersed_part(state, water[HULL : HULL + 6])[0]
    ax, ay, az = wet * water[ADDED_MASS], wet * water[ADDED_MASS + 1], wet * water[ADDED_MASS + 2]
    u, v, w = rotate_to_body(
        qw,
        qx,
        qy,
        qz,
        state[7] - water[WATER_CURRENT],
        state[8] - water[WATER_CURRENT + 1],
        state[9] - water[WATER_CURRENT + 2],
    )
    mass = body[MASS]
    fx, fy, fz = rotate_to_body(qw, qx, qy, qz, fn, fe, fd + mass * body[GRAVITY])
    rate[7], rate[8], rate[9] = rotate_to_inertial(
        qw,
        qx,
        qy,
        qz,
        (fx + (ax - az) * q * w - (ax - ay) * r * v) / (mass + ax),
        (fy + (ay - ax) * r * u - (ay - az) * p * w) / (mass + ay),
        (fz + (az - ay) * p * v - (az - ax) * q * u) / (mass + az),
    )
    xx, yy, zz = body[INERTIA], body[INERTIA + 4], body[INERTIA + 8]
    xx, yy, zz = xx + wet * water[ADDED_MASS + 3], yy + wet * water[ADDED_MASS + 4], zz + wet * water[ADDED_MASS + 5]
    xy, xz, yz = body[INERTIA + 1], body[INERTIA + 2], body[INERTIA + 5]
    hx, hy, hz = xx * p + xy * q + xz * r, xy * p + yy * q + yz * r, xz * p + yz * q + zz * r
    mx -= q * hz - r * hy + (az - ay) * v * w
    my -= r * hx - p * hz + (ax - az) * u * w
    mz -= p * hy - q * hx + (ay - ax) * u * v
    # Solve the symmetric system by cofactors.
    cxx, cxy, cxz = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    cyy, cyz, czz = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    determinant = xx * cxx + xy * cxy + xz * cxz
    rate[10] = (cxx * mx + cxy * my + cxz * mz) / determinant
    rate[11] = (cxy * mx + cyy * my + cyz * mz) / determinant
    rate[12] = (cxz * mx + cyz * my + czz * mz) / determinant


@kernel
def runge_kutta_step(
    work: NDArray[np.float64],
    wrench: NDArray[np.float64],
    dt: float,
    body: NDArray[np.float64],
    water: NDArray[np.float64],
    touching: bool,
    points: NDArray[np.float64],
    solids: NDArray[np.float64],
    anchors: NDArray[np.float64],
    surface: Surface,
) -> None:
    """Advance work[0] by dt (s) with the classical fourth-order method, and normalise the quaternion.

    `work` is (6, 13): the state, the stage's state, and the four slopes. The wrench and the anchors are held.
    """
    state, stage = work[0], work[1]
    derivative(state, wrench, body, water, touching, points, solids, anchors, surface, work[2])
    for k in range(1, 4):
        part = dt if k == 3 else 0.5 * dt
        for i in range(13):
            stage[i] = state[i] + part * work[1 + k, i]
        derivative(stage, wrench, body, water, touching, points, solids, anchors, surface, work[2 + k])
    for i in range(13):
        state[i] += dt / 6.0 * (work[2, i] + 2.0 * (work[3, i] + work[4, i]) + work[5, i])
    norm = math.sqrt(state[3] ** 2 + state[4] ** 2 + state[5] ** 2 + state[6] ** 2)
    for i in range(3, 7):
        state[i] /= norm

"""Rigid body with six degrees of freedom: equations of motion and one Runge-Kutta step.

Beard and McLain, Small Unmanned Aircraft, eq. 3.14 to 3.17 (with quaternions, appendix B), with the velocity in
inertial instead of body axes while integrating: free motion is then a straight line exactly, however the body turns.

    p' = v,   q' = q (0, w) / 2,   v' = R(q) F / m + (0, 0, g) + contact / m,   w' = J^-1 (M + M_contact - w x J w)

Working state, float64 (13,): [0:3] position NED (m), [3:7] quaternion w x y z, [7:10] velocity NED (m/s), [10:13] body
rates (rad/s). Flat, non-rotating earth with constant gravity; mass and inertia constant.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.jit import kernel
from rosflight_py_sim.physics.contact import contact_wrench
from rosflight_py_sim.physics.rotations import rotate_to_inertial

MASS, GRAVITY, INERTIA, INVERSE = 0, 1, 2, 11


@kernel
def derivative(
    state: NDArray[np.float64],
    wrench: NDArray[np.float64],
    body: NDArray[np.float64],
    touching: bool,
    points: NDArray[np.float64],
    ground: NDArray[np.float64],
    rate: NDArray[np.float64],
) -> None:
    """Write d(state)/dt into `rate`: rate[7:10] is the sum of all forces over mass in NED, rate[10:13] J^-1 (...).

    `wrench` (6,) in body axes (N, N m); `body`: MASS (kg), GRAVITY (m/s^2), from INERTIA on the inertia matrix
    (kg m^2), from INVERSE on its inverse; `points` and `ground` as in `contact.py`, evaluated when `touching`.
    """
    qw, qx, qy, qz = state[3], state[4], state[5], state[6]
    p, q, r = state[10], state[11], state[12]
    fn, fe, fd = rotate_to_inertial(qw, qx, qy, qz, wrench[0], wrench[1], wrench[2])
    mx, my, mz = wrench[3], wrench[4], wrench[5]
    if touching:
        cn, ce, cd, cx, cy, cz = contact_wrench(state, points, ground)
        fn, fe, fd = fn + cn, fe + ce, fd + cd
        mx, my, mz = mx + cx, my + cy, mz + cz
    hx = body[INERTIA] * p + body[INERTIA + 1] * q + body[INERTIA + 2] * r
    hy = body[INERTIA + 3] * p + body[INERTIA + 4] * q + body[INERTIA + 5] * r
    hz = body[INERTIA + 6] * p + body[INERTIA + 7] * q + body[INERTIA + 8] * r
    mx, my, mz = mx - (q * hz - r * hy), my - (r * hx - p * hz), mz - (p * hy - q * hx)
    rate[0], rate[1], rate[2] = state[7], state[8], state[9]
    rate[3] = 0.5 * (-qx * p - qy * q - qz * r)
    rate[4] = 0.5 * (qw * p + qy * r - qz * q)
    rate[5] = 0.5 * (qw * q + qz * p - qx * r)
    rate[6] = 0.5 * (qw * r + qx * q - qy * p)
    rate[7], rate[8], rate[9] = fn / body[MASS], fe / body[MASS], fd / body[MASS] + body[GRAVITY]
    for i in range(3):
        row = INVERSE + 3 * i
        rate[10 + i] = body[row] * mx + body[row + 1] * my + body[row + 2] * mz


@kernel
def runge_kutta_step(
    work: NDArray[np.float64],
    wrench: NDArray[np.float64],
    dt: float,
    body: NDArray[np.float64],
    touching: bool,
    points: NDArray[np.float64],
    ground: NDArray[np.float64],
) -> None:
    """Advance work[0] by dt (s) with the classical fourth-order method, and bring the quaternion back to unit length.

    `work` is (6, 13): the state, the stage's state, and the four slopes. The wrench and the anchors are held.
    """
    state, stage = work[0], work[1]
    derivative(state, wrench, body, touching, points, ground, work[2])
    for k in range(1, 4):
        part = dt if k == 3 else 0.5 * dt
        for i in range(13):
            stage[i] = state[i] + part * work[1 + k, i]
        derivative(stage, wrench, body, touching, points, ground, work[2 + k])
    for i in range(13):
        state[i] += dt / 6.0 * (work[2, i] + 2.0 * (work[3, i] + work[4, i]) + work[5, i])
    norm = math.sqrt(state[3] ** 2 + state[4] ** 2 + state[5] ** 2 + state[6] ** 2)
    for i in range(3, 7):
        state[i] /= norm

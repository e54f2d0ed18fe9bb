"""Rigid body with six degrees of freedom: equations of motion and one Runge-Kutta step.

Beard and McLain, Small Unmanned Aircraft, eq. 3.14 to 3.17 (with quaternions, appendix B), with the velocity in
inertial instead of body axes while integrating: free motion is then exactly a straight line for any rotation.

    p' = v,   q' = q (0, w) / 2,   v' = R(q) F / m + g + contact / m
    w' = J^-1 (M + M_contact - (w + W) x J (w + W)) + w x W

with the gravity g and the angular velocity W of the earth, in body axes, as `earth.py` has them. The derivatives are
those in the frame of the launch point, which turns with the earth: v and w are relative to it, w + W is the inertial
rate, and g includes the centrifugal and Coriolis accelerations. On a flat earth W = 0 and g = (0, 0, gravity).

Under water the vehicle carries added mass, a symmetric matrix A = [[A_11, A_12], [A_21, A_22]] of 3 x 3 blocks, treated
as inertia: as a force it would make an explicit method unstable where it exceeds the body's own mass. Fossen, Handbook
of Marine Craft Hydrodynamics and Motion Control (Wiley, 2011), sections 6.3 (added mass and its Coriolis matrix,
property 6.2) and 8.3 (velocity v_r relative to an irrotational current, in inertial axes constant but for the waves'
acceleration a_w), in body axes at the centre of mass, with the water's momentum P = A_11 v_r + A_12 w and angular
momentum H = A_21 v_r + A_22 w:

    (m + A_11) a + A_12 w' = F_all + A_11 (a_w + w x v_r) - w x P
    A_21 a + (J + A_22) w' = M_all + A_21 (a_w + w x v_r) - w x (J w + H) - v_r x P

where F_all and M_all include weight and contact, and a is the acceleration relative to inertial axes, the v' above in
body axes (the book's v_r' is a - a_w - w x v_r). The water turns with the earth, whose rate is left out here: beside
the water's moments that of W is negligible. At the surface A is scaled by the submerged share of the hull; changes of
that share exert no force (no slamming). `hydrodynamics.py` solves the system.

Working state, float64 (13,): [0:3] position NED (m), [3:7] quaternion w x y z, [7:10] velocity NED (m/s), [10:13] body
rates (rad/s). Mass and inertia are constant.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.physics.contact import Surface, contact_wrench
from rosflight_py_sim.physics.earth import Earth, apparent_gravity, earth_rate_in_body
from rosflight_py_sim.physics.hydrodynamics import ADDED_MASS, HULL, MODES, RATIOS, SEA, WATER_CURRENT
from rosflight_py_sim.physics.immersion import immersed_part
from rosflight_py_sim.physics.rotations import rotate_to_body, rotate_to_inertial
from rosflight_py_sim.physics.waves import ORBITAL_ACCELERATION

MASS, INERTIA, INVERSE = 0, 1, 10


@kernel
def derivative(
    state: NDArray[np.float64],
    wrench: NDArray[np.float64],
    body: NDArray[np.float64],
    earth: Earth,
    water: NDArray[np.float64],
    touching: bool,
    points: NDArray[np.float64],
    solids: NDArray[np.float64],
    anchors: NDArray[np.float64],
    surface: Surface,
    rate: NDArray[np.float64],
) -> None:
    """Write d(state)/dt into `rate`: rate[7:10] is the sum of all forces over mass in NED, rate[10:13] J^-1 (...).

    `wrench` (6,) in body axes (N, N m); `body`: MASS (kg), from INERTIA on the inertia matrix (kg m^2), from INVERSE on
    its inverse. `water` is empty, or as in `hydrodynamics.py`. `points`, `solids`, `anchors` and `surface` as in
    `contact.py`, evaluated when `touching`.
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
    gn, ge, gd = apparent_gravity(earth, state[0], state[1], state[2], state[7], state[8], state[9])
    mass = body[MASS]
    if water.shape[0] > 0:
        _accelerate_in_water(state, fn + mass * gn, fe + mass * ge, fd + mass * gd, mx, my, mz, body, water, rate)
        return
    wx, wy, wz = earth_rate_in_body(earth, qw, qx, qy, qz)
    p, q, r = p + wx, q + wy, r + wz
    hx = body[INERTIA] * p + body[INERTIA + 1] * q + body[INERTIA + 2] * r
    hy = body[INERTIA + 3] * p + body[INERTIA + 4] * q + body[INERTIA + 5] * r
    hz = body[INERTIA + 6] * p + body[INERTIA + 7] * q + body[INERTIA + 8] * r
    mx, my, mz = mx - (q * hz - r * hy), my - (r * hx - p * hz), mz - (p * hy - q * hx)
    rate[7], rate[8], rate[9] = fn / mass + gn, fe / mass + ge, fd / mass + gd
    for i in range(3):
        row = INVERSE + 3 * i
        rate[10 + i] = body[row] * mx + body[row + 1] * my + body[row + 2] * mz
    rate[10], rate[11], rate[12] = rate[10] + q * wz - r * wy, rate[11] + r * wx - p * wz, rate[12] + p * wy - q * wx


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
    """Write rate[7:13] under a force (NED, N, with weight) and a moment (body axes, N m), added mass included."""
    qw, qx, qy, qz = state[3], state[4], state[5], state[6]
    p, q, r = state[10], state[11], state[12]
    wet = immersed_part(state, water[HULL : HULL + 6], water[SEA:ADDED_MASS])[0]
    u, v, w = rotate_to_body(
        qw,
        qx,
        qy,
        qz,
        state[7] - water[WATER_CURRENT],
        state[8] - water[WATER_CURRENT + 1],
        state[9] - water[WATER_CURRENT + 2],
    )
    px, py, pz = _momentum(water, ADDED_MASS, wet, u, v, w, p, q, r)
    hx, hy, hz = _momentum(water, ADDED_MASS + 18, wet, u, v, w, p, q, r)
    hx += body[INERTIA] * p + body[INERTIA + 1] * q + body[INERTIA + 2] * r
    hy += body[INERTIA + 3] * p + body[INERTIA + 4] * q + body[INERTIA + 5] * r
    hz += body[INERTIA + 6] * p + body[INERTIA + 7] * q + body[INERTIA + 8] * r
    # In rotating axes the relative velocity changes by -w x v_r even if no force acts, and by the water's acceleration.
    wave = SEA + ORBITAL_ACCELERATION
    tx, ty, tz = rotate_to_body(qw, qx, qy, qz, water[wave], water[wave + 1], water[wave + 2])
    tx, ty, tz = tx + q * w - r * v, ty + r * u - p * w, tz + p * v - q * u
    ix, iy, iz = _momentum(water, ADDED_MASS, wet, tx, ty, tz, 0.0, 0.0, 0.0)
    jx, jy, jz = _momentum(water, ADDED_MASS + 18, wet, tx, ty, tz, 0.0, 0.0, 0.0)
    fx, fy, fz = rotate_to_body(qw, qx, qy, qz, fn, fe, fd)
    fx, fy, fz = fx + ix - (q * pz - r * py), fy + iy - (r * px - p * pz), fz + iz - (p * py - q * px)
    mx += jx - (q * hz - r * hy) - (v * pz - w * py)
    my += jy - (r * hx - p * hz) - (w * px - u * pz)
    mz += jz - (p * hy - q * hx) - (u * py - v * px)
    ax, ay, az = 0.0, 0.0, 0.0
    rate[10], rate[11], rate[12] = 0.0, 0.0, 0.0
    for k in range(6):
        mode = MODES + 6 * k
        part = water[mode] * fx + water[mode + 1] * fy + water[mode + 2] * fz
        part += water[mode + 3] * mx + water[mode + 4] * my + water[mode + 5] * mz
        part /= 1.0 + wet * water[RATIOS + k]
        ax, ay, az = ax + part * water[mode], ay + part * water[mode + 1], az + part * water[mode + 2]
        for i in range(3):
            rate[10 + i] += part * water[mode + 3 + i]
    rate[7], rate[8], rate[9] = rotate_to_inertial(qw, qx, qy, qz, ax, ay, az)


@kernel
def _momentum(
    water: NDArray[np.float64], first: int, wet: float, u: float, v: float, w: float, p: float, q: float, r: float
) -> tuple[float, float, float]:
    """Three rows of the added mass, from the element `first` on, times a velocity and a body rate."""
    x = water[first] * u + water[first + 1] * v + water[first + 2] * w
    x += water[first + 3] * p + water[first + 4] * q + water[first + 5] * r
    y = water[first + 6] * u + water[first + 7] * v + water[first + 8] * w
    y += water[first + 9] * p + water[first + 10] * q + water[first + 11] * r
    z = water[first + 12] * u + water[first + 13] * v + water[first + 14] * w
    z += water[first + 15] * p + water[first + 16] * q + water[first + 17] * r
    return wet * x, wet * y, wet * z


@kernel
def wrench_after(work: NDArray[np.float64], wrench: NDArray[np.float64], time: float) -> None:
    """Write the wrench at `time` (s) after the start of the step into work[6, :6], from `work`."""
    for i in range(6):
        work[6, i] = wrench[i] + work[6, 6 + i] * time + work[7, i] * (time * time)


@kernel
def runge_kutta_step(
    work: NDArray[np.float64],
    wrench: NDArray[np.float64],
    start: float,
    dt: float,
    body: NDArray[np.float64],
    earth: Earth,
    water: NDArray[np.float64],
    touching: bool,
    points: NDArray[np.float64],
    solids: NDArray[np.float64],
    anchors: NDArray[np.float64],
    surface: Surface,
) -> None:
    """Advance work[0] by dt (s) with the classical fourth-order method, and normalise the quaternion.

    `work` is (8, 13): the state, the stage's state, the four slopes, the stage's wrench with its rate (N/s, N m/s), and
    half of the wrench's second derivative (N/s^2, N m/s^2) with the mean rate over the last step. `wrench` (6,) is that
    of `start` (s) before this integration step. The anchors are held.
    """
    state, stage = work[0], work[1]
    wrench_after(work, wrench, start)
    derivative(state, work[6], body, earth, water, touching, points, solids, anchors, surface, work[2])
    for k in range(1, 4):
        part = dt if k == 3 else 0.5 * dt
        for i in range(13):
            stage[i] = state[i] + part * work[1 + k, i]
        wrench_after(work, wrench, start + part)
        derivative(stage, work[6], body, earth, water, touching, points, solids, anchors, surface, work[2 + k])
    for i in range(13):
        state[i] += dt / 6.0 * (work[2, i] + 2.0 * (work[3, i] + work[4, i]) + work[5, i])
    norm = math.sqrt(state[3] ** 2 + state[4] ** 2 + state[5] ** 2 + state[6] ** 2)
    for i in range(3, 7):
        state[i] /= norm

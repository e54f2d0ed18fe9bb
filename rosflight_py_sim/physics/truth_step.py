"""One step of the truth state: substeps, divergence limits, and the kernel."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.contact import Surface, begin_step, update_anchors
from rosflight_py_sim.physics.earth import Earth
from rosflight_py_sim.physics.rigid_body import MASS, derivative, runge_kutta_step
from rosflight_py_sim.physics.rotations import rotate_to_body, rotate_to_inertial

LARGEST_POSITION = 1e8
LARGEST_VELOCITY = 1e5
LARGEST_BODY_RATE = 1e4
"""Limits beyond which a state counts as diverged: of each component (m, m/s), of the norm (rad/s)."""

LARGEST_TURN = 0.2
"""Largest angle by which the body turns in an integration step, rad."""

CONTACT_RATE = 19

EARLIER_SHARE = 0.15
"""Share of the last wrench but one in the wrench that an accelerometer feels, see `advance`."""

QUANTITIES = (
    ("", 0, 0),
    ("position", 0, 3),
    ("attitude", 3, 7),
    ("velocity", 7, 10),
    ("body rate", 10, 13),
    ("acceleration", 13, 16),
    ("angular acceleration", 16, 19),
    ("force", 0, 3),
    ("moment", 3, 6),
)


@kernel_record
class Hold:
    """How the wrench continues over a step.

    Attributes:
        order: number of earlier wrenches that it follows, at most 2.
        differences: number of steps of `last_dt` since the last jump of the state, at most 2.
        last_dt: length of the last step (s).
    """

    order: int
    differences: int
    last_dt: float


@kernel
def load_state(truth: NDArray[np.float64], state: NDArray[np.float64]) -> None:
    """Working state (13,) of `rigid_body.py` from the truth state (19,)."""
    for i in range(13):
        state[i] = truth[i]
    state[7], state[8], state[9] = rotate_to_inertial(
        truth[3], truth[4], truth[5], truth[6], truth[7], truth[8], truth[9]
    )


@kernel
def store_state(state: NDArray[np.float64], rate: NDArray[np.float64], truth: NDArray[np.float64]) -> int:
    """Write the truth state; return the index in QUANTITIES of what diverged, or 0.

    On divergence the truth state is left unchanged.
    """
    for i in range(13):
        if not math.isfinite(state[i]):
            return 1 if i < 3 else (2 if i < 7 else (3 if i < 10 else 4))
        if not math.isfinite(rate[i]) and i >= 7:
            return 5 if i < 10 else 6
    for i in range(3):
        if abs(state[i]) > LARGEST_POSITION:
            return 1
        if abs(state[7 + i]) > LARGEST_VELOCITY:
            return 3
    if math.sqrt(state[10] ** 2 + state[11] ** 2 + state[12] ** 2) > LARGEST_BODY_RATE:
        return 4
    qw, qx, qy, qz = state[3], state[4], state[5], state[6]
    for i in range(13):
        truth[i] = state[i]
    truth[7], truth[8], truth[9] = rotate_to_body(qw, qx, qy, qz, state[7], state[8], state[9])
    truth[13], truth[14], truth[15] = rotate_to_body(qw, qx, qy, qz, rate[7], rate[8], rate[9])
    truth[16], truth[17], truth[18] = rate[10], rate[11], rate[12]
    return 0


@kernel
def advance(
    truth: NDArray[np.float64],
    body: NDArray[np.float64],
    earth: Earth,
    water: NDArray[np.float64],
    points: NDArray[np.float64],
    solids: NDArray[np.float64],
    anchors: NDArray[np.float64],
    surface: Surface,
    work: NDArray[np.float64],
    last_wrench: NDArray[np.float64],
    felt: NDArray[np.float64],
    hold: Hold,
    wrench: NDArray[np.float64],
    dt: float,
) -> int:
    """Advance the truth state by dt; return the index in QUANTITIES of what diverged, or 0.

    With an order of 0, or without differences, the wrench is held over the step. With 1 it continues linearly, at the
    rate between `last_wrench` and `wrench`, `last_dt` (s) apart, but changes no more than it did between them. With 2,
    and equal steps, it continues along the parabola through the last three. `last_wrench` becomes `wrench`.

    The accelerations are those of the new state under `felt` (6,), the wrench that was computed, not its extrapolation,
    which would amplify turbulence. Sampled turbulence also contains that above half the sampling rate: for a spectrum
    that falls with the square of the frequency, as Dryden's, by 1 / sinc^2(f dt) too much. `felt` is therefore a mean
    of the last two wrenches, which follows the spectrum within 20 % up to half the sampling rate, 1.15 steps late.

    The step is divided if the body turns by more than LARGEST_TURN in it and, if any point may touch the ground in it,
    so that the fastest contact rate times a substep stays below 1 (the method is stable up to 2.78).
    """
    state = work[0]
    load_state(truth, state)
    for i in range(6):
        change = wrench[i] - last_wrench[i] if hold.differences > 0 else 0.0
        rate = change / max(hold.last_dt, dt) if hold.order > 0 else 0.0
        bends = hold.differences > 1 and hold.order > 1 and hold.last_dt == dt
        bend = (rate - work[7, 6 + i]) / (2.0 * dt) if bends else 0.0
        work[6, 6 + i], work[7, i], work[7, 6 + i] = rate + bend * dt, bend, rate
        felt[i] = wrench[i] - EARLIER_SHARE * change
        last_wrench[i] = wrench[i]
    for i in range(6):
        if not math.isfinite(wrench[i]):
            return 7 if i < 3 else 8
    turn = math.sqrt(state[10] ** 2 + state[11] ** 2 + state[12] ** 2)
    substeps = max(1.0, math.ceil(dt * turn / LARGEST_TURN))
    touching = False
    if points.shape[0] > 0:
        speed = math.sqrt(state[7] ** 2 + state[8] ** 2 + state[9] ** 2) + turn * surface.radius
        push = math.sqrt(wrench[0] ** 2 + wrench[1] ** 2 + wrench[2] ** 2) / body[MASS] + earth.gravity
        touching = begin_step(state, points, solids, anchors, surface, 2.0 * (speed + push * dt) * dt)
    if touching:
        substeps = max(substeps, math.ceil(dt * body[CONTACT_RATE]))
    substep = dt / substeps
    for k in range(int(substeps)):
        runge_kutta_step(
            work,
            wrench,
            k * substep,
            substep,
            body,
            earth,
            water,
            touching,
            points,
            solids,
            anchors,
            surface,
        )
        if touching:
            update_anchors(state, points, solids, anchors, surface)
    derivative(state, felt, body, earth, water, touching, points, solids, anchors, surface, work[2])
    diverged = store_state(state, work[2], truth)
    if diverged == 0:
        hold.differences = min(2, hold.differences + 1) if dt == hold.last_dt else 1
        hold.last_dt = dt
    return diverged


SETTLING_STEP_S = 0.005
TOO_LONG, TOO_COSTLY = -1, -2


@kernel
def come_to_rest(
    truth: NDArray[np.float64],
    body: NDArray[np.float64],
    earth: Earth,
    water: NDArray[np.float64],
    points: NDArray[np.float64],
    solids: NDArray[np.float64],
    anchors: NDArray[np.float64],
    surface: Surface,
    work: NDArray[np.float64],
    last_wrench: NDArray[np.float64],
    felt: NDArray[np.float64],
    hold: Hold,
    wrench: NDArray[np.float64],
    steps: int,
    most_effort: float,
    least: float,
) -> int:
    """Advance in steps of SETTLING_STEP_S under a constant wrench until nothing moves any more.

    The arguments up to `wrench` are those of `advance`. At most `steps` steps are taken, with at most `most_effort`
    integration steps times points plus 8. If no speed or acceleration (SI) exceeds `least`, nothing moves, and the
    speeds are set to 0.

    Returns:
        0; the index in QUANTITIES of what diverged; TOO_LONG or TOO_COSTLY.
    """
    effort = 0.0
    for _ in range(steps):
        turn = math.sqrt(truth[10] ** 2 + truth[11] ** 2 + truth[12] ** 2)
        substeps = math.ceil(SETTLING_STEP_S * max(body[CONTACT_RATE], turn / LARGEST_TURN))
        effort += (8 + points.shape[0]) * substeps
        if effort > most_effort:
            return TOO_COSTLY
        diverged = advance(
            truth,
            body,
            earth,
            water,
            points,
            solids,
            anchors,
            surface,
            work,
            last_wrench,
            felt,
            hold,
            wrench,
            SETTLING_STEP_S,
        )
        if diverged > 0:
            return diverged
        moves = False
        for i in range(7, 19):
            if not abs(truth[i]) < least:
                moves = True
        if not moves:
            for i in range(7, 13):
                truth[i] = 0.0
            return 0
    return TOO_LONG

"""Gains of a fixed wing's loops from its linear model, one loop after the other from the inside out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Wrench: TypeAlias = Callable[[Array, Array, float, float, float, float], Array]
"""Steady wrench (6,) of truth (19,), wind (3,), aileron, elevator, rudder (rad) and throttle, as `FixedWing` has it."""

GRAVITY = 9.81


@dataclass(frozen=True)
class Trim:
    """Level flight: airspeed (m/s), angle of attack and elevator (rad), throttle (0 to 1)."""

    airspeed: float
    angle_of_attack: float
    elevator: float
    throttle: float


@dataclass(frozen=True)
class LinearModel:
    """Coefficients of the transfer functions of Beard and McLain, Small Unmanned Aircraft (2012), chapter 5.

    Attributes:
        roll_1, roll_2: a_phi1 (1/s) and a_phi2 (1/s^2): p' = -a_phi1 p + a_phi2 delta_a (eq. 5.23 ff.).
        pitch_1, pitch_2, pitch_3: a_theta1 to a_theta3: theta'' = -a1 theta' - a2 theta + a3 delta_e (eq. 5.28 ff.).
        speed_1, speed_2: a_V1 (1/s) and a_V2 (m/s^2): V' = -a_V1 V + a_V2 delta_t (eq. 5.35 ff.).
        yaw_1, yaw_2: the same of the yaw rate: r' = -yaw_1 r + yaw_2 delta_r.
    """

    roll_1: float
    roll_2: float
    pitch_1: float
    pitch_2: float
    pitch_3: float
    speed_1: float
    speed_2: float
    yaw_1: float
    yaw_2: float


@dataclass(frozen=True)
class DesignChoices:
    """What the designer of the loops chooses.

    Attributes:
        roll_error, pitch_error: errors (rad) at which the surface reaches `roll_deflection`, `pitch_deflection` (rad).
        roll_damping, pitch_damping: least damping ratios of these loops.
        course_frequency, height_frequency, speed_frequency: natural frequencies of the outer loops (rad/s).
        course_damping, height_damping, speed_damping: their damping ratios.
        climb_frequency, climb_damping: of the airspeed loop by pitch, in climb and descent.
        yaw_damping: by how much the yaw damper speeds up the decay of yaw rates, 1/s.
    """

    roll_error: float = 0.6
    roll_deflection: float = 0.7
    roll_damping: float = 0.9
    pitch_error: float = 0.35
    pitch_deflection: float = 0.35
    pitch_damping: float = 0.9
    course_frequency: float = 0.5
    course_damping: float = 1.2
    height_frequency: float = 0.3
    height_damping: float = 1.0
    speed_frequency: float = 0.5
    speed_damping: float = 1.2
    climb_frequency: float = 0.5
    climb_damping: float = 1.0
    yaw_damping: float = 2.0


def trimmed_truth(trim: Trim) -> Array:
    """Truth (19,) of level flight northward at the origin."""
    truth = np.zeros(19)
    half = 0.5 * trim.angle_of_attack
    truth[3], truth[5] = math.cos(half), math.sin(half)
    truth[7] = trim.airspeed * math.cos(trim.angle_of_attack)
    truth[9] = trim.airspeed * math.sin(trim.angle_of_attack)
    return truth


def linear_model(wrench: Wrench, mass: float, inertia: Array, trim: Trim) -> LinearModel:
    """Coefficients at a trim, by central differences of `wrench`; `inertia` (3, 3) is the matrix itself, kg m^2.

    Angles of attack are taken for pitch angles, and couplings between the axes left out, as the book's models do.
    """
    truth, inverse = trimmed_truth(trim), np.linalg.inv(inertia)
    inputs = np.array([0.0, trim.elevator, 0.0, trim.throttle])

    def rates(change: Array, moved: Array) -> Array:
        w = wrench(truth + change, np.zeros(3), *(inputs + moved).tolist())
        direction = truth[7:10] / trim.airspeed
        along = float(w[:3] @ direction) / mass
        return np.array([along, *(inverse @ w[3:])])

    def slope(index: int | None, by: Array, step: float) -> Array:
        """Derivative of (V', p', q', r') by a direction of the state (19) or by an input (4)."""
        nothing, no_input = np.zeros(19), np.zeros(4)
        if index is None:
            return (rates(step * by, no_input) - rates(-step * by, no_input)) / (2.0 * step)
        return (rates(nothing, step * by) - rates(nothing, -step * by)) / (2.0 * step)

    state, control = np.eye(19), np.eye(4)
    faster = np.zeros(19)
    faster[7:10] = truth[7:10] / trim.airspeed
    steeper = np.zeros(19)
    steeper[7], steeper[9] = -truth[9], truth[7]
    return LinearModel(
        roll_1=-float(slope(None, state[10], 1e-3)[1]),
        roll_2=float(slope(0, control[0], 1e-4)[1]),
        pitch_1=-float(slope(None, state[11], 1e-3)[2]),
        pitch_2=-float(slope(None, steeper, 1e-4)[2]),
        pitch_3=float(slope(1, control[1], 1e-4)[2]),
        speed_1=-float(slope(None, faster, 1e-3)[0]),
        speed_2=float(slope(3, control[3], 1e-4)[0]),
        yaw_1=-float(slope(None, state[12], 1e-3)[3]),
        yaw_2=float(slope(2, control[2], 1e-4)[3]),
    )


def designed_gains(model: LinearModel, trim: Trim, choices: DesignChoices | None = None) -> dict[str, float]:
    """Parameters of FIXEDWING_CONTROLLER_PARAMETERS, by Beard and McLain (2012), sec. 6.3 and 6.4.

    Inner loops: proportional gain by the deflection at the greatest error expected (eq. 6.7, 6.19), rate gain by the
    damping ratio; where the aircraft damps itself more than that, none. Outer loops: by natural frequency and damping
    (course, eq. 6.12 and 6.13; height by pitch; airspeed by throttle, and by pitch), with the inner one taken for its
    gain at low frequency.
    """
    c, speed = choices or DesignChoices(), trim.airspeed
    roll_gain = c.roll_deflection / c.roll_error
    roll_frequency = math.sqrt(abs(model.roll_2) * roll_gain)
    pitch_gain = c.pitch_deflection / c.pitch_error
    stiffness = model.pitch_2 + abs(model.pitch_3) * pitch_gain
    pitch_frequency = math.sqrt(stiffness)
    pitch_dc = abs(model.pitch_3) * pitch_gain / stiffness
    lift = pitch_dc * speed
    return {
        "design_airspeed": speed,
        "trim_throttle": trim.throttle,
        "trim_elevator": trim.elevator,
        "trim_pitch": trim.angle_of_attack,
        "roll_gain": roll_gain,
        "roll_rate_gain": max(0.0, (2.0 * c.roll_damping * roll_frequency - model.roll_1) / abs(model.roll_2)),
        "course_gain": 2.0 * c.course_damping * c.course_frequency * speed / GRAVITY,
        "course_integral_gain": c.course_frequency**2 * speed / GRAVITY,
        "yaw_damper_gain": c.yaw_damping / abs(model.yaw_2),
        "pitch_gain": pitch_gain,
        "pitch_rate_gain": max(0.0, (2.0 * c.pitch_damping * pitch_frequency - model.pitch_1) / abs(model.pitch_3)),
        "height_gain": 2.0 * c.height_damping * c.height_frequency / lift,
        "height_integral_gain": c.height_frequency**2 / lift,
        "throttle_gain": max(0.0, (2.0 * c.speed_damping * c.speed_frequency - model.speed_1) / model.speed_2),
        "throttle_integral_gain": c.speed_frequency**2 / model.speed_2,
        "climb_speed_gain": max(0.0, 2.0 * c.climb_damping * c.climb_frequency - model.speed_1) / (pitch_dc * GRAVITY),
        "climb_speed_integral_gain": c.climb_frequency**2 / (pitch_dc * GRAVITY),
    }

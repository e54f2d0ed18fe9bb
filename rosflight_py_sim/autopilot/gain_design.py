"""Gain design for a fixed wing from its linear model, loop by loop from the inside outward."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rosflight_py_sim.physics.fixedwing import AILERON, ELEVATOR, RUDDER, THROTTLE
from rosflight_py_sim.physics.steady_model import Array, SteadyModel
from rosflight_py_sim.physics.trim import FlightCondition, Trim, trim

# Airspeed step for the difference of trims.
_FASTER = 1.01


@dataclass(frozen=True)
class TransferCoefficients:
    """Coefficients of the transfer functions of Beard and McLain, Small Unmanned Aircraft (2012), chapter 5.

    Attributes:
        roll_1, roll_2: a_phi1 (1/s) and a_phi2 (1/s^2): p' = -a_phi1 p + a_phi2 delta_a (eq. 5.23 ff.).
        pitch_1, pitch_2, pitch_3: a_theta1 to a_theta3: theta'' = -a1 theta' - a2 theta + a3 delta_e (eq. 5.28 ff.).
        speed_1, speed_2: a_V1 (1/s) and a_V2 (m/s^2): V' = -a_V1 V + a_V2 delta_t (eq. 5.35 ff.).
        yaw_2: effect of the rudder on the yaw rate (1/s^2).
        path_1: change of the flight-path angle with airspeed at a constant pitch angle (rad s/m): gamma is theta minus
            the angle of attack whose lift equals the weight, so path_1 is -d(alpha)/dV of level flight.
    """

    roll_1: float
    roll_2: float
    pitch_1: float
    pitch_2: float
    pitch_3: float
    speed_1: float
    speed_2: float
    yaw_2: float
    path_1: float


@dataclass(frozen=True)
class DesignChoices:
    """Design choices for the loops.

    Attributes:
        roll_error, pitch_error: errors (rad) at which the surface reaches `roll_deflection`, `pitch_deflection` (rad).
        roll_damping, pitch_damping: least damping ratios of these loops.
        course_frequency, height_frequency, speed_frequency: natural frequencies of the outer loops (rad/s).
        course_damping, height_damping, speed_damping: their damping ratios.
        climb_frequency, climb_damping: of the airspeed loop by pitch, in climb and descent.
        throttle_height_frequency, throttle_height_damping: of the height loop by throttle, at a given pitch angle.
        yaw_damping: increase of the decay rate of yaw rates by the yaw damper, 1/s.
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
    throttle_height_frequency: float = 0.4
    throttle_height_damping: float = 1.0
    yaw_damping: float = 2.0


def transfer_coefficients(model: SteadyModel, trimmed: Trim) -> TransferCoefficients:
    """Coefficients at a trim in straight and level flight, by central differences of the model's motion.

    Angles of attack replace pitch angles, and couplings between the axes are neglected, as in the book's models.
    """
    forward, downward = trimmed.truth[7:10] / trimmed.condition.airspeed, np.zeros(3)
    downward[0], downward[2] = -forward[2], forward[0]
    along = model.derivative(trimmed.truth.copy(), trimmed.inputs)[0:3] / trimmed.condition.airspeed

    def rates(change: Array, moved: Array) -> Array:
        """Rates of airspeed, p, q and r."""
        rate = model.derivative(trimmed.truth + change, trimmed.inputs + moved)
        return np.array([rate[7:10] @ along, *rate[10:13]])

    def by_state(first: int, direction: Array, step: float) -> Array:
        change = np.zeros(19)
        change[first : first + len(direction)] = step * direction
        return (rates(change, np.zeros(4)) - rates(-change, np.zeros(4))) / (2.0 * step)

    def by_input(index: int, step: float = 1e-4) -> Array:
        moved = np.zeros(4)
        moved[index] = step
        return (rates(np.zeros(19), moved) - rates(np.zeros(19), -moved)) / (2.0 * step)

    one = np.ones(1)
    faster = trim(model, FlightCondition(_FASTER * trimmed.condition.airspeed))
    steeper = by_state(7, trimmed.condition.airspeed * downward, 1e-4)
    return TransferCoefficients(
        roll_1=-float(by_state(10, one, 1e-3)[1]),
        roll_2=float(by_input(AILERON)[1]),
        pitch_1=-float(by_state(11, one, 1e-3)[2]),
        pitch_2=-float(steeper[2]),
        pitch_3=float(by_input(ELEVATOR)[2]),
        speed_1=-float(by_state(7, forward, 1e-3)[0]),
        speed_2=float(by_input(THROTTLE)[0]),
        yaw_2=float(by_input(RUDDER)[3]),
        path_1=(trimmed.alpha - faster.alpha) / ((_FASTER - 1.0) * trimmed.condition.airspeed),
    )


def designed_gains(model: SteadyModel, airspeed: float, choices: DesignChoices | None = None) -> dict[str, float]:
    """Parameters of FIXEDWING_TARGET_PARAMETERS, by Beard and McLain (2012), sec. 6.3 and 6.4.

    Inner loops: proportional gain by the deflection at the greatest error expected (eq. 6.7, 6.19), rate gain by the
    damping ratio; 0 if the natural damping is higher. Outer loops: by natural frequency and damping (course, eq. 6.12
    and 6.13; height by pitch; airspeed by throttle, and by pitch), with the inner loop replaced by its gain at low
    frequency. Height by throttle, at a given pitch angle, in the same way; its integrator is five times slower than the
    loop.

    Raises:
        TrimError: the aircraft cannot fly level at that airspeed.
    """
    trimmed = trim(model, FlightCondition(airspeed))
    return gains_at(transfer_coefficients(model, trimmed), trimmed, model.gravity, choices or DesignChoices())


def gains_at(model: TransferCoefficients, trimmed: Trim, gravity: float, choices: DesignChoices) -> dict[str, float]:
    """Gains for a trim with known coefficients: see `designed_gains`."""
    c, speed = choices, trimmed.condition.airspeed
    roll_gain = c.roll_deflection / c.roll_error
    roll_frequency = math.sqrt(abs(model.roll_2) * roll_gain)
    pitch_gain = c.pitch_deflection / c.pitch_error
    stiffness = model.pitch_2 + abs(model.pitch_3) * pitch_gain
    pitch_frequency = math.sqrt(stiffness)
    pitch_dc = abs(model.pitch_3) * pitch_gain / stiffness
    lift = pitch_dc * speed
    # At a given pitch angle V' = -(a_V1 + g path_1) V + a_V2 delta_t, and h' = V_a path_1 V.
    climbing = speed * model.path_1 * model.speed_2
    slowing = model.speed_1 + gravity * model.path_1
    throttle_height_gain = c.throttle_height_frequency**2 / climbing
    return {
        "design_airspeed": speed,
        "trim_throttle": float(trimmed.inputs[THROTTLE]),
        "trim_elevator": float(trimmed.inputs[ELEVATOR]),
        "trim_pitch": trimmed.alpha,
        "roll_gain": roll_gain,
        "roll_rate_gain": max(0.0, (2.0 * c.roll_damping * roll_frequency - model.roll_1) / abs(model.roll_2)),
        "course_gain": 2.0 * c.course_damping * c.course_frequency * speed / gravity,
        "course_integral_gain": c.course_frequency**2 * speed / gravity,
        "yaw_damper_gain": c.yaw_damping / abs(model.yaw_2),
        "pitch_gain": pitch_gain,
        "pitch_rate_gain": max(0.0, (2.0 * c.pitch_damping * pitch_frequency - model.pitch_1) / abs(model.pitch_3)),
        "height_gain": 2.0 * c.height_damping * c.height_frequency / lift,
        "height_integral_gain": c.height_frequency**2 / lift,
        "throttle_gain": max(0.0, (2.0 * c.speed_damping * c.speed_frequency - model.speed_1) / model.speed_2),
        "throttle_integral_gain": c.speed_frequency**2 / model.speed_2,
        "throttle_height_gain": throttle_height_gain,
        "throttle_climb_gain": max(
            0.0, (2.0 * c.throttle_height_damping * c.throttle_height_frequency - slowing) / climbing
        ),
        "throttle_height_integral_gain": 0.2 * c.throttle_height_frequency * throttle_height_gain,
        "climb_speed_gain": max(0.0, 2.0 * c.climb_damping * c.climb_frequency - model.speed_1) / (pitch_dc * gravity),
        "climb_speed_integral_gain": c.climb_frequency**2 / (pitch_dc * gravity),
    }

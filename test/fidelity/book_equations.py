"""The book's aircraft, written down a second time: nothing here imports the package.

R. Beard, T. McLain, Small Unmanned Aircraft: Theory and Practice, in scalars and in the book's own terms: rigid body of
eq. 3.14 to 3.17 with the gammas of eq. 3.13, lift and drag of eq. 4.6 to 4.11, lateral forces and moments of eq. 4.14
to 4.16, motor and propeller of section 4.3 (as the authors' supplement on propeller thrust and torque has it, with the
inflow equal to the airspeed). Trim is by Newton's method with a Jacobian of differences.

Parameters have the names of ROSflight's files. Two of them differ in meaning from the book: its J_xz is minus `Jxz`
(the book writes the minus into the matrix), and its C_Dp is `C_D_O`. `C_D_alpha` is the slope of the book's linear drag
model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Trimmed:
    """Result of Newton's method: angles in rad, throttle 0 to 1, climb angle in rad."""

    alpha: float
    beta: float
    phi: float
    theta: float
    elevator: float
    aileron: float
    rudder: float
    throttle: float
    climb: float


def sigmoid(parameters: dict[str, float], alpha: float) -> float:
    """Blend of eq. 4.10: 0 attached, 1 stalled."""
    rate, stall = parameters["wing_M"], parameters["wing_alpha0"]
    ahead, behind = math.exp(-rate * (alpha - stall)), math.exp(rate * (alpha + stall))
    return (1.0 + ahead + behind) / ((1.0 + ahead) * (1.0 + behind))


def lift_coefficient(parameters: dict[str, float], alpha: float) -> float:
    """C_L(alpha) of eq. 4.9."""
    stalled = sigmoid(parameters, alpha)
    linear = parameters["C_L_O"] + parameters["C_L_alpha"] * alpha
    return (1.0 - stalled) * linear + stalled * flat_plate_lift(alpha)


def flat_plate_lift(alpha: float) -> float:
    """Lift coefficient of a flat plate, in eq. 4.9."""
    return 2.0 * math.copysign(1.0, alpha) * math.sin(alpha) ** 2 * math.cos(alpha)


def drag_coefficient(parameters: dict[str, float], alpha: float) -> float:
    """C_D(alpha) of eq. 4.11, and the linear term of the linear drag model on top."""
    aspect_ratio = parameters["wing_b"] ** 2 / parameters["wing_s"]
    linear = parameters["C_L_O"] + parameters["C_L_alpha"] * alpha
    induced = linear**2 / (math.pi * parameters["wing_epsilon"] * aspect_ratio)
    return parameters["C_D_O"] + parameters["C_D_alpha"] * alpha + induced


def thrust_and_torque(parameters: dict[str, float], airspeed: float, throttle: float) -> tuple[float, float]:
    """Thrust (N) and torque (N m) of motor and propeller: section 4.3."""
    rho, diameter, constant = parameters["rho"], parameters["D_prop"], parameters["KQ"]
    resistance = parameters["R_motor"]
    a = rho * diameter**5 * parameters["CQ_0"] / (2.0 * math.pi) ** 2
    b = rho * diameter**4 * parameters["CQ_1"] * airspeed / (2.0 * math.pi) + constant**2 / resistance
    c = (
        rho * diameter**3 * parameters["CQ_2"] * airspeed**2
        - constant * parameters["V_max"] * throttle / resistance
        + constant * parameters["I_0"]
    )
    speed = (-b + math.sqrt(b**2 - 4.0 * a * c)) / (2.0 * a)
    ratio = 2.0 * math.pi * airspeed / (speed * diameter)
    n = speed / (2.0 * math.pi)
    thrust = (parameters["CT_2"] * ratio**2 + parameters["CT_1"] * ratio + parameters["CT_0"]) * rho * n**2
    torque = (parameters["CQ_2"] * ratio**2 + parameters["CQ_1"] * ratio + parameters["CQ_0"]) * rho * n**2
    return thrust * diameter**4, torque * diameter**5


def forces_and_moments(
    parameters: dict[str, float],
    velocity: tuple[float, float, float],
    rates: tuple[float, float, float],
    surfaces: tuple[float, float, float],
    propeller: tuple[float, float],
) -> tuple[float, ...]:
    """f_x, f_y, f_z, l, m, n of eq. 4.18 and 4.20 without gravity; `surfaces`: elevator, aileron, rudder (rad)."""
    g = parameters.__getitem__
    u, v, w = velocity
    p, q, r = rates
    elevator, aileron, rudder = surfaces
    airspeed = math.sqrt(u * u + v * v + w * w)
    alpha, beta = math.atan2(w, u), math.asin(v / airspeed)
    span, chord = g("wing_b"), g("wing_c")
    q_s = 0.5 * g("rho") * airspeed**2 * g("wing_s")
    long, wide = chord / (2.0 * airspeed), span / (2.0 * airspeed)
    lift = q_s * (lift_coefficient(parameters, alpha) + g("C_L_q") * long * q + g("C_L_delta_e") * elevator)
    drag = q_s * (drag_coefficient(parameters, alpha) + g("C_D_q") * long * q + g("C_D_delta_e") * elevator)

    def lateral(name: str) -> float:
        return q_s * (
            g(f"{name}_O")
            + g(f"{name}_beta") * beta
            + g(f"{name}_p") * wide * p
            + g(f"{name}_r") * wide * r
            + g(f"{name}_delta_a") * aileron
            + g(f"{name}_delta_r") * rudder
        )

    pitching = g("C_m_O") + g("C_m_alpha") * alpha + g("C_m_q") * long * q + g("C_m_delta_e") * elevator
    thrust, torque = propeller
    return (
        -drag * math.cos(alpha) + lift * math.sin(alpha) + thrust,
        lateral("C_Y"),
        -drag * math.sin(alpha) - lift * math.cos(alpha),
        span * lateral("C_ell") - torque,
        q_s * chord * pitching,
        span * lateral("C_n"),
    )


def accelerations(
    parameters: dict[str, float],
    velocity: tuple[float, float, float],
    angles: tuple[float, float],
    rates: tuple[float, float, float],
    loads: tuple[float, ...],
) -> tuple[float, ...]:
    """Time derivatives of u, v, w, p, q, r: eq. 3.15 and 3.17 with gravity; `angles`: phi, theta."""
    u, v, w = velocity
    phi, theta = angles
    p, q, r = rates
    fx, fy, fz, ell, m, n = loads
    mass, gravity = parameters["mass"], parameters["gravity"]
    jx, jy, jz, jxz = parameters["Jxx"], parameters["Jyy"], parameters["Jzz"], -parameters["Jxz"]
    gamma = jx * jz - jxz**2
    gamma1, gamma2 = jxz * (jx - jy + jz) / gamma, (jz * (jz - jy) + jxz**2) / gamma
    gamma3, gamma4 = jz / gamma, jxz / gamma
    gamma5, gamma6 = (jz - jx) / jy, jxz / jy
    gamma7, gamma8 = ((jx - jy) * jx + jxz**2) / gamma, jx / gamma
    return (
        r * v - q * w + fx / mass - gravity * math.sin(theta),
        p * w - r * u + fy / mass + gravity * math.cos(theta) * math.sin(phi),
        q * u - p * v + fz / mass + gravity * math.cos(theta) * math.cos(phi),
        gamma1 * p * q - gamma2 * q * r + gamma3 * ell + gamma4 * n,
        gamma5 * p * r - gamma6 * (p**2 - r**2) + m / jy,
        gamma7 * p * q - gamma1 * q * r + gamma4 * ell + gamma8 * n,
    )


def trim(
    parameters: dict[str, float], airspeed: float, climb: float | None, turn_radius: float, powered: bool = True
) -> Trimmed:
    """Steady flight, coordinated (no side force): section 5.3, in eight unknowns and as many equations.

    If not `powered`, there is no propeller, and the climb angle is unknown instead of the throttle.
    """
    last = 0.5 if powered else -0.1
    unknowns = np.array(
        [0.02, 0.0, math.atan(airspeed**2 / (turn_radius * parameters["gravity"])), 0.05, 0, 0, 0, last]
    )
    if climb is not None:
        unknowns[3] += climb

    def excess(x: np.ndarray) -> np.ndarray:
        alpha, beta, phi, theta, elevator, aileron, rudder, free = (float(value) for value in x)
        throttle, path = (free, climb) if climb is not None else (0.0, free)
        u = airspeed * math.cos(alpha) * math.cos(beta)
        v = airspeed * math.sin(beta)
        w = airspeed * math.sin(alpha) * math.cos(beta)
        turn = airspeed * math.cos(path) / turn_radius
        rates = (
            -turn * math.sin(theta),
            turn * math.sin(phi) * math.cos(theta),
            turn * math.cos(phi) * math.cos(theta),
        )
        propeller = thrust_and_torque(parameters, airspeed, throttle) if powered else (0.0, 0.0)
        loads = forces_and_moments(parameters, (u, v, w), rates, (elevator, aileron, rudder), propeller)
        climbing = u * math.sin(theta) - v * math.sin(phi) * math.cos(theta) - w * math.cos(phi) * math.cos(theta)
        return np.array(
            [
                *accelerations(parameters, (u, v, w), (phi, theta), rates, loads),
                climbing - airspeed * math.sin(path),
                loads[1] / parameters["mass"],
            ]
        )

    for _ in range(50):
        steps = 1e-6 * np.eye(8)
        jacobian = np.array([(excess(unknowns + s) - excess(unknowns - s)) / 2e-6 for s in steps]).T
        change = np.linalg.solve(jacobian, -excess(unknowns))
        unknowns = unknowns + change * min(1.0, 0.1 / np.max(np.abs(change)))
        if np.max(np.abs(change)) < 1e-12:
            break
    else:
        raise ArithmeticError("Newton's method does not converge")
    throttle, path = (unknowns[7], climb) if climb is not None else (0.0, unknowns[7])
    return Trimmed(*(float(value) for value in unknowns[:7]), float(throttle), float(path))

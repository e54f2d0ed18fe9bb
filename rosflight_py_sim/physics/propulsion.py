"""Electric motor and propeller: speed, thrust, torque and current of one rotor.

Beard and McLain, Small Unmanned Aircraft, section 4.3 (DC motor and propeller with thrust and torque coefficients
quadratic in the advance ratio J = 2 pi V / (Omega D)), with these limits, as in ROSflight: the speed is at least 1e-4
rad/s, and a coefficient that is not positive becomes 1e-4 (the quadratics are not valid in the windmill state). The
inflow V comes from ahead; for inflow from behind see `descent.py`.
"""

from __future__ import annotations

import math

from rosflight_py_sim.kernels.jit import kernel

SLOWEST_SPEED = 1e-4
"""rad/s."""
SMALLEST_COEFFICIENT = 1e-4


@kernel
def steady_rotor_speed(
    stall_current: float,
    conductance: float,
    inflow: float,
    density: float,
    diameter: float,
    cq_0: float,
    cq_1: float,
    cq_2: float,
    no_load_current: float,
    torque_constant: float,
) -> float:
    """Speed (rad/s) at which motor torque equals propeller torque; positive root of the quadratic of section 4.3.

    The motor's current (A) falls with its back-emf: `stall_current` - `conductance` (1/ohm) times K Omega; at a voltage
    V they are V / R and 1 / R. `inflow` along the axis (m/s), `density` (kg/m^3), `diameter` (m), `no_load_current`
    (A), `torque_constant` K (N m/A, and V s/rad as the back-emf constant).
    """
    a = cq_0 * density * diameter**5 / (4.0 * math.pi**2)
    b = cq_1 * density * diameter**4 / (2.0 * math.pi) * inflow + torque_constant**2 * conductance
    c = cq_2 * density * diameter**3 * inflow**2 - torque_constant * (stall_current - no_load_current)
    discriminant = b * b - 4.0 * a * c
    if discriminant <= 0.0:
        return SLOWEST_SPEED
    root = math.sqrt(discriminant)
    # The first form holds without air, where a is 0.
    return max(SLOWEST_SPEED, -2.0 * c / (b + root) if b > 0.0 else (root - b) / (2.0 * a))


@kernel
def coefficient(advance_ratio: float, c_0: float, c_1: float, c_2: float) -> float:
    """Thrust or torque coefficient: c_2 J^2 + c_1 J + c_0, at least SMALLEST_COEFFICIENT where that is not positive."""
    value = c_0 + advance_ratio * (c_1 + advance_ratio * c_2)
    return value if value > 0.0 else SMALLEST_COEFFICIENT


@kernel
def motor_current(voltage: float, speed: float, resistance: float, torque_constant: float) -> float:
    """Current through the motor (A): (V - K Omega) / R, and 0 where that is negative (no braking)."""
    return max(0.0, (voltage - torque_constant * speed) / resistance)

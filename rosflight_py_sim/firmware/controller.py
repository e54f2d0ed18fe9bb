"""Controller: forces and torques from commands, by PID loops on roll and pitch angle and on the three rates.

Forces are passed through; with USE_MOTOR_PARAM, a throttle setting is a share of the motors' maximum thrust.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.command import COMMANDS, FX, FZ, QX, QY, QZ, CommandType
from rosflight_py_sim.firmware.estimator import EULER, RATE
from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record

LEAST_DERIVATIVE_STEP_S = 1e-4
GREATEST_INTEGRATION_STEP_S = 0.01
INTEGRATION_THROTTLE = 0.1
"""Throttle command below which the integrators are frozen."""

LEAST_MOTOR_CONSTANT = 1e-7
"""V s/rad; below it the motor model would divide by zero."""

# Rows of the memory, one for each loop.
ROLL_RATE, PITCH_RATE, YAW_RATE, ROLL_ANGLE, PITCH_ANGLE = range(5)
_LOOPS = ("ROLL_RATE", "PITCH_RATE", "YAW_RATE", "ROLL_ANG", "PITCH_ANG")


@kernel_record
class Gains:
    """Gains of a PID loop."""

    p: float
    i: float
    d: float


@kernel_record
class ControllerSettings:
    """Parameters of the control loops.

    Attributes:
        roll_rate: gains of the loop on the roll rate; the other loops likewise.
        tau: time constant of the differentiator (s).
        roll_torque: torque added to the output of the roll loop; the other axes likewise.
        max_throttle: share of full thrust at full throttle.
        use_motor_model: whether the outputs are thrusts and torques (N, N m) instead of shares of full ones.
        torque_term: R D^5 C_Q / (4 pi^2 K_Q) of `greatest_thrust`.
        motor_constant: K_V (V s/rad).
        voltage_term: i_0 R - V (V).
        thrust_term: n D^4 C_T / (4 pi^2).
    """

    roll_rate: Gains
    pitch_rate: Gains
    yaw_rate: Gains
    roll_angle: Gains
    pitch_angle: Gains
    tau: float
    roll_torque: float
    pitch_torque: float
    yaw_torque: float
    max_throttle: float
    use_motor_model: bool
    torque_term: float
    motor_constant: float
    voltage_term: float
    thrust_term: float


_MOTOR = ("MOTOR_RESISTANCE", "MOTOR_KV", "NO_LOAD_CURRENT", "PROP_DIAMETER", "PROP_CT", "PROP_CQ")
PARAMETERS_USED = frozenset(
    [
        *(f"PID_{loop}_{gain}" for loop in _LOOPS for gain in "PID"),
        *("PID_TAU", "X_EQ_TORQUE", "Y_EQ_TORQUE", "Z_EQ_TORQUE", "RC_MAX_THR", "USE_MOTOR_PARAM"),
        *(*_MOTOR, "BATT_VOLT_MAX", "NUM_MOTORS"),
    ]
)

# Parameters whose change makes rosflight_firmware recompute the maximum thrust.
THRUST_PARAMETERS = PARAMETERS_USED - {"X_EQ_TORQUE", "Y_EQ_TORQUE", "Z_EQ_TORQUE", "USE_MOTOR_PARAM", "PROP_CQ"}

_RATE = int(CommandType.RATE)
_ANGLE = int(CommandType.ANGLE)
_THROTTLE = int(CommandType.THROTTLE)


def controller_settings(parameters: FirmwareParameters) -> ControllerSettings:
    """Kernel settings from the parameters."""
    roll_rate, pitch_rate, yaw_rate, roll_angle, pitch_angle = (_gains(parameters, loop) for loop in _LOOPS)
    resistance, kv, no_load_current, diameter, ct, cq = (float(parameters[name]) for name in _MOTOR)
    drives = kv > LEAST_MOTOR_CONSTANT
    return ControllerSettings(
        roll_rate=roll_rate,
        pitch_rate=pitch_rate,
        yaw_rate=yaw_rate,
        roll_angle=roll_angle,
        pitch_angle=pitch_angle,
        tau=parameters["PID_TAU"],
        roll_torque=parameters["X_EQ_TORQUE"],
        pitch_torque=parameters["Y_EQ_TORQUE"],
        yaw_torque=parameters["Z_EQ_TORQUE"],
        max_throttle=parameters["RC_MAX_THR"],
        use_motor_model=bool(parameters["USE_MOTOR_PARAM"]),
        torque_term=resistance * diameter**5 * cq / (4.0 * math.pi**2 * kv) if drives else 0.0,
        motor_constant=kv,
        voltage_term=no_load_current * resistance - float(parameters["BATT_VOLT_MAX"]),
        thrust_term=diameter**4 * ct / (4.0 * math.pi**2) * parameters["NUM_MOTORS"],
    )


def _gains(parameters: FirmwareParameters, loop: str) -> Gains:
    p, i, d = (float(parameters[f"PID_{loop}_{gain}"]) for gain in "PID")
    return Gains(p=p, i=i, d=d)


def trimmed_torques(
    parameters: FirmwareParameters, values: Sequence[float], types: Sequence[float]
) -> dict[str, float]:
    """X_EQ_TORQUE to Z_EQ_TORQUE that replace the current stick deflection, level and at rest.

    Args:
        parameters: gains, and the torques in force.
        values: (10,) command of the sticks.
        types: (10,) their `CommandType`s.
    """
    torques = {}
    for axis, name, angle in (("X", "ROLL", True), ("Y", "PITCH", True), ("Z", "YAW", False)):
        at = QX + "XYZ".index(axis)
        gain = 1.0
        if types[at] == _RATE:
            gain = parameters[f"PID_{name}_RATE_P"]
        elif angle and types[at] == _ANGLE:
            gain = parameters[f"PID_{name}_ANG_P"]
        torques[f"{axis}_EQ_TORQUE"] = parameters[f"{axis}_EQ_TORQUE"] + gain * values[at]
    return torques


def new_controller_memory() -> NDArray[np.float64]:
    """Integral, filtered derivative and previous value of each loop, at zero."""
    return np.zeros((len(_LOOPS), 3))


@kernel
def greatest_thrust(settings: ControllerSettings, air_density: float) -> float:
    """Thrust (N) of all motors at BATT_VOLT_MAX and no airspeed.

    The positive root of a w^2 + b w + c = 0 with a = rho R D^5 C_Q / (4 pi^2 K_Q), b = K_V, c = i_0 R - V (R. Beard,
    T. McLain, Small Unmanned Aircraft, section 4.3, torque of motor and propeller set equal), put into
    T = n rho D^4 C_T w^2 / (4 pi^2). Zero if the voltage is too low to turn the motor.
    """
    a = settings.torque_term * air_density
    b = settings.motor_constant
    c = settings.voltage_term
    if b < LEAST_MOTOR_CONSTANT or c >= 0.0:
        return 0.0
    # This form of the root stays accurate as a goes to zero.
    rotor_speed = -2.0 * c / (b + math.sqrt(b * b - 4.0 * a * c))
    return float(settings.thrust_term * air_density * rotor_speed * rotor_speed)


@kernel
def rate_loop(
    gains: Gains,
    tau: float,
    memory: NDArray[np.float64],
    value: float,
    wanted: float,
    dt: float,
    integrate: bool,
) -> float:
    """PID with the derivative from a band-limited differentiator of the value (time constant PID_TAU).

    R. Beard, T. McLain, C. Peterson, M. Killpack, Introduction to Feedback Control, eq. 10.4.
    """
    derivative = 0.0
    if dt > LEAST_DERIVATIVE_STEP_S:
        memory[1] = (2.0 * tau - dt) / (2.0 * tau + dt) * memory[1] + 2.0 / (2.0 * tau + dt) * (value - memory[2])
        derivative = memory[1]
    memory[2] = value
    return angle_loop(gains, memory, value, derivative, wanted, dt, integrate)


@kernel
def angle_loop(
    gains: Gains,
    memory: NDArray[np.float64],
    value: float,
    derivative: float,
    wanted: float,
    dt: float,
    integrate: bool,
) -> float:
    """PID with a measured derivative; without `integrate` the integral is kept but not used."""
    error = wanted - value
    output = gains.p * error - gains.d * derivative
    if gains.i > 0.0 and integrate:
        memory[0] += error * dt
        output += gains.i * memory[0]
    return float(output)


@kernel
def thrust_at_full_throttle(settings: ControllerSettings, air_density: float) -> float:
    """Thrust command for a throttle of 1: N with USE_MOTOR_PARAM, else a share of full thrust.

    The throttle is limited below full thrust, which leaves a margin for attitude control.
    """
    scale = settings.max_throttle
    if settings.use_motor_model:
        scale *= greatest_thrust(settings, air_density)
    return scale


@kernel
def controller_step(
    settings: ControllerSettings,
    memory: NDArray[np.float64],
    estimate: NDArray[np.float64],
    command: NDArray[np.float64],
    output: NDArray[np.float64],
    armed: bool,
    air_density: float,
    dt: float,
) -> None:
    """Run the loops once.

    Args:
        settings: as `controller_settings` makes them.
        memory: (5, 3), updated in place.
        estimate: state of the estimator.
        command: (2, 10), values and `CommandType`s.
        output: (10,) output: Fx, Fy, Fz, Qx, Qy, Qz and the four spare commands.
        armed: the integrators only run while armed.
        air_density: kg/m^3, for the greatest thrust.
        dt: time since the previous pass (s).
    """
    tau = settings.tau
    throttle_is_up = False
    for i in range(FX, FZ + 1):
        throttle_is_up = throttle_is_up or command[0, i] > INTEGRATION_THROTTLE
    integrate = armed and throttle_is_up and dt < GREATEST_INTEGRATION_STEP_S

    for i in range(COMMANDS):
        output[i] = command[0, i]
    if command[1, QX] == _RATE:
        output[QX] = rate_loop(
            settings.roll_rate, tau, memory[ROLL_RATE], estimate[RATE], command[0, QX], dt, integrate
        )
    elif command[1, QX] == _ANGLE:
        output[QX] = angle_loop(
            settings.roll_angle,
            memory[ROLL_ANGLE],
            estimate[EULER],
            estimate[RATE],
            command[0, QX],
            dt,
            integrate,
        )
    if command[1, QY] == _RATE:
        output[QY] = rate_loop(
            settings.pitch_rate, tau, memory[PITCH_RATE], estimate[RATE + 1], command[0, QY], dt, integrate
        )
    elif command[1, QY] == _ANGLE:
        output[QY] = angle_loop(
            settings.pitch_angle,
            memory[PITCH_ANGLE],
            estimate[EULER + 1],
            estimate[RATE + 1],
            command[0, QY],
            dt,
            integrate,
        )
    if command[1, QZ] == _RATE:
        output[QZ] = rate_loop(
            settings.yaw_rate, tau, memory[YAW_RATE], estimate[RATE + 2], command[0, QZ], dt, integrate
        )
    output[QX] += settings.roll_torque
    output[QY] += settings.pitch_torque
    output[QZ] += settings.yaw_torque

    scale = thrust_at_full_throttle(settings, air_density)
    for i in range(FX, FZ + 1):
        if command[1, i] == _THROTTLE:
            # Throttle means up, the z axis points down.
            output[i] = (-scale if i == FZ else scale) * command[0, i]

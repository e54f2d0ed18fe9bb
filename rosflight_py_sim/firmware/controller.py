"""Controller: forces and torques from commands, by PID loops on roll and pitch angle and on the three rates.

Forces are passed through; with USE_MOTOR_PARAM, a throttle setting is a share of the motors' maximum thrust.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.command import COMMANDS, FX, FZ, QX, QZ, CommandType
from rosflight_py_sim.firmware.estimator import EULER, RATE
from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.jit import kernel

LEAST_DERIVATIVE_STEP_S = 1e-4
GREATEST_INTEGRATION_STEP_S = 0.01
INTEGRATION_THROTTLE = 0.1
"""Throttle command below which the integrators are frozen."""

LEAST_MOTOR_CONSTANT = 1e-7
"""V s/rad; below it the motor model would divide by zero."""

# The loops: rows of gains (P, I, D) and of memory (integral, filtered derivative, previous value).
ROLL_RATE, PITCH_RATE, YAW_RATE, ROLL_ANGLE, PITCH_ANGLE = range(5)
_LOOPS = ("ROLL_RATE", "PITCH_RATE", "YAW_RATE", "ROLL_ANG", "PITCH_ANG")

# Indices into the settings array, after the fifteen gains.
TAU, EQUILIBRIUM, MAX_THROTTLE, USE_MOTOR_MODEL = 15, 16, 19, 20
TORQUE_TERM, MOTOR_CONSTANT, VOLTAGE_TERM, THRUST_TERM = 21, 22, 23, 24
SETTINGS_SIZE = 25

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


def controller_settings(parameters: FirmwareParameters) -> NDArray[np.float64]:
    """Kernel settings from the parameters, in the kernel's order."""
    settings = np.zeros(SETTINGS_SIZE)
    settings[:TAU] = [float(parameters[f"PID_{loop}_{gain}"]) for loop in _LOOPS for gain in "PID"]
    settings[TAU] = parameters["PID_TAU"]
    settings[EQUILIBRIUM : EQUILIBRIUM + 3] = [float(parameters[f"{axis}_EQ_TORQUE"]) for axis in "XYZ"]
    settings[MAX_THROTTLE] = parameters["RC_MAX_THR"]
    settings[USE_MOTOR_MODEL] = parameters["USE_MOTOR_PARAM"]
    resistance, kv, no_load_current, diameter, ct, cq = (float(parameters[name]) for name in _MOTOR)
    if kv > LEAST_MOTOR_CONSTANT:
        settings[TORQUE_TERM] = resistance * diameter**5 * cq / (4.0 * math.pi**2 * kv)
    settings[MOTOR_CONSTANT] = kv
    settings[VOLTAGE_TERM] = no_load_current * resistance - float(parameters["BATT_VOLT_MAX"])
    settings[THRUST_TERM] = diameter**4 * ct / (4.0 * math.pi**2) * parameters["NUM_MOTORS"]
    return settings


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
def greatest_thrust(settings: NDArray[np.float64], air_density: float) -> float:
    """Thrust (N) of all motors at BATT_VOLT_MAX and no airspeed.

    The positive root of a w^2 + b w + c = 0 with a = rho R D^5 C_Q / (4 pi^2 K_Q), b = K_V, c = i_0 R - V (R. Beard,
    T. McLain, Small Unmanned Aircraft, section 4.3, torque of motor and propeller set equal), put into
    T = n rho D^4 C_T w^2 / (4 pi^2). Zero if the voltage is too low to turn the motor.
    """
    a = settings[TORQUE_TERM] * air_density
    b = settings[MOTOR_CONSTANT]
    c = settings[VOLTAGE_TERM]
    if b < LEAST_MOTOR_CONSTANT or c >= 0.0:
        return 0.0
    # This form of the root stays accurate as a goes to zero.
    rotor_speed = -2.0 * c / (b + math.sqrt(b * b - 4.0 * a * c))
    return float(settings[THRUST_TERM] * air_density * rotor_speed * rotor_speed)


@kernel
def rate_loop(
    settings: NDArray[np.float64],
    memory: NDArray[np.float64],
    loop: int,
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
        tau = settings[TAU]
        memory[loop, 1] = (2.0 * tau - dt) / (2.0 * tau + dt) * memory[loop, 1] + 2.0 / (2.0 * tau + dt) * (
            value - memory[loop, 2]
        )
        derivative = memory[loop, 1]
    memory[loop, 2] = value
    return angle_loop(settings, memory, loop, value, derivative, wanted, dt, integrate)


@kernel
def angle_loop(
    settings: NDArray[np.float64],
    memory: NDArray[np.float64],
    loop: int,
    value: float,
    derivative: float,
    wanted: float,
    dt: float,
    integrate: bool,
) -> float:
    """PID with a measured derivative; without `integrate` the integral is kept but not used."""
    error = wanted - value
    output = settings[3 * loop] * error - settings[3 * loop + 2] * derivative
    gain = settings[3 * loop + 1]
    if gain > 0.0 and integrate:
        memory[loop, 0] += error * dt
        output += gain * memory[loop, 0]
    return float(output)


@kernel
def controller_step(
    settings: NDArray[np.float64],
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
    throttle_is_up = False
    for i in range(FX, FZ + 1):
        throttle_is_up = throttle_is_up or command[0, i] > INTEGRATION_THROTTLE
    integrate = armed and throttle_is_up and dt < GREATEST_INTEGRATION_STEP_S

    for i in range(COMMANDS):
        output[i] = command[0, i]
    for axis in range(2):
        rate = estimate[RATE + axis]
        wanted = command[0, QX + axis]
        if command[1, QX + axis] == _RATE:
            output[QX + axis] = rate_loop(settings, memory, ROLL_RATE + axis, rate, wanted, dt, integrate)
        elif command[1, QX + axis] == _ANGLE:
            angle = estimate[EULER + axis]
            output[QX + axis] = angle_loop(settings, memory, ROLL_ANGLE + axis, angle, rate, wanted, dt, integrate)
    if command[1, QZ] == _RATE:
        output[QZ] = rate_loop(settings, memory, YAW_RATE, estimate[RATE + 2], command[0, QZ], dt, integrate)
    for i in range(3):
        output[QX + i] += settings[EQUILIBRIUM + i]

    # The throttle is limited below full thrust, which leaves a margin for attitude control.
    scale = settings[MAX_THROTTLE]
    if settings[USE_MOTOR_MODEL] != 0.0:
        scale *= greatest_thrust(settings, air_density)
    for i in range(FX, FZ + 1):
        if command[1, i] == _THROTTLE:
            # Throttle means up, the z axis points down.
            output[i] = (-scale if i == FZ else scale) * command[0, i]

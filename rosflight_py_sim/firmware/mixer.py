"""Mixer from forces and torques to outputs: mixing matrices, motor model, saturation.

A mixing matrix has the rows Fx, Fy, Fz, Qx, Qy, Qz and four spare ones, and a column for each of ten outputs: output j
is the sum over i of command i times element (i, j), the parameter PRI_MIXER_i_j. Outputs 10 to 13 only follow auxiliary
commands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.command import QX, QY, QZ
from rosflight_py_sim.firmware.controller import LEAST_MOTOR_CONSTANT
from rosflight_py_sim.firmware.parameter_table import MIXER_OUTPUTS, MIXER_ROWS
from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record

LEAST_VOLTAGE = 1e-4
"""Battery voltage below which motors are off, V."""


class OutputType(IntEnum):
    """Device connected to an output."""

    AUX = 0
    SERVO = 1
    MOTOR = 2
    GPIO = 3


@kernel_record
class MixerSettings:
    """Parameters of mixer and motors.

    Attributes:
        resistance: of a motor's winding (ohm).
        kv: motor constant (V s/rad).
        no_load_current: of a motor (A).
        diameter: of a propeller (m).
        cq: torque coefficient of a propeller at no airspeed.
        idle: throttle of an armed motor at least.
        spin_when_armed: whether armed motors turn at `idle` or above.
        use_motor_model: whether the mixer of a multirotor commands squared propeller speeds.
        fixed_wing: whether the vehicle has surfaces, and motors that are not scaled.
        throttle_axis: the command, FX to FZ, of the throttle.
        sign_aileron: -1 for a reversed aileron, else 1; `sign_elevator` and `sign_rudder` likewise.
    """

    resistance: float
    kv: float
    no_load_current: float
    diameter: float
    cq: float
    idle: float
    spin_when_armed: bool
    use_motor_model: bool
    fixed_wing: bool
    throttle_axis: int
    sign_aileron: float
    sign_elevator: float
    sign_rudder: float


PARAMETERS_USED = frozenset(
    [
        *("MOTOR_RESISTANCE", "MOTOR_KV", "NO_LOAD_CURRENT", "PROP_DIAMETER", "PROP_CQ", "MOTOR_IDLE_THR"),
        *("ARM_SPIN_MOTORS", "USE_MOTOR_PARAM", "FIXED_WING", "RC_F_AXIS"),
        *("REV_AILERON", "REV_ELEVATOR", "REV_RUDDER"),
    ]
)

_AUX = int(OutputType.AUX)
_SERVO = int(OutputType.SERVO)
_MOTOR = int(OutputType.MOTOR)


def mixer_settings(parameters: FirmwareParameters) -> MixerSettings:
    """Kernel settings from the parameters."""
    return MixerSettings(
        resistance=parameters["MOTOR_RESISTANCE"],
        kv=parameters["MOTOR_KV"],
        no_load_current=parameters["NO_LOAD_CURRENT"],
        diameter=parameters["PROP_DIAMETER"],
        cq=parameters["PROP_CQ"],
        idle=parameters["MOTOR_IDLE_THR"],
        spin_when_armed=bool(parameters["ARM_SPIN_MOTORS"]),
        use_motor_model=bool(parameters["USE_MOTOR_PARAM"]),
        fixed_wing=bool(parameters["FIXED_WING"]),
        throttle_axis=int(parameters["RC_F_AXIS"]),
        sign_aileron=-1.0 if parameters["REV_AILERON"] else 1.0,
        sign_elevator=-1.0 if parameters["REV_ELEVATOR"] else 1.0,
        sign_rudder=-1.0 if parameters["REV_RUDDER"] else 1.0,
    )


def set_aux_command(channels: NDArray[np.float64], types: Sequence[int], values: Sequence[float]) -> None:
    """Set rows 1 and 2 of the channels (types, values) from an auxiliary command.

    Raises:
        ValueError: not fourteen of each, a type other than off, servo and motor, or a value that is not finite.
    """
    kinds = np.array(types, dtype=np.float64)
    settings = np.array(values, dtype=np.float64)
    if kinds.shape != (OUTPUTS,) or settings.shape != (OUTPUTS,):
        raise ValueError(f"needs {OUTPUTS} types and {OUTPUTS} values")
    if not np.isin(kinds, (_AUX, _SERVO, _MOTOR)).all() or not np.isfinite(settings).all():
        raise ValueError("types must be 0, 1 or 2, values finite")
    channels[1] = kinds
    channels[2] = np.where(kinds == _AUX, 0.0, settings)


@kernel
def throttle_for_speed(settings: MixerSettings, squared_speed: float, air_density: float, voltage: float) -> float:
    """Throttle (share of the battery voltage) for a propeller speed.

    V = rho D^5 C_Q R w^2 / (4 pi^2 K_Q) + R i_0 + K_V w with K_Q = K_V (R. Beard, T. McLain, Small Unmanned
    Aircraft, eq. 4.19 and the propeller's torque at no airspeed).

    Args:
        settings: as `mixer_settings` makes them.
        squared_speed: (rad/s)^2; a negative one counts as zero.
        air_density: kg/m^3.
        voltage: of the battery (V).
    """
    square = max(squared_speed, 0.0)
    r, kv = settings.resistance, settings.kv
    torque_term = air_density * settings.diameter**5 * settings.cq * r / (4.0 * math.pi**2 * kv)
    return float((torque_term * square + r * settings.no_load_current + kv * math.sqrt(square)) / voltage)


@kernel
def mixer_step(
    settings: MixerSettings,
    matrix: NDArray[np.float64],
    types: NDArray[np.float64],
    aux_types: NDArray[np.float64],
    aux_values: NDArray[np.float64],
    command: NDArray[np.float64],
    raw: NDArray[np.float64],
    armed: bool,
    air_density: float,
    voltage: float,
) -> float:
    """Mix, scale and limit; return the largest motor setting before scaling.

    Args:
        settings: as `mixer_settings` makes them.
        matrix: (10, 10) row, output.
        types: (14,) `OutputType` of each output; aux outputs follow the auxiliary command.
        aux_types: (14,) `OutputType` of the auxiliary command, 0 for none.
        aux_values: (14,) servo -1..1, motor 0..1.
        command: (10,) output of the controller; changed in place by surface reversal and the yaw cut.
        raw: (14,) output: servos and motors, 0 to 1. Other outputs keep their values.
        armed: motors are off unless armed.
        air_density: kg/m^3.
        voltage: of the battery (V).
    """
    fixed_wing = settings.fixed_wing
    model = settings.use_motor_model and not fixed_wing
    if fixed_wing:
        command[QX] *= settings.sign_aileron
        command[QY] *= settings.sign_elevator
        command[QZ] *= settings.sign_rudder
    elif abs(command[settings.throttle_axis]) < settings.idle:
        # A yaw stick in the arming corner must not spin up motors.
        command[QZ] = 0.0

    greatest = 0.0
    for j in range(MIXER_OUTPUTS):
        value = 0.0
        for i in range(MIXER_ROWS):
            value += command[i] * matrix[i, j]
        if types[j] == _MOTOR:
            if model:
                if settings.kv < LEAST_MOTOR_CONSTANT or voltage < LEAST_VOLTAGE:
                    value = 0.0
                else:
                    value = throttle_for_speed(settings, value, air_density, voltage)
            greatest = max(greatest, abs(value))
        raw[j] = value if types[j] == _MOTOR or types[j] == _SERVO else raw[j]

    # All motors are scaled by the same factor, so that high thrust does not suppress the torques.
    scale = 1.0 / greatest if greatest > 1.0 and not fixed_wing else 1.0
    for j in range(OUTPUTS):
        kind = types[j]
        value = raw[j] * scale if kind == _MOTOR else raw[j]
        if kind == _AUX:
            kind = aux_types[j]
            value = aux_values[j]
        if kind == _SERVO:
            raw[j] = 0.5 + 0.5 * min(1.0, max(-1.0, value))
        elif kind == _MOTOR:
            raw[j] = _motor_limits(settings, value) if armed else 0.0
    return greatest


@kernel
def _motor_limits(settings: MixerSettings, value: float) -> float:
    least = settings.idle if settings.spin_when_armed else 0.0
    return float(min(1.0, max(least, value)))

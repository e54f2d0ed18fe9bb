"""The flight controller's parameters: names, types, defaults and ranges as in rosflight_firmware, in its order.

The two mixing matrices, PRI_MIXER_i_j and SEC_MIXER_i_j (i the row: Fx, Fy, Fz, Qx, Qy, Qz and four spare ones;
j the output), are 10 by 10 each and without bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

MIXER_ROWS = 10
MIXER_OUTPUTS = 10
NO_MIXER = 255
SINGLE_PRECISION = 2.0**-24
"""Largest relative error of a number rounded to single precision."""


@dataclass(frozen=True)
class FirmwareParameter:
    """One parameter: its type is that of the default; `also_allowed` lists meaningful values outside the range.

    An angle (`is_angle`) outside the range is equivalent to the one in the range that differs by whole turns.
    """

    name: str
    default: int | float
    minimum: float
    maximum: float
    text: str
    also_allowed: tuple[int, ...] = ()
    is_angle: bool = False

    @property
    def type(self) -> type[int] | type[float]:
        """Type of the value, int or float."""
        return type(self.default)

    @property
    def allowed(self) -> str:
        """Allowed values in words."""
        kind = "a whole number" if self.type is int else "a number"
        lower, upper = math.isfinite(self.minimum), math.isfinite(self.maximum)
        if self.is_angle:
            words = f"{kind}, finite"
        elif lower and upper:
            words = f"{kind} from {self.minimum:g} to {self.maximum:g}"
        elif lower:
            words = f"{kind} of at least {self.minimum:g}"
        else:
            words = f"{kind}, finite"
        return words + "".join(f", or {value:g}" for value in self.allowed_outside)

    @property
    def allowed_outside(self) -> tuple[float, ...]:
        """Allowed values outside the range."""
        values = dict.fromkeys((*self.also_allowed, self.default))
        return tuple(value for value in values if not self.minimum <= value <= self.maximum)

    def accepts(self, value: float) -> bool:
        """Whether the value may be set: finite, whole for an int, in the range or one of `also_allowed`.

        ROSflight stores single-precision numbers: its files hold 3.1415901 for a parameter whose maximum is 3.14159.
        """
        if not math.isfinite(value) or (self.type is int and value != int(value)):
            return False
        if self.is_angle:
            return True
        lower = self.minimum - SINGLE_PRECISION * abs(self.minimum)
        upper = self.maximum + SINGLE_PRECISION * abs(self.maximum)
        return lower <= value <= upper or value == self.default or value in self.also_allowed


def _p(
    name: str, default: int | float, minimum: float, maximum: float, text: str, *also_allowed: int
) -> FirmwareParameter:
    return FirmwareParameter(name, default, minimum, maximum, text, also_allowed)


def _matrix(prefix: str, which: str) -> Iterator[FirmwareParameter]:
    for output in range(MIXER_OUTPUTS):
        for row in range(MIXER_ROWS):
            text = f"{which} mixer, row {row}, output {output}"
            yield _p(f"{prefix}_{row}_{output}", 0.0, -math.inf, math.inf, text)


_UNMAPPED = (-1, 8)
"""Both -1 and 8 mean that a switch has no channel."""

PARAMETERS: tuple[FirmwareParameter, ...] = (
    _p("BAUD_RATE", 921600, 9600, 921600, "Baud rate of the serial link to the companion computer"),
    _p("SERIAL_DEVICE", 0, 0, 3, "Serial port of the link to the companion computer"),
    _p("NUM_MOTORS", 4, 1, 8, "Number of lift motors, for the maximum thrust"),
    _p("MOTOR_RESISTANCE", 0.042, 0, 1000, "Winding resistance of a motor (ohm)"),
    _p("MOTOR_KV", 0.01706, 0, 1000, "Back-EMF and torque constant of a motor (V s/rad)"),
    _p("NO_LOAD_CURRENT", 1.5, 0, 1000, "No-load current of a motor (A)"),
    _p("PROP_DIAMETER", 0.381, 0, 1, "Diameter of a propeller (m)"),
    _p("PROP_CT", 0.075, 0, 100, "Thrust coefficient of a propeller"),
    _p("PROP_CQ", 0.0045, 0, 100, "Torque coefficient of a propeller"),
    _p("BATT_VOLT_MAX", 25.0, 0, 100, "Voltage of the full battery (V)"),
    _p(
        "USE_MOTOR_PARAM",
        0,
        0,
        1,
        "1: the mixer outputs squared rotor speeds, which the motor model converts to throttle",
    ),
    *(_p(f"PRI_MIXER_OUT_{i}", 0, 0, 3, f"Type of output {i}: 0 aux, 1 servo, 2 motor, 3 GPIO") for i in range(10)),
    *(_p(f"PRI_MIXER_PWM_{i}", 0.0, 0, 490, f"PWM rate of output {i} (Hz)") for i in range(10)),
    *_matrix("PRI_MIXER", "Primary"),
    *_matrix("SEC_MIXER", "Secondary"),
    _p("SYS_ID", 1, 1, 255, "MAVLink system number"),
    _p("PID_ROLL_RATE_P", 0.07, 0, 1000, "Roll rate: proportional gain"),
    _p("PID_ROLL_RATE_I", 0.0, 0, 1000, "Roll rate: integral gain"),
    _p("PID_ROLL_RATE_D", 0.0, 0, 1000, "Roll rate: derivative gain"),
    _p("PID_PITCH_RATE_P", 0.07, 0, 1000, "Pitch rate: proportional gain"),
    _p("PID_PITCH_RATE_I", 0.0, 0, 1000, "Pitch rate: integral gain"),
    _p("PID_PITCH_RATE_D", 0.0, 0, 1000, "Pitch rate: derivative gain"),
    _p("PID_YAW_RATE_P", 0.25, 0, 1000, "Yaw rate: proportional gain"),
    _p("PID_YAW_RATE_I", 0.0, 0, 1000, "Yaw rate: integral gain"),
    _p("PID_YAW_RATE_D", 0.0, 0, 1000, "Yaw rate: derivative gain"),
    _p("PID_ROLL_ANG_P", 0.15, 0, 1000, "Roll angle: proportional gain"),
    _p("PID_ROLL_ANG_I", 0.0, 0, 1000, "Roll angle: integral gain"),
    _p("PID_ROLL_ANG_D", 0.05, 0, 1000, "Roll angle: gain on the roll rate"),
    _p("PID_PITCH_ANG_P", 0.15, 0, 1000, "Pitch angle: proportional gain"),
    _p("PID_PITCH_ANG_I", 0.0, 0, 1000, "Pitch angle: integral gain"),
    _p("PID_PITCH_ANG_D", 0.05, 0, 1000, "Pitch angle: gain on the pitch rate"),
    _p("X_EQ_TORQUE", 0.0, -1, 1, "Constant torque about x added to the controller's output"),
    _p("Y_EQ_TORQUE", 0.0, -1, 1, "Constant torque about y added to the controller's output"),
    _p("Z_EQ_TORQUE", 0.0, -1, 1, "Constant torque about z added to the controller's output"),
    _p("PID_TAU", 0.05, 0, 1, "Time constant of the filtered derivative of the rate loops (s)"),
    _p("MOTOR_IDLE_THR", 0.1, 0, 1, "Smallest motor output while armed, if ARM_SPIN_MOTORS is 1"),
    _p("FAILSAFE_THR", -1.0, 0, 1, "Throttle in failsafe; a multirotor cannot arm before it is set"),
    _p("ARM_SPIN_MOTORS", 1, 0, 1, "1: motors run at no less than MOTOR_IDLE_THR while armed"),
    _p("FILT_INIT_T", 3000, 0, 100000, "Time after start-up with tenfold estimator gains (ms)"),
    _p("FILT_ACC_KP", 0.5, 0, 10, "Estimator: proportional gain of the accelerometer correction"),
    _p("FILT_KI", 0.01, 0, 1, "Estimator: integral gain for the gyro bias"),
    _p("FILT_EXT_KP", 1.5, 0, 10, "Estimator: proportional gain of the external attitude correction"),
    _p("FILT_ACC_MARGIN", 0.1, 0, 1, "Accelerometer used while its magnitude is within this fraction of 1 g"),
    _p("FILT_QUAD_INT", 1, 0, 1, "1: quadratic interpolation of the gyro rate over a step"),
    _p("FILT_MAT_EXP", 1, 0, 1, "1: integrate the attitude by the matrix exponential, 0: by Euler's method"),
    _p("FILT_USE_ACC", 1, 0, 1, "1: the accelerometer corrects the attitude"),
    _p("ARM_CAL_GYRO", 0, 0, 1, "1: calibrate the gyros before each arming"),
    _p("GYRO_XY_LPF", 0.3, 0, 1, "Low-pass weight of the old value for gyro x and y"),
    _p("GYRO_Z_LPF", 0.3, 0, 1, "Low-pass weight of the old value for gyro z"),
    _p("ACC_LPF", 0.5, 0, 1, "Low-pass weight of the old value for the accelerometer"),
    _p("GYRO_X_BIAS", 0.0, -1, 1, "Constant gyro bias, x (rad/s)"),
    _p("GYRO_Y_BIAS", 0.0, -1, 1, "Constant gyro bias, y (rad/s)"),
    _p("GYRO_Z_BIAS", 0.0, -1, 1, "Constant gyro bias, z (rad/s)"),
    _p("ACC_X_BIAS", 0.0, -2, 2, "Constant accelerometer bias, x (m/s^2)"),
    _p("ACC_Y_BIAS", 0.0, -2, 2, "Constant accelerometer bias, y (m/s^2)"),
    _p("ACC_Z_BIAS", 0.0, -2, 2, "Constant accelerometer bias, z (m/s^2)"),
    _p("ACC_X_TEMP_COMP", 0.0, -2, 2, "Accelerometer bias per kelvin, x (m/s^2/K)"),
    _p("ACC_Y_TEMP_COMP", 0.0, -2, 2, "Accelerometer bias per kelvin, y (m/s^2/K)"),
    _p("ACC_Z_TEMP_COMP", 0.0, -2, 2, "Accelerometer bias per kelvin, z (m/s^2/K)"),
    *(
        _p(f"MAG_CAL_A{i}{j}", 1.0 if i == j else 0.0, -999, 999, f"Soft-iron matrix, row {i}, column {j}")
        for i in range(3)
        for j in range(3)
    ),
    *(_p(f"MAG_{axis}_BIAS", 0.0, -999, 999, f"Hard-iron offset, {axis.lower()} (T)") for axis in "XYZ"),
    _p("BARO_BIAS", 0.0, 0, math.inf, "Pressure at the ground, from the barometer's calibration (Pa)"),
    _p("GROUND_LEVEL", 1387.0, -1000, 10000, "Altitude of the ground above mean sea level (m)"),
    _p("DIFF_PRESS_BIAS", 0.0, -10, 10, "Offset of the differential pressure (Pa)"),
    _p("RC_TYPE", 0, 0, 1, "Receiver: 0 PPM, 1 SBUS"),
    _p("RC_X_CHN", 0, 0, 3, "Channel of the roll stick, counted from 0"),
    _p("RC_Y_CHN", 1, 0, 3, "Channel of the pitch stick, counted from 0"),
    _p("RC_Z_CHN", 3, 0, 3, "Channel of the yaw stick, counted from 0"),
    _p("RC_F_CHN", 2, 0, 3, "Channel of the throttle stick, counted from 0"),
    _p("RC_F_AXIS", 2, 0, 2, "Force that the throttle stick commands: 0 Fx, 1 Fy, 2 Fz"),
    _p("RC_ATT_OVRD_CHN", 4, 4, 7, "Channel of the attitude override switch, -1 or 8 for none", *_UNMAPPED),
    _p("RC_THR_OVRD_CHN", 4, 4, 7, "Channel of the throttle override switch, -1 or 8 for none", *_UNMAPPED),
    _p(
        "RC_ATT_CTRL_CHN",
        -1,
        4,
        7,
        "Channel of the rate (off) or angle (on) mode switch, -1 or 8 for none",
        *_UNMAPPED,
    ),
    _p("RC_ARM_CHN", -1, 4, 7, "Channel of the arm switch, -1 or 8 for arming by sticks", *_UNMAPPED),
    _p("RC_NUM_CHN", 6, 1, 8, "Number of receiver channels"),
    *(_p(f"SWITCH_{i}_DIR", 1, -1, 1, f"Channel {i}, counted from 1: -1 reverses the switch") for i in range(5, 9)),
    _p("RC_OVRD_DEV", 0.1, 0, 1, "Deflection beyond which a stick overrides the companion computer"),
    _p("RC_OVRD_LAG_T", 1000, 0, 100000, "Time for which the override lasts after the stick is released (ms)"),
    _p("TAKE_MIN_THR", 1, 0, 1, "1: use the lower of stick and companion computer throttle"),
    _p("RC_MAX_THR", 0.7, 0, 1, "Share of the maximum thrust at full throttle"),
    _p("RC_ATT_MODE", 1, 0, 1, "Roll and pitch stick mode without RC_ATT_CTRL_CHN: 0 rates, 1 angles"),
    _p("RC_MAX_ROLL", 0.786, 0, 3.14159, "Roll angle at full stick (rad)"),
    _p("RC_MAX_PITCH", 0.786, 0, 3.14159, "Pitch angle at full stick (rad)"),
    _p("RC_MAX_ROLLRATE", 3.14159, 0, 9.42477796077, "Roll rate at full stick (rad/s)"),
    _p("RC_MAX_PITCHRATE", 3.14159, 0, 3.14159, "Pitch rate at full stick (rad/s)"),
    _p("RC_MAX_YAWRATE", 1.507, 0, 3.14159, "Yaw rate at full stick (rad/s)"),
    _p("PRIMARY_MIXER", NO_MIXER, 0, 11, "Mixer under RC control; 11 custom, 255 none"),
    _p("SECONDARY_MIXER", NO_MIXER, 0, 11, "Mixer under companion computer control; 11 custom, 255 same as primary"),
    _p("FIXED_WING", 0, 0, 1, "1: fixed wing; sticks and commands pass through to the mixer"),
    _p("REV_ELEVATOR", 0, 0, 1, "1: elevator reversed"),
    _p("REV_AILERON", 0, 0, 1, "1: aileron reversed"),
    _p("REV_RUDDER", 0, 0, 1, "1: rudder reversed"),
    FirmwareParameter("IMU_ROLL", 0.0, 0, 360, "Mounting of the IMU: roll (deg)", is_angle=True),
    FirmwareParameter("IMU_PITCH", 0.0, 0, 360, "Mounting of the IMU: pitch (deg)", is_angle=True),
    FirmwareParameter("IMU_YAW", 0.0, 0, 360, "Mounting of the IMU: yaw (deg)", is_angle=True),
    FirmwareParameter("MAG_ROLL", 0.0, 0, 360, "Mounting of the magnetometer: roll (deg)", is_angle=True),
    FirmwareParameter("MAG_PITCH", 0.0, 0, 360, "Mounting of the magnetometer: pitch (deg)", is_angle=True),
    FirmwareParameter("MAG_YAW", 0.0, 0, 360, "Mounting of the magnetometer: yaw (deg)", is_angle=True),
    _p(
        "RC_ARM_THRESHOLD",
        0.15,
        0,
        500,
        "Distance of a stick from its end within which it arms or disarms (share of its travel)",
    ),
    _p("BATT_VOLT_MULT", 1.0, 0, math.inf, "Scale factor of the battery voltage"),
    _p("BATT_CURR_MULT", 1.0, 0, math.inf, "Scale factor of the battery current"),
    _p("BATT_VOLT_LPF", 0.995, 0, 1, "Low-pass weight of the old value for the battery voltage"),
    _p("BATT_CURR_LPF", 0.995, 0, 1, "Low-pass weight of the old value for the battery current"),
    _p("OFFBOARD_TIMEOUT", 100, 0, 100000, "Age at which a companion computer command expires (ms)"),
)


def mixer_parameter_names() -> list[str]:
    """Names of the parameters that describe the mixer, in the order in which ROSflight's nodes read them."""
    outputs = range(MIXER_OUTPUTS)
    matrices = [f"{which}_MIXER_{row}_{column}" for which in ("PRI", "SEC") for row in outputs for column in outputs]
    return ["PRIMARY_MIXER", "SECONDARY_MIXER", *(f"PRI_MIXER_OUT_{i}" for i in outputs), *matrices]

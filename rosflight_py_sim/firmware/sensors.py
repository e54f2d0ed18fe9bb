"""Corrections of sensor samples: mounting, biases, scales, low-pass.

Estimator and autopilot use the corrected IMU sample, with mounting rotation, temperature effect and bias removed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.firmware.quirks import REPAIRED, Quirks
from rosflight_py_sim.kernels.jit import kernel

SEA_LEVEL_PRESSURE = 101325.0
"""Pa, International Standard Atmosphere."""

SEA_LEVEL_DENSITY = 1.225
"""kg/m^3, International Standard Atmosphere."""

# Exponents and scale of the standard troposphere, as the flight controller rounds them.
_ALTITUDE_EXPONENT = 0.190326730028458
_ALTITUDE_SCALE_M = 44318.1386038261
_DENSITY_EXPONENT = 0.809736894596450

# Indices into the IMU settings array.
ROTATION = 0  # nine elements, row by row
ACCEL_BIAS = 9
ACCEL_TEMPERATURE = 12
GYRO_BIAS = 15
IMU_SETTINGS_SIZE = 18

# Indices into the magnetometer's settings array, after the rotation.
MAG_OFFSET, MAG_MATRIX = 9, 12

ACCEL_BIASES = ("ACC_X_BIAS", "ACC_Y_BIAS", "ACC_Z_BIAS")
GYRO_BIASES = ("GYRO_X_BIAS", "GYRO_Y_BIAS", "GYRO_Z_BIAS")
TEMPERATURE_TERMS = ("ACC_X_TEMP_COMP", "ACC_Y_TEMP_COMP", "ACC_Z_TEMP_COMP")
IMU_BIASES = (*ACCEL_BIASES, *GYRO_BIASES)
IMU_PARAMETERS = frozenset([*IMU_BIASES, *TEMPERATURE_TERMS, "IMU_ROLL", "IMU_PITCH", "IMU_YAW"])
MAG_PARAMETERS = frozenset(
    [
        *("MAG_ROLL", "MAG_PITCH", "MAG_YAW", "MAG_X_BIAS", "MAG_Y_BIAS", "MAG_Z_BIAS"),
        *(f"MAG_CAL_A{i}{j}" for i in range(3) for j in range(3)),
    ]
)


def mounting_rotation(roll_deg: float, pitch_deg: float, yaw_deg: float) -> NDArray[np.float64]:
    """Matrix (3, 3) that the firmware applies to a sensor's sample for its mounting angles.

    The transpose of the rotation matrix of the roll, pitch and yaw angles (yaw first): the angles are those of
    the vehicle's axes as seen from the sensor's.
    """
    roll, pitch, yaw = np.radians([roll_deg, pitch_deg, yaw_deg])
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (math.cos, math.sin))
    return np.array(
        [
            [cp * cy, cp * sy, -sp],
            [sr * sp * cy - cr * sy, sr * sp * sy + cr * cy, sr * cp],
            [cr * sp * cy + sr * sy, cr * sp * sy - sr * cy, cr * cp],
        ]
    )


def imu_settings(parameters: FirmwareParameters) -> NDArray[np.float64]:
    """Mounting and corrections of the IMU, in the kernel's order."""
    get = parameters.__getitem__
    settings = np.zeros(IMU_SETTINGS_SIZE)
    settings[:9] = mounting_rotation(get("IMU_ROLL"), get("IMU_PITCH"), get("IMU_YAW")).ravel()
    names = (*ACCEL_BIASES, *TEMPERATURE_TERMS, *GYRO_BIASES)
    settings[ACCEL_BIAS:] = [float(get(name)) for name in names]
    return settings


@kernel
def correct_imu(
    settings: NDArray[np.float64],
    sample: NDArray[np.float64],
    accel: NDArray[np.float64],
    gyro: NDArray[np.float64],
) -> None:
    """Rotate a sample (accelerometer, gyro, temperature in K: seven numbers) into body axes and remove biases."""
    for i in range(3):
        a, g = 0.0, 0.0
        for j in range(3):
            a += settings[ROTATION + 3 * i + j] * sample[j]
            g += settings[ROTATION + 3 * i + j] * sample[3 + j]
        accel[i] = a - (settings[ACCEL_TEMPERATURE + i] * sample[6] + settings[ACCEL_BIAS + i])
        gyro[i] = g - settings[GYRO_BIAS + i]


def pressure_altitude(pressure_pa: float) -> float:
    """Altitude (m) in the standard atmosphere; valid in the troposphere."""
    return float((1.0 - (pressure_pa / SEA_LEVEL_PRESSURE) ** _ALTITUDE_EXPONENT) * _ALTITUDE_SCALE_M)


def density_from_pressure(pressure_pa: float) -> float:
    """Air density (kg/m^3) in the standard atmosphere at a pressure."""
    return float(SEA_LEVEL_DENSITY * (pressure_pa / SEA_LEVEL_PRESSURE) ** _DENSITY_EXPONENT)


def indicated_airspeed(differential_pressure_pa: float) -> float:
    """Indicated airspeed (m/s), with the sign of the pressure.

    Incompressible flow at sea level, as ROSflight computes it. It exceeds the calibrated airspeed by an eighth of the
    squared Mach number, 0.3 % at 50 m/s.
    """
    speed = math.sqrt(abs(differential_pressure_pa) / (0.5 * SEA_LEVEL_DENSITY))
    return math.copysign(speed, differential_pressure_pa)


class MagnetometerCorrection:
    """Mounting, hard-iron and soft-iron correction; `uncorrected` has only the mounting applied."""

    def __init__(self, parameters: FirmwareParameters) -> None:
        self.field: NDArray[np.float64] = np.zeros(3)
        self.uncorrected: NDArray[np.float64] = np.zeros(3)
        self._parameters = parameters
        self.configure()

    def configure(self) -> None:
        """Read the corrections from the parameters."""
        get = self._parameters.__getitem__
        rotation = mounting_rotation(get("MAG_ROLL"), get("MAG_PITCH"), get("MAG_YAW"))
        offset = [float(get(f"MAG_{axis}_BIAS")) for axis in "XYZ"]
        matrix = [float(get(f"MAG_CAL_A{i}{j}")) for i in range(3) for j in range(3)]
        self._settings = np.array([*rotation.ravel(), *offset, *matrix])

    def receive(self, flux: Sequence[float]) -> None:
        """Process a sample (T, sensor axes)."""
        x, y, z = map(float, flux)
        correct_mag(self._settings, x, y, z, self.uncorrected, self.field)


@kernel
def correct_mag(
    settings: NDArray[np.float64],
    x: float,
    y: float,
    z: float,
    uncorrected: NDArray[np.float64],
    field: NDArray[np.float64],
) -> None:
    """Rotate a sample (T) into body axes, `uncorrected` (3,), and correct it, `field` (3,).

    `settings` (21,): from ROTATION on the mounting, from MAG_OFFSET on the hard iron (T), from MAG_MATRIX on the soft
    iron, both matrices row by row.
    """
    for i in range(3):
        row = ROTATION + 3 * i
        uncorrected[i] = settings[row] * x + settings[row + 1] * y + settings[row + 2] * z
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += settings[MAG_MATRIX + 3 * i + j] * (uncorrected[j] - settings[MAG_OFFSET + j])
        field[i] = total


_BATTERY_FILTERS = ("BATT_VOLT_LPF", "BATT_CURR_LPF")
BATTERY_PARAMETERS = ("BATT_VOLT_MULT", "BATT_CURR_MULT", *_BATTERY_FILTERS)
"""Parameters whose change requires a call of `Battery.configure`."""

_INITIAL_BATTERY_FILTER = 0.995


class BatteryFilter:
    """Voltage (V) and current (A) after multipliers and low-pass; both zero until the first sample."""

    def __init__(self, parameters: FirmwareParameters, quirks: Quirks = REPAIRED) -> None:
        self.voltage = 0.0
        self.current = 0.0
        self._parameters = parameters
        self._previous = (float(parameters["BATT_VOLT_MAX"]), 0.0)
        self._numbers = {name: float(parameters[name]) for name in BATTERY_PARAMETERS}
        if quirks.initial_battery_filter:
            self._numbers.update(dict.fromkeys(_BATTERY_FILTERS, _INITIAL_BATTERY_FILTER))

    def configure(self, name: str) -> None:
        """Read one of BATTERY_PARAMETERS from the parameters."""
        self._numbers[name] = float(self._parameters[name])

    def receive(self, voltage: float, current: float) -> None:
        """Process a sample; the voltage's low-pass starts from BATT_VOLT_MAX."""
        old_voltage, old_current = self._previous
        scale_voltage, scale_current, keep_voltage, keep_current = self._numbers.values()
        self.voltage = voltage * scale_voltage * (1.0 - keep_voltage) + old_voltage * keep_voltage
        self.current = current * scale_current * (1.0 - keep_current) + old_current * keep_current
        self._previous = (self.voltage, self.current)

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
from rosflight_py_sim.kernels.record import kernel_record

SEA_LEVEL_PRESSURE = 101325.0
"""Pa, International Standard Atmosphere."""

SEA_LEVEL_DENSITY = 1.225
"""kg/m^3, International Standard Atmosphere."""

DIFFERENTIAL_BIAS = "DIFF_PRESS_BIAS"
"""Parameter whose change must be written to the air data."""

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


@kernel
def pressure_altitude(pressure_pa: float) -> float:
    """Altitude (m) in the standard atmosphere; valid in the troposphere."""
    return float((1.0 - (pressure_pa / SEA_LEVEL_PRESSURE) ** _ALTITUDE_EXPONENT) * _ALTITUDE_SCALE_M)


@kernel
def density_from_pressure(pressure_pa: float) -> float:
    """Air density (kg/m^3) in the standard atmosphere at a pressure."""
    return float(SEA_LEVEL_DENSITY * (pressure_pa / SEA_LEVEL_PRESSURE) ** _DENSITY_EXPONENT)


@kernel
def indicated_airspeed(differential_pressure_pa: float) -> float:
    """Indicated airspeed (m/s), with the sign of the pressure.

    Incompressible flow at sea level, as ROSflight computes it. It exceeds the calibrated airspeed by an eighth of the
    squared Mach number, 0.3 % at 50 m/s.
    """
    speed = math.sqrt(abs(differential_pressure_pa) / (0.5 * SEA_LEVEL_DENSITY))
    return math.copysign(speed, differential_pressure_pa)


class MagnetometerCorrection:
    """Mounting, hard-iron and soft-iron correction; `uncorrected` has only the mounting applied.

    `settings` are those of `correct_mag`.
    """

    def __init__(self, parameters: FirmwareParameters) -> None:
        self.field: NDArray[np.float64] = np.zeros(3)
        self.uncorrected: NDArray[np.float64] = np.zeros(3)
        self.settings: NDArray[np.float64] = np.zeros(21)
        self._parameters = parameters
        self.configure()

    def configure(self) -> None:
        """Read the corrections from the parameters."""
        get = self._parameters.__getitem__
        rotation = mounting_rotation(get("MAG_ROLL"), get("MAG_PITCH"), get("MAG_YAW"))
        offset = [float(get(f"MAG_{axis}_BIAS")) for axis in "XYZ"]
        matrix = [float(get(f"MAG_CAL_A{i}{j}")) for i in range(3) for j in range(3)]
        self.settings[:] = *rotation.ravel(), *offset, *matrix

    def receive(self, flux: Sequence[float]) -> None:
        """Process a sample (T, sensor axes)."""
        x, y, z = map(float, flux)
        correct_mag(self.settings, x, y, z, self.uncorrected, self.field)


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


_BATTERY_FIELDS = {
    "BATT_VOLT_MULT": "scale_voltage",
    "BATT_CURR_MULT": "scale_current",
    "BATT_VOLT_LPF": "keep_voltage",
    "BATT_CURR_LPF": "keep_current",
}
BATTERY_PARAMETERS = tuple(_BATTERY_FIELDS)
"""Parameters whose change requires a call of `configure_battery`."""

_INITIAL_BATTERY_FILTER = 0.995


@kernel_record
class BatteryFilter:
    """Battery after multipliers and low-pass.

    Attributes:
        voltage: V; 0 until the first sample.
        current: A; 0 until the first sample.
        last_voltage: from which the low-pass of the voltage continues (V).
        scale_voltage: multiplier of the voltage.
        scale_current: multiplier of the current.
        keep_voltage: share of the last voltage.
        keep_current: share of the last current.
    """

    voltage: float
    current: float
    last_voltage: float
    scale_voltage: float
    scale_current: float
    keep_voltage: float
    keep_current: float


def battery_filter(parameters: FirmwareParameters, quirks: Quirks = REPAIRED) -> BatteryFilter:
    """Filter before the first sample; the low-pass of the voltage starts from BATT_VOLT_MAX."""
    numbers = {field: float(parameters[name]) for name, field in _BATTERY_FIELDS.items()}
    if quirks.initial_battery_filter:
        numbers |= {"keep_voltage": _INITIAL_BATTERY_FILTER, "keep_current": _INITIAL_BATTERY_FILTER}
    return BatteryFilter(voltage=0.0, current=0.0, last_voltage=float(parameters["BATT_VOLT_MAX"]), **numbers)


def configure_battery(battery: BatteryFilter, parameters: FirmwareParameters, name: str) -> None:
    """Read one of BATTERY_PARAMETERS."""
    setattr(battery, _BATTERY_FIELDS[name], float(parameters[name]))


@kernel
def take_battery(battery: BatteryFilter, voltage: float, current: float) -> None:
    """Process a sample of the battery (V, A)."""
    share = 1.0 - battery.keep_voltage
    battery.voltage = voltage * battery.scale_voltage * share + battery.last_voltage * battery.keep_voltage
    share = 1.0 - battery.keep_current
    battery.current = current * battery.scale_current * share + battery.current * battery.keep_current
    battery.last_voltage = battery.voltage


@kernel_record
class AirData:
    """What follows from barometer and pitot tube.

    Attributes:
        pressure: static pressure (Pa); 0 until the first sample.
        temperature: of the barometer (K).
        altitude: pressure altitude (m).
        density: of the air, from the pressure (kg/m^3).
        differential_bias: calibrated bias of the differential pressure (Pa).
        differential_pressure: without the bias (Pa).
        differential_temperature: of the pitot tube's sensor (K).
        airspeed: indicated airspeed (m/s).
    """

    pressure: float
    temperature: float
    altitude: float
    density: float
    differential_bias: float
    differential_pressure: float
    differential_temperature: float
    airspeed: float


def air_data(parameters: FirmwareParameters) -> AirData:
    """Air data before the first sample: the density of the air at sea level."""
    zero = ("pressure", "temperature", "altitude", "differential_pressure", "differential_temperature", "airspeed")
    return AirData(
        density=SEA_LEVEL_DENSITY, differential_bias=float(parameters[DIFFERENTIAL_BIAS]), **dict.fromkeys(zero, 0.0)
    )


@kernel
def take_pressure(air: AirData, pressure: float, temperature: float) -> None:
    """Process a sample of the barometer (Pa, K)."""
    air.pressure, air.temperature = pressure, temperature
    air.altitude, air.density = pressure_altitude(pressure), density_from_pressure(pressure)


@kernel
def take_differential_pressure(air: AirData, pressure: float, temperature: float) -> None:
    """Process a sample of the pitot tube (Pa, K)."""
    air.differential_pressure, air.differential_temperature = pressure - air.differential_bias, temperature
    air.airspeed = indicated_airspeed(air.differential_pressure)

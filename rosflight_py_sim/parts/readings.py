"""Readings of ROSflight's sensors: what the methods of `SensorInterface` return.

`fields` are those of the sensor's message after its stamp; its argument is the Unix time of the reading, ns.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.ground.units import ZERO_CELSIUS_K
from rosflight_py_sim.step.topics import UNKNOWN_COVARIANCE, Floats

Vector: TypeAlias = NDArray[np.float64]


class ImuReading(NamedTuple):
    """Specific force (m/s^2) and angular rate (rad/s) in body axes, (3,) each, and the covariance of each (9)."""

    accel: Vector
    gyro: Vector
    accel_covariance: Floats = UNKNOWN_COVARIANCE
    gyro_covariance: Floats = UNKNOWN_COVARIANCE

    def fields(self, unix_ns: int) -> tuple[Any, ...]:
        return self.gyro.tolist(), self.accel.tolist(), self.gyro_covariance, self.accel_covariance


class TemperatureReading(NamedTuple):
    """Temperature (K) and its variance (K^2)."""

    temperature: float
    variance: float = 0.0

    def fields(self, unix_ns: int) -> tuple[Any, ...]:
        return self.temperature - ZERO_CELSIUS_K, self.variance


class MagReading(NamedTuple):
    """Magnetic flux density in body axes (T, (3,)) and its covariance (9)."""

    field: Vector
    covariance: Floats = UNKNOWN_COVARIANCE

    def fields(self, unix_ns: int) -> tuple[Any, ...]:
        return self.field.tolist(), self.covariance


class BarometerReading(NamedTuple):
    """Pressure altitude (m MSL), static pressure (Pa) and temperature (K)."""

    altitude: float
    pressure: float
    temperature: float


class GnssReading(NamedTuple):
    """A fix: type (see rosflight_msgs/GNSS), satellites, position (deg, m MSL), velocity NED (m/s), accuracies."""

    fix_type: int
    satellites: int
    latitude_deg: float
    longitude_deg: float
    altitude_msl_m: float
    horizontal_accuracy: float
    vertical_accuracy: float
    velocity_ned: Vector
    speed_accuracy: float

    def fields(self, unix_ns: int) -> tuple[Any, ...]:
        *position, velocity, accuracy = self
        return *position, *velocity.tolist(), accuracy, *divmod(unix_ns, NANOSECONDS)


class RangeReading(NamedTuple):
    """Distance along the beam (m; +inf beyond the maximum, -inf below the minimum: REP 117), limits, beam width.

    Then the variance of the distance (m^2).
    """

    distance: float
    minimum: float
    maximum: float
    field_of_view: float
    variance: float = 0.0

    def fields(self, unix_ns: int) -> tuple[Any, ...]:
        return self.field_of_view, self.minimum, self.maximum, self.distance, self.variance


class AirspeedReading(NamedTuple):
    """Airspeed (m/s), differential pressure (Pa) and temperature (K)."""

    velocity: float
    differential_pressure: float
    temperature: float


class BatteryReading(NamedTuple):
    """Voltage (V) and current (A)."""

    voltage: float
    current: float

"""Effects of failures on the messages of sensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from rosflight_py_sim.failures.failure import JAMMED
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.failures.signal import Signal
from rosflight_py_sim.physics.atmosphere import (
    PRESSURE_EXPONENT,
    SEA_LEVEL_PRESSURE,
    SEA_LEVEL_TEMPERATURE,
    pressure_altitude,
)
from rosflight_py_sim.physics.earth import SEMI_MAJOR
from rosflight_py_sim.sensing.barometer import LOWEST_READING
from rosflight_py_sim.sensing.impact_pressure import airspeed_of_impact
from rosflight_py_sim.step.topics import (
    AirspeedSample,
    BaroSample,
    BatterySample,
    GnssSample,
    ImuSample,
    MagSample,
    RangeSample,
    TemperatureSample,
)

S = TypeVar("S")

_OFF = (0.0, 0.0, 0.0)


class Measured(Protocol):
    """The numbers in a sensor's messages that failures change."""

    def numbers(self, sample: Any) -> Sequence[float]:
        """The numbers of a message, those with an offset first."""

    def with_numbers(self, sample: Any, numbers: Sequence[float]) -> Any:
        """The message with other numbers."""


class Temperature:
    """Temperature; a difference in K is one in deg C."""

    def numbers(self, sample: TemperatureSample) -> Sequence[float]:
        return (sample.temperature_c,)

    def with_numbers(self, sample: TemperatureSample, numbers: Sequence[float]) -> TemperatureSample:
        return sample._replace(temperature_c=numbers[0])


class Field:
    """Magnetic flux density."""

    def numbers(self, sample: MagSample) -> Sequence[float]:
        return sample.field

    def with_numbers(self, sample: MagSample, numbers: Sequence[float]) -> MagSample:
        return sample._replace(field=numbers)


class StaticPressure:
    """Static pressure; the altitude follows from it."""

    def numbers(self, sample: BaroSample) -> Sequence[float]:
        return (sample.pressure,)

    def with_numbers(self, sample: BaroSample, numbers: Sequence[float]) -> BaroSample:
        pressure = max(LOWEST_READING, numbers[0])
        return sample._replace(pressure=pressure, altitude=pressure_altitude(pressure))


class DifferentialPressure:
    """Differential pressure; the airspeed follows from it, with the static pressure that belongs to the temperature.

    That pressure is the standard atmosphere's below 11 km: p_0 (T / T_0)^n.
    """

    def numbers(self, sample: AirspeedSample) -> Sequence[float]:
        return (sample.differential_pressure,)

    def with_numbers(self, sample: AirspeedSample, numbers: Sequence[float]) -> AirspeedSample:
        kelvin, measured = sample.temperature, numbers[0]
        static = SEA_LEVEL_PRESSURE * (kelvin / SEA_LEVEL_TEMPERATURE) ** PRESSURE_EXPONENT
        return sample._replace(differential_pressure=measured, velocity=airspeed_of_impact(measured, static, kelvin))


class Distance:
    """Distance of the range finder."""

    def numbers(self, sample: RangeSample) -> Sequence[float]:
        return (sample.distance,)

    def with_numbers(self, sample: RangeSample, numbers: Sequence[float]) -> RangeSample:
        return sample._replace(distance=numbers[0])


class Voltage:
    """Voltage of the battery monitor; the current belongs to a stuck reading."""

    def numbers(self, sample: BatterySample) -> Sequence[float]:
        return sample.voltage, sample.current

    def with_numbers(self, sample: BatterySample, numbers: Sequence[float]) -> BatterySample:
        return sample._replace(voltage=numbers[0], current=numbers[1])


class Position:
    """Position in metres north, east and down on a sphere; the velocity belongs to a stuck reading.

    The scale of the longitude is that of the first position, so that a change of latitude does not shift the east.
    """

    def __init__(self) -> None:
        self._east_per_rad = 0.0

    def numbers(self, sample: GnssSample) -> Sequence[float]:
        latitude = math.radians(sample.latitude_deg)
        self._east_per_rad = self._east_per_rad or SEMI_MAJOR * max(math.cos(latitude), 1e-6)
        east = self._east_per_rad * math.radians(sample.longitude_deg)
        velocity = (sample.velocity_north, sample.velocity_east, sample.velocity_down)
        return (SEMI_MAJOR * latitude, east, -sample.altitude_msl_m, *velocity)

    def with_numbers(self, sample: GnssSample, numbers: Sequence[float]) -> GnssSample:
        north, east, down, *velocity = numbers
        return sample._replace(
            latitude_deg=math.degrees(north / SEMI_MAJOR),
            longitude_deg=math.degrees(east / self._east_per_rad),
            altitude_msl_m=-down,
            velocity_north=velocity[0],
            velocity_east=velocity[1],
            velocity_down=velocity[2],
        )


FAILED_SENSORS: Mapping[str, Callable[[], Measured]] = {
    "thermometer": Temperature,
    "mag": Field,
    "baro": StaticPressure,
    "gnss": Position,
    "range": Distance,
    "airspeed": DifferentialPressure,
    "battery": Voltage,
}
"""Parts of `failures.failure.TARGETS` with a message of their own, and what failures change in it."""


def through(signal: Signal | None, measured: Measured, send: Callable[[Any], None]) -> Callable[[Any], None]:
    """The function that publishes a sensor's messages with its failures; `send` itself without any."""
    if signal is None:
        return send
    is_jammed = signal.has(JAMMED)

    def send_failed(sample: Any) -> None:
        numbers = signal.applied(sample.time_ns, measured.numbers(sample))
        if numbers is None:
            return
        changed = measured.with_numbers(sample, numbers)
        send(changed._replace(fix_type=0, satellites=0) if is_jammed else changed)

    return send_failed


def failed_imu(signals: Signals) -> Callable[[ImuSample], ImuSample] | None:
    """The function that applies the failures of gyroscope and accelerometer; None without any.

    A part that is off reads 0: an IMU message triggers each step.
    """
    gyro, accel = signals.get(("gyro", 0)), signals.get(("accel", 0))
    if gyro is None and accel is None:
        return None

    def failed(sample: ImuSample) -> ImuSample:
        rate, force = sample.gyro, sample.accel
        if gyro is not None:
            rate = gyro.applied(sample.time_ns, rate) or _OFF
        if accel is not None:
            force = accel.applied(sample.time_ns, force) or _OFF
        return sample._replace(gyro=rate, accel=force)

    return failed

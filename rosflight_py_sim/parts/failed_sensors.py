"""Effects of failures on the messages of sensors."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from rosflight_py_sim.failures.failure import JAMMED
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
from rosflight_py_sim.step.topics import AirspeedSample, BaroSample, GnssSample


class Measured(ABC):
    """The numbers in a sensor's messages that failures change.

    Attributes:
        off: numbers of a sensor that is off; None if it sends no message.
    """

    off: Sequence[float] | None = None

    @abstractmethod
    def numbers(self, sample: Any) -> Sequence[float]:
        """The numbers of a message, those with an offset first."""

    @abstractmethod
    def with_numbers(self, sample: Any, numbers: Sequence[float]) -> Any:
        """The message with other numbers."""


class Fields(Measured):
    """Numbers that are fields of the message, each independent of the others."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def numbers(self, sample: Any) -> Sequence[float]:
        return [getattr(sample, name) for name in self._names]

    def with_numbers(self, sample: Any, numbers: Sequence[float]) -> Any:
        return sample._replace(**dict(zip(self._names, numbers, strict=True)))


class Vector(Measured):
    """Vector that is a field of the message; `off` as in `Measured`."""

    def __init__(self, name: str, off: Sequence[float] | None = None) -> None:
        self._name, self.off = name, off

    def numbers(self, sample: Any) -> Sequence[float]:
        vector: Sequence[float] = getattr(sample, self._name)
        return vector

    def with_numbers(self, sample: Any, numbers: Sequence[float]) -> Any:
        return sample._replace(**{self._name: numbers})


class StaticPressure(Measured):
    """Static pressure; the altitude follows from it."""

    def numbers(self, sample: BaroSample) -> Sequence[float]:
        return (sample.pressure,)

    def with_numbers(self, sample: BaroSample, numbers: Sequence[float]) -> BaroSample:
        pressure = max(LOWEST_READING, numbers[0])
        return sample._replace(pressure=pressure, altitude=pressure_altitude(pressure))


class DifferentialPressure(Measured):
    """Differential pressure; the airspeed follows from it, with the static pressure that belongs to the temperature.

    That pressure is the standard atmosphere's below 11 km: p_0 (T / T_0)^n.
    """

    def numbers(self, sample: AirspeedSample) -> Sequence[float]:
        return (sample.differential_pressure,)

    def with_numbers(self, sample: AirspeedSample, numbers: Sequence[float]) -> AirspeedSample:
        kelvin, measured = sample.temperature, numbers[0]
        static = SEA_LEVEL_PRESSURE * (kelvin / SEA_LEVEL_TEMPERATURE) ** PRESSURE_EXPONENT
        return sample._replace(differential_pressure=measured, velocity=airspeed_of_impact(measured, static, kelvin))


class Position(Measured):
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


def through(signal: Signal | None, measured: Measured, send: Callable[[Any], None]) -> Callable[[Any], None]:
    """The function that sends a sensor's messages with its failures; `send` itself without any."""
    if signal is None:
        return send
    is_jammed = signal.has(JAMMED)

    def send_failed(sample: Any) -> None:
        numbers = signal.applied(sample.time_ns, measured.numbers(sample))
        if numbers is None:
            numbers = measured.off
            if numbers is None:
                return
        changed = measured.with_numbers(sample, numbers)
        send(changed._replace(fix_type=0, satellites=0) if is_jammed else changed)

    return send_failed

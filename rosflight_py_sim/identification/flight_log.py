"""What a flight log shows of a flight, in one form for all programs that write logs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.identification.logged_vehicle import LoggedVehicle
from rosflight_py_sim.physics.earth import SEMI_MAJOR

Array = NDArray[np.float64]


class FlightLogError(ValueError):
    """A file that is no flight log, or a log without what is needed; the text gives file and reason."""


class Channel(NamedTuple):
    """What a log can show.

    Attributes:
        width: numbers of a sample.
        unit: of each.
        text: what it is.
    """

    width: int
    unit: str
    text: str


CHANNELS = {
    "gyro": Channel(3, "rad/s", "angular rate, body axes"),
    "accel": Channel(3, "m/s^2", "specific force, body axes"),
    "attitude": Channel(4, "", "estimated attitude, quaternion w x y z of the body in NED"),
    "velocity": Channel(3, "m/s", "velocity over the ground, NED"),
    "position": Channel(3, "m", "position, NED, from the first fix"),
    "outputs": Channel(OUTPUTS, "us", "pulse widths of the outputs"),
    "battery": Channel(2, "V, A", "voltage and current of the battery; current may be NaN"),
    "airspeed": Channel(1, "m/s", "airspeed"),
    "armed": Channel(1, "", "1 while the vehicle is armed, otherwise 0"),
}
"""Channels of a flight log by name. Forward, right, down in body axes; SI units except pulse widths."""


class Series(NamedTuple):
    """Samples of a channel.

    Attributes:
        time_s: increasing, shape (n,).
        values: shape (n, width).
    """

    time_s: Array
    values: Array

    def at(self, time_s: Array) -> Array:
        """Values at times (m,), linear between the samples and constant beyond them; shape (m, width)."""
        columns = [np.interp(time_s, self.time_s, column) for column in self.values.T]
        return np.stack(columns, axis=-1)

    def held(self, time_s: Array) -> Array:
        """Values at times (m,), each held until the next sample; shape (m, width)."""
        # Half a microsecond: stamps are whole nanoseconds, times are sums of floats.
        rows = np.searchsorted(self.time_s, time_s + 5e-7, side="right") - 1
        return self.values[np.clip(rows, 0, None)]

    @property
    def period_s(self) -> float:
        """Median time between two samples."""
        return float(np.median(np.diff(self.time_s)))


def series(time_s: Array, values: Array) -> Series:
    """Series of the finite samples whose times increase; all from the first sample that is later than its successors.

    The first column decides about finite: a current may be unknown.
    """
    values = np.asarray(values, np.float64).reshape(len(time_s), -1)
    good = np.isfinite(time_s) & np.isfinite(values[:, 0])
    time_s, values = np.asarray(time_s, np.float64)[good], values[good]
    latest = np.maximum.accumulate(time_s) if len(time_s) else time_s
    forward = np.r_[True, time_s[1:] > latest[:-1]] if len(time_s) else np.zeros(0, bool)
    return Series(time_s[forward], values[forward])


def white_variance(readings: Array) -> float:
    """Variance of the white noise in readings (k, n), from their second differences at quiet times.

    White noise depends on no output, so that it makes estimates uncertain, but not biased.
    """
    second = readings[:, 1:-1] - 0.5 * (readings[:, 2:] + readings[:, :-2])
    # The median of the size of a normally distributed number is 0.6745 times its deviation.
    return float(np.median(np.abs(second)) / 0.6745) ** 2 / 1.5


@dataclass
class FlightLog:
    """A flight as a log shows it.

    Attributes:
        file: the log.
        program: what wrote it: ROSflight, PX4 or ArduPilot.
        vehicle: name of the vehicle or program that flew it; empty if the log does not tell.
        kind: type of the vehicle; None if the log does not tell.
        date: start of the log, UTC, as in 2026-11-27; empty if the log does not tell.
        channels: samples by name of the channel, out of CHANNELS.
        altitude: altitude of the first fix above mean sea level, m; NaN without a fix.
        notes: what was left out or assumed, as sentences.
    """

    file: Path
    program: str
    vehicle: str = ""
    kind: LoggedVehicle | None = None
    date: str = ""
    channels: dict[str, Series] = field(default_factory=dict)
    altitude: float = float("nan")
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, time_s: Array, values: Array) -> None:
        """Add a channel, unless it has fewer than two samples."""
        if len(time_s) > 1 and len((one := series(time_s, values)).time_s) > 1:
            self.channels[name] = one

    @property
    def missing(self) -> list[str]:
        """Names of the channels that the log does not have."""
        return [name for name in CHANNELS if name not in self.channels]

    def require(self, names: Iterable[str]) -> None:
        """Check that the log has channels.

        Raises:
            FlightLogError: it lacks one; the text names all that it lacks.
        """
        lacking = [name for name in names if name in self.missing]
        if lacking:
            texts = ", ".join(f"{name} ({CHANNELS[name].text})" for name in lacking)
            raise FlightLogError(f"'{self.file}' ({self.program}) has no {texts}")

    @property
    def span_s(self) -> tuple[float, float]:
        """Times between which the IMU and the outputs are logged."""
        ends = [self.channels[name].time_s[[0, -1]] for name in ("gyro", "outputs") if name in self.channels]
        return max(float(first) for first, _ in ends), min(float(last) for _, last in ends)


def north_east_down(place: Array) -> Array:
    """Position NED from the first of places (n, 3): latitude and longitude in deg, altitude in m.

    On a sphere with the equator's radius: for the height above ground and the density of the air, not for navigation.
    """
    latitude, longitude, altitude = (place - place[0]).T
    north, east = np.radians(latitude) * SEMI_MAJOR, np.radians(longitude) * SEMI_MAJOR
    return np.stack([north, east * np.cos(np.radians(place[0, 0])), -altitude], axis=1)

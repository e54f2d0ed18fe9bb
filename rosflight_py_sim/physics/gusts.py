"""Gusts of 1-cosine shape: random gusts in time, and a discrete gust over distance flown through the air."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.wind_model import Array, WindModel, airspeed_in


@kernel
def add_gusts(gusts: NDArray[np.float64], dt: float, wind_ned: NDArray[np.float64]) -> None:
    """Advance gusts by dt and add their velocities to `wind_ned` (3,).

    `gusts` (n, 6): direction, peak, duration, age (negative if there is no gust).
    """
    n, e, d = wind_ned[0], wind_ned[1], wind_ned[2]
    for i in range(gusts.shape[0]):
        if gusts[i, 5] < 0.0:
            continue
        gusts[i, 5] += dt
        if gusts[i, 5] >= gusts[i, 4]:
            gusts[i, 5] = -1.0
            continue
        strength = 0.5 * gusts[i, 3] * (1.0 - math.cos(2.0 * math.pi * gusts[i, 5] / gusts[i, 4]))
        n, e, d = n + strength * gusts[i, 0], e + strength * gusts[i, 1], d + strength * gusts[i, 2]
    wind_ned[0], wind_ned[1], wind_ned[2] = n, e, d


class RandomGusts(WindModel):
    """Gusts at exponentially distributed intervals, each a full 1-cosine wave in time.

    Their direction deviates from the mean wind by `gust_dir_std_dev`; in a calm it is uniform (Leahy, Discrete Gust
    Model for Launch Vehicle Assessments, NASA, 2008). Raises ParameterError for duration limits in the wrong order.
    """

    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        Parameter("wind_has_gusts", False, "Gusts at random times; true is the same as `random_gusts` in wind_models"),
        Parameter(
            "interoccurance_time_gust_s", 5.0, "Mean time between two random gusts", "s", minimum=0.01, maximum=1e6
        ),
        Parameter(
            "gust_magnitude_mean", 0.15, "Mean peak speed of the random gusts", "m/s", minimum=0.0, maximum=100.0
        ),
        Parameter(
            "gust_magnitude_std_dev",
            0.3,
            "Standard deviation of the peak speed (negative peaks are redrawn)",
            "m/s",
            minimum=0.0,
            maximum=100.0,
        ),
        Parameter(
            "gust_duration_limits",
            [0.5, 5.0],
            "Shortest and longest duration of a random gust",
            "s",
            minimum=0.01,
            maximum=1e4,
            length=2,
        ),
        Parameter(
            "gust_dir_std_dev",
            0.1,
            "Standard deviation of the gust direction about the mean wind",
            "rad",
            minimum=0.0,
            maximum=10.0,
        ),
    )

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        """Draw the time until the first gust."""
        self._rng = rng
        self._shortest, self._longest = _duration_limits(values)
        self._interval = number(values, "interoccurance_time_gust_s")
        self._magnitude = number(values, "gust_magnitude_mean"), number(values, "gust_magnitude_std_dev")
        self._spread = number(values, "gust_dir_std_dev")
        self._gusts = np.full((1, 6), -1.0)
        self._until_gust = rng.exponential(self._interval)

    @classmethod
    def check(cls, values: Values) -> None:
        """Check `gust_duration_limits`."""
        _duration_limits(values)

    @classmethod
    def is_switched_on(cls, values: Values) -> bool:
        """Whether `wind_has_gusts` is on."""
        return bool(values["wind_has_gusts"])

    def add(self, wind_ned: Array, mean_ned: Array, truth: Array, dt: float) -> None:
        """Advance by dt and add the gusts."""
        self._until_gust -= dt
        while self._until_gust <= 0.0:
            self._start_gust(mean_ned)
        add_gusts(self._gusts, dt, wind_ned)

    def adopt(self, other: RandomGusts) -> None:
        """Keep the gusts, and the time until the next one unless their interval changed."""
        self._gusts = other._gusts.copy()
        if self._interval == other._interval:
            self._until_gust = other._until_gust

    def _start_gust(self, mean_ned: NDArray[np.float64]) -> None:
        rng = self._rng
        self._until_gust += rng.exponential(self._interval)
        direction = rng.standard_normal(3)
        mean_speed = float(np.linalg.norm(mean_ned))
        if mean_speed > 0.0:
            direction = mean_ned / mean_speed + self._spread * direction
        mean, spread = self._magnitude
        magnitude = rng.normal(mean, spread)
        while magnitude < 0.0:
            magnitude = rng.normal(mean, spread)
        free = np.flatnonzero(self._gusts[:, 5] < 0.0)
        if len(free) == 0:
            self._gusts = np.vstack([self._gusts, np.full_like(self._gusts, -1.0)])
            free = np.flatnonzero(self._gusts[:, 5] < 0.0)
        duration = rng.uniform(self._shortest, self._longest)
        self._gusts[free[0]] = [*(direction / np.linalg.norm(direction)), magnitude, duration, 0.0]


def _duration_limits(values: Values) -> tuple[float, float]:
    """Shortest and longest random gust, s.

    Raises:
        ParameterError: the first is longer than the second.
    """
    shortest, longest = (float(limit) for limit in values["gust_duration_limits"])  # type: ignore[union-attr]
    if shortest > longest:
        raise ParameterError(
            f"parameter 'gust_duration_limits': {values['gust_duration_limits']!r} given; "
            "allowed: the shortest first, then the longest"
        )
    return shortest, longest


@kernel_record
class GustFront:
    """A discrete gust and the way into it.

    Attributes:
        north: full velocity (m/s), NED; `east` and `down` likewise.
        length: distance through the air over which it builds up (m).
        flown: distance flown into it so far (m), at most `length`.
        until_start: time until it starts (s).
    """

    north: float
    east: float
    down: float
    length: float
    flown: float
    until_start: float


@kernel
def add_discrete_gust(
    gust: GustFront,
    dt: float,
    mean_ned: NDArray[np.float64],
    truth: NDArray[np.float64],
    wind_ned: NDArray[np.float64],
) -> None:
    """Advance the discrete gust by dt and add its velocity to `wind_ned` (3,)."""
    late = min(dt, max(0.0, dt - gust.until_start))
    gust.until_start = max(0.0, gust.until_start - dt)
    gust.flown = min(gust.length, gust.flown + airspeed_in(mean_ned, truth) * late)
    part = 0.5 * (1.0 - math.cos(math.pi * gust.flown / gust.length))
    wind_ned[0] += part * gust.north
    wind_ned[1] += part * gust.east
    wind_ned[2] += part * gust.down


class DiscreteGust(WindModel):
    """The discrete gust of MIL-F-8785C, 3.7.3.

    It builds up as (1 - cos(pi x / d)) / 2 over the distance x flown through the air, up to the length d, and then
    stays.
    """

    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        Parameter(
            "discrete_gust_velocity",
            [0.0, 0.0, 0.0],
            "Full velocity of the discrete gust, NED; 0 for none",
            "m/s",
            minimum=-150.0,
            maximum=150.0,
            length=3,
        ),
        Parameter(
            "discrete_gust_length",
            50.0,
            "Distance through the air over which the discrete gust builds up",
            "m",
            minimum=0.1,
            maximum=1e5,
        ),
        Parameter(
            "discrete_gust_time",
            10.0,
            "Time from switching the discrete gust on to meeting it",
            "s",
            minimum=0.0,
            maximum=1e9,
        ),
    )

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        """Place the gust ahead of the vehicle."""
        north, east, down = np.array(values["discrete_gust_velocity"], dtype=np.float64).tolist()
        self._gust = GustFront(
            north=north,
            east=east,
            down=down,
            length=number(values, "discrete_gust_length"),
            flown=0.0,
            until_start=number(values, "discrete_gust_time"),
        )

    @classmethod
    def is_switched_on(cls, values: Values) -> bool:
        """Whether `discrete_gust_velocity` is not zero."""
        return any(values["discrete_gust_velocity"])  # type: ignore[arg-type]

    def add(self, wind_ned: Array, mean_ned: Array, truth: Array, dt: float) -> None:
        """Advance by dt and add the gust."""
        add_discrete_gust(self._gust, dt, mean_ned, truth, wind_ned)

    def adopt(self, other: DiscreteGust) -> None:
        """Keep the distance into the gust and the time until it starts."""
        self._gust.flown = min(other._gust.flown, self._gust.length)
        self._gust.until_start = other._gust.until_start

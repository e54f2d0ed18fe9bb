"""Wind: steady, random gusts and a discrete gust of 1-cosine shape, and Dryden turbulence; all in NED, m/s."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.jit import kernel
from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.physics.dryden import dryden_velocity
from rosflight_py_sim.physics.normal_draws import NormalDraws
from rosflight_py_sim.physics.rotations import rotate_to_inertial

WIND_PARAMETERS = ParameterTable(
    Parameter("sim_has_wind", False, "whether the air moves at all"),
    Parameter("use_random_wind", True, "whether the steady wind is drawn at random at the start"),
    Parameter("steady_state_wind", [0.0, 0.0, 0.0], "steady wind, NED, where it is not random", "m/s", length=3),
    Parameter("random_wind_mean", [0.0, 0.0, 0.0], "mean of the random steady wind, NED", "m/s", length=3),
    Parameter(
        "random_wind_std_dev", [0.5, 0.5, 0.0], "spread of the random steady wind, NED", "m/s", minimum=0.0, length=3
    ),
    Parameter("wind_has_gusts", False, "whether gusts come at random times"),
    Parameter("interoccurance_time_gust_s", 5.0, "mean time between two such gusts", "s", minimum=0.01),
    Parameter("gust_magnitude_mean", 0.15, "mean of the gusts' peaks", "m/s", minimum=0.0),
    Parameter(
        "gust_magnitude_std_dev", 0.3, "spread of the gusts' peaks (negative ones are redrawn)", "m/s", minimum=0.0
    ),
    Parameter(
        "gust_duration_limits", [0.5, 5.0], "shortest and longest gust", "s", minimum=0.0, above_minimum=True, length=2
    ),
    Parameter(
        "gust_dir_std_dev", 0.1, "spread of the gusts' direction about that of the steady wind", "rad", minimum=0.0
    ),
    Parameter("discrete_gust_velocity", [0.0, 0.0, 0.0], "discrete gust in full, NED; 0: none", "m/s", length=3),
    Parameter(
        "discrete_gust_length",
        50.0,
        "way through the air over which the discrete gust builds up",
        "m",
        minimum=0.0,
        above_minimum=True,
    ),
    Parameter("discrete_gust_time", 10.0, "time after the start at which the discrete gust is met", "s", minimum=0.0),
    Parameter("turbulence_model", "none", "continuous turbulence", choices=("none", "dryden_8785c")),
    Parameter(
        "turbulence_wind_speed_20ft",
        7.7,
        "mean wind at 20 ft, which sets the turbulence below 1000 ft: 7.7 light, 15.4 moderate, 23.1 severe",
        "m/s",
        minimum=0.0,
    ),
    Parameter("turbulence_intensity", 1.5, "standard deviation of the turbulence above 2000 ft", "m/s", minimum=0.0),
)

STEADY_PARAMETERS = ("sim_has_wind", "use_random_wind", "steady_state_wind", "random_wind_mean", "random_wind_std_dev")

SLOWEST_AIRSPEED = 1.0
"""Speed (m/s) at which gusts and turbulence pass a vehicle that hovers still in the mean wind."""


@kernel
def total_wind(
    truth: NDArray[np.float64],
    dt: float,
    steady: NDArray[np.float64],
    gusts: NDArray[np.float64],
    discrete: NDArray[np.float64],
    turbulence: NDArray[np.float64],
    filters: NDArray[np.float64],
    normals: NDArray[np.float64],
    wind: NDArray[np.float64],
) -> None:
    """Advance gusts and turbulence by dt and write the sum of all winds into `wind` (3,).

    `gusts` (n, 6): direction, peak, duration, age (negative: none). `discrete`: velocity (3), length, way so far, time
    until it starts. `turbulence`: 1 for on, speed at 20 ft, intensity. `filters` (5,) and `normals` (5,): see `dryden`.
    """
    vn, ve, vd = rotate_to_inertial(truth[3], truth[4], truth[5], truth[6], truth[7], truth[8], truth[9])
    vn, ve, vd = vn - steady[0], ve - steady[1], vd - steady[2]
    airspeed = max(SLOWEST_AIRSPEED, math.sqrt(vn * vn + ve * ve + vd * vd))
    n, e, d = steady[0], steady[1], steady[2]
    for i in range(gusts.shape[0]):
        if gusts[i, 5] < 0.0:
            continue
        gusts[i, 5] += dt
        if gusts[i, 5] >= gusts[i, 4]:
            gusts[i, 5] = -1.0
            continue
        strength = 0.5 * gusts[i, 3] * (1.0 - math.cos(2.0 * math.pi * gusts[i, 5] / gusts[i, 4]))
        n, e, d = n + strength * gusts[i, 0], e + strength * gusts[i, 1], d + strength * gusts[i, 2]
    late = min(dt, max(0.0, dt - discrete[5]))
    discrete[5] = max(0.0, discrete[5] - dt)
    discrete[4] = min(discrete[3], discrete[4] + airspeed * late)
    part = 0.5 * (1.0 - math.cos(math.pi * discrete[4] / discrete[3]))
    n, e, d = n + part * discrete[0], e + part * discrete[1], d + part * discrete[2]
    if turbulence[0] != 0.0:
        along, across, down = dryden_velocity(-truth[2], airspeed, turbulence[1], turbulence[2], dt, filters, normals)
        cosine, sine = 1.0, 0.0
        horizontal = math.sqrt(steady[0] * steady[0] + steady[1] * steady[1])
        if horizontal > 0.0:
            cosine, sine = steady[0] / horizontal, steady[1] / horizontal
        n, e, d = n + cosine * along - sine * across, e + sine * along + cosine * across, d + down
    wind[0], wind[1], wind[2] = n, e, d


class Wind:
    """Velocity of the air over the ground at the vehicle.

    Four parts add up: a steady wind, given or drawn once; gusts at exponentially distributed intervals, each a full
    1-cosine wave in time along the steady wind's direction within `gust_dir_std_dev` (Leahy, Discrete Gust Model for
    Launch Vehicle Assessments, NASA, 2008), in any direction in a calm; the discrete gust of MIL-F-8785C, 3.7.3, that
    builds up as (1 - cos(pi x / d)) / 2 over the way x through the air and then stays; and Dryden turbulence, with its
    longitudinal axis along the mean wind (north in a calm). With `sim_has_wind` off there is none of it.

    `values` holds WIND_PARAMETERS, `rng` supplies every random number. Raises ParameterError for gust duration limits
    in the wrong order.
    """

    wind_ned: NDArray[np.float64]
    """(3,) m/s, changed in place by `step`."""

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        self._rng = rng
        self._drawn_from = {name: values[name] for name in STEADY_PARAMETERS}
        blows = bool(values["sim_has_wind"])
        self._steady = np.array(values["steady_state_wind"], dtype=np.float64)
        if values["use_random_wind"]:
            spread = np.array(values["random_wind_std_dev"], dtype=np.float64)
            self._steady = np.array(values["random_wind_mean"], dtype=np.float64) + spread * rng.standard_normal(3)
        if not blows:
            self._steady = np.zeros(3)
        self._shortest, self._longest = (float(limit) for limit in values["gust_duration_limits"])  # type: ignore[union-attr]
        if self._shortest > self._longest:
            raise ParameterError(
                f"parameter 'gust_duration_limits': {values['gust_duration_limits']!r} given; "
                "allowed: the shortest first, then the longest"
            )
        self._interval = number(values, "interoccurance_time_gust_s")
        self._magnitude = number(values, "gust_magnitude_mean"), number(values, "gust_magnitude_std_dev")
        self._spread = number(values, "gust_dir_std_dev")
        self._has_gusts = blows and bool(values["wind_has_gusts"])
        self._gusts = np.full((1, 6), -1.0)
        self._until_gust = rng.exponential(self._interval) if self._has_gusts else math.inf
        velocity = np.array(values["discrete_gust_velocity"], dtype=np.float64) * blows
        length, start = number(values, "discrete_gust_length"), number(values, "discrete_gust_time")
        self._discrete = np.array([*velocity, length, 0.0, start])
        self._turbulence = np.array(
            [
                float(blows and values["turbulence_model"] == "dryden_8785c"),
                number(values, "turbulence_wind_speed_20ft"),
                number(values, "turbulence_intensity"),
            ]
        )
        self._normals = NormalDraws(rng, 5)
        self._filters = np.zeros(5)
        if self._turbulence[0]:
            self._filters[:] = rng.standard_normal(5) * np.array([1.0, 0.5, 0.5, 0.5, 0.5])
            self._filters[1] += self._filters[2]
            self._filters[3] += self._filters[4]
        self._changes = self._has_gusts or bool(np.any(velocity)) or bool(self._turbulence[0])
        self.wind_ned = self._steady.copy()

    def step(self, truth: NDArray[np.float64], dt: float) -> None:
        """Advance by dt (s): `wind_ned` becomes the wind at the vehicle whose truth state (19,) is given."""
        if not self._changes:
            return
        self._until_gust -= dt
        while self._until_gust <= 0.0:
            self._start_gust()
        normals = self._normals.next() if self._turbulence[0] else self._filters
        total_wind(
            truth,
            dt,
            self._steady,
            self._gusts,
            self._discrete,
            self._turbulence,
            self._filters,
            normals,
            self.wind_ned,
        )

    def adopt(self, other: Wind) -> None:
        """Go on from another wind: its gusts and turbulence, and its steady wind unless that was parametrised anew."""
        if self._drawn_from == other._drawn_from:
            self._steady[:] = other._steady
        if self._has_gusts and other._has_gusts:
            self._gusts = other._gusts.copy()
            if self._interval == other._interval:
                self._until_gust = other._until_gust
        self._discrete[4:] = other._discrete[4:]
        self._discrete[4] = min(self._discrete[4], self._discrete[3])
        if self._turbulence[0] and other._turbulence[0]:
            self._filters[:] = other._filters
        self.wind_ned[:] = other.wind_ned if self._changes else self._steady

    def _start_gust(self) -> None:
        rng = self._rng
        self._until_gust += rng.exponential(self._interval)
        direction = rng.standard_normal(3)
        mean_speed = float(np.linalg.norm(self._steady))
        if mean_speed > 0.0:
            direction = self._steady / mean_speed + self._spread * direction
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

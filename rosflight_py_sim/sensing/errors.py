"""Sensor error model: white noise, turn-on bias and bias walk, in continuous-time units.

Each measured channel reads truth + b + n with

- n, white noise of density N (unit/sqrt(Hz)): a sample that averages over dt deviates by N / sqrt(dt);
- b = b0 + x, where b0 is drawn once, uniformly within +-bias_range;
- x, a first-order Gauss-Markov process dx = -k x dt + K dW (K in unit/sqrt(s)), discretised exactly:
  x(t + dt) = exp(-k dt) x(t) + K sqrt((1 - exp(-2 k dt)) / (2 k)) w, w standard normal. It starts from its
  stationary distribution, of deviation K / sqrt(2 k). For k = 0 it is a random walk that starts at zero.

None of the three depends on the sampling rate. In the Allan deviation they are the angle (velocity) random walk
N / sqrt(tau), the correlated noise of time constant 1/k, and the rate random walk K sqrt(tau / 3): IEEE Std 952-1997,
annex C; R. Beard and T. McLain, Small Unmanned Aircraft, section 7.5 (their GPS error is such a process).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.physics.normal_draws import NormalDraws

# Columns of the channel array that the kernels work on; one row per channel.
NOISE_DENSITY, BIAS_RANGE, WALK_DENSITY, DECAY_RATE, TURN_ON, UNIT_WALK, BIAS, ERROR = range(8)


@dataclass(frozen=True)
class ErrorTerms:
    """The four numbers of one channel: N (unit/sqrt(Hz)), bias range (unit), K (unit/sqrt(s)) and k (1/s)."""

    noise_density: float = 0.0
    bias_range: float = 0.0
    walk_density: float = 0.0
    decay_rate: float = 0.0

    @property
    def walk_deviation(self) -> float:
        """Stationary standard deviation of the bias walk; infinite for a random walk."""
        if self.walk_density == 0.0:
            return 0.0
        return self.walk_density / math.sqrt(2.0 * self.decay_rate) if self.decay_rate > 0.0 else math.inf


LARGEST = {
    "rad/s": 100.0,
    "m/s^2": 1e3,
    "K": 1e3,
    "T": 1.0,
    "Pa": 1e6,
    "m": 1e4,
    "m/s": 1e3,
    "V": 1e3,
    "A": 1e4,
}
"""Largest allowed error of a sensor by unit: beyond what any sensor of a vehicle reads."""


@dataclass(frozen=True)
class ErrorSource:
    """Names and defaults of one sensor's error parameters, and the error terms that follow from their values.

    ROSflight states deviations per sample at its default rate f (`rate`, Hz). The names are kept, and the densities
    follow from them: N = stdev / sqrt(f); a bias that ROSflight steps by its walk deviation each sample has K =
    walk_stdev sqrt(f); one that it drives with white noise of that deviation, multiplied by the period (`walk_drives`),
    has K = walk_stdev / sqrt(f). A density parameter greater than 0 takes precedence over the ROSflight parameter. If
    ROSflight has no such parameter (`stdev` or `walk_stdev` is None), only the density exists. With `vibration`, the
    parameter with ROSflight's name is the standard deviation due to vibration of the airframe: while the airframe
    vibrates, its variance is added to that of the density, which describes the sensor itself. Sources that share one
    inverse time constant of the bias walk name its parameter in `shared_decay`.
    """

    sensor: str
    quantity: str
    unit: str
    rate: float
    stdev: float | None = None
    noise_density: float = 0.0
    bias_range: float = 0.0
    walk_stdev: float | None = None
    walk_name: str = ""
    walk_drives: bool = False
    decay_rate: float = 0.0
    shared_decay: Parameter | None = None
    vibration: bool = False

    def parameters(self) -> ParameterTable:
        """Table of this sensor's error parameters."""
        derived = f" (0: derived from {self.sensor}_stdev)" if self.stdev is not None and not self.vibration else ""
        magnitude = partial(Parameter, minimum=0.0, maximum=LARGEST[self.unit])
        rows = [
            magnitude(
                f"{self.sensor}_noise_density",
                self.noise_density,
                f"White noise density of the {self.quantity}{derived}",
                f"{self.unit}/sqrt(Hz)",
            ),
            magnitude(
                f"{self.sensor}_bias_range",
                self.bias_range,
                f"Turn-on bias of the {self.quantity}: drawn uniformly from plus or minus this value",
                self.unit,
            ),
            magnitude(
                f"{self.sensor}_bias_walk_density",
                0.0,
                f"Driving noise density of the bias walk of the {self.quantity}"
                + (f" (0: derived from {self._walk_name})" if self.walk_stdev is not None else ""),
                f"{self.unit}/sqrt(s)",
            ),
            self._decay,
        ]
        if self.stdev is not None:
            noise = "White noise due to vibration on" if self.vibration else "White noise on"
            text = f"{noise} the {self.quantity}: standard deviation of a sample at {self.rate:g} Hz"
            rows.insert(0, magnitude(f"{self.sensor}_stdev", self.stdev, text, self.unit))
        if self.walk_stdev is not None:
            text = f"Bias walk of the {self.quantity}: standard deviation of " + (
                f"the driving noise at {self.rate:g} Hz" if self.walk_drives else f"a step at {self.rate:g} Hz"
            )
            unit = f"{self.unit}/s" if self.walk_drives else self.unit
            rows.append(magnitude(self._walk_name, self.walk_stdev, text, unit))
        return ParameterTable(*rows)

    def terms(self, values: Values) -> ErrorTerms:
        """Continuous-time error terms from the (checked) values."""
        noise = number(values, f"{self.sensor}_noise_density")
        if noise == 0.0 and not self.vibration:
            noise = self._stdev_density(values)
        walk = number(values, f"{self.sensor}_bias_walk_density")
        if walk == 0.0 and self.walk_stdev is not None:
            scale = 1.0 / math.sqrt(self.rate) if self.walk_drives else math.sqrt(self.rate)
            walk = number(values, self._walk_name) * scale
        bias_range = number(values, f"{self.sensor}_bias_range")
        return ErrorTerms(noise, bias_range, walk, number(values, self._decay.name))

    def vibrating_noise_density(self, values: Values) -> float:
        """Density N while the airframe vibrates: independent noise of sensor and vibration combined."""
        return math.hypot(self.terms(values).noise_density, self._stdev_density(values))

    def _stdev_density(self, values: Values) -> float:
        return 0.0 if self.stdev is None else number(values, f"{self.sensor}_stdev") / math.sqrt(self.rate)

    @cached_property
    def _walk_name(self) -> str:
        return self.walk_name or f"{self.sensor}_bias_walk_stdev"

    @cached_property
    def _decay(self) -> Parameter:
        return self.shared_decay or Parameter(
            f"k_{self.sensor}",
            self.decay_rate,
            f"Inverse time constant of the bias walk of the {self.quantity} (0: a random walk)",
            "1/s",
            minimum=1e-6,
            maximum=1e3,
            also_allowed=(0.0,),
        )


def axes(name: str, letters: Sequence[str] = "xyz") -> tuple[str, ...]:
    """Names of a quantity's components."""
    return tuple(f"{name}_{letter}" for letter in letters)


class ErrorModel:
    """Errors of a sensor's channels: parameters and state, advanced by `advance_errors`.

    `channels` has one row per channel and the columns named above; `normals` supplies two numbers per channel and
    sample. `walk_variances` has the stationary variance of each channel's walk, 0 for a random walk. The walk is stored
    for a density of one, and the turn-on bias for a range of one, so that new parameter values scale the errors of a
    running sensor instead of drawing new ones.
    """

    def __init__(self, terms: Sequence[ErrorTerms], rng: np.random.Generator) -> None:
        self.channels: NDArray[np.float64] = np.zeros((len(terms), 8))
        turn_on = rng.uniform(-1.0, 1.0, len(terms))
        start = rng.standard_normal(len(terms))
        for row, term in enumerate(terms):
            walk = start[row] / math.sqrt(2.0 * term.decay_rate) if term.decay_rate > 0.0 else 0.0
            bias = term.bias_range * turn_on[row] + term.walk_density * walk
            numbers = (term.noise_density, term.bias_range, term.walk_density, term.decay_rate)
            self.channels[row] = (*numbers, turn_on[row], walk, bias, bias)
        self.walk_variances = [
            term.walk_density**2 / (2.0 * term.decay_rate) if term.decay_rate > 0.0 else 0.0 for term in terms
        ]
        self._noise_densities = [term.noise_density for term in terms]
        self.normals = NormalDraws(rng, 2 * len(terms))
        # Variances for the last dt, which rarely changes.
        self._variances_dt, self._variances = math.nan, [0.0]

    def biases(self, *names: str) -> dict[str, float]:
        """Bias of each channel (turn-on bias and walk) in the last sample, under a name for each."""
        return dict(zip(names, self.channels[:, BIAS].tolist(), strict=True))

    def sample(self, dt: float) -> list[float]:
        """Error of each channel (bias plus white noise), dt (s, > 0) after the last sample."""
        advance_errors(self.channels, next(self.normals), dt)
        errors: list[float] = self.channels[:, ERROR].tolist()
        return errors

    def variances(self, dt: float) -> list[float]:
        """Variance of each channel's error about its turn-on bias, for samples `dt` (s) apart.

        White noise plus the stationary variance of the walk. A random walk (k = 0) has none and is left out.
        """
        if dt != self._variances_dt:
            pairs = zip(self._noise_densities, self.walk_variances, strict=True)
            self._variances_dt, self._variances = dt, [noise * noise / dt + walk for noise, walk in pairs]
        return self._variances

    def adopt(self, other: ErrorModel) -> None:
        """Copy another model's turn-on draw, walk and random numbers."""
        channels = self.channels
        channels[:, TURN_ON] = other.channels[:, TURN_ON]
        channels[:, UNIT_WALK] = other.channels[:, UNIT_WALK]
        channels[:, BIAS] = channels[:, BIAS_RANGE] * channels[:, TURN_ON]
        channels[:, BIAS] += channels[:, WALK_DENSITY] * channels[:, UNIT_WALK]
        self.normals = other.normals


@kernel
def advance_errors(channels: NDArray[np.float64], normals: NDArray[np.float64], dt: float) -> None:
    """Advance every channel's walk by dt (s) and fill its BIAS and ERROR (bias + white noise) columns.

    `normals` holds two numbers per channel, for walk and white noise.

    Raises:
        ValueError: dt is not greater than 0.
    """
    if not dt > 0.0:
        raise ValueError("the time between two samples must be greater than 0 s")
    for channel in range(channels.shape[0]):
        decay = channels[channel, DECAY_RATE]
        if decay > 0.0:
            walk = math.exp(-decay * dt) * channels[channel, UNIT_WALK]
            walk += math.sqrt(-math.expm1(-2.0 * decay * dt) / (2.0 * decay)) * normals[2 * channel]
        else:
            walk = channels[channel, UNIT_WALK] + math.sqrt(dt) * normals[2 * channel]
        bias = channels[channel, BIAS_RANGE] * channels[channel, TURN_ON] + channels[channel, WALK_DENSITY] * walk
        channels[channel, UNIT_WALK] = walk
        channels[channel, BIAS] = bias
        channels[channel, ERROR] = bias + channels[channel, NOISE_DENSITY] / math.sqrt(dt) * normals[2 * channel + 1]


def covariance(variance: float) -> tuple[float, ...]:
    """Covariance (9) of three independent components of this variance."""
    return (variance, 0.0, 0.0, 0.0, variance, 0.0, 0.0, 0.0, variance)

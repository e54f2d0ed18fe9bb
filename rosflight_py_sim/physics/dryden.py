"""Dryden turbulence of MIL-F-8785C, discretised exactly, so that its statistics do not depend on the step.

Shaping filters for an airspeed V, scale length L, intensity s and time constant T = L / V (MIL-F-8785C, 3.7.1.2 and
3.7.2; in this form McLean, Automatic Flight Control Systems, section 9.6):

    longitudinal  H(s) = s_u sqrt(2 T_u / pi) / (1 + T_u s)
    lateral, vertical  H(s) = s_v sqrt(T_v / pi) (1 + sqrt(3) T_v s) / (1 + T_v s)^2

The filters run with unit variance in time scaled by T, where their transition matrix and the covariance of the noise
over a step are known in closed form; the intensity multiplies the output. The variance is therefore s^2 for every step,
even while height and airspeed change. `rotational_gusts.py` has the rotation of the turbulent air.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.ground.shared_parameters import ROTATIONAL_GUSTS
from rosflight_py_sim.kernels.chain import ChainLink
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import assign
from rosflight_py_sim.physics.normal_draws import NormalDraws
from rosflight_py_sim.physics.rotational_gusts import RotatingAir, rotate_air, still_air
from rosflight_py_sim.physics.wind_model import Array, WindModel, airspeed_in

FOOT = 0.3048
"""m."""
LOWEST_FT = 10.0
"""Least height at which MIL-F-8785C gives scales and intensities, ft."""
ON_GROUND_FT = 0.5
"""Height of a small vehicle on the ground, ft, below which the turbulence does not change."""
SQRT3 = math.sqrt(3.0)


@kernel
def scales(height: float, wind_speed_20ft: float, intensity: float) -> tuple[float, float, float, float]:
    """Scale length (m) and intensity (m/s), first horizontal, then vertical, at `height` above the ground (m).

    From 10 ft to 1000 ft by height and the wind at 20 ft (3.7.3.4): L_w = h, L_u = h / (0.177 + 0.000823 h)^1.2, s_w =
    0.1 W_20, s_u = s_w / (0.177 + 0.000823 h)^0.4, h in ft. Above 2000 ft: 1750 ft and `intensity` in all directions.
    Linear in between. Below 10 ft, where the standard ends, the values of 10 ft hold, but the ground blocks vertical
    motion: the variance of eddies of the size L falls with (h / L)^(2/3) (Hunt and Graham, Free-stream turbulence near
    plane boundaries, J. Fluid Mech. 84, 1978), so s_w = 0.1 W_20 (h / 10 ft)^(1/3), h at least 0.5 ft.
    """
    feet = max(LOWEST_FT, height / FOOT)
    low = min(feet, 1000.0)
    shape = 0.177 + 0.000823 * low
    length, length_w = low / math.pow(shape, 1.2), low
    sigma_w = 0.1 * wind_speed_20ft
    sigma = sigma_w / math.pow(shape, 0.4)
    sigma_w *= math.pow(min(1.0, max(ON_GROUND_FT, height / FOOT) / LOWEST_FT), 1.0 / 3.0)
    blend = min(1.0, max(0.0, (feet - 1000.0) / 1000.0))
    length, length_w = length + blend * (1750.0 - length), length_w + blend * (1750.0 - length_w)
    sigma, sigma_w = sigma + blend * (intensity - sigma), sigma_w + blend * (intensity - sigma_w)
    return length * FOOT, sigma, length_w * FOOT, sigma_w


@kernel
def moment(order: int, tau: float) -> float:
    """Integral of s^order exp(-2 s) from 0 to tau, order 0 to 2; by series where the closed form loses precision."""
    if tau < 0.1:
        total = 0.0
        term = math.pow(tau, order + 1)
        for k in range(12):
            total += term / (order + k + 1)
            term *= -2.0 * tau / (k + 1)
        return total
    decay = math.exp(-2.0 * tau)
    if order == 0:
        return 0.5 * (1.0 - decay)
    if order == 1:
        return 0.25 - decay * (0.5 * tau + 0.25)
    return 0.25 - decay * (0.5 * tau * tau + 0.5 * tau + 0.25)


@kernel
def second_order(tau: float, filters: NDArray[np.float64], normals: NDArray[np.float64], first: int) -> float:
    """Advance the filter (1 + sqrt(3) s) / (1 + s)^2 at `first` by tau = dt / T; return its output."""
    decay = math.exp(-tau)
    q11, q12, q22 = moment(0, tau), moment(1, tau), moment(2, tau)
    l11 = math.sqrt(q11)
    l21 = q12 / l11 if l11 > 0.0 else 0.0
    l22 = math.sqrt(max(0.0, q22 - l21 * l21))
    x, y = filters[first], filters[first + 1]
    new_x: float = decay * x + l11 * normals[first]
    new_y: float = decay * (tau * x + y) + l21 * normals[first] + l22 * normals[first + 1]
    filters[first], filters[first + 1] = new_x, new_y
    return SQRT3 * new_x + (1.0 - SQRT3) * new_y


@kernel
def dryden_velocity(
    height: float,
    airspeed: float,
    wind_speed_20ft: float,
    intensity: float,
    dt: float,
    filters: NDArray[np.float64],
    normals: NDArray[np.float64],
) -> tuple[float, float, float]:
    """Advance the filters by dt (s) and return the turbulence (m/s) along, across and down.

    `filters` (5,): one state along, two across, two down. `normals` (5,): independent standard normal numbers.
    """
    length, sigma, length_w, sigma_w = scales(height, wind_speed_20ft, intensity)
    tau, tau_w = dt * airspeed / length, dt * airspeed / length_w
    filters[0] = math.exp(-tau) * filters[0] + math.sqrt(-math.expm1(-2.0 * tau)) * normals[0]
    across = second_order(tau, filters, normals, 1)
    down = second_order(tau_w, filters, normals, 3)
    return sigma * filters[0], sigma * across, sigma_w * down


@kernel
def add_turbulence(
    wind_speed_20ft: float,
    intensity: float,
    filters: NDArray[np.float64],
    turbulence_ned: NDArray[np.float64],
    dt: float,
    mean_ned: NDArray[np.float64],
    truth: NDArray[np.float64],
    normals: NDArray[np.float64],
    wind_ned: NDArray[np.float64],
) -> None:
    """Advance the filters by dt (s), write the turbulence, its axis along the mean wind, and add it to `wind_ned`."""
    along, across, down = dryden_velocity(
        -truth[2], airspeed_in(mean_ned, truth), wind_speed_20ft, intensity, dt, filters, normals
    )
    cosine, sine = 1.0, 0.0
    horizontal = math.sqrt(mean_ned[0] * mean_ned[0] + mean_ned[1] * mean_ned[1])
    if horizontal > 0.0:
        cosine, sine = mean_ned[0] / horizontal, mean_ned[1] / horizontal
    wind_ned[0] = wind_ned[0] + cosine * along - sine * across
    wind_ned[1] = wind_ned[1] + sine * along + cosine * across
    wind_ned[2] += down
    turbulence_ned[0], turbulence_ned[1] = cosine * along - sine * across, sine * along + cosine * across
    turbulence_ned[2] = down


@kernel
def add_turning_turbulence(
    wind_speed_20ft: float,
    intensity: float,
    filters: NDArray[np.float64],
    turbulence_ned: NDArray[np.float64],
    air: RotatingAir,
    rates_body: NDArray[np.float64],
    dt: float,
    mean_ned: NDArray[np.float64],
    truth: NDArray[np.float64],
    normals: NDArray[np.float64],
    wind_ned: NDArray[np.float64],
    rolls: NDArray[np.float64],
) -> None:
    """`add_turbulence`, then write the angular velocity of the air (3,), rad/s; `rolls` (1,): standard normal."""
    add_turbulence(wind_speed_20ft, intensity, filters, turbulence_ned, dt, mean_ned, truth, normals, wind_ned)
    _, _, length_w, sigma_w = scales(-truth[2], wind_speed_20ft, intensity)
    rotate_air(air, length_w, sigma_w, dt, mean_ned, truth, turbulence_ned, rolls[0], rates_body)


class DrydenTurbulence(WindModel):
    """Dryden turbulence aligned with the mean wind (with north in a calm), passed at the airspeed in the mean wind."""

    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        Parameter(
            "turbulence_model",
            "none",
            "Continuous turbulence; dryden_8785c is the same as `dryden` in wind_models",
            choices=("none", "dryden_8785c"),
        ),
        Parameter(
            "turbulence_wind_speed_20ft",
            7.7,
            "Mean wind at 20 ft that sets the turbulence below 1000 ft: 7.7 light, 15.4 moderate, 23.1 severe",
            "m/s",
            minimum=0.0,
            maximum=100.0,
        ),
        Parameter(
            "turbulence_intensity",
            1.5,
            "Standard deviation of the turbulence above 2000 ft",
            "m/s",
            minimum=0.0,
            maximum=100.0,
        ),
        ROTATIONAL_GUSTS,
        Parameter(
            "turbulence_span",
            2.0,
            "Wing span, or distance across the outer rotors: smaller eddies do not rotate the vehicle",
            "m",
            minimum=0.01,
            maximum=200.0,
        ),
    )

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        """Draw the filters' states from their stationary distribution."""
        self._normals = NormalDraws(rng, 5)
        self._filters = rng.standard_normal(5) * np.array([1.0, 0.5, 0.5, 0.5, 0.5])
        self._filters[1] += self._filters[2]
        self._filters[3] += self._filters[4]
        strength = number(values, "turbulence_wind_speed_20ft"), number(values, "turbulence_intensity")
        turbulence_ned = np.zeros(3)
        self._models: tuple[Any, ...] = (*strength, self._filters, turbulence_ned)
        self._add: Callable[..., None] = bound(add_turbulence, *self._models)
        if values[ROTATIONAL_GUSTS.name]:
            rolling = rng.spawn(1)[0]
            self._air = still_air(number(values, "turbulence_span"), float(rolling.standard_normal()))
            self._rolls = NormalDraws(rolling, 1)
            self.rates_body = np.zeros(3)
            self._models = (*self._models, self._air, self.rates_body)
            self._add = bound(add_turning_turbulence, *self._models)

    @classmethod
    def is_switched_on(cls, values: Values) -> bool:
        """Whether `turbulence_model` is dryden_8785c."""
        return values["turbulence_model"] == "dryden_8785c"

    def add(self, wind_ned: Array, mean_ned: Array, truth: Array, dt: float) -> None:
        """Advance by dt and add the turbulence."""
        if self.rates_body is None:
            self._add(dt, mean_ned, truth, next(self._normals), wind_ned)
        else:
            self._add(dt, mean_ned, truth, next(self._normals), wind_ned, next(self._rolls))

    def links(self, wind_ned: Array, mean_ned: Array, truth: Array, dt: float) -> Sequence[ChainLink]:
        """Draw the numbers, then advance and add the turbulence."""
        normals, rolls = np.zeros(5), np.zeros(1)
        arguments = dt, mean_ned, truth, normals, wind_ned
        if self.rates_body is None:
            return self._normals.link(normals), ChainLink(bound(add_turbulence, *self._models, *arguments))
        return (
            self._normals.link(normals),
            self._rolls.link(rolls),
            ChainLink(bound(add_turning_turbulence, *self._models, *arguments, rolls)),
        )

    def adopt(self, other: DrydenTurbulence) -> None:
        """Keep the filters' states."""
        self._filters[:] = other._filters
        if self.rates_body is not None and other.rates_body is not None:
            span = self._air.span
            assign(self._air, other._air)
            self._air.span = span
            self.rates_body[:] = other.rates_body

"""Rotational gusts p_g, q_g and r_g of MIL-F-8785C: turbulence that differs along the vehicle turns the air around it.

Spectra over the spatial frequency Omega for a wing span b, with the scale length L_w and intensity s_w of the vertical
turbulence (3.7.1.2, in the Dryden form):

    P(Omega) = s_w^2 / L_w  0.8 (pi L_w / 4b)^(1/3) / (1 + (4b Omega / pi)^2)
    Q(Omega) = Omega^2 / (1 + (4b Omega / pi)^2)  W(Omega)
    R(Omega) = Omega^2 / (1 + (3b Omega / pi)^2)  V(Omega)

Q and R belong to the gradient of the same turbulence whose velocities have the spectra W and V, smoothed over the span.
With the airspeed V, the velocity w of the air at the vehicle and its first-order lag w' over the time 4b / (pi V), the
gradient along the flight path is (w - w') pi / 4b; horizontally 3b takes the place of 4b. A gradient g along the unit
vector e of the flight path is a rotation of the air with the angular velocity e x g, to which p_g adds a component
along e. A vehicle that flies along or against the mean wind meets exactly the spectra of the specification. Across it,
the velocity along the mean wind is lateral to the flight path and gives r_g.

The lag is exact for velocities that change linearly over a step. Below an airspeed of 1 m/s the rotation fades with the
airspeed: the air then does not pass the vehicle.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.rotations import rotate_to_body, rotate_to_inertial
from rosflight_py_sim.physics.wind_model import SLOWEST_AIRSPEED


@kernel_record
class RotatingAir:
    """State of the rotational gusts.

    Attributes:
        span: of the wing, b (m).
        rolling: p_g over its standard deviation.
        north: last turbulence (m/s), NED; `east` and `down` likewise.
        lead_north: by how much the turbulence leads its lag (m/s), NED; `lead_east` and `lead_down` likewise.
        has_begun: whether the turbulence has a last value.
    """

    span: float
    rolling: float
    north: float
    east: float
    down: float
    lead_north: float
    lead_east: float
    lead_down: float
    has_begun: bool


def still_air(span: float, rolling: float) -> RotatingAir:
    """The state before the first step; `rolling` is a standard normal number."""
    return RotatingAir(
        span=span,
        rolling=rolling,
        north=0.0,
        east=0.0,
        down=0.0,
        lead_north=0.0,
        lead_east=0.0,
        lead_down=0.0,
        has_begun=False,
    )


@kernel
def rolling_intensity(span: float, length_w: float, sigma_w: float) -> float:
    """Standard deviation (rad/s) of p_g: the root of the integral of P."""
    return (
        sigma_w * math.pi * math.sqrt(0.1 / (span * length_w)) * math.pow(math.pi * length_w / (4.0 * span), 1.0 / 6.0)
    )


@kernel
def faded(way: float) -> tuple[float, float]:
    """Share of a lag's lead that is left after a way over the lag's length, and that of a linear change which adds."""
    return math.exp(-way), (-math.expm1(-way) / way if way > 0.0 else 1.0)


@kernel
def rotate_air(
    air: RotatingAir,
    length_w: float,
    sigma_w: float,
    dt: float,
    mean_ned: NDArray[np.float64],
    truth: NDArray[np.float64],
    turbulence_ned: NDArray[np.float64],
    normal: float,
    rates_body: NDArray[np.float64],
) -> None:
    """Advance by dt (s) to the turbulence (3,), m/s, and write the angular velocity of the air (3,), rad/s."""
    north, east, down = turbulence_ned[0], turbulence_ned[1], turbulence_ned[2]
    if not air.has_begun:
        air.north, air.east, air.down = north, east, down
        air.has_begun = True
    en, ee, ed = rotate_to_inertial(truth[3], truth[4], truth[5], truth[6], truth[7], truth[8], truth[9])
    en, ee, ed = en - mean_ned[0], ee - mean_ned[1], ed - mean_ned[2]
    airspeed = max(SLOWEST_AIRSPEED, math.sqrt(en * en + ee * ee + ed * ed))
    en, ee, ed = en / airspeed, ee / airspeed, ed / airspeed
    level, upright = math.pi / (3.0 * air.span), math.pi / (4.0 * air.span)
    passed = dt * airspeed
    fade, gain = faded(level * passed)
    air.lead_north = fade * air.lead_north + gain * (north - air.north)
    air.lead_east = fade * air.lead_east + gain * (east - air.east)
    fade, gain = faded(upright * passed)
    air.lead_down = fade * air.lead_down + gain * (down - air.down)
    air.north, air.east, air.down = north, east, down
    air.rolling = fade * air.rolling + math.sqrt(-math.expm1(-2.0 * upright * passed)) * normal
    roll = rolling_intensity(air.span, length_w, sigma_w) * air.rolling
    gn, ge, gd = level * air.lead_north, level * air.lead_east, upright * air.lead_down
    rates_body[0], rates_body[1], rates_body[2] = rotate_to_body(
        truth[3],
        truth[4],
        truth[5],
        truth[6],
        ee * gd - ed * ge + roll * en,
        ed * gn - en * gd + roll * ee,
        en * ge - ee * gn + roll * ed,
    )

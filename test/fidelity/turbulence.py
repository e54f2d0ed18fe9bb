"""Spectrum of the accelerations in light turbulence, at the graph's step and at a fine one: a subject of the page.

The air is the same: that of config/wind.yaml as a vehicle at a speed and a height meets it, sampled at either rate. A
multirotor and a fixed wing in flight are held level and at their speed by a moving reference frame; JSBSim's aircraft
flies, with a law that holds it level.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np
from comparison import Comparison
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import signal
from whole_loop import parts

from rosflight_py_sim.commands.vehicle_models import given_values
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.physics.rotations import euler_from_quaternion, quaternion_from_euler
from rosflight_py_sim.physics.wind import WIND_PARAMETERS, Wind
from rosflight_py_sim.sensing.site import SITE_PARAMETERS
from rosflight_py_sim.viewer.picture_page import AMBER, BLUE, GREEN, GREY

TITLE = "turbulence in the accelerations"

Array = NDArray[np.float64]

HOLD = "first_order"
"""The shipped vehicles' `wrench_hold`."""
RATE_HZ, FINE_HZ = 400, 1600
DURATION_S = 40.0
BANDS_HZ = ((30.0, 60.0), (60.0, 100.0), (100.0, 120.0), (120.0, 160.0), (160.0, 200.0))
SPEEDS: Mapping[str, float] = {"multirotor": 5.0, "anaconda": 20.0, "c172p": 45.0}
"""Vehicles and their airspeeds, m/s."""
COLOURS = {"multirotor": BLUE, "anaconda": AMBER, "c172p": GREEN}
HEIGHT = 120.0
CRUISE_PITCH, CRUISE_ELEVATOR, CRUISE_THROTTLE = 0.0385, 0.0275, 0.64
"""Trim of the c172p at its speed, of config/jsbsim.yaml: rad, and inputs from -1 to 1."""
SPREAD_S = 2.5
"""Length of a window of a parked aircraft's spread, which limits a calibration of its IMU."""


@cache
def air(speed: float, height: float) -> Array:
    """Wind (n, 3), m/s, and its rotation (n, 3), rad/s, at FINE_HZ, as an aircraft meets it that flies north."""
    sources = [share_directory() / "config" / "wind.yaml"]
    wind = Wind(given_values(WIND_PARAMETERS, sources, "dynamics", "", "none"), np.random.default_rng(0))
    truth = np.zeros(19)
    truth[2], truth[3], truth[7] = -height, 1.0, speed
    rows = []
    for k in range(round(DURATION_S * FINE_HZ)):
        wind.step(truth, 1.0 / FINE_HZ if k else 0.0)
        rows.append([*wind.wind_ned, *wind.rates_body])
    return np.array(rows)


@cache
def parked(name: str, hold: str, rate_hz: int) -> Array:
    """Accelerations (n, 3), m/s^2, of a vehicle of this package that stands in the wind."""
    forces, body = parts(name, wrench_hold=hold, ground_contact=True)
    pwm_us = np.full(14, 1000.0)
    if name != "multirotor":
        pwm_us[:3] = 1500.0
    rows, dt = [], 1.0 / rate_hz
    for k, row in enumerate(air(0.0, 0.0)[:: FINE_HZ // rate_hz]):
        body.step(forces.update(body.truth, row[:3], pwm_us, dt if k else 0.0, row[3:]), dt)
        rows.append(body.truth[13:16].copy())
    return np.array(rows)


@cache
def flying(name: str, hold: str, rate_hz: int) -> Array:
    """Accelerations (n, 3), m/s^2, of a vehicle of this package in flight, which keeps its first state."""
    forces, body = parts(name, wrench_hold=hold)
    pwm_us = np.full(14, 1000.0)
    pwm_us[:5] = 1500.0
    truth = np.zeros(19)
    truth[2], truth[3], truth[7] = -HEIGHT, 1.0, SPEEDS[name]
    body.set_truth(truth)
    rows, dt = [], 1.0 / rate_hz
    for k, row in enumerate(air(SPEEDS[name], HEIGHT)[:: FINE_HZ // rate_hz]):
        body.step(forces.update(truth, row[:3], pwm_us, dt if k else 0.0, row[3:]), dt)
        rows.append(body.truth[13:16].copy())
        body.truth[:13] = truth[:13]
    return np.array(rows)


@cache
def flying_jsbsim(name: str, rate_hz: int) -> Array:
    """Accelerations (n, 3), m/s^2, of an aircraft of JSBSim."""
    from rosflight_py_sim.physics.jsbsim_aircraft import JSBSIM_PARAMETERS, JsbsimAircraft

    given = {"aircraft": name, "jsbsim_rate": max(800.0, rate_hz)}
    aircraft = JsbsimAircraft({**JSBSIM_PARAMETERS.defaults(), **SITE_PARAMETERS.defaults(), **given})
    truth = np.zeros(19)
    truth[2], truth[3:7], truth[7] = -HEIGHT, quaternion_from_euler(0.0, CRUISE_PITCH, 0.0), SPEEDS[name]
    aircraft.set_truth(truth)
    rows = []
    for row in air(SPEEDS[name], HEIGHT)[:: FINE_HZ // rate_hz]:
        roll, pitch, _ = euler_from_quaternion(*(float(one) for one in aircraft.truth[3:7]))
        p, q, _ = (float(one) for one in aircraft.truth[10:13])
        elevator = CRUISE_ELEVATOR + 1.2 * (pitch - CRUISE_PITCH) + 0.25 * q
        aircraft.set_controls(-0.8 * roll - 0.08 * p, elevator, 0.0, CRUISE_THROTTLE)
        aircraft.follow_wind(row[:3])
        aircraft.step(1.0 / rate_hz)
        rows.append(aircraft.truth[13:16].copy())
    return np.array(rows)


def accelerations(name: str, rate_hz: int) -> Array:
    """Accelerations (n, 3), m/s^2, of a vehicle of SPEEDS in flight; with a fine step the wrench is held."""
    if name == "c172p":
        return flying_jsbsim(name, rate_hz)
    return flying(name, HOLD if rate_hz == RATE_HZ else "zero_order", rate_hz)


def density(rows: Array, rate_hz: int) -> tuple[Array, Array]:
    """Frequencies (Hz) and density (m^2/s^3) of the vertical acceleration, after the first two seconds."""
    found: tuple[Array, Array] = signal.welch(rows[2 * rate_hz :, 2], rate_hz, nperseg=rate_hz)
    return found


def bands(rows: Array, rate_hz: int) -> Array:
    """Mean density of the vertical acceleration in each of BANDS_HZ, m^2/s^3."""
    frequencies, densities = density(rows, rate_hz)
    return np.array([densities[(frequencies >= low) & (frequencies < high)].mean() for low, high in BANDS_HZ])


def spread(name: str, hold: str, rate_hz: int) -> float:
    """Median over windows of SPREAD_S of the norm of the axes' spreads (m/s^2) of a vehicle that stands in the wind."""
    rows, window = parked(name, hold, rate_hz), round(SPREAD_S * rate_hz)
    starts = range(rate_hz, len(rows) - window + 1, window)
    return float(np.median([np.linalg.norm(np.ptp(rows[k : k + window], axis=0)) for k in starts]))


def comparisons() -> Iterator[Comparison]:
    """Rows of the table."""
    for name in SPEEDS:
        found, expected = (bands(accelerations(name, rate), rate) for rate in (RATE_HZ, FINE_HZ))
        for (low, high), simulated, fine in zip(BANDS_HZ, found, expected, strict=True):
            yield Comparison(
                f"{name} in flight, density of the vertical acceleration from {low:g} to {high:g} Hz",
                f"{simulated:.2e} m^2/s^3",
                f"{fine:.2e} m^2/s^3 ({FINE_HZ} Hz)",
                f"{100.0 * (simulated / fine - 1.0):+.0f} %",
            )
    simulated, fine = spread("anaconda", HOLD, RATE_HZ), spread("anaconda", "zero_order", FINE_HZ)
    yield Comparison(
        f"anaconda parked, spread of the accelerations in {SPREAD_S:g} s",
        f"{simulated:.2f} m/s^2",
        f"{fine:.2f} m/s^2 ({FINE_HZ} Hz)",
        f"{100.0 * (simulated / fine - 1.0):+.0f} %",
    )


def draw(figure: Figure) -> None:
    """Spectra of each vehicle at both rates, and their ratio by band."""
    panels = figure.subplots(2, 2).ravel()
    figure.subplots_adjust(left=0.06, right=0.98, top=0.9, bottom=0.07, hspace=0.25, wspace=0.16)
    for panel, name in zip(panels, SPEEDS, strict=False):
        for rate, colour in ((FINE_HZ, GREY), (RATE_HZ, COLOURS[name])):
            frequencies, densities = density(accelerations(name, rate), rate)
            shown = (frequencies > 0.0) & (frequencies < 0.5 * RATE_HZ)
            panel.loglog(frequencies[shown], densities[shown], color=colour, label=f"{rate} Hz")
        panel.set_title(f"{name} at {SPEEDS[name]:g} m/s, vertical acceleration")
        panel.set_xlabel("frequency (Hz)")
        panel.set_ylabel("density (m^2/s^3)")
        panel.legend()
    centres = [0.5 * (low + high) for low, high in BANDS_HZ]
    for name, colour in COLOURS.items():
        ratio = bands(accelerations(name, RATE_HZ), RATE_HZ) / bands(accelerations(name, FINE_HZ), FINE_HZ)
        panels[3].plot(centres, ratio, marker="o", color=colour, label=name)
    for limit in (1.2, 1.0 / 1.2):
        panels[3].axhline(limit, color=GREY, linestyle="--", linewidth=1.0)
    panels[3].set_title(f"Density at {RATE_HZ} Hz over that at {FINE_HZ} Hz, by band")
    panels[3].set_xlabel("frequency (Hz)")
    panels[3].legend()

"""The air compared with its sources: wind by height, thermals, and turbulence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from comparison import Comparison
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rosflight_py_sim.physics.wind import WIND_PARAMETERS, Wind
from rosflight_py_sim.viewer.picture_page import AMBER, BLUE, GREEN

TITLE = "the air"
FOOT = 0.3048
ROUGHNESS = 0.15 * FOOT
"""Roughness length of MIL-F-8785C, 3.7.3.2, for flight near the ground, m."""
SPEED, HEIGHT, WIND_20FT, SPAN = 20.0, 50.0, 10.0, 2.0
"""Airspeed (m/s), height (m), wind speed at 20 ft (m/s) and wing span (m) of a flight in turbulence."""
RATE_HZ, SEGMENT, SEGMENTS = 100.0, 4096, 60
BANDS_HZ = ((0.3, 0.6), (1.0, 2.0), (4.0, 8.0))
UNITS = {
    name: "m^2/s" if name in ("u_g", "v_g", "w_g") else "rad^2/s" for name in ("u_g", "v_g", "w_g", "p_g", "q_g", "r_g")
}
DEPTH, VELOCITY_SCALE = 1400.0, 2.5
THERMAL_HEIGHTS = (100.0, 300.0, 700.0, 1100.0)


def comparisons() -> Iterator[Comparison]:
    """Rows of the table."""
    for feet in (1.0, 3.0, 200.0, 1000.0):
        share, expected = _sheared(feet * FOOT), math.log(feet / 0.15) / math.log(20.0 / 0.15)
        yield Comparison(
            f"wind shear at {feet:g} ft over that at 20 ft",
            f"{share:.4f}",
            f"{expected:.4f} (MIL-F-8785C)",
            _percent(share, expected),
        )
    speed = _profiled(15000.0 * FOOT) / FOOT
    yield Comparison(
        "wind from -20 ft/s at the ground to 70 ft/s at 30,000 ft, at half of it",
        f"{speed:.4g} ft/s",
        "25 ft/s",
        _percent(speed, 25.0),
    )
    for height in THERMAL_HEIGHTS:
        mean, axis = thermal_speeds(height)
        found = _rising(np.array([0.0]), height)[0]
        yield Comparison(
            f"thermal, speed on the axis at {height:g} m",
            f"{found:.3f} m/s",
            f"{axis:.3f} m/s (Allen)",
            _percent(found, axis),
        )
        places, speeds = thermal_section(height)
        found = float(np.sum(speeds * places) / np.sum(places))
        yield Comparison(
            f"thermal, mean speed at {height:g} m", f"{found:.3f} m/s", f"{mean:.3f} m/s (Allen)", _percent(found, mean)
        )
    spectra = turbulence_spectra()
    for name, (density, expected) in spectra.densities.items():
        for low, high in BANDS_HZ:
            band = (spectra.frequency_hz >= low) & (spectra.frequency_hz < high)
            found, reference = float(density[band].mean()), float(expected[band].mean())
            yield Comparison(
                f"turbulence, density of {name} from {low:g} to {high:g} Hz",
                f"{found:.2e} {UNITS[name]}",
                f"{reference:.2e} {UNITS[name]} (MIL-F-8785C)",
                f"{100.0 * abs(found / reference - 1.0):.0f} %",
            )


def draw(figure: Figure) -> None:
    """Draw the wind by height, sections of a thermal, and the spectra of turbulence."""
    axes = figure.subplots(2, 2)
    figure.subplots_adjust(left=0.06, right=0.97, top=0.88, bottom=0.07, wspace=0.2, hspace=0.3)
    _draw_shear(axes[0, 0])
    _draw_thermal(axes[0, 1])
    _draw_spectra(axes[1, 0], ("u_g", "v_g", "w_g"), "Dryden turbulence; lines: MIL-F-8785C")
    _draw_spectra(axes[1, 1], ("p_g", "q_g", "r_g"), f"Rotational gusts, span {SPAN:g} m; lines: MIL-F-8785C")


def thermal_speeds(height: float) -> tuple[float, float]:
    """Mean speed and speed on the axis (m/s) of Allen's trapezoid, before its fit by a bell."""
    share, outer = height / DEPTH, outer_radius(height)
    mean = VELOCITY_SCALE * share ** (1.0 / 3.0) * (1.0 - 1.1 * share)
    inner = outer * (0.0011 * outer + 0.14)
    return mean, 3.0 * mean * (outer**3 - outer**2 * inner) / (outer**3 - inner**3)


def outer_radius(height: float) -> float:
    """Radius of a thermal (m)."""
    share = height / DEPTH
    return 0.102 * share ** (1.0 / 3.0) * (1.0 - 0.25 * share) * DEPTH


@cache
def thermal_section(height: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distances from the axis (m), out to the outer radius, and the speed of the air there (m/s)."""
    places = (np.arange(500) + 0.5) / 500.0 * outer_radius(height)
    return places, _rising(places, height)


class Spectra(NamedTuple):
    """Frequencies (Hz), and the densities of the simulation and of the specification by quantity."""

    frequency_hz: NDArray[np.float64]
    densities: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]


@cache
def turbulence_spectra() -> Spectra:
    """Spectra of a flight along the mean wind, in body axes."""
    given = {"random_wind_std_dev": [0.0, 0.0, 0.0], "turbulence_model": "dryden_8785c", "turbulence_span": SPAN}
    wind = _wind(**given, turbulence_wind_speed_20ft=WIND_20FT, rotational_gusts=True)
    truth = np.zeros(19)
    truth[2], truth[3], truth[7] = -HEIGHT, 1.0, SPEED
    samples = np.empty((SEGMENTS * SEGMENT, 6))
    for sample in samples:
        wind.step(truth, 1.0 / RATE_HZ)
        sample[:3], sample[3:] = wind.wind_ned, wind.rates_body
    window = np.hanning(SEGMENT)
    parts = samples.reshape(SEGMENTS, SEGMENT, 6) * window[:, None]
    power = np.mean(np.abs(np.fft.rfft(parts, axis=1)) ** 2, axis=0)
    density = 2.0 / RATE_HZ * power / np.sum(window**2)
    frequency = np.fft.rfftfreq(SEGMENT, 1.0 / RATE_HZ)
    expected = specified(2.0 * math.pi * frequency / SPEED)
    names = list(UNITS)
    return Spectra(frequency, {name: (density[:, i], expected[name]) for i, name in enumerate(names)})


def specified(wave: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Densities over the frequency (per Hz) by MIL-F-8785C, 3.7.1.2, 3.7.2 and 3.7.3.4, at wave numbers (rad/m)."""
    feet = HEIGHT / FOOT
    shape = 0.177 + 0.000823 * feet
    length_w, length = HEIGHT, feet / shape**1.2 * FOOT
    sigma_w = 0.1 * WIND_20FT
    sigma = sigma_w / shape**0.4

    def lateral(scale: float, intensity: float) -> NDArray[np.float64]:
        scaled = (scale * wave) ** 2
        return intensity**2 * scale / math.pi * (1.0 + 3.0 * scaled) / (1.0 + scaled) ** 2

    along = sigma**2 * 2.0 * length / math.pi / (1.0 + (length * wave) ** 2)
    across, down = lateral(length, sigma), lateral(length_w, sigma_w)
    by_span = (4.0 * SPAN * wave / math.pi) ** 2
    spatial = {
        "u_g": along,
        "v_g": across,
        "w_g": down,
        "p_g": sigma_w**2 / length_w * 0.8 * (math.pi * length_w / (4.0 * SPAN)) ** (1.0 / 3.0) / (1.0 + by_span),
        "q_g": wave**2 / (1.0 + by_span) * down,
        "r_g": wave**2 / (1.0 + (3.0 * SPAN * wave / math.pi) ** 2) * across,
    }
    return {name: 2.0 * math.pi / SPEED * density for name, density in spatial.items()}


def _rising(places: NDArray[np.float64], height: float) -> NDArray[np.float64]:
    wind = _wind(wind_models=["thermal"], thermal_velocity_scale=VELOCITY_SCALE, thermal_depth=DEPTH)
    return np.array([-_at(wind, height, place)[2] for place in places])


def _sheared(height: float) -> float:
    wind = _wind(wind_models=["shear"], shear_wind_20ft=[1.0, 0.0, 0.0], shear_roughness_length=ROUGHNESS)
    return float(_at(wind, height)[0])


def _profiled(height: float) -> float:
    rows = [0.0, -20.0 * FOOT, 0.0, 0.0, 70.0 * FOOT, 0.0]
    wind = _wind(wind_models=["profile"], profile_heights=[0.0, 30000.0 * FOOT], profile_velocities=rows)
    return float(_at(wind, height)[1])


def _wind(**values: object) -> Wind:
    return Wind(WIND_PARAMETERS.checked({"sim_has_wind": True, **values}), np.random.default_rng(1))


def _at(wind: Wind, height: float, north: float = 0.0) -> NDArray[np.float64]:
    truth = np.zeros(19)
    truth[0], truth[2], truth[3] = north, -height, 1.0
    wind.step(truth, 0.01)
    return wind.wind_ned


def _percent(found: float, expected: float) -> str:
    return f"{100.0 * abs(found / expected - 1.0):.2f} %"


def _draw_shear(axes: Axes) -> None:
    heights = np.geomspace(0.5 * ROUGHNESS, 1000.0 * FOOT, 200)
    axes.semilogy([_sheared(height) for height in heights], heights, color=BLUE, label="simulation")
    axes.axhspan(3.0 * FOOT, 1000.0 * FOOT, color=GREEN, alpha=0.1, label="range of the specification")
    axes.set(title="Shear (MIL-F-8785C)", xlabel="wind over that at 20 ft", ylabel="height (m)")
    axes.legend()


def _draw_thermal(axes: Axes) -> None:
    for height, color in zip(THERMAL_HEIGHTS[:3], (BLUE, AMBER, GREEN), strict=True):
        places = np.linspace(0.0, 220.0, 300)
        axes.plot(places, _rising(places, height), color=color, label=f"{height:g} m")
        axis, outer = thermal_speeds(height)[1], outer_radius(height)
        inner = outer * (0.0011 * outer + 0.14)
        axes.plot([0.0, inner, outer], [axis, axis, 0.0], color=color, linestyle="--", linewidth=0.8)
    axes.set(title="Thermal; dashed: Allen's trapezoid", xlabel="distance from the axis (m)", ylabel="upwards (m/s)")
    axes.legend()


def _draw_spectra(axes: Axes, names: tuple[str, ...], title: str) -> None:
    spectra = turbulence_spectra()
    for name, color in zip(names, (BLUE, AMBER, GREEN), strict=True):
        density, expected = spectra.densities[name]
        axes.loglog(spectra.frequency_hz[2:], density[2:], ".", markersize=2, color=color, label=name)
        axes.loglog(spectra.frequency_hz[2:], expected[2:], color=color, linewidth=0.8)
    axes.set(title=title, xlabel="frequency (Hz)", ylabel=f"density ({UNITS[names[0]]})")
    axes.legend()

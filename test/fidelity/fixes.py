"""Receivers and sensors of position, altitude, airspeed and distance, compared with their data sheets and laws."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import numpy as np
from comparison import Comparison
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pymap3d import geodetic2ned

from rosflight_py_sim.physics.atmosphere import pressure, speed_of_sound
from rosflight_py_sim.sensing import SENSOR_PARAMETERS, Barometer, GnssReceiver, PitotTube, RangeFinder
from rosflight_py_sim.viewer.picture_page import AMBER, BLUE, GREEN

TITLE = "GNSS, barometer, pitot tube and range finder"
CALM = np.zeros(3)
KNOT, FOOT = 1852.0 / 3600.0, 0.3048
DEFAULTS = SENSOR_PARAMETERS.defaults()
RECEIVERS, REPORTS, BETWEEN = 60, 1000, 40
"""Receivers at rest, their reports at 10 Hz, and every which report is evaluated."""
EXACT_BARO = {"baro_stdev": 0.0, "baro_bias_range": 0.0, "baro_bias_walk_stdev": 0.0, "baro_resolution": 0.0}
EXACT_PITOT = {"airspeed_stdev": 0.0, "airspeed_bias_range": 0.0, "airspeed_bias_walk_stdev": 0.0}
EXACT_PITOT |= {"airspeed_resolution": 0.0}
STATIC_OVER_TOTAL = {0.2: 0.9725, 0.5: 0.8430, 1.0: 0.5283, 2.0: 0.1773}
"""Tables I and II, the latter behind a normal shock."""
EXACT_RANGE = {"range_stdev": 0.0, "range_resolution": 0.0}


def comparisons() -> Iterator[Comparison]:
    """Rows of the table."""
    positions, velocities = receivers()
    speed = float(np.median(np.linalg.norm(velocities, axis=2)))
    yield Comparison(
        "GNSS, median velocity error", f"{speed:.3f} m/s", "0.05 m/s (NEO-M8)", _percent(speed, 0.05, digits=0)
    )
    horizontal = float(np.median(np.linalg.norm(positions[:, :, 0:2], axis=2)))
    yield Comparison(
        "GNSS, median horizontal error", f"{horizontal:.1f} m", "2.5 m (NEO-M8)", f"{horizontal - 2.5:.1f} m"
    )
    step, speed = walked()
    yield Comparison(
        "GNSS, change of the slow position error in 600 s, against the integrated velocity error",
        f"{step:.2f} m",
        f"{speed:.2f} m",
        f"{abs(step - speed):.2f} m",
    )
    lost, expected = outage_share(), 5.0 / 65.0
    yield Comparison(
        "GNSS, share of time without a fix, with outages of 5 s at intervals of 60 s on average",
        f"{lost:.3f}",
        f"{expected:.3f}",
        _percent(lost, expected, digits=0),
    )
    height, allowed = port_height(100.0 * KNOT), 30.0 * FOOT
    yield Comparison(
        "barometer, altitude error at 100 kn",
        f"{height:.1f} m",
        f"at most {allowed:.1f} m (14 CFR 25.1325)",
        "within the limit" if abs(height) <= allowed else "beyond the limit",
    )
    drift = drift_deviation()
    expected = 0.75 / math.sqrt(3.0)
    yield Comparison(
        "barometer, temperature coefficient, standard deviation of 1000 parts",
        f"{drift:.2f} Pa/K",
        f"{expected:.2f} Pa/K (uniform within the BMP388's 0.75)",
        _percent(drift, expected, digits=0),
    )
    loss = 100.0 * (1.0 - seen(math.radians(21.0)))
    yield Comparison(
        "pitot tube, loss of pressure at 21 deg", f"{loss:.2f} %", "1 % (NACA)", f"{abs(loss - 1.0):.2f} points"
    )
    for mach, ratio in STATIC_OVER_TOTAL.items():
        found = static_over_total(mach)
        yield Comparison(
            f"pitot tube, static over total pressure at Mach {mach:g}",
            f"{found:.4f}",
            f"{ratio:.4f} (NACA Report 1135)",
            _percent(found, ratio),
        )
    reach = farthest(0.1)
    yield Comparison(
        "range finder, reach at a reflectivity of 0.1",
        f"{reach:.2f} m",
        "2.5 m (TF-Luna)",
        _percent(reach, 2.5, digits=0),
    )
    for share in (0.9, 0.95):
        found, expected = detected(8.0 * share), detection(share)
        yield Comparison(
            f"range finder, readings at {share:g} of the longest distance",
            f"{found:.3f}",
            f"{expected:.3f} (normal signal noise)",
            _percent(found, expected),
        )


def draw(figure: Figure) -> None:
    """Draw errors of a GNSS receiver, the pitot tube's cone, and the range finder's detections."""
    axes = figure.subplots(2, 2)
    figure.subplots_adjust(left=0.07, right=0.97, top=0.9, bottom=0.07, hspace=0.3, wspace=0.18)
    _draw_gnss(axes[0, 0], axes[0, 1])
    _draw_pitot(axes[1, 0])
    _draw_range(axes[1, 1])


@cache
def receivers() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Position errors (m) and velocity errors (m/s) of receivers at rest (RECEIVERS, reports, 3)."""
    found = [gnss(seed, REPORTS) for seed in range(RECEIVERS)]
    every = slice(5 * BETWEEN, None, BETWEEN)
    return np.array([one[0][every] for one in found]), np.array([one[1][every] for one in found])


def gnss(seed: int, reports: int, **given: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Errors of position (m) and velocity (m/s) of a receiver at rest, (reports, 3) each."""
    values = SENSOR_PARAMETERS.checked(given)
    receiver = GnssReceiver(values, np.random.default_rng(seed))
    origin = [values[f"origin_{name}"] for name in ("latitude", "longitude", "altitude")]
    places, velocities, truth = [], [], state()
    for _ in range(reports):
        receiver.sample(truth, 0.1)
        places.append((receiver.latitude_deg, receiver.longitude_deg, receiver.altitude_msl_m))
        velocities.append(receiver.velocity_ned.copy())
    return np.transpose(geodetic2ned(*np.transpose(places), *origin)), np.array(velocities)


def walked() -> tuple[float, float]:
    """Change of the position error to the north without white noise, and integral of the velocity error (m)."""
    position, velocity = gnss(4, 6001, horizontal_gnss_noise_density=0.0, gnss_velocity_stdev=0.0)
    return float(position[-1, 0] - position[0, 0]), float(0.1 * velocity[1:, 0].sum())


def outage_share() -> float:
    """Share of the time without a fix, over 30,000 s."""
    values = SENSOR_PARAMETERS.checked({"gnss_outage_interval": 60.0, "gnss_outage_duration": 5.0})
    receiver, truth, lost = GnssReceiver(values, np.random.default_rng(1)), state(), 0
    for _ in range(30000):
        receiver.sample(truth, 1.0)
        lost += receiver.fix_type == 0
    return lost / 30000


def port_height(speed: float) -> float:
    """Altitude error by the static port (m) in flight at sea level."""
    values = {**EXACT_BARO, "baro_bias_temperature_range": 0.0, "origin_altitude": 0.0}
    barometer = Barometer(SENSOR_PARAMETERS.checked(values), np.random.default_rng(0))
    barometer.sample(state(speed), CALM, 0.0, 0.01)
    return barometer.altitude_m


def drift_deviation() -> float:
    """Standard deviation of the barometer's temperature coefficient over 1000 parts (Pa/K)."""
    slopes = []
    for seed in range(1000):
        barometer = Barometer(SENSOR_PARAMETERS.checked(EXACT_BARO), np.random.default_rng(seed))
        barometer.sample(state(), CALM, 0.0, 1e-6)
        cold = barometer.pressure_pa
        barometer.sample(state(), CALM, 0.0, 1e6)
        slopes.append((barometer.pressure_pa - cold) / 21.0)
    return float(np.std(slopes))


def seen(angle: float, **given: float) -> float:
    """Share of the impact pressure that the tube reads in flow at an angle (rad) to its axis."""
    return _differential_pressure(20.0, angle, **given) / _differential_pressure(20.0, 0.0)


def static_over_total(mach: float) -> float:
    """Static over total pressure at a Mach number."""
    altitude = float(DEFAULTS["origin_altitude"])  # type: ignore[arg-type]
    static = pressure(altitude)
    return static / (static + _differential_pressure(mach * speed_of_sound(altitude), 0.0))


def _differential_pressure(airspeed: float, angle: float, **given: float) -> float:
    """Differential pressure (Pa) of a tube without errors in flow at an angle (rad) to its axis."""
    values = SENSOR_PARAMETERS.checked({**EXACT_PITOT, "airspeed_position_error": 0.0, "airspeed_range": 0.0, **given})
    tube = PitotTube(values, np.random.default_rng(0))
    truth = state(airspeed * math.cos(angle))
    truth[9] = airspeed * math.sin(angle)
    tube.sample(truth, CALM, 0.01)
    return tube.differential_pressure_pa


def farthest(reflectivity: float) -> float:
    """Longest distance (m) at which the range finder has a reading, without noise."""
    values = {**EXACT_RANGE, "range_signal_noise": 0.0, "range_reflectivity": reflectivity}
    finder = RangeFinder(SENSOR_PARAMETERS.checked(values), np.random.default_rng(0))
    return max(height for height in np.arange(0.3, 8.0, 0.01) if math.isfinite(finder.sample(over(height), 0.05)))


def detected(height: float, reflectivity: float = 0.9, tries: int = 20000) -> float:
    """Share of readings at a height (m)."""
    values = SENSOR_PARAMETERS.checked({**EXACT_RANGE, "range_reflectivity": reflectivity})
    finder, truth = RangeFinder(values, np.random.default_rng(2)), over(height)
    return sum(math.isfinite(finder.sample(truth, 0.05)) for _ in range(tries)) / tries


def detection(share: float) -> float:
    """Probability of a reading at a share of the longest distance."""
    return 0.5 * math.erfc(-(share**-2 - 1.0) / float(DEFAULTS["range_signal_noise"]) / math.sqrt(2.0))  # type: ignore[arg-type]


def state(forward: float = 0.0) -> NDArray[np.float64]:
    """Truth of level flight at a speed (m/s)."""
    truth = np.zeros(19)
    truth[3], truth[7] = 1.0, forward
    return truth


def over(height: float) -> NDArray[np.float64]:
    """Truth at rest at a height (m)."""
    truth = state()
    truth[2] = -height
    return truth


def _percent(found: float, expected: float, digits: int = 1) -> str:
    return f"{100.0 * abs(found / expected - 1.0):.{digits}f} %"


def _draw_gnss(places: Axes, speeds: Axes) -> None:
    given = {"gnss_multipath_interval": 200.0, "gnss_multipath_duration": 40.0}
    position, velocity = gnss(4, 6000, **given)
    slow, _ = gnss(4, 6000, horizontal_gnss_noise_density=0.0)
    times = 0.1 * np.arange(len(position))
    places.plot(times, position[:, 0], color=BLUE, linewidth=0.6, label="with noise and multipath")
    places.plot(times, slow[:, 0], color=AMBER, label="slow error")
    places.set(title="GNSS: position error, north", xlabel="time (s)", ylabel="m")
    places.legend()
    speeds.plot(times, velocity[:, 0], color=BLUE, linewidth=0.6, label="with white noise")
    speeds.plot(times[1:], 10.0 * np.diff(slow[:, 0]), color=AMBER, linewidth=0.8, label="change of the slow error")
    speeds.set(title="GNSS: velocity error, north", xlabel="time (s)", ylabel="m/s")
    speeds.legend()


def _draw_pitot(axes: Axes) -> None:
    degrees = np.arange(0.0, 91.0)
    axes.plot(degrees, [seen(math.radians(angle)) for angle in degrees], color=BLUE, label="default")
    component = [seen(math.radians(angle), airspeed_insensitive_angle=0.0) for angle in degrees]
    axes.plot(degrees, component, color=AMBER, label="cone of 0 deg: ROSflight")
    axes.plot(21.0, 0.99, "o", color=GREEN, label="NACA: 1 % at 21 deg")
    axes.set(title="Pitot tube in flow at an angle", xlabel="angle (deg)", ylabel="share of the impact pressure")
    axes.legend()


def _draw_range(axes: Axes) -> None:
    heights = np.arange(0.5, 8.5, 0.1)
    for reflectivity, color in ((0.9, BLUE), (0.5, AMBER), (0.1, GREEN)):
        shares = [detected(height, reflectivity, 300) for height in heights]
        axes.plot(heights, shares, color=color, label=f"reflectivity {reflectivity:g}")
    for reach in (2.5, 8.0):
        axes.axvline(reach, color=GREEN if reach < 8.0 else BLUE, linestyle="--", linewidth=0.8)
    axes.set(title="Range finder; dashed: TF-Luna's reach", xlabel="distance (m)", ylabel="share of readings")
    axes.legend()

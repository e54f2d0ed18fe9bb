"""Fidelity of the IMU: each of its imperfections alone against its closed form or data sheet."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from comparison import Comparison
from imu_errors import IDEAL_IMU
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.sensing import SENSOR_PARAMETERS, InertialSensor, Thermometer
from rosflight_py_sim.sensing.inertial import UNKNOWN
from rosflight_py_sim.viewer.picture_page import AMBER, BLUE, GREEN, GREY, ORANGE, PURPLE

TITLE = "IMU"

RATE = 400.0
G = 9.81
STANDARD_G = 9.80665
SHEET = "MPU-6000 data sheet"
SILENT: dict[str, Value] = IDEAL_IMU | {
    name: 0.0
    for name in SENSOR_PARAMETERS.defaults()
    if name.endswith(("_stdev", "_density", "_bias_range", "_model_x0", "_model_y0", "_model_z0"))
}
ARM = [0.1, -0.2, 0.3]
SPEED = 2.0 * math.pi * 250.0
"""A rotor whose line lies above half the sample rate, rad/s."""

Array = NDArray[np.float64]


def sensor(*on: str, seed: int = 0, **given: Value) -> InertialSensor:
    """A sensor whose only errors are those of the parameters named, at their defaults, and given."""
    values = SILENT | {name: SENSOR_PARAMETERS[name].default for name in on} | given
    return InertialSensor(SENSOR_PARAMETERS.checked(values), np.random.default_rng(seed))


def recorded(imu: InertialSensor, state: Array, samples: int, rate: float = RATE, **inputs: Any) -> Array:
    """Accelerometer and gyro, (samples, 6)."""
    readings = np.empty((samples, 6))
    for reading in readings:
        imu.sample(state, 1.0 / rate, **inputs)
        reading[:3], reading[3:] = imu.accel, imu.gyro
    return readings


def truth(rates: Any = 0.0, acceleration: Any = 0.0, turning: Any = 0.0) -> Array:
    """Truth vector of a level vehicle."""
    vector = np.zeros(19)
    vector[3] = 1.0
    vector[10:13], vector[13:16], vector[16:19] = rates, acceleration, turning
    return vector


def row(quantity: str, simulated: float, expected: float, unit: str, source: str) -> Comparison:
    """A row with the relative difference."""
    difference = 100.0 * (simulated / expected - 1.0) + 0.0
    texts = (f"{simulated:.3g} {unit}".strip(), f"{expected:.3g} {unit}, {source}".replace(" ,", ","))
    return Comparison(quantity, *texts, "0 %" if abs(difference) < 0.005 else f"{difference:.2g} %")


def comparisons() -> Iterator[Comparison]:
    """One row for each imperfection of accelerometer and gyro."""
    beyond = recorded(sensor("gyro_range", "acc_range"), truth(1e3, 1e4), 1)[0]
    yield row("largest angular rate", beyond[3], math.radians(2000.0), "rad/s", SHEET)
    yield row("largest specific force", beyond[0] / STANDARD_G, 16.0, "g", SHEET)
    for which, steps, (name, error) in zip((1, 0), (16.4, 2048.0), rounding_errors().items(), strict=True):
        factor = math.degrees(1.0) if which else 1.0 / STANDARD_G
        yield row(
            f"rounding error of the {name}",
            1e3 * factor * float(error.std()),
            1e3 / steps / math.sqrt(12.0),
            "mdeg/s" if which else "mg",
            "1 LSB / sqrt(12)",
        )
    for name, text in (("gyro", "gyro"), ("acc", "accelerometer")):
        scale, cross = responses(name)
        uniform = "uniform, " + SHEET
        yield row(
            f"scale factor error of the {text}, deviation", 100.0 * scale.std(), 3.0 / math.sqrt(3.0), "%", uniform
        )
        yield row(
            f"cross-axis sensitivity of the {text}, deviation", 100.0 * cross.std(), 2.0 / math.sqrt(3.0), "%", uniform
        )
    tumble = lever_arm(np.array([2.0, 1.0, 3.0]), np.zeros(3))
    yield row("centripetal acceleration at the IMU", *tumble, "m/s^2", "norm of w x (w x r)")
    spin = lever_arm(np.zeros(3), np.array([5.0, 1.0, -2.0]))
    yield row("Euler acceleration at the IMU", *spin, "m/s^2", "norm of w' x r")
    worst = max(
        abs(recorded(sensor("gyro_g_sensitivity_range", seed=seed), truth(0.0, [0, 0, G + STANDARD_G]), 1)[0, 5])
        for seed in range(400)
    )
    yield row("largest g-sensitivity of 400 gyros", math.degrees(worst), 0.1, "deg/s/g", "MPU-6000 data sheet")
    frequencies, lines = spectrum(SPEED)
    peak = int(np.argmax(lines[:, 0]))
    yield row("line of a rotor of 250 Hz, sampled at 400 Hz", frequencies[peak], 150.0, "Hz", "alias")
    yield row("its acceleration", lines[peak, 0], 5e-7 * SPEED**2, "m/s^2", "imbalance, w^2 d")
    yield row(
        "its angular rate", math.degrees(lines[peak, 3]), math.degrees(4e-6 * SPEED), "deg/s", "imbalance, w theta"
    )
    time, drift = warm_up()
    place = int(np.argmin(np.abs(time - 120.0)))
    expected = drift[-1] - (drift[-1] - drift[0]) * math.exp(-time[place] / 120.0)
    yield row(
        "gyro bias after the thermal time constant",
        math.degrees(drift[place]),
        math.degrees(expected),
        "deg/s",
        "first-order lag",
    )
    for name, deviation, density in zip(("accelerometer", "gyro"), allan(0.1), DENSITIES, strict=True):
        unit = "mm/s^2" if name == "accelerometer" else "mrad/s"
        expected = 1e3 * density / math.sqrt(0.1)
        yield row(f"Allan deviation of the {name} at 0.1 s", 1e3 * deviation, expected, unit, "ICM-20689 data sheet")


DENSITIES = (150e-6 * STANDARD_G, math.radians(0.006))
"""White noise densities of accelerometer and gyro."""


@cache
def rounding_errors() -> dict[str, Array]:
    """Errors of gyro and accelerometer at 3,000 states, (9000,)."""
    imu, rng = sensor("gyro_resolution", "acc_resolution"), np.random.default_rng(1)
    states = rng.uniform(-5.0, 5.0, (3000, 2, 3))
    readings = np.array([recorded(imu, truth(*state), 1)[0] for state in states])
    return {
        "gyro": (readings[:, 3:] - states[:, 0]).ravel(),
        "accelerometer": (readings[:, :3] - states[:, 1] + [0, 0, G]).ravel(),
    }


@cache
def responses(name: str) -> tuple[Array, Array]:
    """Scale factor errors (1200,) and cross-axis sensitivities (2400,) of 400 sensors."""
    imus = [sensor(f"{name}_scale_range", f"{name}_cross_axis_range", seed=seed) for seed in range(400)]
    errors = np.array([one.gyro_response if name == "gyro" else one.accel_response for one in imus]) - np.eye(3)
    own = np.eye(3, dtype=bool)
    return errors[:, own].ravel(), errors[:, ~own].ravel()


def lever_arm(rates: Array, turning: Array) -> tuple[float, float]:
    """Acceleration by the mounting position, m/s^2: simulated, and from the vectors."""
    seen = recorded(sensor(imu_position=ARM), truth(rates, 0.0, turning), 1)[0, :3] + [0.0, 0.0, G]
    expected = np.cross(turning, ARM) + np.cross(rates, np.cross(rates, ARM))
    return float(np.linalg.norm(seen)), float(np.linalg.norm(expected))


def spectrum(*speeds: float, samples: int = 4000, **inputs: Any) -> tuple[Array, Array]:
    """Frequencies, Hz, and amplitudes of the lines of rotors with these speeds, rad/s, at rest (n, 6)."""
    imu = sensor(
        "vibration_displacement", "vibration_angle", vibration_harmonics=inputs.get("harmonics", [1.0, 0.0, 0.0, 0.0])
    )
    readings = recorded(imu, truth(), samples, rotor_speeds=np.array(speeds))
    amplitudes = 2.0 / samples * np.abs(np.fft.rfft(readings - readings.mean(axis=0), axis=0))
    return np.fft.rfftfreq(samples, 1.0 / RATE), amplitudes


def warm_up() -> tuple[Array, Array]:
    """Roll rate bias over the warm-up at the default origin: time, s, and bias, rad/s."""
    imu = sensor("gyro_bias_temperature_range", seed=1)
    quiet = {"imu_temperature_noise_density": 0.0, "imu_temperature_bias_range": 0.0}
    thermometer = Thermometer(SENSOR_PARAMETERS.checked(quiet), np.random.default_rng(0))
    time = np.arange(0.0, 1200.5, 1.0)
    bias = np.empty(len(time))
    for place in range(len(time)):
        # The first sample, a moment after the start, is that of the cold IMU.
        thermometer.sample(truth(), 1.0 if place else 1e-9)
        imu.sample(truth(), 1.0, temperature_k=thermometer.temperature_k)
        bias[place] = imu.gyro_bias[0]
    return time, bias


@cache
def at_rest() -> Array:
    """Readings of a disarmed default sensor over 60 s, without the walk of the biases (24000, 6)."""
    still = {"gyro_bias_walk_stdev": 0.0, "acc_bias_walk_stdev": 0.0, "gyro_bias_model_tau": 1e9}
    imu = InertialSensor(SENSOR_PARAMETERS.checked(still), np.random.default_rng(3))
    return recorded(imu, truth(), 24000, rotor_speeds=UNKNOWN)


def allan(tau: float) -> tuple[float, float]:
    """Allan deviations of accelerometer and gyro, mean over the axes."""
    size = round(tau * RATE)
    readings = at_rest()
    clusters = readings[: len(readings) // size * size].reshape(-1, size, 6).mean(axis=1)
    variance = 0.5 * np.mean(np.diff(clusters, axis=0) ** 2, axis=0)
    return math.sqrt(variance[:3].mean()), math.sqrt(variance[3:].mean())


def draw(figure: Figure) -> None:
    """Six panels: rounding, matrices, vibration, lever arm, warm-up, Allan deviation."""
    grid = figure.add_gridspec(2, 3, left=0.06, right=0.975, top=0.88, bottom=0.07, hspace=0.32, wspace=0.24)
    rounding, matrices, lines, lever, warm, deviation = (figure.add_subplot(cell) for cell in grid)
    rounding.hist(
        rounding_errors()["accelerometer"] * 2048.0 / STANDARD_G, 40, density=True, color=BLUE, label="accelerometer"
    )
    rounding.axhline(1.0, color=ORANGE, linestyle="--", label="uniform")
    rounding.set(title="Rounding error", xlabel="error (LSB)", ylabel="density")
    rounding.set_ylim(top=1.5)
    rounding.legend()
    scale, cross = responses("gyro")
    matrices.hist(100.0 * scale, 30, range=(-3.5, 3.5), density=True, alpha=0.7, color=BLUE, label="scale factor")
    matrices.hist(100.0 * cross, 30, range=(-3.5, 3.5), density=True, alpha=0.5, color=AMBER, label="cross-axis")
    for bound, colour in ((3.0, BLUE), (2.0, AMBER)):
        matrices.plot([-bound, bound], [0.5 / bound] * 2, "--", color=colour, label=f"uniform, {bound:g} %")
    matrices.set(title="Scale factors and axes of 400 gyros", xlabel="error (%)", ylabel="density")
    matrices.set_ylim(top=0.42)
    matrices.legend()
    _draw_lines(lines)
    rates = np.linspace(0.0, 10.0, 21)
    seen = np.array([lever_arm(rate * np.array([0.0, 0.0, 1.0]), np.zeros(3)) for rate in rates])
    lever.plot(rates, seen[:, 1], color=BLUE, label="w^2 r")
    lever.plot(rates, seen[:, 0], "o", color=ORANGE, markersize=4, label="accelerometer")
    lever.set(
        title="Turn about z, IMU 0.22 m off the axis", xlabel="angular rate (rad/s)", ylabel="acceleration (m/s^2)"
    )
    lever.legend()
    time, bias = warm_up()
    warm.plot(
        time, np.degrees(bias[-1] - (bias[-1] - bias[0]) * np.exp(-time / 120.0)), color=BLUE, label="first-order lag"
    )
    warm.plot(time[::40], np.degrees(bias[::40]), "o", color=ORANGE, markersize=4, label="bias")
    warm.set(title="Roll rate bias as the IMU warms up", xlabel="time (s)", ylabel="bias (deg/s)")
    warm.legend()
    taus = np.array([1, 2, 4, 10, 20, 40, 100, 200, 400, 1000]) / RATE
    for place, (name, colour) in enumerate((("accelerometer, m/s^2", BLUE), ("gyro, rad/s", GREEN))):
        deviation.loglog(taus, DENSITIES[place] / np.sqrt(taus), color=colour, label=f"N / sqrt(tau), {name}")
        deviation.loglog(taus, [allan(tau)[place] for tau in taus], "o", color=colour, markersize=4)
    deviation.set(title="Allan deviation at rest", xlabel="tau (s)", ylabel="deviation")
    deviation.legend()


def _draw_lines(axes: Any) -> None:
    speeds = [2.0 * math.pi * turns for turns in (75.0, 80.0, 82.0, 90.0)]
    frequencies, lines = spectrum(*speeds, harmonics=[1.0, 0.5, 0.2, 0.1])
    axes.plot(frequencies, lines[:, 0], color=PURPLE)
    for harmonic in range(1, 5):
        turns = harmonic * 90.0
        alias = abs(turns - RATE * round(turns / RATE))
        axes.axvline(alias, color=GREY, linestyle=":", linewidth=1.0)
        axes.annotate(f"{harmonic} x 90 Hz", (alias + 1.0, 0.145), color=GREY, rotation=90, fontsize=8)
    axes.set(
        title="Four rotors of 75 to 90 Hz: harmonics and aliases",
        xlabel="frequency (Hz)",
        ylabel="acceleration (m/s^2)",
    )

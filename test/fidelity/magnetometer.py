"""Fidelity of the magnetometer: its field against the World Magnetic Model, and its errors."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from comparison import Comparison
from imu_errors import IDEAL_MAGNETOMETER
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.sensing import SENSOR_PARAMETERS, Magnetometer
from rosflight_py_sim.sensing.geodetic import ned_to_geodetic, tangent_plane
from rosflight_py_sim.sensing.magnetometer import world_magnetic_model
from rosflight_py_sim.viewer.picture_page import AMBER, BLUE, GREEN, ORANGE

TITLE = "magnetometer"

SITE = 40.2463724, -111.6474138, 1387.0
YEAR = 2026.0
SHEET = "HMC5883L data sheet"
DIRECTIONS = {"north": (1.0, 0.0, 0.0), "east": (0.0, 1.0, 0.0), "up": (0.0, 0.0, -1.0)}

Array = NDArray[np.float64]


def sensor(*on: str, seed: int = 0, **given: Value) -> Magnetometer:
    """A sensor whose only errors are those of the parameters named, at their defaults, and given."""
    values = IDEAL_MAGNETOMETER | {"mag_bias_range": 0.0, "mag_stdev": 0.0, "start_date": "2026-01-01"}
    values |= {name: SENSOR_PARAMETERS[name].default for name in on} | given
    return Magnetometer(SENSOR_PARAMETERS.checked(values), np.random.default_rng(seed))


def truth(position: Array | tuple[float, ...] = (0.0, 0.0, 0.0)) -> Array:
    """Truth vector of a level vehicle that faces north."""
    vector = np.zeros(19)
    vector[:3], vector[3] = position, 1.0
    return vector


def model_at(position: Array) -> Array:
    """Field of the World Magnetic Model at a place of the tangent plane, in its axes, T."""
    frame = tangent_plane(*SITE)
    latitude, longitude, height = ned_to_geodetic(frame, *position.tolist())
    there = tangent_plane(latitude, longitude, height)
    field: Array = frame[:3] @ there[:3].T @ world_magnetic_model(latitude, longitude, height, YEAR)
    return field


def field_errors(distances: Array, direction: tuple[float, ...]) -> tuple[Array, Array]:
    """Change of the field over a distance, nT, and the reading's difference from the model, nT."""
    wmm = sensor(magnetic_model="wmm")
    places = np.outer(distances, direction)
    expected = np.array([model_at(place) for place in places])
    seen = np.array([wmm.sample(truth(place), 0.02).copy() for place in places])
    change = np.linalg.norm(expected - expected[0], axis=1)
    return 1e9 * change, 1e9 * np.linalg.norm(seen - expected, axis=1)


def readings(count: int, *on: str, current: float = 0.0) -> Array:
    """First readings of level sensors with different seeds, less the field, T (count, 3)."""
    sensors = [sensor(*on, seed=seed) for seed in range(count)]
    return np.array([one.sample(truth(), 0.02, current) - one.field_ned for one in sensors])


def comparisons() -> Iterator[Comparison]:
    """One row for each property."""
    for distance in (10e3, 50e3):
        ends = [
            field_errors(np.array([0.0, distance]), direction) for name, direction in DIRECTIONS.items() if name != "up"
        ]
        change, error = (max(float(end[which][-1]) for end in ends) for which in (0, 1))
        quantity = f"field {distance / 1e3:.0f} km along the ground from the origin"
        reference = "World Magnetic Model 2025"
        yield Comparison(quantity, f"changes by {change:.3g} nT", reference, f"{error:.2g} nT")
    hard = 1e6 * float(readings(400, "mag_bias_range").std())
    yield row("hard iron, deviation", hard, 0.7 / math.sqrt(3.0), "uT", "uniform")
    matrices = [sensor("mag_soft_iron_range", seed=seed).response - np.eye(3) for seed in range(400)]
    soft = 100.0 * float(np.array([one[np.triu_indices(3)] for one in matrices]).std())
    yield row("soft iron, deviation", soft, 0.5 / math.sqrt(3.0), "%", "uniform")
    induced = 1e6 * float(np.linalg.norm(readings(1, "mag_current_field", current=40.0)))
    wires = 1e6 * 2e-7 * 40.0 * 0.001 / 0.1**2
    yield row("field of 40 A", induced, wires, "uT", "leads 1 mm apart at 0.1 m, Biot and Savart")
    strong = sensor("mag_range", total_intensity=1e-3)
    yield row("largest reading", 1e4 * float(strong.sample(truth(), 0.02).max()), 1.3, "gauss", SHEET)
    yield row("resolution", 1e7 * float(np.diff(np.unique(steps())).min()), 1e3 / 1090.0, "mgauss", SHEET)


def row(quantity: str, simulated: float, expected: float, unit: str, source: str) -> Comparison:
    """A row with the relative difference."""
    difference = 100.0 * (simulated / expected - 1.0)
    shown = "0 %" if abs(difference) < 0.005 else f"{difference:.2g} %"
    return Comparison(quantity, f"{simulated:.3g} {unit}", f"{expected:.3g} {unit} ({source})", shown)


def steps() -> Array:
    """Readings of the x axis over a slow turn, T."""
    one, seen = sensor("mag_resolution"), []
    for heading in np.linspace(0.0, 0.5, 400):
        state = truth()
        state[3], state[6] = np.cos(heading / 2.0), np.sin(heading / 2.0)
        seen.append(one.sample(state, 0.02)[0])
    return np.array(seen)


def draw(figure: Figure) -> None:
    """Four panels: field over the distance, its error, hard and soft iron, resolution."""
    grid = figure.add_gridspec(2, 2, left=0.07, right=0.97, top=0.88, bottom=0.07, hspace=0.3, wspace=0.2)
    change, error, iron, stairs = (figure.add_subplot(cell) for cell in grid)
    distances = np.linspace(0.0, 50e3, 26)
    for (name, direction), colour in zip(DIRECTIONS.items(), (BLUE, ORANGE, GREEN), strict=True):
        changes, errors = field_errors(distances, direction)
        change.plot(distances / 1e3, changes, color=colour, label=name)
        error.plot(distances / 1e3, errors, color=colour, label=name)
    change.set(title="World Magnetic Model", xlabel="distance (km)", ylabel="change of the field (nT)")
    error.set(title="Linear field against the model", xlabel="distance (km)", ylabel="difference (nT)")
    for axes in (change, error):
        axes.legend()
    both = 1e6 * readings(400, "mag_bias_range", "mag_soft_iron_range")
    iron.plot(both[:, 0], both[:, 1], "o", color=AMBER, markersize=3, label="hard and soft iron")
    hard = 1e6 * readings(400, "mag_bias_range")
    iron.plot(hard[:, 0], hard[:, 1], "o", color=BLUE, markersize=3, label="hard iron")
    iron.set(title="Errors of 400 magnetometers", xlabel="x (uT)", ylabel="y (uT)")
    iron.legend()
    stairs.plot(np.linspace(0.0, 28.6, 400)[:120], 1e6 * steps()[:120], color=BLUE)
    stairs.set(title="Resolution, in a slow turn", xlabel="heading (deg)", ylabel="x (uT)")

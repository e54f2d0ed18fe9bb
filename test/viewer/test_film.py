"""Images of a film: what they show, and where."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rosflight_py_sim.graph.vehicle_appearance import appearance_of
from rosflight_py_sim.recording.recorded_vehicle import MotionLog
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.viewer.film import NoFilmError, write_film
from rosflight_py_sim.viewer.film_scene import FilmedVehicle, FilmScene
from rosflight_py_sim.world import DRY_LAND, World, load_world

pytest.importorskip("panda3d")

SIZE = (160, 90)
Image = NDArray[np.float64]


def flown(name: str, start_down: float, climb: float = 0.0, throttle: float = 0.5) -> FilmedVehicle:
    """Two seconds of a flight to the north-east at 1 m/s."""
    one = vehicle(name)
    log = MotionLog(one.actuators)
    for k in range(101):
        time_s = 0.02 * k
        truth = np.array([time_s, time_s, start_down - climb * time_s, 1.0, *[0.0] * 15])
        log.append(time_s, truth, [throttle if a.is_motor else 0.0 for a in one.actuators], (0.0, 0.0, 0.0))
    return FilmedVehicle(appearance_of(one), log)


def images(world: World, *vehicles: FilmedVehicle, times_s: tuple[float, ...]) -> list[Image]:
    scene = FilmScene(vehicles, world, *SIZE)
    drawn = [scene.draw(time_s).astype(float) for time_s in times_s]
    scene.close()
    return drawn


def share(image: Image, colour: tuple[int, int, int], tolerance: float = 40.0) -> float:
    return float((np.abs(image - np.array(colour)).max(axis=2) < tolerance).mean())


def orange(image: Image) -> float:
    red, green, blue = np.moveaxis(image, 2, 0)
    return float(((red - green > 50.0) & (green - blue > 20.0)).mean())


def test_multirotor_starts_on_its_pad_and_leaves_it_with_its_path_behind_it() -> None:
    grey = (150, 152, 150)
    start, end = images(DRY_LAND, flown("multirotor", 0.0, climb=4.0), times_s=(0.0, 2.0))
    assert share(start, grey, 20.0) > 0.05 > share(end, grey, 20.0)
    assert orange(end) > orange(start) + 0.002


def test_fixed_wing_starts_on_a_runway() -> None:
    (start,) = images(DRY_LAND, flown("fixedwing", 0.0), times_s=(0.0,))
    assert share(start, (92, 95, 99), 20.0) > 0.3


def test_rotors_turn_with_the_motors() -> None:
    still = images(DRY_LAND, flown("multirotor", -9.0, throttle=0.0), times_s=(0.0, 0.02))
    turning = images(DRY_LAND, flown("multirotor", -9.0, throttle=1.0), times_s=(0.0, 0.02))
    moved = [float((np.abs(one[1] - one[0]).max(axis=2) > 60.0).mean()) for one in (still, turning)]
    assert moved[1] > moved[0]


def test_camera_stays_in_the_pool_and_below_its_surface() -> None:
    pool = load_world("pool")
    (image,) = images(pool, flown("auv", 0.8), times_s=(1.0,))
    assert pool.water is not None
    # Everything is seen through water, whose colour takes most from red.
    assert image[:, :, 0].mean() < image[:, :, 2].mean()


def test_second_vehicle_is_in_the_picture() -> None:
    first, other = flown("multirotor", -5.0), flown("multirotor", -5.0)
    other.log.truth[:, 0:3] += (1.5, 0.5, 0.0)
    (alone,), (both,) = (images(DRY_LAND, *them, times_s=(1.0,)) for them in ((first,), (first, other)))
    assert float((np.abs(alone - both).max(axis=2) > 60.0).mean()) > 0.003


def test_vehicle_without_a_logged_flight_cannot_be_filmed(tmp_path: Path) -> None:
    one = vehicle("multirotor")
    with pytest.raises(NoFilmError, match="no flight was logged"):
        write_film(tmp_path / "none.gif", [FilmedVehicle(appearance_of(one), MotionLog(one.actuators))], DRY_LAND)

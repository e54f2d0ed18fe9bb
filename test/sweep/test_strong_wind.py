"""Wind that a vehicle cannot stand or fly in: the pilot gives the reason and ends, without ROS and in the graph."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from short_flights import flown_directly
from test_pipeline_flight import flown_in_graph

from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.parts.drift_watch import DriftWatch
from rosflight_py_sim.parts.slide_watch import SlideWatch
from rosflight_py_sim.physics.contact_points import CONTACT_PARAMETERS
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.sweep.definition import Sweep
from rosflight_py_sim.sweep.sweep_file import read_sweep

MASS, GRAVITY = 3.5, 9.81
FRICTION = float(str(CONTACT_PARAMETERS["contact_friction"].default)) * MASS * GRAVITY


def sweep_in_wind(tmp_path: Path, speed: float) -> Sweep:
    file = tmp_path / "wind.yaml"
    file.write_text(
        f"""
description: Square in strong wind
vehicle: multirotor
runs: 1
seed: 3
limit: 100.0
parameters:
  steady_state_wind: [0.0, {{choice: [{speed}]}}, 0.0]
measures: {{rms: judge.tracking_error_rms_m}}
""",
        encoding="utf-8",
    )
    return read_sweep(file)


def test_sliding_vehicle_ends_with_its_drag_and_friction_alike_with_and_without_ros(
    tmp_path: Path, ros_domain: int
) -> None:
    sweep = sweep_in_wind(tmp_path, 25.0)
    row = flown_directly(sweep)
    found = re.fullmatch(r"calibrating the IMU.*: the vehicle slides: drag (\S+) N, friction (\S+) N", row.reason)
    assert found, row.reason
    # The weight rests on the ground: a multirotor has no lift with idle rotors.
    assert float(found[2]) == pytest.approx(FRICTION, abs=0.2)
    assert float(found[1]) > FRICTION
    assert flown_in_graph(sweep.file, 0, ros_domain).reason == row.reason


def test_vehicle_that_the_wind_carries_away_ends(tmp_path: Path) -> None:
    reason = flown_directly(sweep_in_wind(tmp_path, 15.0)).reason
    assert re.fullmatch(r"take off: the wind of 1\d\.\d m/s carries the vehicle away: \d+ m from its set-point", reason)


def watched(seconds: float, speed: float, friction: float, ground: float = 1.0, drag: float = 24.9) -> SlideWatch:
    """Watch on a level vehicle that moves east at a constant speed, under these forces (N) on it."""
    watch = SlideWatch(MASS, GRAVITY)
    for step in range(round(seconds * 100.0)):
        truth = np.zeros(19)
        truth[3], truth[8] = 1.0, speed
        truth[14] = (drag - friction) / MASS
        # Lift carries the rest of the weight.
        lift = (1.0 - ground) * MASS * GRAVITY
        watch.observe(VehicleState(step * NANOSECONDS // 100, truth), np.array((0.0, drag, -lift)))
    return watch


def test_forces_of_a_sliding_vehicle_are_those_of_newtons_law() -> None:
    assert watched(4.0, 0.5, 20.6).text == "the vehicle slides: drag 24.9 N, friction 20.6 N"


@pytest.mark.parametrize(
    "watch",
    [
        pytest.param((2.5, 0.5, 20.6), id="in a gust"),
        pytest.param((4.0, 0.05, 20.6), id="trembling"),
        pytest.param((4.0, 0.5, 1.2, 1.0, 1.5), id="rolling"),
        pytest.param((4.0, 0.5, 25.5), id="braking"),
        pytest.param((4.0, 0.5, 20.6, 0.0), id="in the air"),
    ],
)
def test_vehicle_that_does_not_slide_for_long_goes_on(watch: tuple[float, ...]) -> None:
    assert not watched(*watch).text


def test_reason_of_unrest_names_the_greatest_drag_and_the_least_weight_on_the_ground() -> None:
    watch = watched(1.0, 0.0, 20.6, ground=0.25, drag=31.0)
    truth = np.zeros(19)
    truth[3] = 1.0
    watch.observe(VehicleState(2 * NANOSECONDS, truth), np.array((0.0, 4.0, 0.0)))
    assert (
        watch.unrest == "the vehicle does not stand still: drag up to 31.0 N, down to 25% of the weight on the ground"
    )


def test_watch_needs_the_mass() -> None:
    assert SlideWatch.of({"gravity": 9.81}) is None
    assert SlideWatch.of({"mass": 2.0, "gravity": 0.0}) is None
    assert SlideWatch.of({"mass": 2.0, "gravity": 9.81}) is not None


def drifted(distances: list[float]) -> str:
    """Text of the watch after these distances, one for each second."""
    watch, origin = DriftWatch(), (0.0, 0.0, 0.0)
    for second, distance in enumerate(distances):
        place: Vector3 = (distance, 0.0, -30.0)
        watch.observe(second * NANOSECONDS, place, origin, (3.0, 4.0, 0.0))
    return watch.text


def test_vehicle_far_from_its_setpoint_and_moving_away_is_lost() -> None:
    assert drifted([60.0 + second for second in range(30)]) == (
        "the wind of 5.0 m/s carries the vehicle away: 80 m from its set-point"
    )


@pytest.mark.parametrize(
    "distances",
    [
        pytest.param([49.0] * 60, id="near"),
        pytest.param([150.0 - second for second in range(60)], id="returning"),
        pytest.param([100.0 + 30.0 * math.sin(0.4 * second) - second for second in range(50)], id="turning"),
    ],
)
def test_vehicle_that_returns_to_its_setpoint_goes_on(distances: list[float]) -> None:
    assert not drifted(distances)

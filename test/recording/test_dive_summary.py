"""The summary of a dive, and the evaluation of gate and ring."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from rosflight_py_sim.missions.acceptance import Limit
from rosflight_py_sim.missions.dive.log import CameraImage, DiveLog
from rosflight_py_sim.missions.dive.summary import (
    WAYPOINT_RADIUS,
    gate_passage,
    ring_surfacing,
    summarise_dive,
    task_object,
)
from rosflight_py_sim.missions.dive.table import dive_rows
from rosflight_py_sim.missions.waypoint_miss import largest_miss
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.world import Kind, Object, World, WorldError

THRUSTERS = vehicle("auv").actuators
GATE = Object("gate", Kind.GATE, (2.0, 1.0, 2.5), math.radians(30.0), (1.6, 3.0, 0.1), (0, 255, 0), solid=True)
RING = Object("ring", Kind.RING, (5.0, 2.0, 0.0), 0.0, (2.0, 0.1), (255, 255, 0), solid=False)
WORLD = World("test", objects=(GATE, RING))


def through_gate(aside: float, down: float, *, angle_deg: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Times and positions of a straight path that crosses the gate's plane at this offset from its middle."""
    forward, turn = GATE.yaw, math.radians(angle_deg)
    along = np.array([math.cos(forward + turn), math.sin(forward + turn)])
    across = np.array([-math.sin(forward), math.cos(forward)])
    places = [np.array([2.0, 1.0]) + aside * across + s * along for s in np.linspace(-1.03, 1.03, 20)]
    return np.arange(20.0), np.array([[*place, down] for place in places])


@pytest.mark.parametrize("angle_deg", [0.0, 40.0, -60.0, 180.0])
@pytest.mark.parametrize("aside", [-0.7, 0.0, 0.3])
def test_path_through_the_opening_passes_the_gate_at_its_midpoint(aside: float, angle_deg: float) -> None:
    time_s, offset = gate_passage(*through_gate(aside, 2.0, angle_deg=angle_deg), GATE)
    # Exact except for rounding: the path is straight.
    assert time_s == pytest.approx(9.5, abs=1e-9)
    assert offset == pytest.approx(abs(aside), abs=1e-9)


@pytest.mark.parametrize(("aside", "down"), [(0.81, 2.0), (-0.9, 2.0), (0.0, 0.95), (0.0, 4.1)])
def test_path_beside_above_or_below_the_opening_does_not_pass_the_gate(aside: float, down: float) -> None:
    assert all(map(math.isnan, gate_passage(*through_gate(aside, down), GATE)))


def test_path_turning_back_before_the_gate_does_not_pass_it() -> None:
    _times, places = through_gate(0.0, 2.0)
    back = np.concatenate([places[:8], places[:8][::-1]])
    assert all(map(math.isnan, gate_passage(np.arange(16.0), back, GATE)))


def rising(north: float, east: float, end_down: float) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(11.0), np.array([[north, east, down] for down in np.linspace(2.0, end_down, 11)])


def test_surfacing_inside_the_ring_counts_from_the_moment_of_surfacing() -> None:
    time_s, offset = ring_surfacing(*rising(5.3, 2.4, 0.0), RING)
    # Steps of 0.2 m: the first within 0.35 m of the surface is the tenth.
    assert time_s == 9.0
    assert offset == pytest.approx(0.5)


@pytest.mark.parametrize(("north", "east", "down"), [(5.0, 3.1, 0.0), (5.0, 2.0, 0.5)], ids=["outside", "too deep"])
def test_surfacing_outside_the_ring_or_staying_submerged_does_not_count(north: float, east: float, down: float) -> None:
    assert all(map(math.isnan, ring_surfacing(*rising(north, east, down), RING)))


def dive(*, gate_first: bool = True) -> DiveLog:
    """Down, through the gate, up in the ring; or, with `gate_first` false, round the gate."""
    corners = [
        (0.0, 0.0, 0.2),
        (0.0, 0.0, 2.0),
        (2.0, 1.0 if gate_first else 9.0, 2.0),
        (5.0, 2.0, 2.0),
        (5.0, 2.0, 0.1),
    ]
    log = DiveLog(THRUSTERS, capacity=4)
    time = 0.0
    for start, end in itertools.pairwise(corners):
        for share in np.linspace(0.0, 1.0, 31):
            place = np.array(start) + share * (np.array(end) - start)
            truth = np.array([*place, 1.0, 0.0, 0.0, 0.0, 0.3, *[0.0] * 11])
            log.append(100.0 + time, truth, [0.5, -0.5, 0.0, 0.2], (0.03, 0.04, 0.0))
            time += 0.1
    return log


def test_dive_through_the_gate_into_the_ring_is_completed() -> None:
    summary = summarise_dive(dive(), WORLD, GATE, RING, "auv", 4.0)
    assert summary.completed
    assert 0.0 < summary.gate_s < summary.ring_s <= summary.duration_s == pytest.approx(12.3)
    assert summary.max_depth_m == 2.0
    assert summary.mean_current_speed_mps == pytest.approx(0.05)
    assert summary.mean_thrust == pytest.approx(0.3)
    assert summary.real_time_factor == pytest.approx(12.3 / 4.0)


def test_dive_around_the_gate_is_not_completed() -> None:
    summary = summarise_dive(dive(gate_first=False), WORLD, GATE, RING, "auv")
    assert math.isnan(summary.gate_s)
    assert not math.isnan(summary.ring_s)
    assert not summary.completed


@pytest.mark.parametrize(("limit", "completed"), [(0.6, True), (0.4, False)])
def test_dive_that_misses_the_centre_of_gate_or_ring_by_more_than_the_limit_is_not_completed(
    limit: float, completed: bool
) -> None:
    summary = summarise_dive(dive(), WORLD, GATE, RING, "auv", 4.0, Limit(WAYPOINT_RADIUS, limit))
    centres = np.array([GATE.position_ned, RING.position_ned])
    assert summary.waypoint_miss_m == pytest.approx(largest_miss(dive().position_ned, centres))
    assert 0.4 < summary.waypoint_miss_m < 0.6
    assert summary.completed is completed
    excess = (
        f"the largest miss of a waypoint is {summary.waypoint_miss_m:.2f} m; allowed: at most 0.4 m (waypoint_radius)"
    )
    assert summary.shortfall == ("" if completed else excess)
    row = ("largest miss of a waypoint", f"{summary.waypoint_miss_m:.2f} m (allowed: {limit:g} m)")
    assert row in dive_rows(summary)


def test_task_requires_its_object_in_the_world() -> None:
    assert task_object(WORLD, "ring", Kind.RING) is RING
    with pytest.raises(WorldError, match="world 'test' has no ring named 'gate', which the mission needs"):
        task_object(WORLD, "gate", Kind.RING)


def test_log_with_one_row_or_nan_cannot_be_summarised() -> None:
    log = DiveLog(THRUSTERS)
    log.append(0.0, np.zeros(19), [0.0] * 4, (0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="1 rows in the log"):
        summarise_dive(log, WORLD, GATE, RING, "auv")
    log.append(1.0, np.full(19, math.nan), [0.0] * 4, (0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="not finite"):
        summarise_dive(log, WORLD, GATE, RING, "auv")


def test_nearest_image_is_from_the_requested_camera() -> None:
    log = DiveLog(THRUSTERS)
    log.images += [CameraImage(0.0, "front", b"a"), CameraImage(1.0, "bottom", b"b"), CameraImage(2.0, "front", b"c")]
    near = log.image_near(1.2, "front")
    assert near is not None
    assert near.jpeg == b"c"
    assert log.image_near(1.2, "left") is None

"""The path has bounded memory, and restarts after a jump."""

from __future__ import annotations

import numpy as np

from rosflight_py_sim.viewer.trail import Trail

MS = 1_000_000


def test_points_keep_their_minimum_distance() -> None:
    trail = Trail(100, 0.1)
    for k in range(101):
        trail.add(k * 33 * MS, np.array([0.03 * k, 0.0, 0.0]), 1.0)
    steps = np.diff(trail.points[:, 0])
    assert len(steps) > 20 and np.all(steps >= 0.1)


def test_memory_is_bounded_and_latest_points_are_kept() -> None:
    trail = Trail(50, 0.0)
    for k in range(1234):
        trail.add(k * 33 * MS, np.array([0.03 * k, 0.0, 0.0]), 1.0)
    assert trail.points[:, 0].tolist() == [0.03 * k for k in range(1234 - 50, 1234)]


def test_path_restarts_when_time_goes_back_or_vehicle_jumps() -> None:
    trail = Trail(50, 0.0)
    for k in range(10):
        trail.add(k * 33 * MS, np.array([0.03 * k, 0.0, 0.0]), 1.0)
    assert len(trail.points) == 10
    trail.add(330 * MS, np.array([50.0, 0.0, 0.0]), 1.0)
    assert trail.points.tolist() == [[50.0, 0.0, 0.0]]
    trail.add(10 * MS, np.array([50.0, 0.0, 0.0]), 1.0)
    trail.add(20 * MS, np.array([50.0, 0.1, 0.0]), 1.0)
    assert len(trail.points) == 2


def test_rarely_sampled_fast_vehicle_is_not_taken_for_a_jump() -> None:
    trail = Trail(50, 0.0)
    for k in range(10):
        trail.add(k * 1000 * MS, np.array([60.0 * k, 0.0, 0.0]), 60.0)
    assert len(trail.points) == 10

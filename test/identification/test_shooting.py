"""Stretches of logs: which parts of a flight, from which states, and the manoeuvres that fill them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from rosflight_py_sim.identification.excitation import multistep
from rosflight_py_sim.identification.fitted_parameters import DEFAULTS, LATENCY, MANOEUVRES, reading_of
from rosflight_py_sim.identification.flight_log import FlightLog, north_east_down, series
from rosflight_py_sim.identification.multirotor_excitation import PERIOD_S, steps
from rosflight_py_sim.identification.output_error import LOCALS, moved
from rosflight_py_sim.identification.shooting import rotations, shots_of
from rosflight_py_sim.parts.fixedwing_forces import FixedwingForces
from rosflight_py_sim.parts.multirotor_forces import MultirotorForces
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS

GRAVITY = 9.80665
HEADING, SPEED = 0.7, 4.0


def circling(*, logged_heading: float, ground_until_s: float = 0.0, straight_from_s: float = math.inf) -> FlightLog:
    """Log of a level flight on a circle with SPEED, at a yaw rate of 1 rad/s, that begins with HEADING.

    From a time on, the flight is straight. The attitude of the log has another heading, as without a magnetometer.
    """
    log = FlightLog(Path("circle"), "ROSflight")
    time_s = np.arange(0.0, 6.0, 0.0025)
    rate = np.where(time_s < straight_from_s, 1.0, 0.0)
    log.add("gyro", time_s, np.stack([0 * rate, 0 * rate, rate], axis=1))
    log.add("accel", time_s, np.stack([0 * rate, SPEED * rate, np.full(len(rate), -GRAVITY)], axis=1))
    half = 0.5 * (logged_heading + np.minimum(time_s, straight_from_s))
    log.add("attitude", time_s, np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=1))
    fixes_s = np.arange(0.0, 6.0, 0.1)
    course = HEADING + np.minimum(fixes_s, straight_from_s)
    log.add("velocity", fixes_s, SPEED * np.stack([np.cos(course), np.sin(course), 0 * course], axis=1))
    log.add("outputs", time_s, np.full((len(time_s), 14), 1500.0))
    down = np.where(fixes_s < ground_until_s, 0.0, -20.0)
    log.add("position", fixes_s, np.stack([0 * down, 0 * down, down], axis=1))
    log.add("armed", time_s, time_s >= ground_until_s)
    log.altitude = 100.0
    return log


def test_start_of_a_stretch_has_the_heading_that_the_velocities_show() -> None:
    shots = shots_of([circling(logged_heading=HEADING + 1.0)], [0], length_s=1.0, warm_up_s=0.2, origin_altitude=0.0)
    assert len(shots) == 5
    headings = np.unwrap(np.arctan2(*rotations(shots.starts[:, 3:7])[:, [1, 0], 0].T))
    # The logged heading has a small weight: a radian of it moves the result by some hundredths.
    np.testing.assert_allclose(headings, HEADING + shots.time_s, atol=0.05)
    np.testing.assert_allclose(shots.starts[:, 7:10], np.tile([SPEED, 0.0, 0.0], (5, 1)), atol=0.25)
    np.testing.assert_allclose(shots.starts[:, 2], -120.0)


def test_stretch_that_does_not_show_its_heading_has_the_error_of_the_logged_one_before() -> None:
    log = circling(logged_heading=HEADING + 2.5, straight_from_s=3.0)
    shots = shots_of([log], [0], length_s=1.0, warm_up_s=0.2, origin_altitude=0.0)
    headings = np.unwrap(np.arctan2(*rotations(shots.starts[:, 3:7])[:, [1, 0], 0].T))
    # In the straight flight, the logged heading would be 2.5 rad off, and the vehicle would fly backwards.
    np.testing.assert_allclose(headings, HEADING + np.minimum(shots.time_s, 3.0), atol=0.05)
    np.testing.assert_allclose(shots.starts[:, 7:10], np.tile([SPEED, 0.0, 0.0], (5, 1)), atol=0.25)


def test_stretches_leave_out_the_ground_and_what_has_no_warm_up() -> None:
    log = circling(logged_heading=HEADING, ground_until_s=2.0)
    shots = shots_of([log], [0], length_s=1.0, warm_up_s=0.2, origin_altitude=0.0)
    assert len(shots) == 3
    # The position between two fixes is on the line between them.
    assert shots.time_s[0] == pytest.approx(2.2, abs=0.11)
    kept = shots.taken([2, 0])
    assert kept.time_s.tolist() == shots.time_s[[2, 0]].tolist()
    assert np.bincount(kept.velocity_of).tolist() == np.bincount(shots.velocity_of)[[2, 0]].tolist()


def test_height_that_is_set_anew_before_a_flight_is_no_height_above_ground() -> None:
    log = circling(logged_heading=HEADING, ground_until_s=2.0)
    time_s, values = log.channels["position"]
    # The origin rises by 70 m while the vehicle is disarmed; armed, it first stands for 2 s.
    values[:, 2] = np.select([time_s < 1.0, time_s < 4.0], [0.0, -70.0], -90.0)
    shots = shots_of([log], [0], length_s=1.0, warm_up_s=0.2, origin_altitude=0.0)
    assert len(shots) == 1
    assert shots.time_s[0] == pytest.approx(4.2, abs=0.11)


def test_unknowns_of_a_stretch_turn_about_body_axes() -> None:
    start = np.zeros((1, 19))
    start[0, 3:7] = math.cos(0.35), 0.0, 0.0, math.sin(0.35)
    local = np.zeros((1, LOCALS))
    local[0, 3:6] = 0.2, 0.0, 0.0
    (turned,) = rotations(moved(start, local)[:, 3:7])
    roll = np.array([[1, 0, 0], [0, math.cos(0.2), -math.sin(0.2)], [0, math.sin(0.2), math.cos(0.2)]])
    np.testing.assert_allclose(turned, rotations(start[:, 3:7])[0] @ roll, atol=1e-12)


def test_series_drop_what_is_not_finite_or_goes_back_in_time() -> None:
    one = series(np.array([0.0, 1.0, 0.5, 2.0, 3.0]), np.array([1.0, 2.0, 9.0, math.nan, 4.0]))
    assert one.time_s.tolist() == [0.0, 1.0, 3.0]
    assert one.at(np.array([2.0])).tolist() == [[3.0]]
    assert one.held(np.array([0.5, 1.0, 5.0]))[:, 0].tolist() == [1.0, 2.0, 4.0]


def test_place_of_a_fix_is_in_metres_north_east_and_down() -> None:
    place = np.array([[60.0, 10.0, 100.0], [60.001, 10.001, 90.0]])
    # A thousandth of a degree of latitude is 111.3 m; at 60 deg, half of that for the longitude.
    np.testing.assert_allclose(north_east_down(place)[1], [111.3, 55.66, 10.0], rtol=1e-3)


def test_multistep_spends_equal_time_on_both_sides_but_for_one_unit() -> None:
    values = [multistep(0.2 * (k + 0.5), 0.2) for k in range(-1, 8)]
    assert values == [0.0, 1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 0.0]


def test_manoeuvres_move_one_axis_at_a_time() -> None:
    times = np.arange(0.0, PERIOD_S, 0.01)
    moving = np.array([np.abs(steps(time_s)[:4]) > 0.0 for time_s in times])
    assert moving.any(axis=0).all()
    assert moving.sum(axis=1).max() == 1


def test_every_parameter_with_a_manoeuvre_is_one_of_a_vehicle() -> None:
    tables = (MultirotorForces.PARAMETERS, FixedwingForces.PARAMETERS, DYNAMICS_PARAMETERS)
    known = {one.name for table in tables for one in table} | {LATENCY}
    assert MANOEUVRES.keys() <= known
    assert {name for names in DEFAULTS.values() for name in names} <= MANOEUVRES.keys()
    assert [reading_of(name) for name in ("C_ell_p", "C_L_alpha", "C_m_q", "Jzz", "KQ")] == [0, 5, 1, 2, None]

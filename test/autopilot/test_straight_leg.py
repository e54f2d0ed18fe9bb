"""The smooth straight leg from rest to rest."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rosflight_py_sim.autopilot.straight_leg import StraightLeg

LEGS = [
    StraightLeg((0.0, 0.0, -5.0), (10.0, 0.0, -5.0), 2.0, 1.0),
    StraightLeg((1.0, 2.0, 3.0), (1.5, 1.0, 2.0), 2.0, 1.0),
    StraightLeg((0.0, 0.0, 0.0), (-30.0, 40.0, 0.0), 8.0, 0.5),
]


@pytest.mark.parametrize("leg", LEGS)
def test_velocity_and_acceleration_are_the_derivatives_of_position(leg: StraightLeg) -> None:
    h = 1e-5
    for elapsed in np.linspace(h, leg.duration - h, 97):
        before, at, after = (np.array(leg.at(elapsed + shift)) for shift in (-h, 0.0, h))
        # Central differences: h^2 times the third derivative, and the rounding of 1e-15 / h.
        assert at[1] == pytest.approx((after[0] - before[0]) / (2 * h), abs=1e-8)
        assert at[2] == pytest.approx((after[1] - before[1]) / (2 * h), abs=1e-4)


@pytest.mark.parametrize("leg", LEGS)
def test_leg_is_straight_and_respects_limits(leg: StraightLeg) -> None:
    start, end = np.array(leg.start_ned), np.array(leg.end_ned)
    direction = (end - start) / np.linalg.norm(end - start)
    limits = {id(LEGS[0]): (2.0, 1.0), id(LEGS[1]): (2.0, 1.0), id(LEGS[2]): (8.0, 0.5)}[id(leg)]
    for elapsed in np.linspace(-0.5, leg.duration + 0.5, 301):
        position, velocity, acceleration = map(np.array, leg.at(elapsed))
        offset = position - start
        assert np.linalg.norm(offset - direction * (offset @ direction)) < 1e-12
        assert np.linalg.norm(velocity) <= limits[0] + 1e-12
        assert np.linalg.norm(acceleration) <= limits[1] + 1e-12


@pytest.mark.parametrize("leg", LEGS)
def test_leg_starts_and_ends_at_rest(leg: StraightLeg) -> None:
    rest = (0.0, 0.0, 0.0)
    assert leg.at(0.0) == (leg.start_ned, rest, rest)
    assert leg.at(leg.duration) == (leg.end_ned, rest, rest)
    assert np.array(leg.at(leg.duration - 1e-9)[0]) == pytest.approx(np.array(leg.end_ned), abs=1e-9)


def test_leg_too_short_for_its_speed_peaks_lower_at_the_midpoint() -> None:
    leg = LEGS[1]
    assert leg.speed == pytest.approx(math.sqrt(2.0 * 1.0 * 1.5 / math.pi))
    assert np.linalg.norm(leg.at(leg.duration / 2.0)[1]) == pytest.approx(leg.speed)


def test_zero_length_leg_takes_no_time() -> None:
    leg = StraightLeg((1.0, 1.0, 1.0), (1.0, 1.0, 1.0), 2.0, 1.0)
    assert leg.duration == 0.0
    assert leg.at(0.1) == ((1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))

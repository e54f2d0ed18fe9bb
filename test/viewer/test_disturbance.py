"""Disturbances that the page offers."""

from __future__ import annotations

import math

import pytest

from rosflight_py_sim.failures.failure import parse_failure
from rosflight_py_sim.viewer.web.disturbance import GUST_S, gust, velocity_ned


@pytest.mark.parametrize(
    ("origin_deg", "velocity"),
    [(0.0, [-5.0, 0.0, 0.0]), (90.0, [0.0, -5.0, 0.0]), (180.0, [5.0, 0.0, 0.0]), (270.0, [0.0, 5.0, 0.0])],
)
def test_wind_blows_from_its_direction(origin_deg: float, velocity: list[float]) -> None:
    found = velocity_ned(5.0, origin_deg)
    assert found == pytest.approx(velocity)
    # No "-0" in texts.
    assert all(math.copysign(1.0, part) > 0.0 for part in found if part == 0.0)


def test_gust_is_a_failure_of_the_wind() -> None:
    failure = parse_failure(gust(velocity_ned(6.0, 300.0)))
    assert (failure.target, failure.kind, failure.begin_ns) == ("wind", "front", None)
    assert failure.values == pytest.approx((-3.0, 5.196, 0.0))
    assert failure.duration_ns == GUST_S * 1e9

"""Limits of a plot's vertical axis."""

from __future__ import annotations

import pytest

from rosflight_py_sim.viewer.web.axis_range import LEAST_SPAN, round_range


@pytest.mark.parametrize(
    ("lowest", "highest", "limits"),
    [
        (-1e-9, 1e-9, (-0.03, 0.03)),
        (0.0, 5.1, (-1.0, 6.0)),
        (1000.0, 2000.0, (900.0, 2100.0)),
        (-179.0, 179.0, (-200.0, 200.0)),
        (5.0, 5.0, (4.97, 5.03)),
    ],
)
def test_limits_are_round(lowest: float, highest: float, limits: tuple[float, float]) -> None:
    assert round_range(lowest, highest) == pytest.approx(limits, abs=1e-9)


def test_limits_enclose_the_values_and_stay_while_they_change_a_little() -> None:
    seen = set()
    for k in range(2000):
        lowest, highest = -0.003 * k, 0.001 * k
        low, high = round_range(lowest, highest)
        assert low <= lowest and highest <= high
        assert high - low >= LEAST_SPAN
        assert high - low <= 2.0 * max(highest - lowest, LEAST_SPAN)
        seen.add((low, high))
    assert len(seen) < 60

"""Plots of the browser viewer: the last 30 s, with breaks where an angle wraps."""

from __future__ import annotations

import numpy as np
import pytest

from rosflight_py_sim.viewer.web.history import SPAN_S, History, broken_at_wraps


def flown(duration_s: float, step_s: float) -> History:
    """A history of its own times, sampled at this interval."""
    history = History()
    for k in range(round(duration_s / step_s) + 1):
        history.take(k * step_s, [k * step_s])
    return history


@pytest.mark.parametrize("step_s", [1.0 / 30.0, 2.0 / 30.0, 0.3, 1.0, 7.0])
def test_history_covers_its_time_span_at_any_update_rate(step_s: float) -> None:
    times, quantity = flown(210.0, step_s).columns
    assert times[-1] == 0.0
    # Rows are at least 0.1 s and at least one sample apart.
    assert -SPAN_S <= times[0] < -SPAN_S + max(step_s, 0.1 + step_s)
    np.testing.assert_allclose(quantity - quantity[-1], times, atol=1e-9)


def test_history_has_at_most_ten_rows_per_second() -> None:
    times = flown(100.0, 0.0025).columns[0]
    assert np.diff(times).min() > 0.1 - 1e-9
    assert len(times) <= 10 * SPAN_S + 1


def test_history_restarts_when_time_goes_back() -> None:
    history = flown(20.0, 0.1)
    history.take(3.0, [3.0])
    assert history.columns.tolist() == [[0.0], [3.0]]


def test_empty_history_is_valid() -> None:
    assert History().columns.size == 0


@pytest.mark.parametrize("lowest", [-180.0, 0.0])
def test_angle_is_broken_only_around_a_wrap(lowest: float) -> None:
    turning = np.arange(0.0, 900.0, 7.0)
    angles = (turning - lowest) % 360.0 + lowest
    broken = broken_at_wraps(angles)
    there = np.isfinite(broken)
    assert np.array_equal(broken[there], angles[there])
    assert np.count_nonzero(~there) == 2 * np.count_nonzero(np.diff(angles) < 0.0)
    steps = np.diff(broken)
    np.testing.assert_allclose(steps[np.isfinite(steps)], 7.0)


def test_angle_without_wrap_is_continuous() -> None:
    angles = np.array([-90.0, 0.0, 89.0, 170.0, -9.0])
    assert broken_at_wraps(angles).tolist() == angles.tolist()

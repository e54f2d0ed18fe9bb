"""When a paced time manager begins its steps."""

from __future__ import annotations

import pytest

from rosflight_py_sim.interfaces.stepping_time_manager import begin_s

# Steps may begin 50 us early; the remainder covers floating-point rounding.
_EARLY_S = 50e-6 + 1e-9


@pytest.mark.parametrize("length_s", [2.5e-3, 3e-3, 10e-3])
def test_a_step_that_is_not_short_begins_when_it_is_due(length_s: float) -> None:
    assert [begin_s(k * length_s, length_s) for k in range(1000)] == [k * length_s for k in range(1000)]


@pytest.mark.parametrize(("rate_hz", "together"), [(800, 2), (1200, 3), (2000, 5), (4000, 10)])
def test_short_steps_begin_together_every_2_5_ms(rate_hz: int, together: int) -> None:
    begun = [begin_s(k / rate_hz, 1.0 / rate_hz) for k in range(1, 10 * rate_hz + 1)]
    assert len(set(begun)) * together == len(begun)
    for interval in range(10 * rate_hz // together):
        group = begun[interval * together : (interval + 1) * together]
        assert group == pytest.approx([2.5e-3 * (interval + 1)] * together, abs=1e-9)


@pytest.mark.parametrize("length_s", [2.4999e-3, 1.3e-3, 1e-3 / 3.0, 1e-5])
def test_a_short_step_is_less_than_2_5_ms_late_and_never_early(length_s: float) -> None:
    lateness = [begin_s(k * length_s, length_s) - k * length_s for k in range(10_000)]
    assert min(lateness) >= -_EARLY_S
    assert max(lateness) < 2.5e-3

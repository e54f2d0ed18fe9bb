"""End of a sweep's table: after all runs, or when a confidence interval is narrow enough."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from rosflight_py_sim.sweep.definition import StopRule
from rosflight_py_sim.sweep.stop_rule import TableEnd

RULE = StopRule("error", 0.5, 0.9, 4)


def end_after(values: list[float], order: list[int], rule: StopRule | None = RULE) -> int | None:
    end = TableEnd(len(values), rule)
    for number in order:
        end.add(number, {"error": values[number]})
    return end.rows


def test_table_ends_with_all_runs_without_a_rule() -> None:
    assert end_after([0.0] * 5, [4, 0, 2, 1], None) is None
    assert end_after([0.0] * 5, [4, 0, 2, 1, 3], None) == 5


def test_table_ends_at_the_first_run_after_which_the_interval_is_narrow_enough() -> None:
    # Here, because each process that runs tests imports all modules of tests, and scipy.stats takes long.
    from scipy import stats

    values = np.random.default_rng(1).normal(size=200).tolist()

    def half_width(count: int) -> float:
        interval = stats.t.interval(0.9, count - 1, scale=stats.sem(values[:count]))
        return float(interval[1])

    expected = next(count for count in range(4, 200) if half_width(count) <= 0.5)
    assert 4 < expected < 100
    assert end_after(values, list(range(200))) == expected


def test_table_ends_with_all_runs_if_the_rule_never_holds() -> None:
    assert end_after([0.0, 100.0, -100.0, 50.0, -70.0], list(range(5))) == 5


def test_end_does_not_depend_on_the_order_of_runs() -> None:
    values = [0.0, 1.0, 0.2, 0.8, 0.5, 0.4]
    assert {end_after(values, list(order)) for order in itertools.permutations(range(6))} == {5}


def test_rule_does_not_apply_below_its_least_number_of_runs() -> None:
    assert end_after([1.0] * 9, list(range(9))) == 4


@pytest.mark.parametrize(("values", "end"), [([math.nan, math.nan, 1.0, math.nan, 1.0, 1.0], 5), ([math.nan] * 6, 6)])
def test_runs_without_the_measure_are_left_out_of_the_mean(values: list[float], end: int) -> None:
    assert end_after(values, list(range(6))) == end

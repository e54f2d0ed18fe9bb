"""Sensitivity indices of functions whose variances are known in closed form."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rosflight_py_sim.sweep.factors import Factor
from rosflight_py_sim.sweep.sensitivity import LEAST_RUNS, sensitivity


def drawn(runs: int, count: int = 3) -> list[Factor]:
    values = np.random.default_rng(1).uniform(-1.0, 1.0, (count, runs))
    return [Factor(name, "", one) for name, one in zip("abc", values, strict=False)]


def test_shares_of_linear_function_are_those_of_its_variance() -> None:
    factors = drawn(2000)
    a, b = factors[:2]
    indices = {one.name: one for one in sensitivity(factors, 2.0 * a.values + b.values)}
    for name, share in (("a", 0.8), ("b", 0.2), ("c", 0.0)):
        # The interval holds in 95 of 100 cases; an interval of twice the width practically always.
        assert indices[name].share == pytest.approx(share, abs=2.0 * indices[name].half_width)
        assert indices[name].half_width < 0.1


def test_ishigami_function_has_its_shares() -> None:
    factors = [Factor(one.name, "", np.pi * one.values) for one in drawn(4000)]
    a, b, c = (one.values for one in factors)
    indices = {
        one.name: one.share for one in sensitivity(factors, np.sin(a) + 7 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a))
    }
    # Saltelli et al., Global Sensitivity Analysis: The Primer, 2008, section 4.6.
    assert indices == pytest.approx({"a": 0.314, "b": 0.442, "c": 0.0}, abs=0.05)


def test_full_grid_does_not_confuse_its_quantities() -> None:
    points = np.array(list(itertools.product(range(12), range(12))), dtype=np.float64)
    first, second = Factor("first", "", points[:, 0]), Factor("second", "", points[:, 1])
    indices = sensitivity([second, first], points[:, 0])
    assert [one.name for one in indices] == ["first", "second"]
    assert indices[0].share > 0.9
    assert abs(indices[1].share) < 2.0 * indices[1].half_width


def test_same_runs_give_same_indices() -> None:
    factors = drawn(100)
    output = factors[0].values + factors[1].values ** 2
    assert sensitivity(factors, output) == sensitivity(factors, output)


def test_failed_runs_are_left_out() -> None:
    factors = drawn(200)
    output = factors[0].values.copy()
    output[::2] = np.nan
    half = [Factor(one.name, "", one.values[1::2]) for one in factors]
    assert sensitivity(factors, output) == sensitivity(half, output[1::2])


@pytest.mark.parametrize("output", [np.zeros(100), np.full(100, np.nan)])
def test_output_without_variance_has_no_indices(output: np.ndarray) -> None:
    assert sensitivity(drawn(100), output) == []


def test_few_runs_have_no_indices() -> None:
    factors = drawn(LEAST_RUNS - 1)
    assert sensitivity(factors, factors[0].values) == []

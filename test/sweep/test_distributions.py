"""Distributions of a sweep file."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, Scalar
from rosflight_py_sim.ground.yaml_section import read_file
from rosflight_py_sim.sweep.definition import Distribution
from rosflight_py_sim.sweep.distributions import Normal, read_distribution

GAIN = Parameter("gain", 1.0, "a gain", minimum=0.0, maximum=10.0)
MASS = Parameter("mass", 1.0, "a mass", "kg", minimum=0.0, above_minimum=True)
WIND = Parameter("wind", 0.0, "without limits", "m/s")
COUNT = Parameter("count", 5, "an integer", minimum=0, maximum=20)
SWITCH = Parameter("switch", False, "true or false")
MODEL = Parameter("model", "a", "a text", choices=("a", "b", "c"))

DRAWN = 2000


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str, Parameter], Distribution]:
    def read(text: str, parameter: Parameter) -> Distribution:
        file = tmp_path / "sweep.yaml"
        file.write_text(text + "\n", encoding="utf-8")
        return read_distribution(read_file(file, ParameterError), parameter)

    return read


def values(distribution: Distribution) -> list[Scalar]:
    rng = np.random.default_rng(1)
    return [distribution.value(number, rng) for number in range(DRAWN)]


def numbers(distribution: Distribution) -> np.ndarray:
    return np.array(values(distribution), dtype=float)


def test_uniform_numbers_fill_their_limits_evenly(read: Callable[[str, Parameter], Distribution]) -> None:
    drawn = numbers(read("uniform: [2, 6]", GAIN))
    assert drawn.min() >= 2.0
    assert drawn.max() <= 6.0
    # Four standard errors of the mean.
    assert drawn.mean() == pytest.approx(4.0, abs=4.0 * 4.0 / math.sqrt(12.0 * DRAWN))


def test_uniform_integers_include_both_limits(read: Callable[[str, Parameter], Distribution]) -> None:
    drawn = values(read("uniform: [3, 5]", COUNT))
    assert {type(one) for one in drawn} == {int}
    assert set(drawn) == {3, 4, 5}


def test_logarithms_of_log_uniform_numbers_are_even(read: Callable[[str, Parameter], Distribution]) -> None:
    drawn = numbers(read("log_uniform: [0.1, 10]", GAIN))
    assert drawn.min() >= 0.1
    assert drawn.max() <= 10.0
    # Four standard errors of the share.
    assert np.mean(drawn < 1.0) == pytest.approx(0.5, abs=4.0 * 0.5 / math.sqrt(DRAWN))


def test_normal_numbers_have_mean_and_deviation(read: Callable[[str, Parameter], Distribution]) -> None:
    drawn = numbers(read("normal: {mean: -3, sigma: 2}", WIND))
    # Four standard errors.
    assert drawn.mean() == pytest.approx(-3.0, abs=4.0 * 2.0 / math.sqrt(DRAWN))
    assert drawn.std() == pytest.approx(2.0, abs=4.0 * 2.0 / math.sqrt(2.0 * DRAWN))


def test_truncated_normal_numbers_stay_within(read: Callable[[str, Parameter], Distribution]) -> None:
    drawn = numbers(read("normal: {mean: 0, sigma: 1, within: [0, 1]}", GAIN))
    assert drawn.min() >= 0.0
    assert drawn.max() <= 1.0


def test_share_of_a_truncated_normal_distribution() -> None:
    # Tables of the normal distribution have six digits.
    assert Normal(1.0, 2.0, -1.0, 3.0).share == pytest.approx(0.682689, abs=1e-6)
    assert Normal(0.0, 1.0).share == 1.0


@pytest.mark.parametrize(
    ("text", "parameter", "expected"),
    [
        ("choice: [a, c]", MODEL, {"a", "c"}),
        ("choice: [true, false]", SWITCH, {True, False}),
        ("choice: [1, 2.5]", GAIN, {1.0, 2.5}),
        ("choice: [4, 7]", COUNT, {4, 7}),
    ],
)
def test_each_choice_is_drawn(
    read: Callable[[str, Parameter], Distribution], text: str, parameter: Parameter, expected: set[Scalar]
) -> None:
    drawn = values(read(text, parameter))
    assert set(drawn) == expected
    assert {type(one) for one in drawn} == {type(parameter.default)}


@pytest.mark.parametrize(
    ("text", "parameter", "expected"),
    [
        ("grid: [0, 2, 5]", GAIN, [0.0, 2.0, 5.0]),
        ("grid: [1e-3, 1e1]", GAIN, [0.001, 10.0]),
        ("grid: {from: 8, to: 0, count: 5}", GAIN, [8.0, 6.0, 4.0, 2.0, 0.0]),
        ("grid: {from: 2, to: 8, count: 3}", COUNT, [2, 5, 8]),
        ("grid: [true, false]", SWITCH, [True, False]),
        ("grid: [a, b]", MODEL, ["a", "b"]),
    ],
)
def test_grid_gives_its_values_in_turn(
    read: Callable[[str, Parameter], Distribution], text: str, parameter: Parameter, expected: list[Scalar]
) -> None:
    drawn = values(read(text, parameter))
    assert drawn[: len(expected)] == expected
    assert drawn[len(expected)] == expected[0]
    assert {type(one) for one in drawn} == {type(parameter.default)}


def test_same_generator_gives_the_same_values(read: Callable[[str, Parameter], Distribution]) -> None:
    drawn = [read(text, GAIN) for text in ("uniform: [0, 1]", "log_uniform: [1, 2]", "choice: [1, 2, 3]")]
    drawn.append(read("normal: {mean: 1, sigma: 1, within: [0, 2]}", GAIN))
    rng = np.random.default_rng([1, 0])
    # Recorded: other values would change every table. Logarithms may differ between machines in the last digit.
    assert [one.value(0, rng) for one in drawn] == pytest.approx(
        [0.5118216247002567, 1.9324936804521562, 1.0, 1.9053558666731178], rel=1e-15
    )


@pytest.mark.parametrize(
    ("text", "parameter", "error"),
    [
        ("unifrom: [0, 1]", GAIN, "unifrom: an unknown key given; allowed: uniform, log_uniform, normal, choice, grid"),
        ("unifrom: [0, 1]", GAIN, "(did you mean uniform?)"),
        ("{}", GAIN, "allowed: one of uniform, log_uniform, normal, choice, grid"),
        ("{uniform: [0, 1], choice: [1, 2]}", GAIN, "allowed: one of uniform, log_uniform"),
        ("uniform: 3", GAIN, "uniform: 3 given; allowed: [least, greatest]"),
        ("uniform: [1, 2, 3]", GAIN, "uniform: [1, 2, 3] given; allowed: [least, greatest]"),
        ("uniform: [2, 2]", GAIN, "[2, 2] given; allowed: [least, greatest] with least smaller than greatest"),
        ("uniform: ['1e-3', 1]", GAIN, "uniform[0]: '1e-3' given; allowed: number, from 0 to 10"),
        ("uniform: [0, 11]", GAIN, "uniform[1]: 11 given; allowed: number, from 0 to 10"),
        ("uniform: [0, high]", GAIN, "uniform[1]: high given; allowed: number, from 0 to 10"),
        ("uniform: [0, .inf]", WIND, "uniform[1]: .inf given; allowed: number"),
        ("uniform: [0, 1e300]", WIND, "uniform[1]: 1e300 given; allowed: a number at least -1e+15 and at most 1e+15"),
        ("uniform: [0, 2]", MASS, "uniform[0]: 0 given; allowed: number, greater than 0 kg"),
        ("uniform: [1, 2.5]", COUNT, "uniform[1]: 2.5 given; allowed: integer, from 0 to 20"),
        ("uniform: [0, 1]", SWITCH, "uniform given; allowed: for a parameter of the type boolean: choice, grid"),
        ("log_uniform: [1, 2]", COUNT, "allowed: for a parameter of the type integer: uniform, choice, grid"),
        ("log_uniform: [0, 2]", GAIN, "[0, 2] given; allowed: [least, greatest], both greater than 0"),
        ("normal: {mean: 1}", GAIN, "no sigma given; allowed: only with the keys mean, sigma"),
        ("normal: {mean: 1, sigma: 0}", WIND, "normal.sigma: 0 given; allowed: a number greater than 0"),
        (
            "normal: {mean: 1, sigma: 0.2}",
            MASS,
            "a normal distribution without limits given; allowed: with the key 'within: [least, greatest]', because "
            "'mass' is limited: greater than 0 kg",
        ),
        ("normal: {mean: 1, sigma: 1, within: [-1, 2]}", GAIN, "normal.within[0]: -1 given; allowed: number, from 0"),
        (
            "normal: {mean: 0, sigma: 0.1, within: [5, 6]}",
            GAIN,
            "normal.within: [5, 6] given; allowed: limits that contain at least 1% of the distribution",
        ),
        ("choice: [a, d]", MODEL, "choice[1]: d given; allowed: text, one of a, b, c"),
        ("choice: []", MODEL, "choice: [] given; allowed: a list of different values"),
        ("choice: [1, 1.0]", GAIN, "choice: [1, 1.0] given; allowed: a list of different values"),
        ("choice: 1", GAIN, "choice: 1 given; allowed: a list"),
        ("grid: [0, 12]", GAIN, "grid[1]: 12 given; allowed: number, from 0 to 10"),
        ("grid: {from: 0, to: 12, count: 3}", GAIN, "grid.to: 12 given; allowed: number, from 0 to 10"),
        ("grid: {from: 0, to: 1, count: 1}", GAIN, "grid.count: 1 given; allowed: integer, from 2 to 100000"),
        ("grid: {from: 1, to: 1, count: 2}", GAIN, "allowed: different values of 'from' and 'to'"),
        ("grid: {from: 0, to: 1}", GAIN, "no count given"),
        ("grid: {from: 0, to: 5, count: 3}", COUNT, "3 points given; allowed: integer points, because 'count' is"),
        ("grid: {from: a, to: b, count: 2}", MODEL, "allowed: for a parameter of the type text: a list of values"),
    ],
)
def test_what_makes_no_sense_or_leaves_the_range_is_refused_with_its_place(
    read: Callable[[str, Parameter], Distribution], text: str, parameter: Parameter, error: str
) -> None:
    with pytest.raises(ParameterError) as raised:
        read(text, parameter)
    assert "sweep.yaml, line 1" in str(raised.value)
    assert error in str(raised.value)

"""Remembered results of functions of parameters: those that a new call would return."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import ParameterError, ParameterTable, Value, Values, number
from rosflight_py_sim.ground.remembered import remembered
from rosflight_py_sim.physics.contact_rate import fastest_contact_rate
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS
from rosflight_py_sim.physics.earth import earth_of, site_of
from rosflight_py_sim.physics.hydrodynamics import water_numbers
from rosflight_py_sim.physics.inertia import inertia_matrix
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, rotor_geometry
from rosflight_py_sim.physics.powertrain import powertrain_of


class Counted:
    """Function that counts its calls: `b` if `a` is greater than 0, otherwise `c`, as an array."""

    def __init__(self) -> None:
        self.calls = 0
        self.result = remembered(self.computed)

    def computed(self, values: Values) -> NDArray[np.float64]:
        self.calls += 1
        return np.array([number(values, "b" if number(values, "a") > 0.0 else "c")])


def memory(result: Any) -> Any:
    """A number, or the bytes of an array or record."""
    return result if isinstance(result, float) else bytes(result)


def test_result_is_computed_again_only_if_a_parameter_that_was_read_has_changed() -> None:
    counted = Counted()
    values: dict[str, Value] = {"a": 1.0, "b": 2.0, "c": 3.0}
    results = [
        counted.result({**values, **changed}).tolist()
        for changed in ({}, {"c": 4.0}, {"b": 5.0}, {"a": -1.0}, {"a": -1.0, "c": 4.0}, {})
    ]
    assert results == [[2.0], [2.0], [5.0], [3.0], [4.0], [2.0]]
    assert counted.calls == 4


def test_result_may_be_changed_by_its_receiver() -> None:
    counted = Counted()
    values: dict[str, Value] = {"a": 1.0, "b": 2.0}
    for _ in range(3):
        result = counted.result(values)
        assert result.tolist() == [2.0]
        result[:] = 9.0
    assert counted.calls == 1


@pytest.mark.parametrize(("one", "other"), [(0.0, -0.0), (1, True), (1, 1.0), ([1.0], [1.0, 1.0]), (["1"], [1])])
def test_values_that_only_look_equal_are_told_apart(one: Value, other: Value) -> None:
    text = remembered(lambda values: repr(values["a"]))
    assert [text({"a": value}) for value in (one, other, one)] == [repr(one), repr(other), repr(one)]


def test_list_that_is_changed_later_counts_as_changed() -> None:
    total = remembered(lambda values: sum(values["a"]))  # type: ignore[misc, arg-type]
    given = [1.0, 2.0]
    assert total({"a": given}) == 3.0
    given[0] = 5.0
    assert total({"a": given}) == 7.0


def test_absent_parameter_is_read_too() -> None:
    found = remembered(lambda values: "a" in values)
    assert [found(values) for values in ({}, {"a": 1.0}, {})] == [False, True, False]


def test_what_a_remembered_function_has_read_was_read_by_the_function_that_calls_it() -> None:
    inner = Counted()
    outer = remembered(lambda values: 2.0 * inner.result(values))
    for b in (2.0, 3.0, 2.0, 3.0):
        assert outer({"a": 1.0, "b": b}).tolist() == [2.0 * b]


def test_error_is_not_remembered() -> None:
    counted = Counted()
    for _ in range(2):
        with pytest.raises(KeyError, match="a"):
            counted.result({"b": 2.0})
    assert counted.calls == 2


FUNCTIONS: list[tuple[Callable[[Values], Any], ParameterTable]] = [
    (inertia_matrix, DYNAMICS_PARAMETERS),
    (water_numbers, DYNAMICS_PARAMETERS),
    (fastest_contact_rate, DYNAMICS_PARAMETERS),
    (earth_of, DYNAMICS_PARAMETERS),
    (site_of, DYNAMICS_PARAMETERS),
    (powertrain_of, MULTIROTOR_PARAMETERS),
    (rotor_geometry, MULTIROTOR_PARAMETERS),
]


@pytest.mark.parametrize(("function", "table"), FUNCTIONS, ids=[one.__name__ for one, _ in FUNCTIONS])
def test_results_of_vehicles_with_drawn_parameters_are_those_of_new_calls(
    function: Callable[[Values], Any], table: ParameterTable
) -> None:
    draws, names = random.Random(1), [one.name for one in table]
    values = table.defaults()
    for _ in range(400):
        name = draws.choice(names)
        default = table.defaults()[name]
        if table[name].choices:
            values[name] = draws.choice(table[name].choices)
        elif isinstance(default, float):
            values[name] = draws.choice([default, 1.1 * default, 0.9 * default])
        given = dict(values)
        try:
            expected = function.__wrapped__(given)  # type: ignore[attr-defined]
        except ParameterError as error:
            with pytest.raises(ParameterError) as raised:
                function(given)
            assert str(raised.value) == str(error)
        else:
            assert memory(function(given)) == memory(expected)

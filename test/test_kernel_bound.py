"""Kernels with bound arguments: the results of the kernel, on the memory of the arrays and records that were bound."""

from __future__ import annotations

import gc
import weakref
from functools import partial

import numpy as np
import pytest

from rosflight_py_sim.kernels import jit
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.physics.wind import copy_velocity
from rosflight_py_sim.sensing.battery_monitor import sample_battery
from rosflight_py_sim.sensing.converter import converted

HALF_TURN = (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize("count", range(8))
def test_result_is_that_of_the_kernel_however_many_arguments_are_bound(count: int) -> None:
    arguments = (*HALF_TURN, 1.0, 2.0, 3.0)
    assert bound(rotate_to_body, *arguments[:count])(*arguments[count:]) == rotate_to_body(*arguments)


def test_call_works_on_the_present_content_of_the_arrays_that_were_bound() -> None:
    source, target = np.array([1.0, 2.0, 3.0]), np.zeros(3)
    copy = bound(copy_velocity, source, target)
    copy()
    source[:] = 4.0, 5.0, 6.0
    copy()
    assert target.tolist() == [4.0, 5.0, 6.0]


def test_bound_array_lives_as_long_as_the_bound_kernel() -> None:
    source = np.array([1.0, 2.0, 3.0])
    copy, alive = bound(copy_velocity, source), weakref.ref(source)
    del source
    gc.collect()
    target = np.zeros(3)
    copy(target)
    assert target.tolist() == [1.0, 2.0, 3.0]
    assert alive() is not None
    del copy
    gc.collect()
    assert alive() is None


def test_wrong_argument_raises_the_error_of_the_kernel() -> None:
    limited = bound(converted, 1.0)
    with pytest.raises(TypeError):
        limited(2.0)
    with pytest.raises(TypeError):
        limited(2.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="greater than 0 s"):
        bound(sample_battery, np.zeros((2, 8)))(24.0, np.zeros(2), np.array([24.0, 1.0]), 0.0, np.zeros(4))


def test_arguments_that_the_library_does_not_take_go_to_numba_or_python() -> None:
    every_second = np.arange(6.0)[::2]
    target = np.zeros(3)
    bound(copy_velocity, every_second)(target)
    assert target.tolist() == [0.0, 2.0, 4.0]
    bound(copy_velocity, np.arange(3.0))(np.zeros(6)[::2])


def test_function_that_is_no_kernel_of_the_library_is_bound_as_well() -> None:
    assert bound(max, 3.0)(2.0) == 3.0

    @kernel
    def scaled(factor: float, value: float) -> float:
        return factor * value

    assert bound(scaled, 2.0)(3.0) == 6.0


@pytest.mark.skipif(jit.LIBRARY is None, reason="no kernel library here")
def test_library_binds_its_kernels() -> None:
    assert not isinstance(bound(rotate_to_body, *HALF_TURN), partial)
    assert isinstance(bound(rotate_to_body, "none"), partial)
    assert isinstance(bound(rotate_to_body, *HALF_TURN, 1.0, 2.0, 3.0, 4.0), partial)

"""The length that kernels compute equals Python's to the bit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rosflight_py_sim.kernels.hypot import hypot
from rosflight_py_sim.kernels.jit import plain


@pytest.mark.parametrize("function", [hypot, plain(hypot)], ids=["compiled", "plain"])
def test_length_equals_that_of_python(function) -> None:
    """A quarter of the plain square roots of x^2 + y^2 differ in the last bit."""
    generator = np.random.default_rng(1)
    pairs = generator.standard_normal((20_000, 2)) * 10.0 ** generator.uniform(-6.0, 6.0, (20_000, 2))
    wrong = [(x, y) for x, y in pairs.tolist() if function(x, y) != math.hypot(x, y)]
    assert not wrong


@pytest.mark.parametrize(("x", "y"), [(0.0, 0.0), (-0.0, 3.0), (3.0, -4.0), (1e-100, 1e-120), (1e120, 1.0)])
def test_length_on_an_axis_and_far_from_one(x: float, y: float) -> None:
    assert hypot(x, y) == math.hypot(x, y)

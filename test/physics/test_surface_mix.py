"""Deflections of surfaces from outputs, as defined by the parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.physics.fixedwing import direct_mixer
from rosflight_py_sim.physics.surface_mix import SURFACE_MIX_PARAMETERS, mixer_of_values


def mixer(**weights: list[float]) -> Any:
    return mixer_of_values(SURFACE_MIX_PARAMETERS.checked({f"{name}_mix": value for name, value in weights.items()}))


def test_no_weights_yield_no_mixer() -> None:
    assert mixer() is None


def test_one_output_per_surface_equals_the_direct_mixer() -> None:
    weights = {"aileron": [1.0], "elevator": [0, 1.0], "rudder": [0, 0, 1.0], "throttle": [0, 0, 0, 0, 1.0]}
    assert mixer(**weights) == pytest.approx(direct_mixer(), abs=1e-15)


def test_elevons_are_difference_and_sum_of_aileron_and_elevator() -> None:
    sums = mixer(aileron=[-0.5, 0.5], elevator=[-0.5, -0.5])
    pulses = np.full(15, 1500.0)
    pulses[14] = 1.0
    pulses[:2] = 1600.0, 1800.0
    assert sums @ pulses == pytest.approx([0.2, -0.4, 0.0, 0.0], abs=1e-12)


def test_more_weights_than_outputs_are_rejected() -> None:
    with pytest.raises(ParameterError, match="'rudder_mix': 15 weights given; allowed: at most 14"):
        mixer(rudder=[0.0] * 15)

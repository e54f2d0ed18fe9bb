"""Inputs take effect in the step after their stamp, for every length of a step."""

from __future__ import annotations

import pytest

from rosflight_py_sim.ground.shared_parameters import STEP_SIZE
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.step.stamped_inputs import StampedInputs


@pytest.mark.parametrize("step_s", [STEP_SIZE.minimum, STEP_SIZE.default, STEP_SIZE.maximum])
@pytest.mark.parametrize("comes_before_its_step", [True, False])
def test_input_takes_effect_in_the_step_after_its_stamp(step_s: float, comes_before_its_step: bool) -> None:
    step_ns = round(step_s * NANOSECONDS)
    stamp_ns = 3 * step_ns
    inputs, done = StampedInputs(), []
    inputs.take(stamp_ns, stamp_ns - step_ns if comes_before_its_step else stamp_ns, done.append, stamp_ns)
    inputs.deliver(stamp_ns)
    assert not done
    inputs.deliver(stamp_ns + step_ns)
    assert done == [stamp_ns]


@pytest.mark.parametrize("stamp_s", [0.0, 0.5, 1e9])
def test_input_of_another_clock_takes_effect_at_once(stamp_s: float) -> None:
    inputs, done = StampedInputs(), []
    inputs.take(round(stamp_s * NANOSECONDS), NANOSECONDS, done.append, stamp_s)
    assert done == [stamp_s]

"""Modes and energies at the graph's step with every hold of the wrench."""

import pytest
from aircraft import NAMES
from mode_identification import GRAPH
from wrench_hold import ENERGIES, modes


@pytest.mark.parametrize("name", NAMES)
def test_zero_order_hold_acts_half_a_step_late(name: str) -> None:
    for mode, one in modes(name, "zero_order").items():
        # Half a step late: s becomes ln(1 + s dt) / dt, which is larger by the relative amount |s| dt / 2. The
        # kinematics are not late.
        late = 0.5 * GRAPH * abs(one.mode.eigenvalue)
        assert 0.5 * late - 5e-4 < one.error < 1.1 * late + 5e-4, mode


@pytest.mark.parametrize("hold", ["first_order", "second_order"])
@pytest.mark.parametrize("name", NAMES)
def test_extrapolated_wrench_keeps_modes_within_half_a_percent(name: str, hold: str) -> None:
    for mode, one in modes(name, hold).items():
        assert one.error < 0.005, mode


@pytest.mark.parametrize("quantity", ENERGIES)
def test_only_an_extrapolated_wrench_conserves_energy(quantity: str) -> None:
    assert ENERGIES[quantity]("zero_order")[-1] > 1.1
    assert ENERGIES[quantity]("first_order")[-1] == pytest.approx(1.0, abs=1e-4)
    assert ENERGIES[quantity]("second_order")[-1] == pytest.approx(1.0, abs=1e-4)

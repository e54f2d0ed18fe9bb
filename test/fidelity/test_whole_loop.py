"""The loop of controller, actuators, wrench and body converges at second order."""

import pytest
from whole_loop import NAMES, PARTS, RATES_HZ, errors, order, surface_travel

# Root mean square difference of the position at the graph's 400 Hz, m; with outputs that act a step early, those with
# rotors and surfaces are 4 to 40 times as far off.
FARTHEST_M = {"multirotor": 3e-3, "anaconda": 6e-4, "aerosonde": 4e-4, "bluerov2": 2e-5}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", NAMES)
def test_whole_loop_converges_at_second_order(name: str, part: str) -> None:
    assert order(name, PARTS[part]) > 1.8


@pytest.mark.parametrize("name", NAMES)
def test_position_at_the_step_rate_of_the_graph(name: str) -> None:
    assert errors(name, PARTS["position"])[RATES_HZ.index(400)] < FARTHEST_M[name]


def test_surface_moves_only_after_the_instant_of_its_output() -> None:
    travel = surface_travel()
    assert travel[0] == 0.0
    # 1 - exp(-0.0025 / 0.02).
    assert travel[1] == pytest.approx(0.1175, abs=1e-4)

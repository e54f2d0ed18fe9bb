"""The eigenvalues of the linear model match flights of the nonlinear model."""

import pytest
from aircraft import ALTITUDE, CRUISE, NAMES, Aircraft
from mode_identification import FINE, seen_modes

from rosflight_py_sim.physics.trim import FlightCondition

MODES = {"short period", "phugoid", "dutch roll", "roll", "spiral"}


@pytest.mark.parametrize("radius", [float("inf"), 200.0], ids=["straight", "turn"])
@pytest.mark.parametrize("name", NAMES)
def test_modes_identified_in_flight_match_linear_model(name: str, radius: float) -> None:
    condition = FlightCondition(CRUISE[name], 0.0, radius, ALTITUDE)
    seen = seen_modes(Aircraft(name), condition, FINE)
    assert {one.mode.name for one in seen} == MODES
    # The linear model has no lag of the motor (0.1 s), no change of density with height, and no steps.
    assert {one.mode.name: one.error for one in seen} == pytest.approx(dict.fromkeys(MODES, 0.0), abs=0.02)

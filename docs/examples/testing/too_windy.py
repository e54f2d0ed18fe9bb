"""A test that fails, for its bundle (docs/testing.md)."""

import pytest


@pytest.mark.simulation(vehicle="multirotor", wind=(8, 0, 0), seed=1, limit=60)
def test_square_in_strong_wind(simulation):
    flight = simulation.fly()
    flight.require("judge.tracking_error_max_m", at_most=0.1, unit="m")

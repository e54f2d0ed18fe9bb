"""Turbulence in the accelerations: their spectrum does not depend on the step or on the hold of the wrench."""

import pytest
from numpy.typing import NDArray
from turbulence import FINE_HZ, RATE_HZ, bands, flying, flying_jsbsim, parked, spread

HOLDS = ("zero_order", "first_order", "second_order")


def assert_close_to_a_fine_step(ratio: NDArray) -> None:
    assert ratio.max() < 1.2
    assert ratio.min() > 1.0 / 1.2


@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("name", ["anaconda", "multirotor"])
def test_flying_vehicle_has_the_spectrum_of_a_fine_step(name: str, hold: str) -> None:
    fine = bands(flying(name, "zero_order", FINE_HZ), FINE_HZ)
    assert_close_to_a_fine_step(bands(flying(name, hold, RATE_HZ), RATE_HZ) / fine)


def test_jsbsim_aircraft_has_the_spectrum_of_a_fine_step() -> None:
    pytest.importorskip("jsbsim")
    fine = bands(flying_jsbsim("c172p", FINE_HZ), FINE_HZ)
    assert_close_to_a_fine_step(bands(flying_jsbsim("c172p", RATE_HZ), RATE_HZ) / fine)


@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("name", ["anaconda", "aerosonde", "multirotor"])
def test_parked_vehicle_has_no_more_than_the_spectrum_of_a_fine_step(name: str, hold: str) -> None:
    fine = bands(parked(name, "zero_order", FINE_HZ), FINE_HZ)
    assert (bands(parked(name, hold, RATE_HZ), RATE_HZ) / fine).max() < 1.2


@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("name", ["anaconda", "aerosonde"])
def test_parked_aircraft_spreads_as_with_a_fine_step(name: str, hold: str) -> None:
    assert spread(name, hold, RATE_HZ) == pytest.approx(spread(name, "zero_order", FINE_HZ), rel=0.15)

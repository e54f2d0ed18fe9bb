"""Slipstream and steered nose wheel in a crosswind take-off, and braking distance."""

import pytest
from aircraft import NAMES
from ground_roll import SPEED, braking_way, deceleration, greatest_heading, take_off


@pytest.mark.parametrize("name", NAMES)
def test_slipstream_and_steered_wheel_keep_the_heading_of_a_crosswind_take_off(name: str) -> None:
    both, neither = take_off(name), take_off(name, slipstream=False, steering=False)
    assert greatest_heading(both) < 4.0
    assert greatest_heading(neither) > greatest_heading(both) + 4.0
    # The rudder in the slipstream does more than half of it alone.
    assert greatest_heading(take_off(name, steering=False)) < 0.6 * greatest_heading(neither)


@pytest.mark.parametrize("name", NAMES)
def test_way_of_braked_wheels_follows_friction_and_load_transfer(name: str) -> None:
    # The gear springs in at the beginning, which takes tenths of a second of five.
    assert braking_way(name) == pytest.approx(SPEED**2 / (2.0 * deceleration(name)), rel=0.01)

"""Steady performance: climbs at a throttle, limits of level flight, greatest lift, endurance."""

import math
from functools import partial

import numpy as np
import pytest

from rosflight_py_sim.commands.vehicle_models import given_values, steady_vehicle
from rosflight_py_sim.physics import performance
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.physics.trim import FlightCondition, TrimError, trim
from rosflight_py_sim.vehicles import vehicle

AIRSPEED = 20.0


def sources(name):
    return [vehicle(name).parameter_file]


def model_of(name):
    return steady_vehicle(vehicle(name), sources(name)).model


def test_throttle_of_level_flight_neither_climbs_nor_sinks():
    model = model_of("aerosonde")
    level = trim(model, FlightCondition(AIRSPEED))
    found = performance.steady_climb(model, AIRSPEED, float(level.inputs[3]))
    assert found.condition.flight_path_angle == pytest.approx(0.0, abs=1e-9)
    assert found.inputs[1] == pytest.approx(level.inputs[1], abs=1e-8)


def test_climb_at_full_throttle_is_the_steepest_trim():
    model = model_of("anaconda")
    climb = performance.climb_rate(model, AIRSPEED, 1.0)
    assert 5.0 < climb < 15.0
    angle = math.asin(climb / AIRSPEED)
    assert trim(model, FlightCondition(AIRSPEED, angle - 1e-3)).inputs[3] < 1.0
    with pytest.raises(TrimError, match="throttle"):
        trim(model, FlightCondition(AIRSPEED, angle + 1e-2))


def test_fastest_level_flight_needs_full_throttle():
    model = model_of("aerosonde")
    fastest = performance.farthest(model, FlightCondition, 28.0, 36.0)
    # The bisection stops at an eighth of a m/s.
    assert trim(model, FlightCondition(fastest)).inputs[3] == pytest.approx(1.0, abs=0.01)


def test_greatest_lift_is_that_of_the_stall():
    model = model_of("anaconda")
    lift, angle = performance.greatest_lift(model, AIRSPEED)
    assert math.degrees(angle) == pytest.approx(12.0, abs=0.2)
    twice, _ = performance.greatest_lift(model, 2.0 * AIRSPEED)
    # The idle propeller keeps a thousandth of a newton of thrust.
    assert twice == pytest.approx(4.0 * lift, rel=1e-5)


def test_hover_lasts_until_the_battery_is_empty():
    values = given_values(MULTIROTOR_PARAMETERS, sources("multirotor"), "forces_and_moments", "", "none")
    hover = trim(model_of("multirotor"), FlightCondition(0.0, altitude=50.0))
    pulses = partial(pulse_widths, motors=4)
    copter = Multirotor(values)
    capacity = float(values["battery_capacity_mah"]) / 1000.0
    seconds = performance.endurance(copter, hover, float(hover.inputs[0]), pulses, capacity)
    fresh = Multirotor(values)
    for _ in range(50):
        fresh.update(hover.truth, np.zeros(3), pulses(float(hover.inputs[0])), 0.1)
    # The power is constant, so the current rises as the voltage falls, by a third at most.
    longest = 3600.0 * capacity / fresh.current_a
    assert 0.75 * longest < seconds < longest
    # The thrust is still the weight's.
    assert copter.update(hover.truth, np.zeros(3), pulses(0.0), 0.0)[2] == pytest.approx(-3.5 * 9.81, rel=0.02)


def pulse_widths(throttle, motors):
    widths = np.full(14, 1000.0)
    widths[:motors] += 1000.0 * throttle
    return widths

"""Glide, stall, steady turn and energy match the equations of flight."""

import math

import book_equations as book
import numpy as np
import pytest
from aircraft import ALTITUDE, CRUISE, NAMES, WITHOUT_PROPELLER, Aircraft, without_propeller
from steady_flights import energy_balance, glide, glide_trim, stall, turn

from rosflight_py_sim.physics.trim import FlightCondition, trim


@pytest.mark.parametrize("name", NAMES)
def test_unpowered_glide_ratio_equals_lift_to_drag(name: str) -> None:
    aircraft = without_propeller(name)
    flown = glide(aircraft, CRUISE[name])
    # The flight stays in its trim to rounding; the stall's blend leaves 1e-7.
    assert flown.flown_ratio == pytest.approx(flown.lift_to_drag, rel=1e-6)
    expected = book.trim(aircraft.parameters, CRUISE[name], None, math.inf, powered=False)
    assert glide_trim(aircraft, CRUISE[name]).condition.flight_path_angle == pytest.approx(expected.climb, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_idling_propeller_barely_changes_glide_ratio(name: str) -> None:
    free = glide(without_propeller(name), CRUISE[name]).flown_ratio
    own = {"use_standard_atmosphere": False, "rho": WITHOUT_PROPELLER["rho"]}
    idling = glide(Aircraft(name, **own), CRUISE[name]).flown_ratio
    # The propeller's coefficients are cut off at 1e-4, which leaves a thrust of some thousandths of the drag.
    assert free < idling < 1.02 * free


def test_braking_propeller_reduces_glide_ratio() -> None:
    own = {"use_standard_atmosphere": False, "rho": WITHOUT_PROPELLER["rho"]}
    free = glide(without_propeller("aerosonde"), 25.0).flown_ratio
    braking = glide(Aircraft("aerosonde", **own, propeller_brakes=True), 25.0).flown_ratio
    assert braking < 0.7 * free


@pytest.mark.parametrize("name", NAMES)
def test_wing_stalls_near_stall_angle_and_becomes_flat_plate(name: str) -> None:
    parameters = Aircraft(name).parameters
    polar = stall(name)
    # The same formula (eq. 4.9), twice.
    assert polar.lift == pytest.approx(polar.book_lift, abs=1e-6)
    peak = int(np.argmax(polar.lift))
    # The blend reduces the lift over some 1/M, starting before its middle.
    assert parameters["wing_alpha0"] - 4.0 / parameters["wing_M"] < polar.alpha[peak] < parameters["wing_alpha0"]
    beyond = polar.alpha > parameters["wing_alpha0"] + 10.0 / parameters["wing_M"]
    # e^-10 of the lift of attached flow.
    assert polar.lift[beyond] == pytest.approx(polar.plate_lift[beyond], abs=1e-3)
    after = int(np.argmin(np.abs(polar.alpha - polar.alpha[peak] - math.radians(8.0))))
    assert polar.lift[after] < 0.6 * polar.lift[peak]
    rising = polar.alpha > polar.alpha[peak]
    assert np.all(np.diff(polar.drag[rising]) > 0.0)
    # Attached flow has the book's polar; separated flow does not follow the parabola beyond its validity.
    attached = polar.alpha < polar.alpha[peak] - 4.0 / parameters["wing_M"]
    assert polar.drag[attached] == pytest.approx(polar.book_drag[attached], rel=2e-3)
    assert np.all(polar.drag[beyond] < polar.book_drag[beyond])
    plate = np.abs(polar.alpha - math.radians(80.0)) < math.radians(10.0)
    # The parabola's terms in sin(alpha); a plate across the flow has 1.2 (square) to 2 (long).
    linear = parameters["C_L_O"] + parameters["C_L_alpha"] * np.sin(polar.alpha[plate])
    induced = linear**2 / (math.pi * parameters["wing_epsilon"] * parameters["wing_b"] ** 2 / parameters["wing_s"])
    expected = parameters["C_D_O"] + parameters["C_D_alpha"] * np.sin(polar.alpha[plate]) + induced
    assert polar.drag[plate] == pytest.approx(expected, rel=1e-6)
    assert np.all(polar.lift[plate] < polar.drag[plate])


# C_D = C_D_O + C_D_alpha (C_L - C_L_O) / C_L_alpha + C_L^2 / (pi e AR), without elevator.
BEST_RATIO = {"anaconda": 11.35, "aerosonde": 14.79}
DRAG_AT_15_DEG = {"anaconda": 0.2152, "aerosonde": 0.1178}


@pytest.mark.parametrize("name", NAMES)
def test_shipped_polar_has_the_drag_of_the_wing_it_describes(name: str) -> None:
    polar, parameters = stall(name), Aircraft(name).parameters
    induced = 1.0 / (math.pi * parameters["wing_epsilon"] * parameters["wing_b"] ** 2 / parameters["wing_s"])
    slope = parameters["C_D_alpha"] / parameters["C_L_alpha"]
    parasitic = parameters["C_D_O"] - slope * parameters["C_L_O"]
    best = 1.0 / (2.0 * math.sqrt(parasitic * induced) + slope)
    assert best == pytest.approx(BEST_RATIO[name], abs=0.01)
    # The grid of angles is 0.25 degrees.
    assert np.max(polar.lift / polar.drag) == pytest.approx(best, rel=1e-3)
    assert np.interp(math.radians(15.0), polar.alpha, polar.drag) == pytest.approx(DRAG_AT_15_DEG[name], abs=1e-4)


def test_shipped_aerosonde_flies_level_at_20_m_per_s_with_two_thirds_of_its_throttle() -> None:
    found = trim(Aircraft("aerosonde").model, FlightCondition(20.0))
    assert found.inputs[3] == pytest.approx(0.64, abs=0.005)


@pytest.mark.parametrize("radius", [150.0, -100.0])
@pytest.mark.parametrize("name", NAMES)
def test_trimmed_turn_is_steady_and_coordinated(name: str, radius: float) -> None:
    airspeed = CRUISE[name]
    flown = turn(Aircraft(name), FlightCondition(airspeed, 0.0, radius, ALTITUDE))
    gravity = 9.81
    # Rounding, grown by an unstable spiral over 20 s.
    assert flown.radius == pytest.approx(abs(radius), rel=1e-6)
    assert flown.height_drift < 1e-3
    assert flown.rate == pytest.approx(airspeed / radius, rel=1e-6)
    # Forces without a side component carry the weight and bend the path. This is exact for the load factor; the bank
    # is measured about the fuselage, which is pitched by some degrees.
    assert flown.load_factor == pytest.approx(math.hypot(1.0, airspeed**2 / radius / gravity), rel=1e-6)
    pitch = flown.flight.euler[0, 1]
    slack = 1.0 / math.cos(pitch) - 1.0 + 1e-3
    assert flown.rate == pytest.approx(gravity * math.tan(flown.bank) / airspeed, rel=slack)
    assert flown.load_factor == pytest.approx(1.0 / math.cos(flown.bank), rel=slack)


@pytest.mark.parametrize("name", NAMES)
def test_gliding_flight_dissipates_energy_through_drag(name: str) -> None:
    balance = energy_balance(name, CRUISE[name])
    # The flight exchanges much energy: the airspeed varies by more than a tenth.
    assert np.ptp(balance.flight.speed) > 0.1 * CRUISE[name]
    lost = abs(balance.energy[-1])
    # The wrench is held over each step, so its work is late by half a step: 4e-5 at 400 Hz, falling with the step.
    assert np.max(np.abs(balance.energy - balance.work)) < 2e-4 * lost
    # Lift does no work; the difference from the work of drag is the work of the moments.
    assert np.max(np.abs(balance.work - balance.work_of_drag)) < 1e-3 * lost

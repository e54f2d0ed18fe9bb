"""Trimmed states of every vehicle are steady; impossible flight conditions are refused with the reason."""

import math
from functools import cache

import numpy as np
import pytest

from rosflight_py_sim.commands.vehicle_models import SteadyVehicle, steady_vehicle
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.physics.battery import full_battery
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS
from rosflight_py_sim.physics.linearisation import LATERAL, LONGITUDINAL, STATES, linearise, truth_of
from rosflight_py_sim.physics.powertrain import load_battery, powertrain_of, turn_rotors
from rosflight_py_sim.physics.rotations import rotate_to_inertial
from rosflight_py_sim.physics.trim import CONVERGED, FlightCondition, TrimError, trim
from rosflight_py_sim.vehicles import vehicle


@cache
def made(name: str) -> SteadyVehicle:
    chosen = vehicle(name)
    return steady_vehicle(chosen, [chosen.parameter_file])


CONDITIONS = {
    "level": FlightCondition(22.0, altitude=50.0),
    "climb": FlightCondition(22.0, math.radians(4.0), altitude=50.0),
    "descent": FlightCondition(22.0, math.radians(-3.0), altitude=50.0),
    "turn right": FlightCondition(22.0, 0.0, 120.0, 50.0),
    "climbing turn left": FlightCondition(22.0, math.radians(2.0), -150.0, 50.0),
}


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
@pytest.mark.parametrize("name", ["anaconda", "aerosonde"])
def test_trimmed_aircraft_flies_the_requested_condition(name: str, condition: FlightCondition) -> None:
    model = made(name).model
    found = trim(model, condition)
    assert found.residual < CONVERGED
    w, x, y, z, *velocity = (float(number) for number in found.truth[3:10])
    # Rounding of the rotation, in m/s.
    assert rotate_to_inertial(w, x, y, z, *velocity) == pytest.approx(condition.velocity_ned, abs=1e-12)
    # Body rates make one turn rate about the vertical.
    turn = rotate_to_inertial(w, x, y, z, *(float(rate) for rate in found.truth[10:13]))
    assert turn == pytest.approx([0.0, 0.0, condition.turn_rate], abs=1e-12)
    acceleration = rotate_to_inertial(w, x, y, z, *(float(a) for a in found.truth[13:16]))
    turning = [0.0, condition.turn_rate * condition.velocity_ned[0], 0.0]
    # The residual that counts as converged, in m/s^2.
    assert acceleration == pytest.approx(turning, abs=10.0 * CONVERGED)
    side = model.wrench(found.truth, found.inputs)[1] / model.mass
    assert side == pytest.approx(0.0, abs=10.0 * CONVERGED)
    assert all(i.minimum <= value <= i.maximum for i, value in zip(model.inputs, found.inputs, strict=True))


def test_left_and_right_turns_are_mirrored_except_for_propeller_torque() -> None:
    model = made("anaconda").model
    right, left = (trim(model, FlightCondition(22.0, 0.0, radius, 50.0)) for radius in (150.0, -150.0))
    straight = trim(model, FlightCondition(22.0, altitude=50.0))
    # The torque takes the same share in all three flights, to first order in it.
    assert right.euler[0] == pytest.approx(-left.euler[0], rel=2e-3)
    mean = 0.5 * (right.inputs[[0, 2]] + left.inputs[[0, 2]])
    assert mean == pytest.approx(straight.inputs[[0, 2]], abs=2e-4)


def test_hovering_multirotor_loads_rotors_equally_and_keeps_heading() -> None:
    steady = made("multirotor")
    found = trim(steady.model, FlightCondition(0.0, altitude=20.0))
    assert found.inputs == pytest.approx(found.inputs[0], rel=1e-9)
    assert found.euler == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)
    wrench = steady.model.wrench(found.truth, found.inputs)
    assert wrench[2] == pytest.approx(-steady.model.mass * steady.model.gravity, rel=1e-8)
    assert steady.pulse_widths(found.inputs)[0] == pytest.approx(1000.0 + 1000.0 * found.inputs[0])


def test_multirotor_pitches_forward_to_fly_forward_and_banks_into_the_turn() -> None:
    model = made("multirotor").model
    straight = trim(model, FlightCondition(8.0, altitude=20.0))
    assert straight.euler[1] < -0.1
    assert straight.euler[0] == pytest.approx(0.0, abs=1e-9)
    turning = trim(model, FlightCondition(8.0, 0.0, -20.0, 20.0))
    assert turning.euler[0] < -0.1


@pytest.mark.parametrize(
    ("name", "condition", "reason"),
    [
        ("anaconda", FlightCondition(60.0), "throttle at the limit of 1"),
        ("aerosonde", FlightCondition(25.0, math.radians(-30.0)), "throttle at the limit of 0"),
        ("aerosonde", FlightCondition(12.0, math.radians(-20.0)), "elevator at the limit of -40 deg"),
        ("anaconda", FlightCondition(5.0), "still accelerates by"),
    ],
)
def test_unflyable_condition_is_rejected_with_the_limiting_quantity(
    name: str, condition: FlightCondition, reason: str
) -> None:
    with pytest.raises(TrimError, match=reason) as caught:
        trim(made(name).model, condition)
    assert f"airspeed {condition.airspeed:g} m/s" in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "expected_error"),
    [
        ((-1.0,), "airspeed -1 given"),
        ((math.nan,), "airspeed nan given"),
        ((20.0, math.pi / 2.0), "flight-path-angle 90 given"),
        ((20.0, 0.0, 0.0), "turn-radius 0 given"),
        ((20.0, 0.0, math.nan), "turn-radius nan given"),
        ((20.0, 0.0, 100.0, math.inf), "altitude inf given"),
    ],
)
def test_invalid_condition_is_rejected(arguments: tuple[float, ...], expected_error: str) -> None:
    with pytest.raises(ParameterError, match=expected_error):
        FlightCondition(*arguments)


def test_linear_model_predicts_change_of_derivative() -> None:
    model = made("aerosonde").model
    found = trim(model, FlightCondition(25.0, altitude=100.0))
    linear = linearise(model, found)
    state = np.array([*found.truth[0:3], *found.truth[7:10], *found.euler, *found.truth[10:13]])
    change = 1e-4 * np.array([0, 0, 0, 1.0, -0.5, 0.7, 0.1, 0.2, 0.3, 0.2, -0.1, 0.3])
    inputs = 1e-4 * np.array([0.2, -0.1, 0.1, 0.3])
    predicted = (linear.a @ change + linear.b @ inputs)[[9, 10, 11]]
    seen = model.derivative(truth_of(state + change), found.inputs + inputs)[10:13]
    still = model.derivative(truth_of(state), found.inputs)[10:13]
    # Second order of the change.
    assert seen - still == pytest.approx(predicted, rel=1e-3, abs=1e-6)


def test_blocks_match_textbook_kinematics_and_modes_are_the_classical_ones() -> None:
    found = trim(made("anaconda").model, FlightCondition(20.0, altitude=50.0))
    linear = linearise(made("anaconda").model, found)
    a, _ = linear.longitudinal
    theta, u, w = found.euler[1], found.truth[7], found.truth[9]
    h = LONGITUDINAL.index("h")
    # h' = u sin(theta) - w cos(theta), differentiated: differences of 1e-4 are good to 1e-8.
    row = [math.sin(theta), -math.cos(theta), 0.0, u * math.cos(theta) + w * math.sin(theta)]
    assert a[h, :4] == pytest.approx(row, abs=1e-6)
    a, _ = linear.lateral
    assert a[LATERAL.index("phi"), LATERAL.index("p")] == pytest.approx(1.0, abs=1e-8)
    assert linear.a.shape == (len(STATES), len(STATES))


@pytest.mark.parametrize("radius", [math.inf, 90.0, -60.0])
@pytest.mark.parametrize("name", ["anaconda", "aerosonde"])
def test_turning_aircraft_has_the_classical_modes(name: str, radius: float) -> None:
    model = made(name).model
    linear = linearise(model, trim(model, FlightCondition(22.0, 0.0, radius, 50.0)))
    modes = {mode.name: mode for mode in linear.modes}
    assert list(modes)[:2] == ["short period", "phugoid"]
    assert set(modes) == {"short period", "phugoid", "dutch roll", "roll", "spiral"}
    assert modes["phugoid"].natural_frequency < modes["dutch roll"].natural_frequency
    assert modes["spiral"].natural_frequency < modes["roll"].natural_frequency


def test_hover_modes_have_no_aircraft_mode_names() -> None:
    model = made("multirotor").model
    modes = linearise(model, trim(model, FlightCondition(0.0, altitude=20.0))).modes
    assert {mode.name for mode in modes} <= {"longitudinal", "lateral"}


def test_inverted_v_tail_pulse_widths_yield_requested_deflections() -> None:
    steady = made("aerosonde")
    inputs = np.array([0.1, -0.2, 0.05, 0.6])
    pulses = steady.pulse_widths(inputs)
    limit = math.radians(40.0)
    assert pulses[0] == pytest.approx(1500.0 + 500.0 * 0.1 / limit)
    # Ruddervators: rudder is their sum, elevator right less left.
    assert (pulses[1] - 1500.0) + (pulses[2] - 1500.0) == pytest.approx(500.0 * 0.05 / limit)
    assert (pulses[2] - pulses[1]) == pytest.approx(500.0 * -0.2 / limit)
    assert pulses[4] == pytest.approx(1600.0)


def test_stopped_motor_never_draws_charge() -> None:
    values = {**FIXEDWING_PARAMETERS.defaults(), "battery_capacity_mah": 1000.0}
    powertrain = powertrain_of(values)
    battery, still = full_battery(24.0), np.zeros(1)
    load_battery(powertrain, battery, still, still)
    calm = np.zeros((1, 2))
    turn_rotors(powertrain, battery, still, still.copy(), calm, 1.2, math.inf, *np.zeros((3, 1)))
    assert (battery.voltage, battery.current, battery.charge_drawn) == (24.0, 0.0, 0.0)

"""Expressions over a flight."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from rosflight_py_sim.autopilot.mission import Phase
from rosflight_py_sim.missions.autopilot.log import FlightLog
from rosflight_py_sim.missions.autopilot.summary import summarise
from rosflight_py_sim.recording.motion_summary import summarise_motion
from rosflight_py_sim.sweep.expressions import FUNCTIONS, Expression, ExpressionError, values_of
from rosflight_py_sim.vehicles import Actuator

ACTUATORS = [Actuator("motor", 0, True), Actuator("aileron", 1, False)]


@pytest.fixture(scope="module")
def flight() -> dict[str, Any]:
    """A climb at 2 m/s for 10 s, in rows of 0.5 s, with 3 m/s to the east in the second half, level."""
    log = FlightLog(ACTUATORS, Phase)
    for row in range(21):
        time_s = 0.5 * row
        east = 3.0 if time_s >= 5.0 else 0.0
        truth = np.zeros(19)
        truth[2], truth[3], truth[7:10], truth[10] = -2.0 * time_s, 1.0, (0.0, east, -2.0), 0.1
        log.append(time_s, truth, (1.0, 2.0, 3.0), (0.4, -0.2), (0.0, 4.0, 0.0), 24.0, 10.0, Phase(1), 0.0)
    return values_of(log, summarise(log, None, "plane", wall_duration_s=5.0))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3 - 8 / 4 ** 2", 6.5),
        ("-7 // 2", -4.0),
        ("-7 % 3", 2.0),
        ("1 < 2 < 3", 1.0),
        ("1 < 2 > 3", 0.0),
        ("not (1 == 2 or 2 != 2)", 1.0),
        ("max(-truth_state.position_ned[2])", 20.0),
        ("min(truth_state.position_ned[2])", -20.0),
        ("max(1, 2, 3) - min(4, 5)", -1.0),
        ("max(min(time, 3))", 3.0),
        ("max(norm(truth_state.velocity_ned))", math.sqrt(13.0)),
        ("last(hypot(truth_state.velocity_ned[1], truth_state.velocity_ned[2]))", math.sqrt(13.0)),
        ("mean(truth_state.velocity_body[2])", -2.0),
        ("rms(truth_state.velocity_body[2])", 2.0),
        ("std(truth_state.velocity_body[2])", 0.0),
        ("percentile(time, 50)", 5.0),
        ("first(setpoint.position_ned[1]) + last(setpoint.position_ned[0])", 3.0),
        ("duration(truth_state.velocity_ned[1] > 1)", 5.0),
        ("first(where(time, -truth_state.position_ned[2] >= 10))", 5.0),
        ("mean(truth_state.velocity_ned[1] > 1) * 21", 11.0),
        ("max(abs(truth_state.euler[2])) + sin(0) + cos(0) + sqrt(4)", 3.0),
        ("atan2(0, -1)", math.pi),
        ("last(pwm_output.command[1])", -0.2),
        ("last(truth_wind.velocity_ned[1]) + mean(truth_battery.voltage) - mean(truth_battery.current)", 18.0),
        ("max((phase == 1) + (status.error_code == 0))", 2.0),
        ("last(truth_state.quaternion[0]) + last(truth_state.angular_velocity[0])", 1.1),
        ("judge.duration_s", 10.0),
        ("judge.completed + judge.landed", 0.0),
        ("judge.max_height_m", 20.0),
    ],
)
def test_value_of_an_expression(flight: dict[str, Any], text: str, value: float) -> None:
    # A few roundings of numbers below 100.
    assert Expression(text, flight).value(flight) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    "text", ["max(where(time, time > 100))", "first(where(time, time < 0))", "1 / 0 - 1 / 0", "(-1) ** 0.5"]
)
def test_number_that_does_not_exist_is_nan(flight: dict[str, Any], text: str) -> None:
    assert math.isnan(float(Expression(text, flight).value(flight)))


def test_expression_without_a_reduction_is_a_series(flight: dict[str, Any]) -> None:
    assert np.array_equal(Expression("-truth_state.position_ned[2] / 2", flight).value(flight), flight["time"])
    assert Expression("-truth_state.position_ned[2]", flight).time_name == "time"


def test_figures_of_the_machine_are_no_names(flight: dict[str, Any]) -> None:
    assert "judge.wall_duration_s" not in flight
    assert "judge.real_time_factor" not in flight


def test_log_of_a_client_program_has_the_names_of_the_motion_only(flight: dict[str, Any]) -> None:
    log = FlightLog(ACTUATORS, Phase)
    for time_s in range(2):
        log.append(time_s, np.eye(19)[3], (0.0,) * 3, (0.0, 0.0), (0.0,) * 3, 0.0, 0.0, Phase(0))
    assert set(values_of(log, summarise_motion(log))) < set(flight)


def test_duration_takes_the_time_of_the_vehicle_in_its_condition() -> None:
    flight = {"a.time": np.arange(3.0), "b.time": np.arange(5.0), "b.x": np.ones(5), "ab.time": np.arange(7.0)}
    assert Expression("duration(b.x > 0)", flight).value(flight) == 4.0
    assert Expression("duration(b.x > 0) + duration(ab.time >= 0)", flight).value(flight) == 10.0
    assert Expression("2 * b.x", flight).time_name == "b.time"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "not an expression"),
        ("1 +", "not an expression: invalid syntax"),
        ("1; 2", "not an expression"),
        ("tme + 1", "column 1: tme given; allowed: judge."),
        ("1 + truth_stat.position_ned[2]", "column 5: truth_stat.position_ned given; allowed: "),
        ("truth_stat.position_ned[2]", "(did you mean truth_state.position_ned?)"),
        ("time.real", "column 1: time.real given"),
        ("judge", "column 1: judge given"),
        ("men(time)", "column 1: men given; allowed: abs, sqrt, "),
        ("men(time)", "(did you mean mean?)"),
        ("mean(time, 2)", "column 1: mean(time, 2) given; allowed: mean(x)"),
        ("mean(x=time)", "allowed: mean(x)"),
        ("mean(*time)", "column 6: *time given; allowed: numbers, names, components, functions"),
        ("atan2(time)", "allowed: atan2(y, x)"),
        ("'text'", "column 1: 'text' given; allowed: numbers"),
        ("True", "True given; allowed: numbers"),
        ("1j", "1j given; allowed: numbers"),
        ("[1, 2]", "[1, 2] given; allowed: numbers"),
        ("time if 1 else 2", "given; allowed: numbers"),
        ("time @ time", "given; allowed: numbers"),
        ("~1", "given; allowed: numbers"),
        ("time is time", "given; allowed: numbers"),
        ("(x := 1)", "given; allowed: numbers"),
        ("lambda: 1", "given; allowed: numbers"),
        ("[x for x in time]", "given; allowed: numbers"),
        ("().__class__", "given; allowed: judge."),
        ("__import__('os').system('true')", "allowed: abs, sqrt"),
        ("max.__globals__", "allowed: judge."),
        ("truth_state.position_ned[-1]", "column 26: -1 given; allowed: the number of a component, from 0"),
        ("truth_state.position_ned[0:2]", "allowed: the number of a component, from 0"),
        ("truth_state.position_ned[True]", "allowed: the number of a component, from 0"),
        ("1+(" * 300, "not an expression"),
        ("-" * 999 + "1", "not an expression"),
        ("1" * 400, "not an expression"),
        ("x" * 1001, "1001 characters given; allowed: at most 1000"),
    ],
)
def test_what_is_not_allowed_is_refused_with_its_place(flight: dict[str, Any], text: str, error: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        Expression(text, flight)
    assert error in str(raised.value)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("1 + truth_state.position_ned[3]", "column 5: component 3 given; allowed: 0 to 2"),
        ("pwm_output.command[2]", "component 2 given; allowed: 0 to 1"),
        ("time[0]", "a series given; allowed: a vector, such as truth_state.position_ned"),
        ("norm(time)", "a series given; allowed: a vector"),
        ("norm(3)", "a number given; allowed: a vector"),
        ("mean(truth_state.position_ned)", "a vector given; allowed: a series, such as time"),
        ("last(3)", "a number given; allowed: a series"),
        ("duration(1 > 0)", "a number given; allowed: a series"),
        ("percentile(time, 101)", "allowed as the second argument: a number from 0 to 100"),
        ("percentile(time, time)", "allowed as the second argument: a number from 0 to 100"),
        ("truth_state.position_ned + truth_state.quaternion", "could not be broadcast"),
        ("where(time, time > 2) + time", "could not be broadcast"),
    ],
)
def test_values_that_do_not_fit_are_refused_with_their_place(flight: dict[str, Any], text: str, error: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        Expression(text, flight).value(flight)
    assert error in str(raised.value)
    assert f"'{text}', column " in str(raised.value)


def test_each_function_is_listed_under_its_name() -> None:
    assert all(one.call.startswith(f"{name}(") and one.text for name, one in FUNCTIONS.items())

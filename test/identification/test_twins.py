"""Identification of simulated vehicles whose parameters are known: values, errors, refusals, files, comparison."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from proof.identification import Twin, twin, with_values
from rosflight_py_sim.commands.identify import places_of, subject_of
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.identification.comparison import compare
from rosflight_py_sim.identification.findings import Findings
from rosflight_py_sim.identification.flight_log import FlightLog, FlightLogError, Series
from rosflight_py_sim.identification.identification import (
    Identification,
    Subject,
    identify,
    lag_of,
    unlikely_errors,
    unsettled,
)
from rosflight_py_sim.identification.identified_vehicle import write_vehicle
from rosflight_py_sim.identification.output_error import (
    ACCEL_BIAS,
    ACCEL_MATRIX,
    LOCALS,
    OF_LOG,
    PRIOR,
    WIND,
    Residuals,
)
from rosflight_py_sim.identification.report import comparison_page, identification_page
from rosflight_py_sim.identification.search import ResidualSearch, fit
from rosflight_py_sim.identification.shooting import shots_of
from rosflight_py_sim.vehicles import vehicle

# On a machine with many other programs, a fit of a short flight takes minutes.
pytestmark = pytest.mark.timeout(900)

# Short, so that it is cheap: half of the manoeuvres, and about a dozen stretches.
SECONDS = 17.0


@pytest.fixture(scope="module")
def flown() -> Twin:
    return twin(11, seconds=SECONDS)


@pytest.fixture(scope="module")
def subject() -> Subject:
    return subject_of(vehicle("multirotor"))


@pytest.fixture(scope="module")
def result(flown: Twin, subject: Subject) -> Identification:
    # Drag takes more speeds than a short flight has.
    known = {name: flown.true[name] for name in ("CD", "CD_induced", "motor_time_constant")}
    return identify(with_values(subject, known), [flown.log], ["CT_0", "CQ_0", "Jxx", "Jyy", "Jzz"])


def test_estimates_are_near_the_true_values_and_within_their_errors(result: Identification, flown: Twin) -> None:
    assert [one.name for one in result.estimates] == ["CT_0", "CQ_0", "Jxx", "Jyy", "Jzz"]
    for one in result.estimates:
        true = flown.true[one.name]
        # The file is up to a quarter off.
        assert one.value == pytest.approx(true, rel=0.06), one.name
        # One in 15,000 of normally distributed numbers is beyond four errors.
        assert abs(one.value - true) < 4.0 * one.standard_error, one.name


def test_fit_that_has_not_converged_names_what_still_changes(flown: Twin, subject: Subject) -> None:
    shots = shots_of([flown.log], subject.outputs, length_s=1.0, warm_up_s=lag_of(subject), origin_altitude=0.0)
    shots = shots.taken(range(4))
    mass = float(subject.values["mass"])  # type: ignore[arg-type]
    problem = Residuals(
        shots, lambda theta: subject.model({"mass": mass * (1.0 + theta[0])}), 1, subject.mounting, 0.0, lambda _: 0.0
    )
    unbounded = np.full(1 + OF_LOG, np.inf)
    search = ResidualSearch(problem, np.zeros(1 + OF_LOG), np.zeros((4, LOCALS)), (-unbounded, unbounded))
    estimate = fit(search, lambda _: None, steps=2)
    worst = estimate.times_s[np.argmax(estimate.costs)]
    assert re.search(rf"after 2 steps: .* changed mass by .*; .* begin at {worst:.1f} s", unsettled(estimate, ["mass"]))
    assert not unsettled(fit(search, lambda _: None), ["mass"])


def test_held_out_stretches_are_explained_better_than_before(result: Identification) -> None:
    before, after = (result.held_out.errors(one) for one in (result.held_out.before, result.held_out.after))
    assert np.all(after[:6] < before[:6])
    # Noise of the accelerometer and gusts remain.
    assert np.all(after[:3] < 0.1)


def test_derivatives_by_the_unknowns_of_a_log_are_those_of_its_residuals(flown: Twin, subject: Subject) -> None:
    shots = shots_of(
        [flown.log], subject.outputs, length_s=1.0, warm_up_s=lag_of(subject), origin_altitude=0.0, with_airspeed=False
    )
    shots = shots.taken([0, len(shots) - 1])
    problem = Residuals(shots, lambda _: subject.model({}), 0, subject.mounting, 0.0, lambda _: 0.0)
    theta, local = 0.1 * PRIOR * np.random.default_rng(1).normal(size=OF_LOG), np.zeros((2, LOCALS))
    derivatives, _ = problem.jacobian(theta, local)
    for column, size in enumerate(1e-3 * PRIOR):
        step = np.eye(OF_LOG)[column] * size
        slope = (problem.residuals(theta + step, local) - problem.residuals(theta - step, local)) / (2.0 * size)
        # The model's motion is not linear in the wind.
        tolerance = 1e-2 if column < WIND.stop else 1e-6
        np.testing.assert_allclose(derivatives[:, column], slope, atol=tolerance * np.abs(slope).max(), rtol=0.0)


def test_biases_that_drift_do_not_move_the_estimates(flown: Twin, subject: Subject, result: Identification) -> None:
    drifting = dataclasses.replace(flown.log, channels=dict(flown.log.channels))
    # As much as a unit at the limits of its data sheet that warms up by 6 K.
    for name, most in (("gyro", 0.017), ("accel", 0.03)):
        logged = flown.log.channels[name]
        place = np.linspace(-1.0, 1.0, len(logged.time_s))[:, None]
        drift = most * np.array([1.0, -1.0, 0.5]) * (place + 0.3 * place**2)
        drifting.channels[name] = logged._replace(values=logged.values + drift)
    known = {name: flown.true[name] for name in ("CD", "CD_induced", "motor_time_constant")}
    found = identify(with_values(subject, known), [drifting], ["CT_0", "CQ_0", "Jxx", "Jyy", "Jzz"])
    for one, other in zip(found.estimates, result.estimates, strict=True):
        assert abs(one.value - other.value) < 0.5 * other.standard_error, one.name


def test_parameters_that_have_the_same_effect_are_refused_by_name(flown: Twin, subject: Subject) -> None:
    # The drag is their product.
    flight = identify(with_values(subject, dict(flown.true)), [flown.log], ["CT_0", "CD", "A_c"])
    (refused,) = (one for one in flight.refused if one.name in ("CD", "A_c"))
    other = "A_c" if refused.name == "CD" else "CD"
    assert re.search(rf"is not estimated: .*, as the logs do not tell it from {other}; it takes ", str(refused))
    assert "CT_0" in flight.changes


def test_latency_of_the_imu_is_told_from_the_lag_of_the_motors(subject: Subject) -> None:
    # Stamped at their arrival, 10 ms late.
    late = twin(5, seconds=SECONDS, settings={"imu_latency": 0.01, "sensor_stamps": "arrival", "gnss_latency": 0.0})
    names = ["Jxx", "Jyy", "motor_time_constant", "imu_latency"]
    found = {one.name: one for one in identify(with_values(subject, late.true, names), [late.log], names).estimates}
    latency, lag = found["imu_latency"], found["motor_time_constant"]
    assert abs(latency.value - 0.01) < 3.0 * latency.standard_error
    assert latency.value == pytest.approx(0.01, abs=1e-3)
    assert lag.value == pytest.approx(late.true["motor_time_constant"], rel=0.03)


def test_names_that_cannot_be_fitted_are_refused(flown: Twin, subject: Subject) -> None:
    for names, reason in (
        (["CT_O"], r"--fit: CT_O given; allowed: parameters of the vehicle, such as .*CT_0"),
        (["rotor_inflow"], r"--fit: rotor_inflow given, a text; allowed: numbers"),
        (["Jxy"], r"--fit: Jxy given, which is 0 in the vehicle's file"),
        (["CT_0", "CT_0"], r"--fit: CT_0 given twice"),
    ):
        with pytest.raises(ParameterError, match=reason):
            identify(subject, [flown.log], names)


def test_log_without_flight_is_refused(flown: Twin, subject: Subject) -> None:
    short = dataclasses.replace(flown.log, channels=dict(flown.log.channels))
    outputs = short.channels["outputs"]
    short.channels["outputs"] = outputs._replace(values=np.full_like(outputs.values, 1000.0))
    with pytest.raises(FlightLogError, match=r"no stretch of 1 s in the air.*17.0 s long, 0.0 s with outputs above"):
        identify(subject, [short], ["CT_0"])
    del short.channels["velocity"]
    with pytest.raises(FlightLogError, match=r"has no velocity"):
        identify(subject, [short], ["CT_0"])


def seldom(log: FlightLog, rows: int) -> FlightLog:
    """The log with one in so many of its outputs."""
    outputs = log.channels["outputs"]
    few = Series(outputs.time_s[::rows], outputs.values[::rows])
    return dataclasses.replace(log, channels={**log.channels, "outputs": few})


def test_log_that_hides_outputs_shows_forces_but_no_moments(flown: Twin, subject: Subject) -> None:
    known = {name: flown.true[name] for name in ("CD", "CD_induced", "motor_time_constant")}
    result = identify(with_values(subject, known), [seldom(flown.log, 8)], ["CT_0", "Jxx"])
    (thrust,), (inertia,) = result.estimates, result.refused
    # The file is 14 % off.
    assert thrust.value == pytest.approx(flown.true["CT_0"], rel=0.04)
    assert abs(thrust.value - flown.true["CT_0"]) < 4.0 * thrust.standard_error
    assert (thrust.name, inertia.name) == ("CT_0", "Jxx")
    assert re.match(
        r"in twin 11, outputs are logged every 20 ms; those in between make up \d+ % of their var", inertia.reason
    )
    # The model turns as the vehicle did, so that there is nothing to compare.
    assert np.isnan(result.held_out.errors(result.held_out.after)[:3]).all()
    assert "gyro x" not in identification_page(Findings(result, None, None), "multirotor", result.logs)


def test_log_that_hides_outputs_is_compared_without_the_rates(flown: Twin, subject: Subject) -> None:
    gap = compare(subject, seldom(flown.log, 8), stretch_s=1.0)
    rms, _ = gap.errors(1.0)
    assert np.isnan(rms[:3]).all()
    # With the thrust of the vehicle's file, a seventh too great.
    assert 0.5 < rms[5] < 3.0
    assert any("the logged angular rates are prescribed" in note for note in gap.notes)


def test_fit_finds_a_thrust_that_is_several_times_that_of_the_file(flown: Twin, subject: Subject) -> None:
    known = {
        name: flown.true[name] for name in ("CD", "CD_induced", "motor_time_constant", "CQ_0", "Jxx", "Jyy", "Jzz")
    }
    weak = with_values(subject, {**known, "CT_0": 0.25 * flown.true["CT_0"]})
    steps: list[str] = []
    (thrust,) = identify(weak, [flown.log], ["CT_0"], progress=steps.append).estimates
    assert thrust.value == pytest.approx(flown.true["CT_0"], rel=0.02)
    # 8 steps; 20 from the file's thrust. Fits of real flights did not get there at all.
    assert len(steps) < 14


def test_error_that_no_accelerometer_has_is_one_of_the_model(flown: Twin, result: Identification) -> None:
    of_logs = np.zeros((1, OF_LOG))
    assert unlikely_errors([flown.log], of_logs) == []
    of_logs[0, ACCEL_BIAS.stop - 1] = -2.7
    (note,) = unlikely_errors([flown.log], of_logs)
    assert note.startswith(
        "twin 11: the fit needs a bias along z of -2.7 m/s^2 in the accelerometer, 7 times the usual"
    )
    of_logs[0, ACCEL_MATRIX.stop - 1] = 0.2
    (note,) = unlikely_errors([flown.log], of_logs)
    assert note.startswith(
        "twin 11: the fit needs a scale error along z of 0.2 in the accelerometer, 12 times the usual"
    )
    assert not any("usual size" in note for note in result.notes)


def test_log_that_hides_the_thrust_is_refused(flown: Twin, subject: Subject) -> None:
    log = seldom(flown.log, 1)
    scattered = log.channels["outputs"].values.copy()
    scattered[::2, list(subject.motors)] += 300.0
    log.channels["outputs"] = Series(log.channels["outputs"].time_s * 4.0, scattered)
    text = r"outputs are logged every 10 ms; those in between make up [\d.e+]+ % of the variance of their mean; allowed"
    with pytest.raises(FlightLogError, match=text):
        identify(subject, [log], ["CT_0"])


def test_vehicle_file_of_the_estimates_is_a_vehicle_with_their_sources(
    result: Identification, subject: Subject, tmp_path: Path
) -> None:
    chosen = vehicle("multirotor")
    places = {one.name: places_of(chosen, one.name) for one in result.estimates}
    written = write_vehicle(result.estimates, result.logs, chosen.file, chosen.parameter_file, places, tmp_path)
    own = vehicle(str(written))
    assert own.actuators == chosen.actuators
    assert own.firmware_file == chosen.firmware_file
    values = subject_of(own).values
    for one in result.estimates:
        assert values[one.name] == pytest.approx(one.value, rel=1e-4)
        line = next(
            line for line in own.parameter_file.read_text().splitlines() if line.strip().startswith(f"{one.name}:")
        )
        assert re.search(r"# standard error \S+.*; before \S+; from twin 11", line), line
    unchanged = values.keys() - {one.name for one in result.estimates}
    assert {name: values[name] for name in unchanged} == {name: subject.values[name] for name in unchanged}


def test_page_shows_estimates_errors_and_plots(result: Identification) -> None:
    page = identification_page(Findings(result, None, None), "multirotor", result.logs)
    for text in ("Identification of multirotor", "standard error", "Correlations", "gyro x", "mean wind"):
        assert text in page
    assert page.count("<svg") == 9


def test_gap_grows_with_the_horizon_and_is_smaller_for_the_vehicle_that_flew(flown: Twin, subject: Subject) -> None:
    same = compare(with_values(subject, dict(flown.true)), flown.log, stretch_s=1.0)
    other = compare(subject, flown.log, stretch_s=1.0)
    assert same.horizons_s == [0.25, 0.5, pytest.approx(1.0)]
    rates = [float(np.linalg.norm(same.errors(horizon_s)[0][:3])) for horizon_s in same.horizons_s]
    assert rates == sorted(rates)
    assert np.linalg.norm(other.errors(1.0)[0][:3]) > 2.0 * rates[-1]
    assert "Log and simulation" in comparison_page(same)


def test_model_turns_with_prescribed_rates_whatever_its_moments(subject: Subject) -> None:
    steps, step_s = 200, 0.005
    time_s = step_s * np.arange(steps)
    rates = np.stack([0.8 * np.sin(9.0 * time_s), 0.5 * np.cos(7.0 * time_s), 1.2 * np.sin(3.0 * time_s)], axis=1)
    # The outputs would pitch the vehicle over.
    pulses_us = np.tile([1700.0, 1300.0, 1300.0, 1700.0, *[0.0] * 10], (steps, 1))
    start = np.zeros((1, 19))
    start[0, 2], start[0, 3], start[0, 10:13] = -50.0, 1.0, rates[0]
    still = np.zeros((1, 3))
    arguments = (pulses_us, start, 0, steps, step_s, still, still, np.full(1, np.nan))
    states = subject.model({}).fly(*arguments, rates)
    # An extrapolated moment leads by half of a step's change.
    np.testing.assert_allclose(states[:, 10:13], rates, atol=0.03)
    assert np.abs(subject.model({}).fly(*arguments)[-1, 11]) > 5.0

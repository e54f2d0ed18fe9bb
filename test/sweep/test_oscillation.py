"""An attitude that oscillates by too high gains is named; wind, manoeuvres and failures are no oscillations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from short_flights import flown_directly

from rosflight_py_sim.autopilot.mission import Phase
from rosflight_py_sim.missions.autopilot.log import FlightLog
from rosflight_py_sim.missions.oscillation import OscillationWatch, oscillation_of
from rosflight_py_sim.recording.state_log import Array
from rosflight_py_sim.sweep.definition import run_of, scenario_of
from rosflight_py_sim.sweep.fly_run import fly_directly
from rosflight_py_sim.sweep.sweep_file import read_sweep
from rosflight_py_sim.vehicles import Actuator

pytestmark = pytest.mark.timeout(300)

PROJECT = Path(__file__).parents[2]
TINY = PROJECT / "test" / "data" / "tiny_quadrotor" / "tiny_quadrotor.yaml"


def log_of(roll_rate: Array, yaw_rate: Array | None = None) -> FlightLog:
    """A log of 50 rows per second with these rates."""
    log = FlightLog([Actuator("motor", 0, True)], Phase)
    for row, rate in enumerate(roll_rate):
        truth = np.zeros(19)
        truth[3], truth[10] = 1.0, rate
        truth[12] = 0.0 if yaw_rate is None else yaw_rate[row]
        log.append(0.02 * row, truth, (0.0, 0.0, 0.0), (0.4,), (0.0, 0.0, 0.0), 24.0, 10.0, Phase(1), 0.0)
    return log


TIMES = 0.02 * np.arange(500)


@pytest.mark.parametrize("frequency_hz", [4.0, 7.3, 12.0, 19.0])
def test_oscillation_is_found_with_its_frequency_and_amplitude(frequency_hz: float) -> None:
    fast = 3.0 * np.sin(2.0 * np.pi * frequency_hz * TIMES)
    slow = np.sin(2.0 * np.pi * 0.3 * TIMES)
    found = oscillation_of(log_of(np.where(TIMES < 4.0, 0.0, fast) + slow))
    assert found is not None and found.axis == "roll"
    assert found.frequency_hz == pytest.approx(frequency_hz, rel=0.1)
    assert found.amplitude == pytest.approx(3.0, rel=0.25)
    assert found.begin_s in (3.0, 4.0)


def test_oscillation_of_a_growing_log_is_found_in_its_first_complete_window() -> None:
    rates = np.where(TIMES < 4.0, 0.0, 3.0 * np.sin(2.0 * np.pi * 12.0 * TIMES))
    watch, whole, log = OscillationWatch(), log_of(rates), log_of(rates[:1])
    for row in range(1, len(TIMES)):
        truth = np.zeros(19)
        truth[3], truth[10] = 1.0, rates[row]
        log.append(TIMES[row], truth, (0.0, 0.0, 0.0), (0.4,), (0.0, 0.0, 0.0), 24.0, 10.0, Phase(1), 0.0)
        watch.observe(log)
        if watch.found is not None:
            break
    assert watch.found == oscillation_of(whole)
    # The window begins at 3 s or 4 s and is 2 s long.
    assert log.time_s[-1] == pytest.approx(watch.found.begin_s + 2.0, abs=0.03)


def test_strongest_axis_is_named() -> None:
    fast = np.sin(2.0 * np.pi * 8.0 * TIMES)
    found = oscillation_of(log_of(fast, 2.0 * fast))
    assert found is not None and found.axis == "yaw"
    assert "PID_YAW_RATE_P" in str(found) and "rosflight_py_sim gains" in str(found)


@pytest.mark.parametrize(
    "rate",
    [
        0.2 * np.sin(2.0 * np.pi * 8.0 * TIMES),
        5.0 * np.sin(2.0 * np.pi * 0.8 * TIMES),
        np.random.default_rng(1).normal(size=len(TIMES)),
        np.where(TIMES < 5.0, 0.0, 30.0),
        20.0 * TIMES,
        np.zeros(1),
    ],
    ids=["small", "slow", "noise", "jump", "spin", "one row"],
)
def test_other_motion_is_no_oscillation(rate: Array) -> None:
    assert oscillation_of(log_of(rate)) is None


def sweep_of(tmp_path: Path, vehicle: str, further: str = "") -> Path:
    file = tmp_path / "flight.yaml"
    file.write_text(f"description: A mission\nvehicle: {vehicle}\nruns: 1\nlimit: 90\n{further}")
    return file


def test_failed_flight_of_a_small_vehicle_with_the_gains_of_a_large_one_says_why(tmp_path: Path) -> None:
    row = flown_directly(read_sweep(sweep_of(tmp_path, str(TINY))))
    assert not row.succeeded
    assert "rate oscillates at 19 Hz" in row.reason
    assert "too high for this vehicle; rosflight_py_sim gains designs them" in row.reason


WIND = f"parameter_files: [{PROJECT / 'config' / 'wind.yaml'}]\n"


@pytest.mark.parametrize(
    ("vehicle", "further"),
    [
        ("multirotor", WIND),
        ("hexarotor", WIND),
        ("octorotor", WIND),
        ("fixedwing", WIND),
        ("aerosonde", WIND),
        ("anaconda", WIND),
        ("bluerov2", ""),
        ("multirotor", "failures: [motor 2 off at 15]\n"),
        ("multirotor", "failures: [gyro noisy 0.3 at 12]\n"),
        ("multirotor", "failures: [gyro wrong by 0 0.5 0 at 12]\n"),
        ("multirotor", "failures: [wind front 15 0 0 at 12]\n"),
        ("hexarotor", "failures: [motor 2 off at 15]\n"),
        ("octorotor", "failures: [motor 2 noisy 100 at 12]\n"),
        ("aerosonde", "failures: [servo 2 stuck at 30]\n"),
        ("anaconda", "failures: [servo 1 noisy 100 at 30]\n"),
    ],
)
def test_shipped_missions_in_wind_and_with_failures_have_no_oscillation(
    tmp_path: Path, vehicle: str, further: str
) -> None:
    sweep = read_sweep(sweep_of(tmp_path, vehicle, further))
    (judge,) = fly_directly(scenario_of(sweep, run_of(sweep, 0)), sweep.limit_s)
    assert len(judge.log) > 1000
    assert oscillation_of(judge.log) is None

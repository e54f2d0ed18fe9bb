"""Gains of multirotors by loop shaping: bandwidth and margins as stated, measured in flight."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import hover_flights
import numpy as np
import pytest

from rosflight_py_sim.commands import cli
from rosflight_py_sim.commands.gains import design_inputs
from rosflight_py_sim.firmware.command import QX, QZ
from rosflight_py_sim.firmware.multirotor_gains import (
    Axis,
    AxisDesign,
    Hover,
    designed,
    firmware_gains,
    margins,
    step_response,
)
from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.missions.catalogue import single_scenario
from rosflight_py_sim.physics.steady_model import Array
from rosflight_py_sim.sweep.fly_run import fly_directly
from rosflight_py_sim.vehicles import vehicle

pytestmark = pytest.mark.timeout(300)

PROJECT = Path(__file__).parents[2]
TINY = str(PROJECT / "test" / "data" / "tiny_quadrotor" / "tiny_quadrotor.yaml")
VEHICLES = ("multirotor", "hexarotor", "octorotor", TINY)


@cache
def hover_of(name: str) -> Hover:
    return design_inputs(vehicle(name))[0]


@cache
def design_of(name: str) -> dict[str, AxisDesign]:
    return designed(hover_of(name))


def axis(lag_s: float = 0.03, low_pass: float = 0.0, step_s: float = 1e-5) -> Axis:
    """A rigid body whose torque lags."""
    motion = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return Axis(10.0, motion, lag_s, 0.0, step_s, True, low_pass)


def test_crossover_of_an_integrator_with_lag_is_that_of_the_closed_form() -> None:
    # phase margin = 90 deg - atan(lag * crossover)
    assert axis().highest_crossover(60.0) == pytest.approx(math.tan(math.radians(30.0)) / 0.03, rel=2e-3)


def test_margins_of_an_integrator_with_lag_and_delay_are_those_of_the_closed_form() -> None:
    frequencies = np.geomspace(0.05, 1000.0, 20000)
    s = 1j * frequencies
    found = margins(5.0 / s * np.exp(-0.1 * s), frequencies)
    assert found.phase_deg == pytest.approx(90.0 - math.degrees(0.5), abs=0.1)
    # The lag counts as a reversal from 179 deg on.
    assert found.oscillation == pytest.approx(math.pi / 0.2, rel=0.02)
    assert found.gain_db == pytest.approx(20.0 * math.log10(math.pi), abs=0.2)


def test_step_response_is_that_of_the_closed_form() -> None:
    frequencies = np.geomspace(0.05, 3000.0, 20000)
    times = np.array([0.05, 0.1, 0.3, 1.0])
    response = step_response(1.0 / (0.2j * frequencies + 1.0), frequencies, times)
    np.testing.assert_allclose(response, 1.0 - np.exp(-times / 0.2), atol=2e-3)


def test_gains_are_inversely_proportional_to_the_effect_of_the_torque() -> None:
    one = axis()
    weak = Hover(1.0, 1.0, {"roll": one, "pitch": one, "yaw": one})
    strong = Hover(1.0, 1.0, dict.fromkeys(weak.axes, replace(one, acceleration=30.0)))
    for name in weak.axes:
        # The crossover is one of the 8000 frequencies.
        assert designed(weak)[name].d == pytest.approx(3.0 * designed(strong)[name].d, rel=0.01)
        assert designed(weak)[name].margins.gain_db == pytest.approx(designed(strong)[name].margins.gain_db, abs=0.1)


@pytest.mark.parametrize("name", VEHICLES, ids=lambda name: Path(name).stem)
def test_margins_are_at_least_those_promised(name: str) -> None:
    for one in design_of(name).values():
        assert one.margins.phase_deg >= 40.0
        assert one.margins.gain_db >= 6.0


@pytest.mark.parametrize(("name", "shipped"), [("multirotor", 2.0), ("hexarotor", 8.0), ("octorotor", 14.0)])
def test_design_is_near_the_gains_that_were_found_by_hand(name: str, shipped: float) -> None:
    firmware = FirmwareParameters()
    firmware.load(vehicle(name).firmware_file)
    gains = firmware_gains(design_of(name))
    assert gains["PID_YAW_RATE_P"] == pytest.approx(shipped, rel=0.2)
    for parameter in ("PID_ROLL_ANG_P", "PID_ROLL_ANG_D"):
        assert gains[parameter] == pytest.approx(firmware[parameter], rel=0.45)


def throttle(name: str) -> float:
    hover = hover_of(name)
    masses = {"multirotor": 3.5, "hexarotor": 5.2, "octorotor": 7.0, TINY: 0.03}
    return masses[name] * 9.81 / hover.max_thrust


def flown(
    name: str, size: float, *, row: int = QX, factor_db: float = 0.0, seconds: float = 2.5
) -> tuple[Array, Array]:
    """Flight with a step, with the gains of the step's axis raised."""
    raised = "YAW" if row == QZ else "ROLL"
    gains = {
        parameter: gain * (10.0 ** (factor_db / 20.0) if raised in parameter else 1.0)
        for parameter, gain in firmware_gains(design_of(name)).items()
    }
    return hover_flights.flown(vehicle(name), gains, throttle(name), row=row, value=size, seconds=2.5)


@pytest.mark.parametrize("name", VEHICLES, ids=lambda name: Path(name).stem)
def test_measured_rise_time_is_within_a_fifth_of_the_stated_one(name: str) -> None:
    times, response = hover_flights.roll_response(partial(flown, name), 0.05)
    low, high = (float(times[np.argmax(response >= share)]) for share in (0.1, 0.9))
    assert high - low == pytest.approx(design_of(name)["roll"].rise_time_s, rel=0.2)


@pytest.mark.parametrize("row", [QX, QZ], ids=["roll", "yaw"])
@pytest.mark.parametrize("name", ["multirotor", TINY], ids=lambda name: Path(name).stem)
def test_measured_gain_margin_is_within_two_decibels_of_the_stated_one(name: str, row: int) -> None:
    stated = design_of(name)["yaw" if row == QZ else "roll"].margins.gain_db

    def size(factor_db: float) -> float:
        # A small step: no motor saturates.
        times, states = flown(name, 0.01, row=row, factor_db=stated + factor_db)
        return hover_flights.fast_motion(times, states[:, 10 + row - QX])

    quiet, below, above = size(-6.0), size(-2.0), size(2.0)
    # Near the margin, the loop amplifies the sensors' noise; beyond it, the oscillation grows until motors saturate.
    assert below < 4.0 * quiet
    assert above > 5.0 * below


def test_slow_motors_are_refused_by_name() -> None:
    slow = Hover(1.0, 1.0, dict.fromkeys(("roll", "pitch", "yaw"), axis(lag_s=0.2, step_s=0.0025)))
    with pytest.raises(
        ParameterError,
        match=r"motor_time_constant 0.2 s: the motors are too slow: the roll rate loop can have a crossover of 2\.\d+ "
        r"rad/s with a phase margin of 60 deg; allowed: at least 6 rad/s, which the position controller needs",
    ):
        designed(slow, least_crossover=6.0)
    with pytest.raises(ParameterError, match=r"too slow for a crossover of 60 rad/s: roll .* up to 19 rad/s"):
        designed(hover_of("multirotor"), crossover=60.0)


def test_other_vehicles_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"'aerosonde' given, whose forces come from fixedwing_.*; gains supports"):
        design_inputs(vehicle("aerosonde"))


@pytest.mark.parametrize("name", VEHICLES, ids=lambda name: Path(name).stem)
def test_vehicle_flies_the_square_with_the_file_that_the_command_writes(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "designed.yaml"
    with pytest.raises(SystemExit) as ended:
        cli.main(["gains", name, "--output", str(file)])
    assert not ended.value.code
    assert "PID_ROLL_ANG_P" in capsys.readouterr().out
    chosen = replace(vehicle(name), firmware_file=file)
    (judge,) = fly_directly(single_scenario(chosen), 120.0)
    verdict = judge.verdict()
    assert verdict.completed, verdict.shortfall
    assert judge.summary.tracking_error_rms_m < 0.15  # type: ignore[attr-defined]

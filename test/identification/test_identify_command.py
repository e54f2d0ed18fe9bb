"""Commands identify and compare: from a recording to a vehicle that flies, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_writers import write_recording, write_ulog

from proof.identification import flown_messages
from rosflight_py_sim.commands.cli import main
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.parts.truth import Truth
from rosflight_py_sim.step.pipeline import Pipeline
from rosflight_py_sim.step.topics import BATTERY, CORRECTED_BATTERY, CORRECTED_GNSS, GNSS_FIX, IMU_DATA, PWM_OUTPUT
from rosflight_py_sim.sweep.pipeline_flight import built_parts, planned_parts
from rosflight_py_sim.vehicles import vehicle

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Only the thrust differs from the vehicle's file.
    known = {"Jxx": 0.08, "Jyy": 0.08, "Jzz": 0.12, "CQ_0": 0.00428594, "CD": 2.05, "CD_induced": 0.05}
    settings = {**known, "motor_time_constant": 0.03, "CT_0": 0.08, "turbulence_model": "none"}
    messages, _ = flown_messages(3, seconds=13.0, settings=settings)
    file = tmp_path_factory.mktemp("flight") / "flight.mcap"
    rows = {IMU_DATA: IMU_DATA, PWM_OUTPUT: PWM_OUTPUT, GNSS_FIX: CORRECTED_GNSS, BATTERY: CORRECTED_BATTERY}
    write_recording(file, {rows[row]: messages[row.name] for row in rows})
    return file


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(words)
    return int(ended.value.code or 0)


def test_recording_becomes_a_vehicle_that_flies(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("identify", str(recording), "--vehicle", "multirotor", "--fit", "CT_0", "--output", str(tmp_path))
    assert run(*words) == 0
    shown = capsys.readouterr().out
    assert "CT_0" in shown
    assert "not logged: airspeed, armed" in shown
    assert (tmp_path / "identification.html").stat().st_size > 10_000
    own = vehicle(str(tmp_path / "multirotor_identified.yaml"))
    text = own.parameter_file.read_text()
    thrust = float(text[text.index("CT_0:") :].split()[1])
    assert thrust == pytest.approx(0.08, rel=0.02)
    member = Member(own)
    settings = {"starts_in_flight": True, "starts_on_ground": False, "initial_altitude": 30.0}
    sources = parameter_sources([member], files=[], weakest={"device": "none"}, settings=settings)
    parts = built_parts(planned_parts(member), member, sources)
    line = Pipeline(parts, 2_500_000)
    line.run_until(NANOSECONDS)
    dynamics = next(part for part in parts if isinstance(part, Truth))
    # Hover throttle is that of the file's thrust, so that the vehicle neither falls nor climbs fast.
    assert dynamics.compute_truth()[2] == pytest.approx(-30.0, abs=6.0)


def test_gap_is_printed_by_reading_and_horizon(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "gap.html"
    assert run("compare", str(recording), "--vehicle", "multirotor", "--output", str(page)) == 0
    shown = capsys.readouterr().out
    for text in ("up to 0.25 s", "gyro x, rad/s", "velocity d, m/s", "mean wind: north"):
        assert text in shown
    assert page.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (("identify", "absent.bin", "--vehicle", "multirotor"), 1, "cannot read 'absent.bin': No such file"),
        (("compare", "absent.bin", "--vehicle", "multirotor"), 1, "cannot read 'absent.bin': No such file"),
        (("identify", "absent.bin", "--vehicle", "octocopter"), 1, "vehicle 'octocopter' given; allowed: "),
        (
            ("identify", "absent.bin", "--vehicle", "multirotor", "--stretch", "60"),
            2,
            "'60' given; allowed: 0.2 to 10 s",
        ),
        (("identify", "absent.bin", "--vehicle", "multirotor", "--fit", "CT_0,"), 2, "allowed: names of parameters"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_can(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, reason: str
) -> None:
    assert run(*words) == code
    assert reason in capsys.readouterr().err


def test_log_of_another_type_of_vehicle_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "flight.ulg"
    write_ulog(file, {"vehicle_status": ([("vehicle_type", "B")], [(1000, 1), (2000, 1)])}, {"MAV_TYPE": 13})
    for name, reason in (("aerosonde", "is a fixed wing"), ("multirotor", "with 6 motors, and the vehicle has 4")):
        assert run("identify", str(file), "--vehicle", name) == 1
        told = capsys.readouterr().err
        assert f"'{file}' is the log of a hexarotor (MAV_TYPE 13)" in told
        assert reason in told
    write_ulog(file, {"vehicle_status": ([("vehicle_type", "B")], [(1000, 1), (2000, 1)])}, {"MAV_TYPE": 14})
    assert run("identify", str(file), "--vehicle", "multirotor") == 1
    assert f"'{file}' is the log of an octorotor (MAV_TYPE 14) with 8 motors" in capsys.readouterr().err


def test_vehicle_without_such_a_model_is_refused(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("identify", str(recording), "--vehicle", "auv") == 1
    assert "vehicle 'auv' given" in capsys.readouterr().err

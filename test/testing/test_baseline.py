"""Baselines: unchanged flights are equal to the bit, and a change is found in its first step."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from rosflight_py_sim.commands.cli import main
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.sweep.definition import run_of, scenario_of
from rosflight_py_sim.sweep.fly_run import sources_of
from rosflight_py_sim.sweep.pipeline_flight import PipelineFlight
from rosflight_py_sim.testing.baseline import compared
from rosflight_py_sim.testing.baseline_file import RecordedFlight, read_baseline
from rosflight_py_sim.testing.described import simulation_of
from rosflight_py_sim.testing.flight import fly, prepared
from rosflight_py_sim.testing.flight_trace import FlightTracer, Trace

pytestmark = pytest.mark.timeout(300)

# A square of a few seconds, with a firmware that knows the biases of its IMU.
SHORT = """
    vehicle: multirotor
    seed: 3
    limit: 12
    firmware: {FILT_INIT_T: 0, GYRO_X_BIAS: 0.003, GYRO_Y_BIAS: -0.002, GYRO_Z_BIAS: 0.001}
    parameters: {step_size: 0.005, square_side: 0.5, square_height: 1.0, square_acceleration: 4.0, corner_pause: 0.0,
      landing_height: 0.5, landing_speed: 0.8, acc_bias_range: 0.0, gyro_bias_range: 0.0}
"""
FILE = f"""\
# A comment that stays.
description: Flights that must not change
flights:
  square:{SHORT}    failures: ["motor 2 wrong by -20 at 4"]  # another
    measures: {{highest: "max(-truth_state.position_ned[2])"}}
  calm:{SHORT}"""


def described(**keys: Any):
    """The flight `calm` of the file, with further keys."""
    return simulation_of("a flight", Path(), {**yaml.safe_load(SHORT), **keys})


def command(*arguments: str) -> int:
    """Exit code of the command."""
    with pytest.raises(SystemExit) as ended:
        main(["baseline", *arguments])
    return int(ended.value.code or 0)


def test_unchanged_flights_are_equal_and_the_users_part_of_the_file_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "baseline.yaml"
    file.write_text(FILE, encoding="utf-8")
    assert command("check", str(file)) == 1
    assert "square: not recorded; hash " in capsys.readouterr().out
    assert command("record", str(file)) == 0
    recorded = file.read_text(encoding="utf-8")
    assert recorded.startswith(FILE.rstrip() + "\n\n# Written by")
    capsys.readouterr()
    assert command("check", str(file)) == 0
    out, err = capsys.readouterr()
    assert [line.partition(";")[0] for line in out.splitlines()] == ["square: equal", "calm: equal"]
    assert err == ""
    # A second recording changes nothing.
    assert command("record", str(file)) == 0
    assert file.read_text(encoding="utf-8") == recorded
    data = yaml.safe_load(recorded)["recorded"]["flights"]["square"]
    assert data["outcome"] == "completed" and 0.9 < data["measures"]["highest"] < 1.5
    assert {"sensors", "sil_board", "forces_and_moments", "dynamics", "autopilot"} <= {*data["steps"]}


def test_change_is_shown_with_its_first_step_and_its_measures_and_fails_the_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "baseline.yaml"
    file.write_text(FILE, encoding="utf-8")
    assert command("record", str(file)) == 0
    file.write_text(file.read_text("utf-8").replace("at 4", "at 6"), encoding="utf-8")
    capsys.readouterr()
    assert command("check", str(file)) == 1
    out = capsys.readouterr().out
    # The wrench of 4 s is computed from the outputs with the failure.
    assert "square: changed\n  first difference: step 800, 4.0000 s, node forces_and_moments: " in out
    assert "judge.tracking_error_rms_m" in out and "calm: equal" in out
    # The changed flight replaces the recorded one.
    assert command("record", str(file)) == 0
    assert command("check", str(file)) == 0


@pytest.mark.parametrize(
    ("keys", "topics"),
    [
        ({"failures": ["mag wrong by 0.1 at 3"]}, ("sim/sensors/mag",)),
        ({"failures": ["baro drift 1 at 2.3"]}, ("sim/sensors/baro",)),
        ({"failures": ["wind front 1 0 0 at 3"]}, ("sim/truth_wind",)),
        ({"limit": 5}, ()),
    ],
)
def test_first_difference_is_that_of_the_messages(keys: Mapping[str, Any], topics: tuple[str, ...]) -> None:
    """The traces find the step, node and topics that a comparison of all messages finds."""
    recorded = compared("calm", described(), None).now
    found = compared("calm", described(**keys), recorded)
    assert found.difference is not None
    assert not found.is_accepted(None)
    if not topics:
        assert "sends nothing after that now" in found.difference.text
        return
    one, other = (fly(prepared(described(**more)), list(topics)).flown.messages for more in ({}, keys))
    different = {
        topic: next(
            k for k, pair in enumerate(zip(one[topic], other[topic], strict=False)) if repr(pair[0]) != repr(pair[1])
        )
        for topic in topics
        if repr(one[topic]) != repr(other[topic])
    }
    first_s = min(one[topic][k][0] for topic, k in different.items())
    assert found.difference.time_ns == round(first_s * 1e9)
    assert {topic for topic, k in different.items() if one[topic][k][0] == first_s} <= {*found.difference.topics}
    assert found.step == round(first_s / 0.005)


def test_compiled_steps_and_steps_by_messages_have_the_same_trace() -> None:
    traces: list[Trace] = []
    scenario = scenario_of(described(), run_of(described(), 0))
    for compiles in (True, False):
        tracer = FlightTracer()
        flight = PipelineFlight(scenario.members[0], sources_of(scenario), observe=tracer.observe)
        flight.pipeline.compiles = compiles
        flight.fly(4.0)
        assert flight.pipeline.is_compiled == compiles
        traces.append(tracer.finish())
    assert traces[0] == traces[1]


def test_tolerance_accepts_small_changes_of_measures_but_no_other_outcome(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "baseline.yaml"
    text = FILE.replace("flights:", "tolerance: 0.05\nflights:", 1)
    file.write_text(text, encoding="utf-8")
    assert command("record", str(file)) == 0
    small = file.read_text("utf-8").replace("wrong by -20", "wrong by -21", 1)
    file.write_text(small, encoding="utf-8")
    capsys.readouterr()
    assert command("check", str(file)) == 0
    out = capsys.readouterr().out
    assert "square: within the tolerance of 0.05\n  first difference: step 800, 4.0000 s" in out
    file.write_text(small.replace("motor 2 wrong by -21", "motor 2 off", 1), encoding="utf-8")
    assert command("check", str(file)) == 1
    assert "  outcome: completed recorded, " in capsys.readouterr().out
    file.write_text(small.replace("tolerance: 0.05", "tolerance: 0.000001", 1), encoding="utf-8")
    assert command("check", str(file)) == 1


def test_versions_and_flights_that_differ_from_the_recorded_ones_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "baseline.yaml"
    file.write_text(FILE, encoding="utf-8")
    assert command("record", str(file)) == 0
    recorded = file.read_text("utf-8")
    file.write_text(recorded.replace("numpy: ", "numpy: 0."), encoding="utf-8")
    capsys.readouterr()
    assert command("check", str(file)) == 0
    assert "rosflight_py_sim: recorded with numpy 0." in capsys.readouterr().err
    file.write_text(recorded.replace("  calm:", "  windless:", 1), encoding="utf-8")
    assert command("check", str(file)) == 1
    out = capsys.readouterr().out
    assert "windless: not recorded" in out and "calm: recorded, but not a flight of the file any more" in out


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("flights:", "flight:", "flight: an unknown key given; allowed: description, tolerance, flights"),
        ("seed: 3", "sed: 3", "flights.square.sed: an unknown key given; allowed: vehicle, "),
        ("square_side", "square_sid", "flights.square: parameters.square_sid: there is no parameter"),
        ("max(-truth", "mx(-truth", "flights.square: measures.highest: "),
        (
            "highest:",
            "judge.completed:",
            "flights.square: measures.judge.completed: 'judge.completed' given; allowed: a name of letters",
        ),
        ("limit: 12", "limit: [1]", "flights.square: limit: "),
        ("must not change\n", "x\ntolerance: 2\n", "tolerance: "),
        ("calm:", "ca lm:", "line 14: flights.ca lm: 'ca lm' given; allowed: a name of letters"),
    ],
)
def test_bad_files_are_refused_with_file_and_key(tmp_path: Path, old: str, new: str, error: str) -> None:
    file = tmp_path / "baseline.yaml"
    file.write_text(FILE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ParameterError) as refused:
        read_baseline(file)
    assert str(refused.value).startswith(str(file)) and error in str(refused.value), str(refused.value)


def test_damaged_missing_and_too_large_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "baseline.yaml"
    with pytest.raises(ParameterError, match=r"baseline\.yaml: cannot be read"):
        read_baseline(file)
    file.write_text(FILE, encoding="utf-8")
    baseline = read_baseline(file)
    trace = Trace({"status": "00"}, {"sil_board": "A"})
    baseline.write({"calm": RecordedFlight("completed", 1.0, {}, trace)}, {})
    whole = file.read_text("utf-8")
    assert read_baseline(file).recorded["calm"].trace == trace
    for damage in (whole.replace("status: '00'", "status: '01'"), whole.replace("outcome", "outcom")):
        assert damage != whole
        file.write_text(damage, encoding="utf-8")
        with pytest.raises(ParameterError, match="the part after 'recorded:' is damaged"):
            read_baseline(file)
    large = RecordedFlight("completed", 1.0, {}, Trace({}, {"sil_board": "A" * 1_000_000}))
    with pytest.raises(ParameterError, match="allowed: at most 1000000 bytes"):
        baseline.write({"calm": large}, {})

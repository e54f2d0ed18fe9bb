"""Sweep files: content, errors, and the inputs of runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rosflight_py_sim.graph.fleet import seed_of
from rosflight_py_sim.graph.scenario import load_scenario
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.sweep.definition import Measure, Signal, StopRule, Sweep, run_of, scenario_of
from rosflight_py_sim.sweep.distributions import Choice, Grid, Normal, Uniform
from rosflight_py_sim.sweep.sweep_file import read_sweep
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.vehicles.vehicle_file import VEHICLES

TEXT = """\
description: wind envelope
vehicle: multirotor
runs: 100
seed: 4
parameters:
  use_random_wind: false
  mass: {uniform: [2.8, 3.4]}
  steady_state_wind: [{uniform: [-5, 5]}, {normal: {mean: 0, sigma: 2}}, 0.5]
failures:
  - motor 2 off at {time} for 0.1
  - baro  noisy 3
  - "{sensor} wrong by 1 at {time}"
variables:
  time: {uniform: [5, 20]}
  sensor: {choice: [gyro, accel]}
measures:
  rms: judge.tracking_error_rms_m
  highest: max(-truth_state.position_ned[2])
signals:
  height: -truth_state.position_ned[2]
signal_period: 0.5
stop: {measure: rms, half_width: 0.005, confidence: 0.9, least_runs: 50}
limit: 120
"""

GRID = """\
description: gains
vehicle: multirotor
repeats: 2
parameters:
  horizontal_position_gain: {grid: {from: 1, to: 2, count: 3}}
  mass: {uniform: [3, 4]}
  num_rotors: 4
  vertical_position_gain: {grid: [0.5, 0.8]}
"""

SCENARIO = """\
description: swarm
scenario: swarm
runs: 5
parameters:
  sim_has_wind: false
  leader.mass: {uniform: [3, 4]}
  max_speed: {uniform: [5, 6]}
  right.formation_offset: [-8, {choice: [7.0, 9.0]}, 0]
failures:
  leader: [motor 2 off at 12]
measures:
  rms: leader.judge.tracking_error_rms_m
  apart: min(norm(right.truth_state.position_ned))
"""


FIRMWARE = """\
description: gains of the firmware
scenario: ./pair.yaml
runs: 5
parameters:
  a.mass: 3.1
firmware:
  PID_TAU: 0.06
  PID_ROLL_RATE_P: {uniform: [0.02, 0.03]}
  a.FAILSAFE_THR: {choice: [-1, 0.2]}
  b.RC_ARM_CHN: 8
"""

PAIR = """\
description: two
parameters: {firmware_parameters: [SYS_ID 3]}
vehicles:
  - {name: a, kind: multirotor, autopilot: true}
  - {name: b, kind: multirotor, autopilot: true, parameters: {firmware_parameters: [SYS_ID 4, PID_TAU 0.07]}}
"""


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], Sweep]:
    def read(text: str) -> Sweep:
        file = tmp_path / "sweep.yaml"
        file.write_text(text, encoding="utf-8")
        return read_sweep(file)

    return read


def test_file_is_read_whole(read: Callable[[str], Sweep], tmp_path: Path) -> None:
    sweep = read(TEXT)
    assert sweep.file == tmp_path / "sweep.yaml"
    assert (sweep.description, sweep.runs, sweep.seed, sweep.limit_s) == ("wind envelope", 100, 4, 120.0)
    assert [one.key for one in sweep.quantities] == [
        "mass",
        "steady_state_wind[0]",
        "steady_state_wind[1]",
        "time",
        "sensor",
    ]
    mass, north, east, time, sensor = sweep.quantities
    assert mass.distribution == Uniform(2.8, 3.4)
    assert (mass.parameter.unit, mass.index, mass.is_variable) == ("kg", None, False)
    assert (north.parameter.name, north.parameter.unit, north.index) == ("steady_state_wind", "m/s", 0)
    assert east.distribution == Normal(0.0, 2.0)
    assert time.is_variable
    assert sensor.distribution == Choice(["gyro", "accel"])
    assert list(sweep.measures) == [
        Measure("rms", "judge.tracking_error_rms_m"),
        Measure("highest", "max(-truth_state.position_ned[2])"),
    ]
    assert list(sweep.signals) == [Signal("height", "-truth_state.position_ned[2]", 0.5)]
    assert sweep.stop == StopRule("rms", 0.005, 0.9, 50)


def test_vehicle_flies_as_alone_in_its_weather(read: Callable[[str], Sweep]) -> None:
    scenario = read("description: one\nvehicle: fixedwing\nruns: 1\n").scenario
    (member,) = scenario.members
    assert (member.namespace, member.executables) == ("", ("fixedwing_autopilot",))
    assert scenario.files == [str(vehicle("fixedwing").weather_file)]
    assert scenario.time_mode == "lockstep"


def test_mission_and_files_begin_at_the_folder_of_the_sweep_file(read: Callable[[str], Sweep], tmp_path: Path) -> None:
    for name in ("route.yaml", "still.yaml"):
        (tmp_path / name).touch()
    further = "mission: {waypoints: route.yaml}\nparameter_files: [still.yaml]\n"
    scenario = read("description: one\nvehicle: fixedwing\nruns: 1\n" + further).scenario
    assert scenario.members[0].vehicle.waypoint_file == tmp_path / "route.yaml"
    assert scenario.files[-1] == str(tmp_path / "still.yaml")


def test_inputs_of_a_run_depend_on_its_number_and_the_seed_only(read: Callable[[str], Sweep]) -> None:
    sweep = read(TEXT)
    backwards = [run_of(sweep, number) for number in reversed(range(20))]
    assert [run_of(sweep, number) for number in range(20)] == backwards[::-1]
    assert len({one.seed for one in backwards}) == 20
    assert run_of(read(TEXT.replace("runs: 100", "runs: 50")), 3) == run_of(sweep, 3)
    assert run_of(read(TEXT.replace("seed: 4", "seed: 5")), 3) != run_of(sweep, 3)
    # Recorded value: any other would change every table.
    assert run_of(sweep, 3).seed == 468758441


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ("choice: [1, 2]", int),
        ("grid: [1, 2]", int),
        ("choice: [1, 2.5]", float),
        ("uniform: [1, 2]", float),
        ("log_uniform: [1, 2]", float),
    ],
)
def test_variable_has_the_type_of_its_listed_values(read: Callable[[str], Sweep], values: str, kind: type) -> None:
    runs = "" if "grid" in values else "runs: 3\n"
    text = (
        f"description: one\nvehicle: multirotor\n{runs}variables: {{x: {{{values}}}}}\nfailures: ['baro noisy {{x}}']\n"
    )
    assert type(run_of(read(text), 0).values["x"]) is kind


def test_step_of_the_simulation_is_a_parameter(read: Callable[[str], Sweep]) -> None:
    sweep = read(TEXT.replace("mass: {uniform: [2.8, 3.4]}", "step_size: {choice: [0.0025, 0.005]}"))
    assert run_of(sweep, 0).values["step_size"] in (0.0025, 0.005)


@pytest.mark.parametrize("number", [-1, 100])
def test_run_that_does_not_exist_is_refused(read: Callable[[str], Sweep], number: int) -> None:
    with pytest.raises(ValueError, match=f"run {number} given; allowed: 0 to 99"):
        run_of(read(TEXT), number)


def test_scenario_of_a_run_has_its_values(read: Callable[[str], Sweep]) -> None:
    sweep = read(TEXT)
    run = run_of(sweep, 7)
    scenario = scenario_of(sweep, run)
    values = run.values
    assert scenario.settings == {
        "use_random_wind": False,
        "mass": values["mass"],
        "steady_state_wind": [values["steady_state_wind[0]"], values["steady_state_wind[1]"], 0.5],
        "failures": [
            f"motor 2 off at {values['time']} for 0.1",
            "baro  noisy 3",
            f"{values['sensor']} wrong by 1 at {values['time']}",
        ],
        "seed": run.seed,
    }
    assert scenario.files == sweep.scenario.files
    # The sweep's own scenario does not change.
    assert scenario_of(sweep, run_of(sweep, 8)).settings["mass"] != values["mass"]


def test_last_grid_changes_fastest_and_each_point_is_repeated(read: Callable[[str], Sweep]) -> None:
    sweep = read(GRID)
    assert sweep.runs == 12
    runs = [run_of(sweep, number) for number in range(12)]
    points = [(one.values["horizontal_position_gain"], one.values["vertical_position_gain"]) for one in runs]
    assert points == [(first, last) for first in (1.0, 1.5, 2.0) for last in (0.5, 0.8) for _ in range(2)]
    assert len({one.values["mass"] for one in runs}) == 12
    assert [isinstance(one.distribution, Grid) for one in sweep.quantities] == [True, False, True]


def test_values_and_failures_are_those_of_their_vehicle_in_a_scenario(read: Callable[[str], Sweep]) -> None:
    sweep = read(SCENARIO)
    run = run_of(sweep, 2)
    scenario = scenario_of(sweep, run)
    leader, right, left, _ = scenario.members
    assert leader.settings["mass"] == run.values["leader.mass"]
    assert leader.settings["failures"] == ["motor 2 off at 12"]
    assert "mass" not in right.settings
    assert right.settings["formation_offset"] == [-8.0, run.values["right.formation_offset[1]"], 0.0]
    assert left.settings["formation_offset"] == [-8.0, -8.0, 0.0]
    assert scenario.settings["sim_has_wind"] is False
    assert scenario.settings["max_speed"] == run.values["max_speed"]
    assert [one.settings["seed"] for one in scenario.members] == [
        seed_of(run.seed, one.namespace) for one in scenario.members
    ]


def test_value_for_all_vehicles_replaces_their_own(read: Callable[[str], Sweep]) -> None:
    assert "max_speed" in load_scenario("relay").members[1].settings
    sweep = read("description: one\nscenario: relay\nruns: 1\nparameters: {max_speed: {uniform: [5, 6]}}\n")
    run = run_of(sweep, 0)
    assert scenario_of(sweep, run).members[1].settings["max_speed"] == run.values["max_speed"]


def test_link_of_a_vehicle_flown_by_a_program_may_fail(read: Callable[[str], Sweep]) -> None:
    sweep = read("description: one\nvehicle: uthere\nruns: 1\nfailures: [link lost at 20 for 5]\n")
    assert list(sweep.failures.values()) == [["link lost at 20 for 5"]]


def test_scenario_with_failures_of_a_link_that_its_flights_lack_is_refused(
    read: Callable[[str], Sweep], tmp_path: Path
) -> None:
    own = "failures: [link lost], parameters: {mavlink.port: 14525}"
    text = f"description: one\nvehicles:\n  - {{name: a, kind: multirotor, autopilot: true, {own}}}\n"
    (tmp_path / "one.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(
        ParameterError, match=r", line 2: scenario: failure 'link lost': the link of vehicle 'a' cannot"
    ):
        read("description: one\nscenario: ./one.yaml\nruns: 1\n")


def test_failures_of_a_scenario_stay(read: Callable[[str], Sweep], tmp_path: Path) -> None:
    text = "description: one\nvehicles:\n  - {name: a, kind: multirotor, autopilot: true, failures: [baro off]}\n"
    (tmp_path / "one.yaml").write_text(text, encoding="utf-8")
    sweep = read("description: one\nscenario: ./one.yaml\nruns: 1\nfailures: {a: [mag off]}\n")
    assert scenario_of(sweep, run_of(sweep, 0)).members[0].settings["failures"] == ["baro off", "mag off"]


def test_firmware_parameters_follow_those_of_the_scenario(read: Callable[[str], Sweep], tmp_path: Path) -> None:
    (tmp_path / "pair.yaml").write_text(PAIR, encoding="utf-8")
    sweep = read(FIRMWARE)
    run = run_of(sweep, 2)
    assert list(run.values) == ["PID_ROLL_RATE_P", "a.FAILSAFE_THR"]
    gain = f"PID_ROLL_RATE_P {run.values['PID_ROLL_RATE_P']}"
    throttle = f"FAILSAFE_THR {run.values['a.FAILSAFE_THR']}"
    assert [one.settings["firmware_parameters"] for one in scenario_of(sweep, run).members] == [
        ["SYS_ID 3", "PID_TAU 0.06", gain, throttle],
        ["SYS_ID 4", "PID_TAU 0.07", "PID_TAU 0.06", "RC_ARM_CHN 8", gain],
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "error"),
    [
        ("PID_TAU:", "PID_TAV:", 7, "firmware.PID_TAV: there is no parameter 'PID_TAV'; did you mean 'PID_TAU'"),
        ("a.FAIL", "c.FAIL", 9, "there is no parameter 'c.FAILSAFE_THR'; did you mean "),
        ("TAU: 0.06", "TAU: -1", 7, "firmware.PID_TAU: -1 given; allowed: number, from 0 to 1"),
        ("[0.02,", "[-0.02,", 8, "firmware.PID_ROLL_RATE_P.uniform[0]: -0.02 given; allowed: number, from 0 to 1000"),
        ("{choice: [-1,", "{uniform: [-1,", 9, "uniform[0]: -1 given; allowed: number, from 0 to 1"),
        ("CHN: 8", "CHN: 9", 10, "firmware.b.RC_ARM_CHN: 9 given; allowed: integer, from 4 to 7, or -1, or 8"),
        ("CHN: 8", "CHN: 4.5", 10, "firmware.b.RC_ARM_CHN: 4.5 given; allowed: integer, from 4 to 7, or -1, or 8"),
        ("a.mass: 3.1", "a.PID_TAU: 0.06", 5, "'a.PID_TAU' given; allowed: only under the key 'firmware' of the"),
        ("a.mass: 3.1", "firmware_parameters: []", 5, "allowed: the key 'firmware' of the sweep file"),
    ],
)
def test_firmware_parameter_that_is_not_allowed_is_refused_with_its_place(
    read: Callable[[str], Sweep], tmp_path: Path, old: str, new: str, line: int, error: str
) -> None:
    assert old in FIRMWARE
    (tmp_path / "pair.yaml").write_text(PAIR, encoding="utf-8")
    with pytest.raises(ParameterError) as raised:
        read(FIRMWARE.replace(old, new, 1))
    assert error in str(raised.value)
    assert f"sweep.yaml, line {line}: " in str(raised.value)


def test_firmware_parameters_need_the_firmware(read: Callable[[str], Sweep]) -> None:
    with pytest.raises(ParameterError, match=r"line 4: firmware: .* only with a vehicle that runs the ROSflight"):
        read("description: one\nvehicle: auv\nruns: 1\nfirmware: {PID_TAU: 0.06}\n")


def test_digest_is_that_of_all_files_named(read: Callable[[str], Sweep], tmp_path: Path) -> None:
    still = tmp_path / "still.yaml"
    still.write_text("/**: {ros__parameters: {sim_has_wind: false}}\n", encoding="utf-8")
    world = tmp_path / "sea.yaml"
    world.write_text("sea_floor: {depth: 5}\n", encoding="utf-8")
    text = f"{GRID}  world: {world}\nparameter_files: [still.yaml]\n"
    digest = read(text).digest
    assert read(text).digest == digest
    digests = {digest, read(text + "# comment\n").digest}
    for file in (still, world):
        file.write_text(file.read_text(encoding="utf-8") + "# comment\n", encoding="utf-8")
        digests.add(read(text).digest)
    assert len(digests) == 4


@pytest.mark.parametrize(
    ("old", "new", "line", "error"),
    [
        ("vehicle:", "vehicel:", 2, "vehicel: an unknown key given; allowed: description, vehicle, scenario, "),
        ("vehicle: multirotor", "vehicle: blimp", 2, "vehicle: vehicle 'blimp' given; allowed: aerosonde, "),
        ("vehicle: multirotor\n", "vehicle: multirotor\nscenario: swarm\n", 3, "both given; allowed: one of the keys"),
        ("vehicle: multirotor\n", "", 1, "none given; allowed: one of the keys vehicle and scenario"),
        ("vehicle: multirotor", "scenario: desert", 2, "scenario: there is no scenario 'desert'; allowed: a name ("),
        ("runs: 100", "runs: 0", 3, "runs: 0 given; allowed: integer, from 1 to"),
        ("runs: 100", "runs: 2.5", 3, "runs: 2.5 given; allowed: integer, from 1 to"),
        ("runs: 100", "repeats: 2", 3, "repeats without a grid given; allowed: only with a grid; otherwise the key"),
        ("runs: 100\n", "", 1, "no number of runs given; allowed: the key runs, unless there is a grid"),
        ("seed: 4", "seed: -4", 4, "seed: -4 given; allowed: integer, from 0 to"),
        ("runs: 100", "mission: square", 3, "mission: square given; allowed: a mapping with waypoints, program, "),
        ("runs: 100", "parameter_files: [none.yaml]", 3, "none.yaml, not a file, given"),
        ("random_wind", "random_winds", 6, "there is no parameter 'use_random_winds'; did you mean 'use_random_wind'"),
        ("wind: false", "wind: 3", 6, "parameters.use_random_wind: 3 given; allowed: boolean"),
        ("mass:", "seed:", 7, "the parameter 'seed' given; allowed: the key 'seed' of the sweep file"),
        ("mass:", "failures:", 7, "the parameter 'failures' given; allowed: the key 'failures' of the sweep file"),
        ("mass:", "time_mode:", 7, "the parameter 'time_mode' given; allowed: none, because all runs are in"),
        ("mass:", "wing_s:", 7, "parameters.wing_s: there is no parameter 'wing_s'"),
        ("mass:", ".mass:", 7, "parameters..mass: there is no parameter '.mass'"),
        ("[2.8", "[-2.8", 7, "parameters.mass.uniform[0]: -2.8 given; allowed: number, from 1e-06 to 1e+06 kg"),
        # The autopilot's range, which is narrower than that of other nodes.
        ("mass: {uniform: [2.8", "gravity: {uniform: [0", 7, "gravity.uniform[0]: 0 given; allowed: number, greater"),
        (
            "{uniform: [2.8, 3.4]}",
            "[3, 4]",
            7,
            "parameters.mass: [3, 4] given; allowed: number, from 1e-06 to 1e+06 kg",
        ),
        (
            "[{uniform: [-5, 5]}, ",
            "[",
            8,
            "parameters.steady_state_wind: a list of 2 given; allowed: list of 3 numbers",
        ),
        (
            "mass: {uni",
            "wind_models: {uni",
            7,
            "a mapping given; allowed: list of texts, or a distribution for an element",
        ),
        (", 0.5]", ", down]", 8, "parameters.steady_state_wind[2]: down given; allowed: number"),
        ("sigma: 2}", "sigma: -2}", 8, "steady_state_wind[1].normal.sigma: -2 given; allowed: a number greater than 0"),
        (
            "motor 2",
            "motr 2",
            10,
            "failures[0]: failure 'motr 2 off at 5.0 for 0.1': motr given; allowed: motor, servo",
        ),
        (
            "motor 2 off at {time} for 0.1",
            "downlink late 0.1 at {time}",
            10,
            "failures[0]: failure 'downlink late 0.1 at 5.0': the link cannot fail: no program commands it over a link "
            "(flight controllers with such a link: ",
        ),
        ("{time} for", "{tim} for", 10, "failures[0]: {tim} given; allowed: the variables time, sensor"),
        ("{time} for", "{time.real} for", 10, "allowed: names of variables in braces, as in {time}"),
        ("{time} for", "{time!r} for", 10, "allowed: names of variables in braces, as in {time}"),
        ("{time} for", "{time:3} for", 10, "allowed: names of variables in braces, as in {time}"),
        ("{time} for", "{} for", 10, "allowed: names of variables in braces, as in {time}"),
        ("{time} for", "{time for", 10, "allowed: names of variables in braces, as in {time}"),
        ("uniform: [5, 20]", "uniform: [-5, 20]", 10, "-5.0 given; allowed: a time in seconds, a number from 0"),
        ("uniform: [5, 20]", "normal: {mean: 5, sigma: 1}", 10, "-inf given; allowed: a time in seconds"),
        ("[gyro, accel]", "[gyro, rc]", 12, "failures[2]: failure 'rc wrong by 1 at 5.0': wrong by given; allowed: "),
        ("  time:", "  other: {uniform: [0, 1]}\n  time:", 14, "variables: no failure contains {other}"),
        ("  sensor:", "  1st: 3\n  sensor:", 15, "'1st' given; allowed: a name of letters, digits and _"),
        ("  sensor: {choice: [gyro, accel]}", "  sensor: 3", 15, "variables.sensor: 3 given; allowed: a mapping"),
        ("rms: judge", "rms: jugde", 17, "measures.rms: 'jugde.tracking_error_rms_m', column 1: jugde.tracking_error"),
        ("max(-truth", "(-truth", 18, "measures.highest: a series, '(-truth_state.position_ned[2])', given; allowed: "),
        ("ned[2])", "ned[3])", 18, "column 6: component 3 given; allowed: 0 to 2"),
        ("height: -truth_state.position_ned[2]", "height: 3 * 4", 20, "a number, '3 * 4', given; allowed: a series"),
        (
            "  highest:",
            "  mass:",
            17,
            "a second 'mass' given; allowed: each name of a quantity, measure or signal once",
        ),
        ("  highest:", "  succeeded:", 17, "a second 'succeeded' given"),
        ("  height:", "  the height:", 20, "'the height' given; allowed: a name of letters, digits and _"),
        ("signal_period: 0.5", "signal_period: 0.01", 21, "signal_period: 0.01 given; allowed: number, from 0.02 to"),
        ("measure: rms", "measure: rmse", 22, "stop.measure: rmse given; allowed: rms, highest"),
        ("half_width: 0.005", "half_width: 0", 22, "stop.half_width: 0 given; allowed: number, greater than 0"),
        ("half_width: 0.005", "width: 1", 22, "stop.width: an unknown key given; allowed: measure, half_width"),
        ("confidence: 0.9", "confidence: 95", 22, "stop.confidence: 95 given; allowed: number, from 0.5 to 0.9999"),
        ("limit: 120", "limit: 0", 23, "limit: 0 given; allowed: number, greater than 0 s and at most 86400 s"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(
    read: Callable[[str], Sweep], old: str, new: str, line: int, error: str
) -> None:
    assert old in TEXT
    with pytest.raises(ParameterError) as raised:
        read(TEXT.replace(old, new, 1))
    assert error in str(raised.value)
    assert f"sweep.yaml, line {line}: " in str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("repeats: 2", "runs: 2", "runs with a grid given; allowed: the key repeats"),
        (
            "count: 3}",
            "count: 100000}}\n  yaw_gain: {grid: {from: 0.1, to: 1, count: 100}",
            "a grid of 40000000 runs given; allowed: at most 10000000 runs",
        ),
        (
            "repeats: 2",
            "measures: {rms: judge.max_height_m}\nstop: {measure: rms, half_width: 1}",
            "a stop rule given; allowed: only without a grid",
        ),
    ],
)
def test_contradiction_to_a_grid_is_refused(read: Callable[[str], Sweep], old: str, new: str, error: str) -> None:
    with pytest.raises(ParameterError) as raised:
        read(GRID.replace(old, new))
    assert error in str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("leader.mass", "leadre.mass", "there is no parameter 'leadre.mass'; did you mean 'leader.mass' or "),
        ("leader.mass", "leader.mas", "there is no parameter 'leader.mas'; did you mean 'leader.mass'"),
        (
            "leader: [motor 2 off at 12]",
            "ledaer: [baro off]",
            "failures.ledaer: an unknown key given; allowed: leader, ",
        ),
        ("  leader: [motor 2 off at 12]", "  - baro off", "allowed: a mapping with leader, right, left, last"),
        ("leader.judge", "judge", "column 1: judge.tracking_error_rms_m given; allowed: last.*, last.judge.*"),
        ("runs: 5", "runs: 5\nmission: {waypoints: a.yaml}", "a mission given; allowed: only with the key vehicle"),
    ],
)
def test_what_no_vehicle_of_the_scenario_has_is_refused(
    read: Callable[[str], Sweep], old: str, new: str, error: str
) -> None:
    assert old in SCENARIO
    with pytest.raises(ParameterError) as raised:
        read(SCENARIO.replace(old, new, 1))
    assert error in str(raised.value)


def test_figures_are_those_of_the_vehicles_mission(read: Callable[[str], Sweep]) -> None:
    text = "description: one\nvehicle: auv\nruns: 1\nmeasures: {offset: judge.ring_offset_m, deep: max(time)}\n"
    assert [one.name for one in read(text).measures] == ["offset", "deep"]
    for name in ("judge.tracking_error_rms_m", "max(phase)"):
        with pytest.raises(ParameterError, match="given; allowed: "):
            read(text.replace("judge.ring_offset_m", name))


def test_vehicle_without_a_mission_is_refused(read: Callable[[str], Sweep], tmp_path: Path) -> None:
    towed = VEHICLES / "bluerov2.yaml"
    lines = [one for one in towed.read_text(encoding="utf-8").splitlines() if not one.startswith("autopilot")]
    (tmp_path / "towed.yaml").write_text("\n".join(lines).replace("../", f"{VEHICLES.parent}/"), encoding="utf-8")
    with pytest.raises(ParameterError, match="line 2: vehicle: vehicle 'towed' given, which has no mission"):
        read("description: one\nvehicle: ./towed.yaml\nruns: 1\n")
    (tmp_path / "one.yaml").write_text("description: a\nvehicles: [{name: a, kind: multirotor}]\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="allowed: scenarios with 'mission' or 'autopilot' in at least one"):
        read("description: one\nscenario: ./one.yaml\nruns: 1\n")


def test_error_in_the_scenario_names_both_files(read: Callable[[str], Sweep], tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("description: a\nvehicles: []\n", encoding="utf-8")
    with pytest.raises(ParameterError, match=r"sweep.yaml, line 2: scenario: .*one.yaml, line 2: vehicles"):
        read("description: one\nscenario: ./one.yaml\nruns: 1\n")

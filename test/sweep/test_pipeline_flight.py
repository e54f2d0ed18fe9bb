"""Flights without ROS equal the composed graph's, bit for bit."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from dataclasses import replace
from pathlib import Path

import pytest
from forked_python import run_forked_python
from short_flights import CALIBRATED, SMALL_BIASES, SQUARE, flown_directly

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.sweep.definition import Row, Sweep
from rosflight_py_sim.sweep.fly_run import check_direct
from rosflight_py_sim.sweep.pipeline_flight import NeedsGraphError, parts_of
from rosflight_py_sim.sweep.sweep_file import read_sweep
from rosflight_py_sim.vehicles import vehicle

PROJECT = Path(__file__).parents[2]

SIGNALS = "signals: {north: 'truth_state.position_ned[0]', rate: 'truth_state.angular_velocity[2]'}"

MEASURES = """
measures:
  rms: judge.tracking_error_rms_m
  missed: judge.waypoint_miss_m
  used: judge.battery_used_mah
  fastest: max(norm(truth_state.velocity_ned))
  spin: rms(truth_state.angular_velocity[0])
  calls: sqrt(mean(pwm_output.command[0]))
"""

LATE = ("imu_temperature", "mag", "baro", "range", "diff_pressure", "battery")

SWEEPS = {
    "gusts": f"""
description: Square in wind
vehicle: multirotor
runs: 2
seed: 3
parameters:
{SQUARE}
  step_size: 0.008
  mass: {{uniform: [3.0, 4.0]}}
  steady_state_wind: [{{uniform: [-4, 4]}}, 1.0, 0.0]
""",
    "failures": f"""
description: Square with failures of every part
vehicle: multirotor
runs: 1
parameters:
{SQUARE}
  step_size: 0.005
{SMALL_BIASES}
firmware: {{{CALIBRATED}}}
failures:
  - range off at 0.5
  - thermometer wrong by 4 at 1
  - gyro wrong by 0.01 at 2 for 2
  - mag noisy 0.000001 at 2
  - baro drift 1 at 1.5 for 3
  - airspeed stuck at 2.5
  - battery off at 2.5
  - rc late 0.05 at 0 for 2
  - command late 0.02 at 3.5 for 2
  - motor 2 noisy 20 at 4 for 1
  - cell off at 4.5
  - wind front 3 -2 0 at 3 for 3
""",
    "plane": f"""
description: Waypoints of a fixed wing that takes off on its wheels
vehicle: aerosonde
runs: 1
limit: 17
parameters:
  step_size: 0.01
  mass: {{uniform: [11.0, 12.0]}}
{SMALL_BIASES}
firmware: {{{CALIBRATED}}}
""",
    "turning air": f"""
description: A fixed wing in turbulence that also turns it
vehicle: anaconda
runs: 1
limit: 10
parameters:
  step_size: 0.01
  rotational_gusts: true
  sim_has_wind: true
  turbulence_model: dryden_8785c
  turbulence_wind_speed_20ft: {{uniform: [4.0, 10.0]}}
  contact_braking_friction: [0.2, 0.2]
  brake_mix: [0.0, 0.0, 0.0, 0.0, -10.0]
  brake_offset: -9.0
{SMALL_BIASES}
firmware: {{{CALIBRATED}}}
""",
    "ellipsoid": f"""
description: Square over the ellipsoid
vehicle: multirotor
runs: 1
limit: 5
parameters:
{SQUARE}
  step_size: 0.008
  earth: wgs84
{SMALL_BIASES}
firmware: {{{CALIBRATED}}}
""",
    "waves": f"""
description: Square in waves that reach the vehicle
vehicle: multirotor
runs: 1
limit: 5
parameters:
{SQUARE}
  step_size: 0.008
  wave_height: 8.0
{SMALL_BIASES}
firmware: {{{CALIBRATED}}}
""",
    "firmware": f"""
description: Square with other gains of the attitude controller
vehicle: multirotor
runs: 1
parameters:
{SQUARE}
  step_size: 0.008
{SMALL_BIASES}
firmware: {{PID_ROLL_ANG_P: {{choice: [6.0]}}, PID_PITCH_ANG_D: 1.2, {CALIBRATED}}}
""",
    "fallen": f"""
description: A quadrotor without a motor
vehicle: multirotor
runs: 1
limit: 6
parameters:
{SQUARE}
  step_size: 0.008
{SMALL_BIASES}
firmware: {{{CALIBRATED}}}
failures: ["motor {{number}} off at 3.5"]
variables: {{number: {{choice: [1]}}}}
""",
    "late": f"""
description: Square with sensors and a companion link that are late
vehicle: multirotor
runs: 1
parameters:
{SQUARE}
  step_size: 0.005
  sensor_stamps: arrival
  imu_latency: 0.004
  link_latency: 0.011
{chr(10).join(f"  {sensor}_latency: 0.017" for sensor in LATE)}
{SMALL_BIASES}
firmware: {{{CALIBRATED}}}
failures: ["gyro wrong by 0.01 at 2 for 2", "thermometer wrong by 4 at 1", "command late 0.02 at 3 for 2"]
""",
    "rare commands": f"""
description: Square with commands so rare that the integrators of the autopilot take them for pauses
vehicle: multirotor
runs: 1
limit: 6
parameters:
{SQUARE}
  step_size: 0.008
  command_frequency: 8.0
{SMALL_BIASES}
firmware: {{{CALIBRATED}}}
""",
    "diverged": f"""
description: A wind beyond all bounds
vehicle: multirotor
runs: 1
parameters:
{SQUARE}
{SMALL_BIASES}
firmware: {{{CALIBRATED}}}
failures: ["wind front 1e8 0 0 at 3"]
""",
}


def flown_in_graph(file: Path, number: int, domain: int) -> Row:
    """The run in a composed graph of another process: the tests' own must not share its participants."""
    code = (
        "import json, sys; from pathlib import Path; from dataclasses import asdict;"
        "from rosflight_py_sim.sweep.sweep_file import read_sweep;"
        "from rosflight_py_sim.sweep.definition import run_of;"
        "from rosflight_py_sim.sweep.fly_run import fly_run_in_graph;"
        "sweep = read_sweep(Path(sys.argv[1]));"
        "row = fly_run_in_graph(sweep, run_of(sweep, int(sys.argv[2])));"
        "print(json.dumps(asdict(row)))"
    )
    environment = os.environ | {"ROS_DOMAIN_ID": str(domain), "PYTHONPATH": str(PROJECT)}
    done = run_forked_python(["-c", code, str(file), str(number)], env=environment, cwd=file.parent, timeout=300.0)
    assert done.returncode == 0, done.stderr
    return Row(**json.loads(done.stdout.splitlines()[-1]))


def sweep_of(tmp_path: Path, text: str) -> Sweep:
    file = tmp_path / "sweep.yaml"
    file.write_text(f"{text.strip()}\n{MEASURES}{SIGNALS}\n")
    return read_sweep(file)


@pytest.mark.parametrize("name", SWEEPS)
def test_run_is_the_same_with_and_without_ros(name: str, tmp_path: Path, ros_domain: int) -> None:
    sweep = sweep_of(tmp_path, SWEEPS[name])
    number = sweep.runs - 1
    direct, graph = flown_directly(sweep, number), flown_in_graph(sweep.file, number, ros_domain)
    assert graph.reason == direct.reason
    assert graph.succeeded == direct.succeeded == (name in ("gusts", "failures", "late", "firmware"))
    assert len(direct.signals["north"]) > 5
    assert graph.signals == direct.signals
    assert {k: v for k, v in graph.measures.items() if not math.isnan(v)} == {
        k: v for k, v in direct.measures.items() if not math.isnan(v)
    }
    assert graph.run == dataclasses.asdict(direct.run)


@pytest.mark.parametrize(("number", "reason"), [(2, ""), (6, "dive: no progress for 60 s in a current of 0.60 m/s, ")])
def test_dive_with_a_flight_controller_without_firmware_is_the_same_with_and_without_ros(
    number: int, reason: str, ros_domain: int
) -> None:
    sweep = read_sweep(PROJECT / "docs" / "examples" / "sweeps" / "auv_current.yaml")
    check_direct(sweep)
    direct, graph = flown_directly(sweep, number), flown_in_graph(sweep.file, number, ros_domain)
    assert direct.reason.startswith(reason)
    assert direct.succeeded == (not reason)
    assert direct.measures["charge"] > 20.0
    # A mission that does not get beyond its dive has no tracking error.
    assert repr(dataclasses.asdict(graph)) == repr(dataclasses.asdict(direct))


def test_vehicle_whose_file_names_a_flight_controller_for_its_autopilot_flies_with_it(tmp_path: Path) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text(
        "description: Dives\nvehicle: bluerov2\nruns: 1\n"
        "parameters: {step_size: 0.01, square_side: 1.0}\nmeasures: {miss: judge.waypoint_miss_m}\n"
    )
    sweep = read_sweep(file)
    assert sweep.scenario.members[0].flight_controller == "auv_controller"
    row = flown_directly(sweep)
    assert row.succeeded
    assert row.measures["miss"] < 0.3


def test_firmware_parameter_changes_the_flight(tmp_path: Path) -> None:
    text = f"description: Gain\nvehicle: multirotor\nruns: 1\nlimit: 4\nparameters:\n{SQUARE}\n  step_size: 0.008\n"
    more = ("", ", PID_ROLL_ANG_P: 6.0")
    rows = [flown_directly(sweep_of(tmp_path, f"{text}firmware: {{{CALIBRATED}{gain}}}")) for gain in more]
    assert rows[0].run == rows[1].run
    assert rows[0].measures["spin"] != rows[1].measures["spin"]


def test_mission_that_does_not_begin_has_no_measures(tmp_path: Path) -> None:
    sweep = sweep_of(tmp_path, "description: Too short\nvehicle: multirotor\nruns: 1\nlimit: 2")
    row = flown_directly(sweep)
    assert not row.succeeded
    assert row.reason == "calibrating the IMU: not done after 2 s"
    assert all(math.isnan(value) for value in row.measures.values())
    assert row.signals == {"north": [], "rate": []}


def test_vehicle_that_needs_a_graph_is_refused_with_the_option(tmp_path: Path) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text("description: Dives\nvehicle: auv\nruns: 1\n")
    with pytest.raises(
        ParameterError, match=r"mission 'dive', flown by a program, runs only in the node graph.*--graph"
    ):
        check_direct(read_sweep(file))


def test_vehicle_without_a_mission_needs_no_graph(tmp_path: Path, ros_domain: int) -> None:
    (tmp_path / "two.yaml").write_text(
        "description: One flies, one is parked\n"
        "vehicles:\n"
        "  - {name: quad, kind: multirotor, autopilot: true}\n"
        "  - {name: plane, kind: fixedwing, dynamics: jsbsim, start: {position: [50, 50]}}\n"
    )
    file = tmp_path / "sweep.yaml"
    file.write_text(
        "description: Two\nscenario: two.yaml\nruns: 1\n"
        f"parameters:\n{SQUARE}\n  step_size: 0.008\n{SMALL_BIASES}\n"
        f"firmware: {{{CALIBRATED}}}\n"
        "measures: {rms: quad.judge.tracking_error_rms_m}\n"
    )
    sweep = read_sweep(file)
    check_direct(sweep)
    row = flown_directly(sweep)
    assert row.succeeded
    assert flown_in_graph(file, 0, ros_domain).measures == row.measures


def test_whole_flight_model_flies_as_in_the_graph(tmp_path: Path, ros_domain: int) -> None:
    (tmp_path / "plane.yaml").write_text(
        "description: A flight model of JSBSim\n"
        "vehicles: [{name: plane, kind: fixedwing, dynamics: jsbsim, autopilot: true}]\n"
    )
    file = tmp_path / "sweep.yaml"
    file.write_text(
        "description: Climb\nscenario: plane.yaml\nruns: 1\nlimit: 12\n"
        f"parameters:\n  step_size: 0.01\n{SMALL_BIASES}\nfirmware: {{{CALIBRATED}}}\n"
        f"measures: {{fastest: 'max(norm(truth_state.velocity_ned))', used: 'judge.battery_used_mah'}}\n"
    )
    row = flown_directly(read_sweep(file))
    assert row.measures["fastest"] > 10.0
    graph = flown_in_graph(file, 0, ros_domain)
    assert (graph.reason, graph.measures) == (row.reason, row.measures)


@pytest.mark.parametrize(
    ("member", "text"),
    [
        (Member(replace(vehicle("multirotor"), mission=vehicle("uthere").mission)), "mission 'skywriting', flown by"),
        (Member(vehicle("multirotor"), flight_controller="ardupilot"), "node 'bridge' runs only"),
        (Member(vehicle("multirotor"), executables=("follower_autopilot",)), "node 'follower_autopilot' runs only"),
        (Member(replace(vehicle("multirotor"), autopilot="")), "a vehicle without an autopilot"),
        (
            Member(vehicle("bluerov2"), flight_controller="sil_board"),
            "'sil_board' does not follow 'underwater_autopilot'",
        ),
    ],
)
def test_part_that_runs_only_as_a_node_is_refused(member: Member, text: str) -> None:
    with pytest.raises(NeedsGraphError, match=text):
        parts_of(member)

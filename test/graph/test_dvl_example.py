"""The example package's sensors with a DVL: one file and one entry point, and a name in a vehicle file."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import TwistWithCovarianceStamped
from rclpy.serialization import deserialize_message

from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.recording.mcap_file import read_recording
from rosflight_py_sim.step.topics import TRUTH_STATE, topic_of

CONFIG = share_directory() / "config"
DVL = "sim/sensors/dvl"

VEHICLE = f"""\
description: multirotor with a DVL
forces_and_moments: multirotor_forces_and_moments
sensors: dvl_sensors
parameters: {CONFIG}/multirotor.yaml
firmware: {CONFIG}/multirotor_firmware.yaml
autopilot: autopilot
actuators:
  - {{name: one, output: 0, kind: motor}}
"""

# A fall from 30 m: above 26 m, the beams do not reach the ground.
FALL = """\
/**:
  ros__parameters:
    step_size: 0.01
    sim_has_wind: false
    dvl_stdev: 0.0
    dvl_max_range: 30.0
    starts_on_ground: false
    initial_altitude: 30.0
    initial_velocity: [1.0, -2.0, 0.0]
"""

SWEEP = """\
description: a DVL without ROS
vehicle: surveyor.yaml
runs: 1
limit: 3
parameters: {step_size: 0.01, dvl_stdev: 0.0}
"""

FLOWN = """\
import json
from pathlib import Path
import my_nodes.dvl as one
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.sweep import pipeline_flight
from rosflight_py_sim.sweep.fly_run import check_direct
from rosflight_py_sim.sweep.definition import run_of, scenario_of
from rosflight_py_sim.sweep.sweep_file import read_sweep

sent = []
class Listening(pipeline_flight.Pipeline):
    def __init__(self, parts, step_ns, receivers):
        super().__init__(parts, step_ns, [*receivers, (one.DvlSensors.send_dvl.topic, sent.append)])

pipeline_flight.Pipeline = Listening
sweep = read_sweep(Path("sweep.yaml"))
check_direct(sweep)
scenario = scenario_of(sweep, run_of(sweep, 0))
sources = parameter_sources(scenario.members, files=scenario.files, weakest={}, settings=scenario.settings)
flight = pipeline_flight.PipelineFlight(scenario.members[0], sources)
flight.fly(sweep.limit_s)
print(json.dumps([(one.time_ns, list(one.velocity)) for one in sent]))
"""

DRAWN = """\
import sys
from rclpy.node import Node
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.viewer.graph_drawing import draw, mermaid_text
from rosflight_py_sim.viewer.graph_watch import GraphWatch

members = [Member(vehicle("surveyor.yaml"))]
graph = ComposedGraph(members, time_manager="breakpoint_time_manager", settings={"real_time_multiplier": 0.0})
listener = Node("_listener")
graph.include(listener)
graph.spin(lambda: graph.time_ns < 100_000_000)
model = GraphWatch(listener).model()
print(mermaid_text(model), draw(model))
graph.close()
"""

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(with_example: Command, tmp_path: Path) -> Command:
    """A function that runs Python with the package installed, and a vehicle with the DVL."""
    (tmp_path / "surveyor.yaml").write_text(VEHICLE)
    (tmp_path / "fall.yaml").write_text(FALL)
    return with_example


def simulated(run: Command, *words: str) -> None:
    end = ("--duration", "1.5", "--real-time-multiplier", "0", "--record", "flown.mcap")
    result = run("-m", "rosflight_py_sim", "sim", *words, *end, "--params-file", "fall.yaml")
    assert result.returncode == 0, result.stdout + result.stderr


def recorded(
    folder: Path, vehicle: str = ""
) -> tuple[list[tuple[int, TwistWithCovarianceStamped]], dict[int, np.ndarray]]:
    """Messages of the DVL with their stamps, and the velocities of the truth states by stamp."""
    topics = read_recording(folder / "flown.mcap", lambda topic, type_name: 1000).topics
    sent = [
        deserialize_message(one, TwistWithCovarianceStamped) for one in topics[f"/{topic_of(vehicle, DVL)}"].messages
    ]
    states = map(TRUTH_STATE.decode, topics[f"/{topic_of(vehicle, TRUTH_STATE.name)}"].messages)
    stamps = [one.header.stamp.sec * 10**9 + one.header.stamp.nanosec for one in sent]
    return list(zip(stamps, sent, strict=True)), {state.time_ns: state.velocity_body for state in states}


@pytest.mark.parametrize(
    ("words", "vehicle"),
    [
        (("--vehicle", "surveyor.yaml"), ""),
        (("--vehicle", "surveyor.yaml", "--count", "2"), "surveyor_2"),
        (("--scenario", "pair.yaml"), "a"),
    ],
)
def test_dvl_measures_in_a_simulation(run: Command, tmp_path: Path, words: tuple[str, ...], vehicle: str) -> None:
    (tmp_path / "pair.yaml").write_text(
        "description: pair\nvehicles:\n  - {name: a, kind: surveyor.yaml}\n"
        "  - {name: b, kind: multirotor, start: {position: [0.0, 20.0]}}\n"
    )
    simulated(run, *words)
    sent, velocities = recorded(tmp_path, vehicle)
    assert [stamp for stamp, _ in sent] == [-(-k * 125 // 10) * 10_000_000 for k in range(len(sent))]
    assert len(sent) >= 10
    for stamp, message in sent:
        # 26 m is the height at which a beam, 30 degrees from the vertical, is 30 m long.
        fallen = 0.5 * 9.81 * (1e-9 * stamp) ** 2
        linear = message.twist.twist.linear
        if fallen < 3.9:
            assert (message.twist.covariance[0], linear.x, linear.y, linear.z) == (-1.0, 0.0, 0.0, 0.0)
        elif fallen > 4.3:
            # The bias is at most 2 mm/s on each axis.
            assert np.allclose([linear.x, linear.y, linear.z], velocities[stamp], atol=0.0021)


def test_dvl_measures_in_a_sweep_without_ros(run: Command, tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    flown = run("-c", FLOWN)
    assert flown.returncode == 0, flown.stderr
    sent = json.loads(flown.stdout)
    assert len(sent) == 24
    assert all(abs(speed) < 0.05 for _, velocity in sent[8:] for speed in velocity)
    (tmp_path / "sweep.yaml").write_text(SWEEP + 'failures: ["dvl wrong by 1 2 3 at 0.5"]\n')
    failed = json.loads(run("-c", FLOWN).stdout)
    for (stamp, velocity), (_, wrong) in zip(sent, failed, strict=True):
        offset = [1.0, 2.0, 3.0] if stamp >= 500_000_000 else [0.0, 0.0, 0.0]
        assert np.subtract(wrong, velocity) == pytest.approx(offset, abs=1e-12)


def test_option_puts_the_sensors_in_place_of_the_vehicles(run: Command, tmp_path: Path) -> None:
    simulated(run, "--vehicle", "multirotor", "--sensors", "dvl_sensors")
    assert len(recorded(tmp_path)[0]) >= 10


def test_sensors_node_runs_alone_and_explains_itself(run: Command) -> None:
    usage = run("-m", "rosflight_py_sim.executables", "dvl_sensors", "--help")
    assert usage.returncode == 0, usage.stderr
    assert "dvl_max_range" in usage.stdout


def test_dvl_that_fails_is_named_among_the_parts(run: Command) -> None:
    refused = run(
        "-m", "rosflight_py_sim", "sim", "--vehicle", "surveyor.yaml", "--ros-args", "-p", "failures:=[dvll off]"
    )
    assert refused.returncode != 0
    assert "dvll given; allowed: motor, servo" in refused.stderr and ", dvl" in refused.stderr


def test_drawn_node_graph_shows_nodes_of_a_package(run: Command) -> None:
    drawn = run("-c", DRAWN)
    assert drawn.returncode == 0, drawn.stderr
    flowchart, picture = drawn.stdout.split("<svg")
    (topics,) = re.findall(rf"(\w+)\[\"[^\"]*\b{DVL}\b", flowchart)
    assert re.search(rf"^  node_sensors [-=]+> {topics}$", flowchart, re.MULTILINE), flowchart
    assert f">/{DVL}" in picture

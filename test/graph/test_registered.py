"""A user's package provides an entry of every group, found by name: flight controller, mission, wind model and more."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml
from geometry_msgs.msg import Vector3Stamped
from judged_again import judged_again
from rclpy.serialization import deserialize_message
from std_msgs.msg import String

from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.recording.mcap_file import read_recording
from rosflight_py_sim.world import known_worlds

CONFIG = share_directory() / "config"
PROJECT = Path(__file__).parents[2]

ENTRY_POINTS = """\
[rosflight_py_sim.flight_controllers]
climber = kites.flight_controller:CLIMBER

[rosflight_py_sim.front_ends]
metronome = kites.front_end:Metronome

[rosflight_py_sim.missions]
patience = kites.task:Patience

[rosflight_py_sim.nodes]
glide = kites.cutter:Glide
lift = kites.lift:Lift
hoist = kites.cutter:Hoist
sticks = kites.cutter:Sticks
board = kites.cutter:Board
keen = kites.cutter:Keen
slow_time = kites.slow_time:SlowTime
log_line = kites.log_line:LogLine

[rosflight_py_sim.scenarios]
kites = kites:SCENARIOS

[rosflight_py_sim.vehicles]
kites = kites:VEHICLES

[rosflight_py_sim.wind_models]
draught = kites.draught:Draught

[rosflight_py_sim.worlds]
kites = kites:WORLDS
"""

MODULES = {
    "__init__": """\
from pathlib import Path

VEHICLES, WORLDS, SCENARIOS = (Path(__file__).with_name(name) for name in ("vehicles", "worlds", "scenarios"))
""",
    "draught": '''\
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable
from rosflight_py_sim.physics.wind_model import WindField


class Draught(WindField):
    """Air that moves to the east."""

    PARAMETERS = ParameterTable(Parameter("draught_speed", 1.0, "Speed of the air", "m/s", minimum=0.0))

    def __init__(self, values, rng):
        super().__init__(values, rng)
        self._speed = values["draught_speed"]

    def velocity_ned(self, position_ned, time_s):
        return 0.0, self._speed, 0.0
''',
    "flight_controller": """\
from rosflight_py_sim.graph.flight_controllers import FlightController

CLIMBER = FlightController(
    "climber", ("bridge",), "a metronome at high thrust", front_end="metronome", settings={"metronome.pulse": 1900},
    needs_lockstep=True,
)
""",
    "front_end": '''\
from rosflight_py_sim.bridge.front_end_interface import ActuatorFrontEnd
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable


class Metronome(ActuatorFrontEnd):
    """Drives every output by the same pulse width."""

    PARAMETERS = ParameterTable(Parameter("metronome.pulse", 1000, "Pulse width of all outputs", "us", 900, 2100))

    def open(self):
        pass

    def close(self):
        pass

    def filenos(self):
        return []

    def peer(self, vehicle):
        return "no peer"

    def exchange(self, vehicle, snapshot):
        return [int(self.values["metronome.pulse"])] * 14
''',
    "cutter": '''\
from rosflight_py_sim.autopilot.multirotor_target_controller import MultirotorTargetController
from rosflight_py_sim.parts.multirotor_forces import MultirotorForces
from rosflight_py_sim.parts.rigid_body_dynamics import RigidBodyDynamics
from rosflight_py_sim.parts.sil_board import RosflightBoard
from rosflight_py_sim.parts.standalone_sensors import ModelledSensors
from rosflight_py_sim.parts.transmitter import RcTransmitter
from rosflight_py_sim.shapes.drawn_parts import DrawnPart
from rosflight_py_sim.shapes.meshes import box


class Keen(ModelledSensors):
    """Sensors whose thermometer always reads 300 K."""

    def imu_temperature_update(self, state, dt):
        return super().imu_temperature_update(state, dt)._replace(temperature=300.0)


class Sticks(RcTransmitter):
    """A transmitter whose sticks rest."""


class Board(RosflightBoard):
    """The ROSflight firmware of the package."""


class HoistLoops(MultirotorTargetController):
    NAME = "hoist"


def gondola(physics, values):
    """A box as wide as the propellers."""
    size = physics["D_prop"]
    return [DrawnPart("gondola", box((size, size, size), (0.0, 0.0, 0.0)), (200, 0, 0))]


class Hoist(MultirotorForces):
    """A multirotor on a hoist, which carries half a newton."""

    APPEARANCES = {**MultirotorForces.APPEARANCES, "gondola": gondola}
    CONTROL_LOOPS = HoistLoops

    def update_forces_and_torques(self, state, wind_ned, pwm_us, dt):
        wrench = super().update_forces_and_torques(state, wind_ned, pwm_us, dt).copy()
        wrench[2] -= 0.5
        return wrench


class Glide(RigidBodyDynamics):
    """Motion with the air at rest relative to the ground."""

    def compute_wind_truth(self):
        return 0.0 * super().compute_wind_truth()
''',
    "lift": '''\
import numpy as np
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable
from rosflight_py_sim.parts.forces_and_moments import ForcesAndMoments


class Lift(ForcesAndMoments):
    """A constant lift."""

    PARAMETERS = ForcesAndMoments.PARAMETERS + ParameterTable(
        Parameter("lift", 0.0, "Lift of the kite", "N", minimum=0.0),
    )

    def update_forces_and_torques(self, state, wind_ned, pwm_us, dt):
        return np.array([0.0, 0.0, -self.values["lift"], 0.0, 0.0, 0.0])

    def get_firmware_parameters(self):
        pass
''',
    "log_line": '''\
from geometry_msgs.msg import Vector3Stamped
from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable
from rosflight_py_sim.ground.stamps import set_time
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import output, trigger
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import TRUTH_STATE, StepTopic


class LogLine(Part):
    """Measures the speed through the water five times a second, as a chip log does."""

    KIND = NodeKind.FURTHER
    DEFAULT_NAME = "log_line"
    PARAMETERS = ParameterTable(Parameter("log_rate", 5.0, "Rate of the log", "Hz", 0.1, 100.0, read_only=True))
    state = trigger(TRUTH_STATE)
    send = output(StepTopic("log_line/velocity", Vector3Stamped))

    def initialise(self):
        super().initialise()
        self.schedule = None

    def answer(self, time_ns, content):
        self.schedule = self.schedule or Schedule(self.values["log_rate"])
        if self.schedule.due(time_ns):
            message = Vector3Stamped()
            set_time(message.header.stamp, time_ns)
            message.vector.x, message.vector.y, message.vector.z = content.velocity_body.tolist()
            self.send(message)
''',
    "slow_time": '''\
from rosflight_py_sim.nodes.lockstep_time_manager import LockstepTimeManager


class SlowTime(LockstepTimeManager):
    """Lockstep that announces a tenth of a second on the log."""

    def publish_time(self):
        super().publish_time()
        if self.time_ns == 100_000_000:
            self.get_logger().info("a tenth of a second of slow time")
''',
    "task": '''\
from rosflight_py_sim.missions.client_judge import ClientJudge
from rosflight_py_sim.missions.client_log import ClientLog
from rosflight_py_sim.missions.client_task import ClientTask
from rosflight_py_sim.missions.mission_judge import Verdict


class Log(ClientLog):
    def append(self, *row):
        self._add(*row)


class Judge(ClientJudge):
    """Completed when the vehicle is away from its start at the end, however late the log begins."""

    NODE = "dynamics"
    PARAMETERS = ("world",)

    def __init__(self, vehicle, values):
        super().__init__(vehicle, values, Log(vehicle.actuators))

    def write(self, commands, flow_ned):
        self.log.append(self.state.time_s, self.state.truth, commands, flow_ned)

    def verdict(self):
        distance = abs(self.log.position_ned[-1] - (1.0, 2.0, 0.0)).max()
        rows = [("world", self.values["world"]), ("rows", str(len(self.log))), ("distance", f"{distance:.1f} m")]
        rows.append(("wind", str(self.log.flow_ned[-1].tolist())))
        return Verdict("Patience", rows, bool(distance > 1.0))

    def draw(self, plot):
        pass


class Patience(ClientTask):
    JUDGE = Judge

    def arguments(self, graph):
        return []
''',
}

PROGRAM = """\
import os
import time
import rclpy
if "RECORDED" in os.environ:
    rclpy.init()
    node = rclpy.create_node("patience", start_parameter_services=False)
    for topic in os.environ["RECORDED"].split():
        while all(end.node_name != "recorder" for end in node.get_subscriptions_info_by_topic(topic)):
            time.sleep(0.05)
    rclpy.shutdown()
print("\\n".join(f"line {number}" for number in range(100)), flush=True)
for second in range(3):
    print(f"  {second}.0 s  wait", flush=True)
    time.sleep(0.4)
"""

VEHICLE = """\
description: kite that climbs
forces_and_moments: multirotor_forces_and_moments
parameters: parameters/kite.yaml
firmware: parameters/kite_firmware.yaml
flight_controller: metronome
pairings:
  metronome:
    parameters: parameters/metronome.yaml
actuators:
  - {name: sail, output: 0, kind: motor}
mission: {program: wait.py, parts: 3, task: patience}
"""

# Climbs only with the settings of the registered flight controller.
BOX_KITE = """\
description: kite that climbs without a parameter file for its flight controller
forces_and_moments: multirotor_forces_and_moments
parameters: parameters/kite.yaml
firmware: parameters/kite_firmware.yaml
flight_controller: climber
actuators:
  - {name: sail, output: 0, kind: motor}
mission: {program: wait.py, parts: 3, task: patience}
"""

# Climbs by the forces of the package's own node.
PARACHUTE_KITE = BOX_KITE.replace("multirotor_forces_and_moments", "lift") + "extra_nodes: [log_line]\n"

CUTTER = f"""\
description: multirotor with the package's own forces and dynamics
forces_and_moments: hoist
dynamics: glide
sensors: keen
transmitter: sticks
flight_controller: board
parameters: {CONFIG}/multirotor.yaml
firmware: {CONFIG}/multirotor_firmware.yaml
autopilot: autopilot
appearance: gondola
extra_nodes: [log_line]
actuators:
  - {{name: one, output: 0, kind: motor}}
"""

SWEEP = """\
description: The package's own parts without ROS
vehicle: cutter
runs: 1
limit: 3
parameters: {step_size: 0.01, steady_state_wind: [3.0, 0.0, 0.0], use_random_wind: false}
"""

FLOWN = """\
from pathlib import Path
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.step.topics import TRUTH_WIND
from rosflight_py_sim.sweep.fly_run import check_direct
from rosflight_py_sim.sweep.pipeline_flight import PipelineFlight
from rosflight_py_sim.sweep.definition import run_of, scenario_of
from rosflight_py_sim.sweep.sweep_file import read_sweep

sweep = read_sweep(Path("sweep.yaml"))
check_direct(sweep)
scenario = scenario_of(sweep, run_of(sweep, 0))
sources = parameter_sources(scenario.members, files=scenario.files, weakest={}, settings=scenario.settings)
flight = PipelineFlight(scenario.members[0], sources)
flight.fly(sweep.limit_s)
print(*(type(part).__name__ for part in flight.pipeline.parts))
print([abs(speed) for speed in flight.judge.newest(TRUTH_WIND).velocity_ned])
print(flight.board.imu_temperature_k)
print(flight.judge.reason)
"""

OFFERED = """\
from rosflight_py_sim.bridge.uthere_plane import UTHERE_PLANE_PARAMETERS
from rosflight_py_sim.graph.bridge_settings import settings_of_front_ends
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.vehicle_appearance import appearance_of
from rosflight_py_sim.vehicles import vehicle

cutter = vehicle("cutter")
print(f"{appearance_of(cutter).size:.3f}")
print(settings_of_front_ends(Member(cutter), ["uthere"])["uthere.controller"])
print(UTHERE_PLANE_PARAMETERS["uthere.controller"].choices)
"""

# A quarter of the usual number of steps, to keep the tests short.
LONG_STEPS = ("--ros-args", "-p", "step_size:=0.01")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder as created by `pip install --target`, containing the package."""
    information, package = tmp_path / "kites-1.0.dist-info", tmp_path / "kites"
    parameters = package / "vehicles" / "parameters"
    for folder in (information, parameters, package / "worlds", package / "scenarios"):
        folder.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: kites\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(ENTRY_POINTS)
    for name, text in MODULES.items():
        (package / f"{name}.py").write_text(text)
    (package / "scenarios" / "hall.yaml").write_text(
        "description: a pair\nworld: hall\nvehicles: [{name: a, kind: auv}, {name: b, kind: auv}]\n"
    )
    (package / "worlds" / "hall.yaml").write_text("start: {position: [1.0, 2.0, 0.0]}\n")
    (package / "vehicles" / "kite.yaml").write_text(VEHICLE)
    (package / "vehicles" / "box_kite.yaml").write_text(BOX_KITE)
    (package / "vehicles" / "parachute_kite.yaml").write_text(
        PARACHUTE_KITE.replace("parameters/kite.yaml", "parameters/parachute_kite.yaml")
    )
    (package / "vehicles" / "cutter.yaml").write_text(CUTTER)
    (package / "vehicles" / "wait.py").write_text(PROGRAM)
    (parameters / "kite.yaml").write_text((CONFIG / "multirotor.yaml").read_text())
    dynamics = "Jxx: 0.1, Jyy: 0.1, Jzz: 0.1, contact_points: [0.2, 0.2, 0.1, -0.2, 0.2, 0.1, 0.0, -0.2, 0.1]"
    (parameters / "parachute_kite.yaml").write_text(
        f"/**:\n  ros__parameters: {{mass: 1.0}}\n/**/dynamics:\n  ros__parameters: {{{dynamics}}}\n"
        "/**/forces_and_moments:\n  ros__parameters: {lift: 20.0}\n"
    )
    (parameters / "kite_firmware.yaml").write_text((CONFIG / "multirotor_firmware.yaml").read_text())
    (parameters / "metronome.yaml").write_text("/**/bridge:\n  ros__parameters:\n    metronome.pulse: 1900\n")
    return tmp_path


def test_registered_vehicle_mission_front_end_world_and_wind_work_together(command_line: Run, site: Path) -> None:
    words = ("fly", "--vehicle", "kite", "--world", "hall", "--calm", "--real-time-multiplier", "4")
    wind = (*LONG_STEPS, "-p", "sim_has_wind:=true", "-p", "wind_models:=[draught]", "-p", "draught_speed:=2")
    path = f"{PROJECT}:{site}"
    result = command_line("-m", "rosflight_py_sim", *words, "--record", "kite.mcap", *wind, PYTHONPATH=path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Patience" in result.stdout and "hall" in result.stdout and "[0.0, 2.0, 0.0]" in result.stdout
    report = judged_again(command_line, "kite.mcap", result, PYTHONPATH=path)
    assert "kite: mission patience" in report.stdout


def test_registered_flight_controller_flies_mission_that_is_evaluated_from_recording_of_separate_process(
    command_line: Run, site: Path, tmp_path: Path
) -> None:
    path = f"{PROJECT}:{site}"
    settings = ("-p", "record.file:=apart.mcap", "-p", "use_sim_time:=true")
    recorder = subprocess.Popen(
        [sys.executable, "-m", "rosflight_py_sim.executables", "recorder", "--ros-args", *settings], cwd=tmp_path
    )
    try:
        # The recorder writes the start of its file before it looks for topics.
        end_s = time.monotonic() + 60.0
        while not (tmp_path / "apart.mcap").exists():
            assert time.monotonic() < end_s and recorder.poll() is None, "no file"
            time.sleep(0.05)
        words = ("fly", "--vehicle", "box_kite", "--world", "hall", "--calm", "--real-time-multiplier", "1")
        # The program begins once the recorder, which may take seconds to discover the topics, has subscribed to them.
        topics = "/sim/truth_state /sim/truth_wind /mission/log"
        result = command_line("-m", "rosflight_py_sim", *words, *LONG_STEPS, PYTHONPATH=path, RECORDED=topics)
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.wait(60.0)
    assert result.returncode == 0, result.stdout + result.stderr
    report = command_line("-m", "rosflight_py_sim", "report", "apart.mcap", PYTHONPATH=path)
    assert report.returncode == 0, report.stdout + report.stderr
    assert "box_kite: mission patience" in report.stdout and "hall" in report.stdout
    log = read_recording(tmp_path / "apart.mcap", lambda topic, type_name: 1000).topics["/mission/log"]
    said = [deserialize_message(message, String).data for message in log.messages]
    # No line is lost, even of many at once.
    assert said == [f"line {number}" for number in range(100)] + [f"  {second}.0 s  wait" for second in range(3)]


def test_registered_nodes_are_named_in_a_vehicle_file(command_line: Run, site: Path, tmp_path: Path) -> None:
    path = f"{PROJECT}:{site}"
    words = ("fly", "--vehicle", "parachute_kite", "--world", "hall", "--calm", "--real-time-multiplier", "4")
    result = command_line("-m", "rosflight_py_sim", *words, "--record", "lift.mcap", *LONG_STEPS, PYTHONPATH=path)
    assert result.returncode == 0, result.stdout + result.stderr
    log = read_recording(tmp_path / "lift.mcap", lambda topic, type_name: 1000).topics["/log_line/velocity"]
    speeds = [deserialize_message(message, Vector3Stamped) for message in log.messages]
    times = [one.header.stamp.sec + 1e-9 * one.header.stamp.nanosec for one in speeds]
    assert len(times) > 10 and np.allclose(np.diff(times), 0.2)
    # 20 N lift 1 kg.
    assert np.isclose(speeds[5].vector.z, -(20.0 - 9.80665) * times[5], rtol=0.02)


def test_registered_parts_fly_in_a_sweep_without_ros(command_line: Run, site: Path, tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    path = f"{PROJECT}:{site}"
    flown = command_line("-c", FLOWN, PYTHONPATH=path)
    assert flown.returncode == 0, flown.stderr
    parts, wind, temperature_k, reason = flown.stdout.splitlines()
    assert temperature_k == "300.0"
    assert {"Sticks", "Hoist", "Glide", "Keen", "Board", "LogLine"} <= set(parts.split())
    # The wind of 3 m/s, which this dynamics leaves out.
    assert wind == "[0.0, 0.0, 0.0]"
    assert reason == "calibrating the IMU: not done after 3 s"


def test_physics_of_a_package_is_trimmed_drawn_and_controlled(command_line: Run, site: Path) -> None:
    path = f"{PROJECT}:{site}"
    trimmed = command_line("-m", "rosflight_py_sim", "trim", "--vehicle", "cutter", "--airspeed", "0", PYTHONPATH=path)
    assert trimmed.returncode == 0, trimmed.stderr
    assert "Trim of cutter" in trimmed.stdout and "motor 3" in trimmed.stdout
    refused = command_line(
        "-m", "rosflight_py_sim", "trim", "--vehicle", "parachute_kite", "--airspeed", "0", PYTHONPATH=path
    )
    assert refused.returncode == 1
    assert (
        "vehicle 'parachute_kite' given, whose forces come from lift; trim supports vehicles with "
        "multirotor_forces_and_moments or fixedwing_forces_and_moments or hoist" in refused.stderr
    )
    offered = command_line("-c", OFFERED, PYTHONPATH=path)
    assert offered.returncode == 0, offered.stderr
    propeller = yaml.safe_load((CONFIG / "multirotor.yaml").read_text())["/**/forces_and_moments"]["ros__parameters"]
    assert offered.stdout.splitlines() == [
        f"{propeller['D_prop']:.3f}",
        "hoist",
        "('multirotor', 'fixedwing', 'hoist')",
    ]


def test_registered_time_manager_advances_the_time_by_option_and_in_a_scenario(
    command_line: Run, site: Path, tmp_path: Path
) -> None:
    path = f"{PROJECT}:{site}"
    (tmp_path / "slow.yaml").write_text(
        "description: slow\ntime_manager: slow_time\nvehicles: [{name: quad, kind: multirotor}]\n"
    )
    for words in (("--time-manager", "slow_time"), ("--scenario", "slow.yaml")):
        end = ("--duration", "0.2", "--real-time-multiplier", "0", *LONG_STEPS)
        result = command_line("-m", "rosflight_py_sim", "sim", *words, *end, PYTHONPATH=path)
        assert result.returncode == 0, result.stderr
        assert result.stderr.count("a tenth of a second of slow time") == 1
    refused = command_line("-m", "rosflight_py_sim", "sim", "--time-manager", "lift", PYTHONPATH=path)
    assert refused.returncode == 2 and "lockstep_time_manager, slow_time" in refused.stderr.replace("'", "")
    wall = ("sim", "--time-manager", "slow_time", "--time-mode", "wall")
    refused = command_line("-m", "rosflight_py_sim", *wall, PYTHONPATH=path)
    assert refused.returncode == 1
    assert "time manager 'slow_time' given in the time mode wall; allowed: paced, gated, lockstep" in refused.stderr


def test_registered_node_runs_as_a_process_and_explains_itself(command_line: Run, site: Path) -> None:
    path = f"{PROJECT}:{site}"
    usage = command_line("-m", "rosflight_py_sim.executables", "lift", "--help", PYTHONPATH=path)
    assert usage.returncode == 0, usage.stderr
    assert usage.stdout.startswith("usage: lift [--help]") and "A constant lift." in usage.stdout
    refused = command_line("-m", "rosflight_py_sim.executables", "drift", PYTHONPATH=path)
    assert refused.returncode == 1
    assert refused.stderr.startswith("drift: 'drift' of rosflight_py_sim.nodes given; allowed: ")
    assert " log_line, " in refused.stderr and " sil_board, " in refused.stderr


@pytest.mark.parametrize(
    ("key", "given"),
    [
        ("forces_and_moments", "log_line"),
        ("sensors", "lift"),
        ("transmitter", "lift"),
        ("flight_controller", "sticks"),
        ("time_manager", "board"),
    ],
)
def test_registered_node_of_wrong_kind_is_refused_with_its_place(
    command_line: Run, site: Path, key: str, given: str
) -> None:
    file = site / "kites" / "vehicles" / "parachute_kite.yaml"
    lines = [line for line in file.read_text().splitlines() if not line.startswith(f"{key}:")]
    file.write_text("\n".join([*lines, f"{key}: {given}", ""]))
    result = command_line("-m", "rosflight_py_sim", "sim", "--vehicle", str(file), PYTHONPATH=f"{PROJECT}:{site}")
    assert result.returncode == 1
    assert f"{file}, line {len(lines) + 1}: {key}: {given} given; allowed: " in result.stderr


def test_node_of_a_package_ignores_parameters_of_the_node_that_it_replaces(command_line: Run, site: Path) -> None:
    path = f"{PROJECT}:{site}"
    end = ("--duration", "0.1", "--real-time-multiplier", "0", *LONG_STEPS)
    words = ("sim", "--vehicle", "multirotor", "--forces-and-moments", "lift", *end)
    result = command_line("-m", "rosflight_py_sim", *words, PYTHONPATH=path)
    assert result.returncode == 0, result.stderr
    assert "[forces_and_moments]: parameters of other nodes are ignored: " in result.stderr
    assert ", rotor_dists, " in result.stderr
    file = site / "misspelt.yaml"
    file.write_text("/**/forces_and_moments:\n  ros__parameters: {rotor_dist: 1.0}\n")
    refused = command_line("-m", "rosflight_py_sim", *words[:5], "--params-file", str(file), *end, PYTHONPATH=path)
    assert refused.returncode == 1
    assert f"{file}, line 2: there is no parameter 'rotor_dist'" in refused.stderr


def test_registered_entries_are_listed_with_built_in_ones(command_line: Run, site: Path) -> None:
    listed = command_line("-m", "rosflight_py_sim", "vehicles", PYTHONPATH=f"{PROJECT}:{site}")
    assert "kite: kite that climbs" in listed.stdout and "multirotor: " in listed.stdout
    usage = command_line("-m", "rosflight_py_sim", "sim", "--help", PYTHONPATH=f"{PROJECT}:{site}").stdout
    for text in ("climber (a metronome at high thrust)", "metronome (Drives every output by the same pulse width.)"):
        assert text in " ".join(usage.split())
    refused = command_line("-m", "rosflight_py_sim", "fly", "--world", "barn", PYTHONPATH=f"{PROJECT}:{site}")
    assert refused.returncode == 1
    names = ", ".join(sorted([*known_worlds(), "hall"]))
    assert f"there is no world 'barn'; allowed: a name ({names})" in refused.stderr
    refused = command_line("-m", "rosflight_py_sim", "sim", "--scenario", "barn", PYTHONPATH=f"{PROJECT}:{site}")
    assert "there is no scenario 'barn'; allowed: a name (crossing, hall, harbour, relay, swarm)" in refused.stderr


# Parts of invalid entry points, errors, and commands that use the entry point.
INVALID = [
    (
        *("metronome = ", "uthere = "),
        "'uthere' of rosflight_py_sim.front_ends is registered twice: kites.front_end:Metronome and ros",
        ("sim", "--vehicle", "multirotor", "--flight-controller", "uthere"),
    ),
    (
        *("kites:VEHICLES", "kites:BOATS"),
        "'kites = kites:BOATS' of rosflight_py_sim.vehicles cannot be loaded",
        ("sim", "--vehicle", "kite"),
    ),
    ("kites:VEHICLES", "kites:Path", "allowed: paths of folders", ("sim", "--vehicle", "kite")),
    (
        *("flight_controller:CLIMBER", "front_end:Metronome", "is not an instance of FlightController"),
        ("sim", "--vehicle", "kite", "--flight-controller", "climber"),
    ),
    ("front_end:Metronome", "task:Patience", "classes derived from FrontEndInterface", ("sim", "--vehicle", "kite")),
]


@pytest.mark.parametrize(("old", "new", "text", "words"), INVALID)
def test_invalid_entry_point_is_rejected_by_name(
    command_line: Run, site: Path, old: str, new: str, text: str, words: tuple[str, ...]
) -> None:
    file = site / "kites-1.0.dist-info" / "entry_points.txt"
    assert old in ENTRY_POINTS
    file.write_text(ENTRY_POINTS.replace(old, new))
    result = command_line("-m", "rosflight_py_sim", *words, PYTHONPATH=f"{PROJECT}:{site}")
    assert result.returncode == 1
    assert text in result.stderr and "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == 1


# Modules that cannot be used, each in another way.
BROKEN = {
    "missing package": "import package_that_is_not_installed",
    "syntax error": "def :",
    "exception": "raise RuntimeError('two\\nlines')",
    "empty exception": "assert False",
    "exit": "raise SystemExit(3)",
    "cancelled": "import asyncio\nraise asyncio.CancelledError",
    "exception derived from BaseException": "class Outcome(BaseException): pass\nraise Outcome('skipped')",
    "missing attribute": "",
    "wrong type": "thing = 3.0",
    "wrong table": (
        "from rosflight_py_sim.bridge.front_end_interface import ActuatorFrontEnd\n"
        "class thing(ActuatorFrontEnd):\n    PARAMETERS = None\n"
    ),
    "parameter of another": (
        "from rosflight_py_sim.bridge.front_end_interface import ActuatorFrontEnd\n"
        "from rosflight_py_sim.ground.parameters import Parameter, ParameterTable\n"
        "class thing(ActuatorFrontEnd):\n    PARAMETERS = ParameterTable(Parameter('ardupilot.port', 1, 'Another'))\n"
    ),
}

GROUPS = ("flight_controllers", "front_ends", "missions", "nodes", "scenarios", "vehicles", "wind_models", "worlds")

# Commands that use none of the broken entry points: `help` of every command builds all options.
USES_NONE = """\
import contextlib, io, sys
from rosflight_py_sim.commands.cli import main
from rosflight_py_sim.graph.launch_arguments import all_arguments
from rosflight_py_sim.graph.scenario import load_scenario
from rosflight_py_sim.nodes.bridge import Bridge
from rosflight_py_sim.nodes.running import SharedNames, help_text

for words in ("--version", "vehicles", "joysticks", "sim --help", "fly --help", "trim --airspeed 5"):
    try:
        main(words.split())
    except SystemExit as end:
        assert not end.code, (words, end.code)
assert "ardupilot.port" in help_text("bridge", Bridge)
assert "wind_models" in list(SharedNames())
assert len(load_scenario("harbour").members) > 1
assert all_arguments()
"""


@pytest.fixture
def broken_site(tmp_path: Path) -> Path:
    """A folder as created by `pip install --target`, with an entry point of each group in the module `broken`."""
    information = tmp_path / "broken-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    groups = "".join(f"[rosflight_py_sim.{group}]\nthing_{group} = broken:thing\n" for group in GROUPS)
    (information / "entry_points.txt").write_text(groups)
    return tmp_path


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_package_that_cannot_be_used_affects_no_command_that_does_not_use_it(
    command_line: Run, broken_site: Path, text: str
) -> None:
    (broken_site / "broken.py").write_text(text)
    result = command_line("-c", USES_NONE, PYTHONPATH=f"{PROJECT}:{broken_site}")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "multirotor: " in result.stdout and "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("sim", "--flight-controller", "thing_flight_controllers"),
        ("sim", "--flight-controller", "thing_front_ends"),
        ("sim", "--observers", "thing_front_ends"),
        ("sim", "--vehicle", "thing_vehicles"),
        ("sim", "--world", "thing_worlds"),
        ("sim", "--scenario", "thing_scenarios"),
        ("sim", "--ros-args", "-p", "sim_has_wind:=true", "-p", "wind_models:=[thing_wind_models]"),
        ("fly", "--vehicle", "VEHICLE"),
    ],
    ids=" ".join,
)
def test_command_that_uses_a_broken_package_fails_in_one_line(
    command_line: Run, broken_site: Path, words: tuple[str, ...]
) -> None:
    (broken_site / "broken.py").write_text(BROKEN["missing package"])
    file = broken_site / "glider.yaml"
    vehicle = yaml.safe_load((CONFIG / "vehicles" / "multirotor.yaml").read_text())
    vehicle |= {
        key: str(CONFIG / f"multirotor{end}.yaml") for key, end in (("parameters", ""), ("firmware", "_firmware"))
    }
    vehicle = {key: value for key, value in vehicle.items() if key not in ("pairings", "weather", "autopilot")}
    vehicle["mission"] = {"program": __file__, "parts": 1, "task": "thing_missions"}
    file.write_text(yaml.safe_dump(vehicle))
    given = [str(file) if word == "VEHICLE" else word for word in words]
    result = command_line("-m", "rosflight_py_sim", *given, PYTHONPATH=f"{PROJECT}:{broken_site}")
    assert result.returncode == 1, result.stdout + result.stderr
    (line,) = (line for line in result.stderr.splitlines() if "broken:thing" in line)
    assert "cannot be loaded: No module named 'package_that_is_not_installed' (ModuleNotFoundError)" in line
    assert "Traceback" not in result.stderr

"""The pytest plugin: flights of a user's tests, their requirements, and bundles of failed tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytest_plugins = "pytester"
pytestmark = pytest.mark.timeout(400)

# Pytester sets another HOME, in whose cache there are no kernels.
CACHE = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "testing"


# A square of a few seconds, with a firmware that knows the biases of its IMU.
SHORT = """
import pytest
from rosflight_py_sim.parts.square_autopilot import SquareAutopilot

class OwnAutopilot(SquareAutopilot):
    '''The square, by a class of the test.'''

pytestmark = pytest.mark.simulation(
    vehicle="multirotor",
    seed=3,
    limit=20,
    parameters={
        "square_side": 0.5, "square_height": 1.0, "square_acceleration": 4.0, "corner_pause": 0.0,
        "landing_height": 0.5, "landing_speed": 0.8, "acc_bias_range": 0.0, "gyro_bias_range": 0.0,
    },
    firmware={"FILT_INIT_T": 0, "GYRO_X_BIAS": 0.003, "GYRO_Y_BIAS": -0.002, "GYRO_Z_BIAS": 0.001},
)
"""


@pytest.fixture(autouse=True)
def _compiled_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tests of the tests use the kernels that are compiled already."""
    monkeypatch.setenv("XDG_CACHE_HOME", CACHE)


@pytest.fixture
def run_tests(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """A function that runs the tests of a text, as a user does, in a process of its own."""
    # Options of the project's own run are not those of the user's.
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(text: str, *arguments: str) -> pytest.RunResult:
        pytester.makepyfile(test_flight=SHORT + text)
        return pytester.runpytest_subprocess("-p", "no:faulthandler", *arguments, timeout=300.0)

    return run


def test_plugin_imports_nothing_heavy_in_suites_that_do_not_fly(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import sys

        def test_of_someone_else():
            assert "rosflight_py_sim.testing.plugin" in sys.modules
            loaded = {name.partition(".")[0] for name in sys.modules}
            assert not loaded & {"numpy", "rclpy", "jsbsim", "numba", "scipy", "yaml", "rosflight_msgs", "matplotlib"}
            assert {name for name in sys.modules if name.startswith("rosflight_py_sim")} == {
                "rosflight_py_sim", "rosflight_py_sim.testing", "rosflight_py_sim.testing.plugin"
            }
    """)
    pytester.runpytest_subprocess("-p", "no:xdist", timeout=60.0).assert_outcomes(passed=1)


def test_flight_without_ros_equals_the_flight_in_a_graph(run_tests) -> None:
    result = run_tests("""
TOPICS = ["status", "sim/sensors/imu/data", "autopilot/phase"]

def test_flights(simulation, vehicle):
    assert vehicle.name == "multirotor"
    plain, graph = simulation.fly(topics=TOPICS), simulation.fly(topics=TOPICS, ros=True)
    for flight in (plain, graph):
        flight.require_completed()
        flight.require("judge.tracking_error_rms_m", at_most=0.3, unit="m")
        flight.require("-truth_state.position_ned[2]", at_least=-0.1, at_most=1.5, unit="m")
        assert 0.0 < flight.require_within(5.0, "status", "armed") < 5.0
        flight.require_within(5.0, "autopilot/phase", lambda phase: phase.data == "take off")
        flight.require_rate("sim/sensors/imu/data", at_least_hz=400)
    assert plain.end_s == graph.end_s
    assert plain.value("judge.tracking_error_max_m") == graph.value("judge.tracking_error_max_m")
    assert plain.messages["status"] == graph.messages["status"]
    assert plain.messages["autopilot/phase"] == graph.messages["autopilot/phase"]
""")
    result.assert_outcomes(passed=1)


def test_closest_marker_and_arguments_of_fly_are_the_strongest(run_tests) -> None:
    result = run_tests("""
@pytest.mark.simulation(seed=4, limit=2)
def test_keys(simulation):
    assert simulation.fly().title == "multirotor, seed 4"
    assert simulation.fly(seed=5).title == "multirotor, seed 5"
    assert simulation.fly().reasons[0].endswith("not done after 2 s")

def test_wind_is_steady(simulation):
    flight = simulation.fly(wind=(3, -1, 0), limit=3)
    assert set(flight.value("truth_wind.velocity_ned[0]")) == {3.0}
    assert set(flight.value("truth_wind.velocity_ned[1]")) == {-1.0}

@pytest.mark.simulation(failures=["motor 2 off at 2"])
def test_failures(simulation):
    assert not simulation.fly(failures=[]).reasons
    assert simulation.fly().reasons
""")
    result.assert_outcomes(passed=3)


FAILING = """
@pytest.mark.simulation(autopilot=OwnAutopilot)
def test_low(simulation):
    simulation.fly().require("-truth_state.position_ned[2]", at_most=0.5, unit="m")
"""


@pytest.mark.parametrize("ros", [False, True])
def test_failed_test_leaves_a_bundle_that_refly_repeats(
    run_tests, pytester: pytest.Pytester, ros_domain: int, *, ros: bool
) -> None:
    folder = pytester.path / "kept"
    result = run_tests(FAILING.replace("fly()", f"fly(ros={ros})"), "--simulation-bundles", "kept")
    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines_random(
        [
            r"E .*RequirementError: -truth_state.position_ned\[2\] is 0\.5\d* m at \d\.\d\d s; allowed: at most 0\.5 m"
            r"; furthest outside: 1\.\d* m at \d\.\d\d s \(multirotor, seed 3, flight of \d\.\d\d s\)",
            r"the recording equals the flight of the test, bit for bit",
        ]
    )
    (bundle,) = folder.iterdir()
    assert sorted(one.name for one in bundle.iterdir()) == ["bundle.yaml", "flight.png", "recording.mcap"]
    described = yaml.safe_load((bundle / "bundle.yaml").read_text(encoding="utf-8"))
    assert described["test"] == "test_flight.py::test_low" and described["simulation"]["seed"] == 3
    assert described["versions"]["Python"]
    (command,) = (line.removeprefix("fly it again: ") for line in result.outlines if line.startswith("fly it again: "))
    # The printed command, with the command of this environment.
    program = str(Path(sys.executable).parent / "rosflight_py_sim")
    again = subprocess.run(
        ["bash", "-c", command.replace("rosflight_py_sim refly", f"{program} refly")],
        capture_output=True,
        text=True,
        timeout=200.0,
        check=False,
    )
    assert (again.returncode, again.stderr) == (0, "")
    assert re.fullmatch(r"equal: \d+\.\d{4} s, \d+ topics, \d+ messages\n", again.stdout)
    # Without the class of the test, the run cannot be repeated, and the error names the class.
    lost = subprocess.run(
        [program, "refly", str(bundle / "recording.mcap")],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=100.0,
        check=False,
    )
    assert lost.returncode == 2
    assert "class 'test_flight:OwnAutopilot' cannot be loaded: No module named 'test_flight'" in lost.stderr


def test_exception_in_a_node_leaves_a_bundle_up_to_it(run_tests, pytester: pytest.Pytester, ros_domain: int) -> None:
    result = run_tests(
        """
class Broken(SquareAutopilot):
    def guide(self, state, dt):
        if state.time_s > 1.5:
            raise ValueError("a defect of the node")
        return super().guide(state, dt)

@pytest.mark.simulation(autopilot=Broken)
@pytest.mark.parametrize("ros", [False, True])
def test_broken(simulation, ros):
    simulation.fly(ros=ros)
""",
        "--simulation-bundles",
        "kept",
    )
    result.assert_outcomes(failed=2)
    text = "the flight ended with an exception, and so does the recording"
    assert result.outlines.count(text) == 2
    assert len(re.findall(r"^E +ValueError: a defect of the node$", str(result.stdout), re.MULTILINE)) == 2
    for bundle in (pytester.path / "kept").iterdir():
        again = subprocess.run(
            [str(Path(sys.executable).parent / "rosflight_py_sim"), "refly", str(bundle / "recording.mcap")],
            env={**os.environ, "PYTHONPATH": str(pytester.path)},
            capture_output=True,
            text=True,
            timeout=200.0,
            check=False,
        )
        assert "ValueError: a defect of the node" in again.stderr


def test_node_in_another_process_is_observed_and_its_inputs_are_repeated(
    run_tests, pytester: pytest.Pytester, ros_domain: int
) -> None:
    example = (EXAMPLE / "test_own_process.py").read_text(encoding="utf-8").replace("at_least_hz=49", "at_least_hz=60")
    # On a busy machine, the time would be repeated for the slow process.
    example = example.replace("parameters={", 'parameters={"stall_timeout": 100.0, ')
    (pytester.path / "airspeed_meter.py").write_bytes((EXAMPLE / "airspeed_meter.py").read_bytes())
    result = run_tests(example, "--simulation-bundles", "kept")
    result.assert_outcomes(failed=1)
    text = str(result.stdout)
    # The times are those of the arrival, which depend on the machine's other load.
    assert re.search(r"true_airspeed has a rate of (4[89]|5[0-5])\.?\d* Hz from 0\.\d+ s to ", text), text
    assert "the recording equals the flight of the test, bit for bit" in text
    (recording,) = (pytester.path / "kept").glob("*/recording.mcap")
    again = subprocess.run(
        [str(Path(sys.executable).parent / "rosflight_py_sim"), "refly", str(recording)],
        capture_output=True,
        text=True,
        timeout=200.0,
        check=False,
    )
    assert again.returncode == 0 and again.stdout.startswith("equal: "), again.stdout + again.stderr


def test_node_class_that_needs_ros_flies_in_a_graph_alone(run_tests) -> None:
    result = run_tests("""
from rosflight_py_sim.nodes.running import node_class

class Logging(node_class("autopilot")):
    def guide(self, state, dt):
        self.get_logger().debug("a node with a logger")
        return super().guide(state, dt)

@pytest.mark.simulation(autopilot=Logging)
@pytest.mark.parametrize("ros", [False, True])
def test_node(simulation, ros):
    simulation.fly(ros=ros).require_completed()
""")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        [
            "simulation of test_node*: node 'test_flight:Logging' runs only in the node graph; a test"
            " with ros=True flies in the node graph"
        ]
    )


def test_bundles_are_kept_in_the_cache_and_without_it_the_report_says_so(run_tests, pytester: pytest.Pytester) -> None:
    run_tests(FAILING).assert_outcomes(failed=1)
    assert list(pytester.path.glob(".pytest_cache/d/simulation-bundles/*/recording.mcap"))
    result = run_tests(FAILING, "-p", "no:cacheprovider")
    result.stdout.fnmatch_lines(["no bundle: pytest's cache is off, and --simulation-bundles is not given"])


def test_workers_of_xdist_fly_in_graphs_at_the_same_time(run_tests, pytester: pytest.Pytester) -> None:
    result = run_tests(
        """
@pytest.mark.parametrize("seed", range(4))
def test_seeds(simulation, ros_domain, seed):
    import os
    assert os.environ["ROS_DOMAIN_ID"] == str(ros_domain)
    simulation.fly(seed=seed, ros=True, limit=3).require("truth_state.position_ned[2]", at_least=1.0)
""",
        "--numprocesses=2",
        "--simulation-bundles=kept",
    )
    result.assert_outcomes(failed=4)
    assert len(list(pytester.path.glob("kept/*/recording.mcap"))) == 4
    assert len([line for line in result.outlines if line.endswith("equals the flight of the test, bit for bit")]) == 4


BAD_MARKERS = (
    ("'multirotor'", "marker 'simulation': 'multirotor' given without a key; allowed: keys, such as"),
    ("mas=3", "mas: an unknown key given; allowed: vehicle, scenario, mission, "),
    ("vehicle='multi'", "simulation of test_2: vehicle: vehicle 'multi' given; allowed: "),
    ("seed=-1", "seed: -1 given; allowed: "),
    ("limit=0", "limit: 0 given; allowed: "),
    ("ros=1", "ros: 1 given; allowed: True, False"),
    ("wind=3", "wind: 3 given; allowed: [north, east, down], m/s"),
    ("failures=['motor 9 off']", "failure 'motor 9 off': motor 9 given; allowed for this vehicle: motor 1 to 4"),
    ("scenario='three_vehicles'", "scenario: both given; allowed: one of the keys vehicle and scenario"),
    ("parameters={'mass': {'uniform': [3, 4]}}", "a distribution given for mass; allowed: one value"),
    ("parameters={'mas': 3}", "parameters.mas: there is no parameter 'mas'; did you mean 'mass'?"),
    ("autopilot=int", "autopilot: class int given; allowed: classes derived from Part or PartNode"),
    ("dynamics=OwnAutopilot", "'test_flight:OwnAutopilot', whose KIND is AUTOPILOT, given; allowed: classes whose"),
    ("autopilot='test_flight:Own'", "autopilot: class 'test_flight:Own' cannot be loaded: "),
    ("mission=object()", "mission: <object object at"),
)


def test_bad_markers_are_refused_without_a_traceback(run_tests) -> None:
    tests = [
        f"@pytest.mark.simulation({keys})\ndef test_{number}(simulation):\n    simulation.fly()\n"
        for number, (keys, _) in enumerate(BAD_MARKERS)
    ]
    result = run_tests("\n".join(tests))
    printed = "\n".join(result.outlines).partition("short test summary info")[0]
    assert "Traceback" not in printed and "test_flight.py:" not in printed
    for number, (_, text) in enumerate(BAD_MARKERS):
        (own,) = re.findall(rf"^_+ (?:ERROR at setup of )?test_{number} _+$(.*?)(?=^[_=]+ )", printed, re.M | re.S)
        assert text in own
        assert own.strip().count("\n") == 0


def test_requirements_name_what_was_observed_and_what_is_allowed(run_tests) -> None:
    result = run_tests("""
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.testing.flown import RequirementError as Unmet

def test_topic(simulation):
    simulation.fly(topics=["statu"], limit=1)

def test_errors(simulation):
    flight = simulation.fly(topics=["status"], limit=6)
    for error, text, check in (
        (Unmet, "the mission failed: .*: not done after 6 s", lambda: flight.require_completed()),
        (Unmet, r"holds in none of \\d+ messages until [56][.]\\d+ s; allowed: until 5 s",
            lambda: flight.require_within(5.0, "status", "failsafe")),
        (Unmet, r"status: armed holds from \\d.\\d+ s; allowed: until 0.001 s",
            lambda: flight.require_within(0.001, "status", "armed")),
        (Unmet, r"status has a rate of [\\d.]+ Hz from 0.00 s to \\d.\\d+ s; allowed: at least 1000 Hz; longest",
            lambda: flight.require_rate("status", at_least_hz=1000)),
        (Unmet, r"judge.duration_s is [\\d.]+ s; allowed: at least 50 s and at most 60 s \\(multirotor, seed 3",
            lambda: flight.require("judge.duration_s", at_least=50, at_most=60, unit="s")),
        (ParameterError, "status has no field 'arm'; allowed: time_ns, armed, ",
            lambda: flight.require_within(5.0, "status", "arm")),
        (ParameterError, "topic 'command' was not observed; observed: status; allowed: ",
            lambda: flight.require_rate("command", at_least_hz=50)),
        (ParameterError, "without a limit given; allowed: at_most, at_least, or both", lambda: flight.require("time")),
        (ParameterError, "is a vector; allowed: ", lambda: flight.require("truth_state.euler", at_most=1)),
        (ParameterError, "truth_state.eule given; allowed: ", lambda: flight.value("truth_state.eule")),
    ):
        with pytest.raises(error, match=text):
            check()

def test_no_mission(simulation):
    with pytest.raises(Unmet, match="time has no value: .*not done after 0.1 s"):
        simulation.fly(limit=0.1).value("time")
""")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["topic 'statu' given; allowed: *status, *"])


def test_scenario_of_two_vehicles(run_tests, pytester: pytest.Pytester) -> None:
    (pytester.path / "two.yaml").write_text(
        """
description: two squares
vehicles:
  - {name: one, kind: multirotor, autopilot: true, parameters: {square_side: 1.0}}
  - {name: two, kind: multirotor, autopilot: true, start: {position: [0, 20]}, parameters: {square_side: 1.0}}
""",
        encoding="utf-8",
    )
    pytester.makepyfile(
        test_two="""
import pytest

@pytest.mark.simulation(scenario="./two.yaml", limit=40)
@pytest.mark.parametrize("ros", [False, True])
def test_both(simulation, ros):
    flight = simulation.fly(topics=["one/status", "two/status"], ros=ros)
    flight.require_completed()
    flight.require("one.judge.tracking_error_rms_m", at_most=0.3, unit="m")
    for name in ("one", "two"):
        flight.require_within(5.0, f"{name}/status", "armed")
"""
    )
    pytester.runpytest_subprocess(timeout=200.0).assert_outcomes(passed=2)

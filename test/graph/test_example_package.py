"""The example package brings forces and moments, a dynamics, a time manager and sensors, each used by name."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rosflight_py_sim.recording.mcap_file import read_recording
from rosflight_py_sim.step.topics import TRUTH_STATE, topic_of
from test.graph.conftest import small_square

PROJECT = Path(__file__).parents[2]

LONG_STEPS = ("--ros-args", "-p", "step_size:=0.01")

Command = Callable[..., "subprocess.CompletedProcess[str]"]

SWEEP = """\
description: Ballast
vehicle: multirotor
dynamics: ballast_dynamics
time_manager: breakpoint_time_manager
runs: 1
limit: 2
parameters: {step_size: 0.01, ballast: {uniform: [-25.0, -24.0]}, breakpoint: 0.0}
"""

FLOWN = """\
from pathlib import Path
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.sweep.fly_run import check_direct
from rosflight_py_sim.sweep.pipeline_flight import PipelineFlight
from rosflight_py_sim.sweep.definition import run_of, scenario_of
from rosflight_py_sim.sweep.sweep_file import read_sweep

sweep = read_sweep(Path("sweep.yaml"))
check_direct(sweep)
scenario = scenario_of(sweep, run_of(sweep, 0))
sources = parameter_sources(scenario.members, files=scenario.files, weakest={}, settings=scenario.settings)
flight = PipelineFlight(scenario.members[0], sources, scenario.time_manager)
flight.fly(sweep.limit_s)
print(-flight.state.position_ned[2])
"""


def simulated(with_example: Command, *words: str) -> subprocess.CompletedProcess[str]:
    pace = ("--real-time-multiplier", "0", "--record", "flown.mcap")
    result: subprocess.CompletedProcess[str] = with_example("-m", "rosflight_py_sim", "sim", *words, *pace, *LONG_STEPS)
    return result


def heights(folder: Path, vehicle: str = "") -> list[float]:
    """Heights in the recording, one every hundredth of a second."""
    name = f"/{topic_of(vehicle, TRUTH_STATE.name)}"
    log = read_recording(folder / "flown.mcap", lambda topic, type_name: 1000).topics[name]
    return [-float(TRUTH_STATE.decode(message).position_ned[2]) for message in log.messages]


def test_balloon_rises_by_name_until_its_string_holds_it(with_example: Command, tmp_path: Path) -> None:
    result = simulated(with_example, "--vehicle", "balloon", "--duration", "2")
    assert result.returncode == 0, result.stdout + result.stderr
    # 15 N lift 1 kg against drag, until the string holds it.
    assert 1.5 < heights(tmp_path)[-1] < 2.2


def test_dynamics_and_time_manager_of_the_vehicle_file_act(with_example: Command, tmp_path: Path) -> None:
    # With more drag, the wind would tip it over.
    file = tmp_path / "heavy.yaml"
    file.write_text("/**:\n  ros__parameters: {ballast: 10.0, drop_time: 0.5, breakpoint: 1.0, drag: 0.5}\n")
    result = simulated(with_example, "--vehicle", "balloon", "--params-file", str(file), "--duration", "1")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "breakpoint: paused at 1 s" in result.stderr
    flown = heights(tmp_path)
    assert max(flown[:48]) < 0.31 and flown[-1] > 0.5


@pytest.mark.parametrize("key", ["kind: balloon", "kind: multirotor, dynamics: ballast_dynamics"])
def test_nodes_run_in_a_scenario(with_example: Command, tmp_path: Path, key: str) -> None:
    (tmp_path / "pair.yaml").write_text(
        "description: pair\ntime_manager: breakpoint_time_manager\n"
        f"vehicles:\n  - {{name: a, {key}, parameters: {{ballast: -60.0, drop_time: 9.0}}}}\n"
        "  - {name: b, kind: multirotor, start: {position: [0.0, 20.0]}}\n"
    )
    result = simulated(with_example, "--scenario", "pair.yaml", "--duration", "0.5")
    assert result.returncode == 0, result.stdout + result.stderr
    assert heights(tmp_path, "a")[-1] > 0.5 > heights(tmp_path, "b")[-1]


def test_nodes_run_in_a_fleet(with_example: Command, tmp_path: Path) -> None:
    file = tmp_path / "long.yaml"
    file.write_text("/**/forces_and_moments:\n  ros__parameters: {string_length: 100.0}\n")
    words = ("--vehicle", "balloon", "--params-file", str(file))
    result = simulated(with_example, *words, "--count", "2", "--duration", "1")
    assert result.returncode == 0, result.stdout + result.stderr
    assert heights(tmp_path, "balloon_1")[-1] > 1.0 and heights(tmp_path, "balloon_2")[-1] > 1.0


def test_nodes_fly_a_mission_by_option(with_example: Command) -> None:
    nodes = ("--dynamics", "ballast_dynamics", "--time-manager", "breakpoint_time_manager")
    result = with_example("-m", "rosflight_py_sim", "fly", *nodes, "--calm", *small_square(), "-p", "breakpoint:=0.0")
    assert result.returncode == 0, result.stdout + result.stderr


def test_nodes_fly_in_a_sweep_without_ros(with_example: Command, tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    flown = with_example("-c", FLOWN)
    assert flown.returncode == 0, flown.stderr
    # The lift of 24 to 25 N is less than the weight.
    assert float(flown.stdout) < 0.2
    (tmp_path / "sweep.yaml").write_text(SWEEP.replace("[-25.0, -24.0]", "[-45.0, -44.0]"))
    assert float(with_example("-c", FLOWN).stdout) > 1.0


@pytest.mark.parametrize(
    "given", ["breakpoint: 1.5", "time_manager.breakpoint: 1.5", "breakpoint: {uniform: [0.0, 1.0]}"]
)
def test_sweep_without_ros_refuses_parameters_that_a_time_manager_adds(
    with_example: Command, tmp_path: Path, given: str
) -> None:
    (tmp_path / "sweep.yaml").write_text(SWEEP.replace("breakpoint: 0.0", given))
    refused = with_example("-m", "rosflight_py_sim", "sweep", "sweep.yaml")
    assert refused.returncode == 1
    assert (
        "sweep.yaml: parameter 'breakpoint' of time manager 'breakpoint_time_manager' given, which has an effect only "
        "in the node graph; allowed: its default, 0 s; give the option --graph" in refused.stderr
    )


def test_wrong_kind_in_a_sweep_is_refused_with_its_line(with_example: Command, tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text(SWEEP.replace("dynamics: ballast_dynamics", "dynamics: balloon"))
    refused = with_example("-m", "rosflight_py_sim", "sweep", "sweep.yaml")
    assert refused.returncode == 1
    assert "sweep.yaml, line 3: dynamics: balloon given; allowed: standalone_dynamics, jsbsim_dynamics, ballast" in (
        refused.stderr
    )


def test_nodes_appear_in_help_and_in_the_parameter_page(with_example: Command) -> None:
    usage = "".join(with_example("-m", "rosflight_py_sim", "sim", "--help").stdout.split())
    assert "{standalone,jsbsim,ballast_dynamics}" in usage
    assert ",balloon}" in usage and ",breakpoint_time_manager}" in usage and "{standalone_sensors,dvl_sensors}" in usage
    page = with_example(
        "-c",
        "import sys; sys.path.insert(0, 'TOOLS'); import write_parameter_page as one; print(one.page())".replace(
            "TOOLS", str(PROJECT / "tools")
        ),
    ).stdout
    for name, parameter in (
        ("balloon", "buoyancy"),
        ("ballast_dynamics", "drop_time"),
        ("breakpoint_time_manager", "breakpoint"),
        ("dvl_sensors", "dvl_max_range"),
    ):
        assert f"| `{parameter}` |" in page.partition(f"## {name}\n")[2].partition("\n## ")[0]

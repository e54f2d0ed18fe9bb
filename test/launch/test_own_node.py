"""A user's own node in a launch file gets the graph's time mode, namespace and parameter files."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
import rclpy
from example_package import EXAMPLE, install_example
from rcl_interfaces.srv import GetParameters
from rclpy.executors import SingleThreadedExecutor

from rosflight_py_sim.graph.launch_arguments import all_arguments
from rosflight_py_sim.graph.launching import TIME_MODE, node_arguments
from rosflight_py_sim.graph.simulation_options import SimulationOptions
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.shared_parameters import TIME_MODES
from test.launch.test_launch_files import TIMEOUT_S, WITH_LAUNCH, launched, wait_for_truth

DEFAULTS = {name: one.default or "" for name, one in all_arguments().items()} | {"vehicle": "multirotor"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "wall"),
        ({"use_sim_time": "true"}, "paced"),
        ({"use_sim_time": "false"}, "wall"),
        ({"time_mode": "wall"}, "wall"),
        ({"time_mode": "paced"}, "paced"),
        ({"time_mode": "gated", "use_sim_time": "true"}, "gated"),
        ({"time_mode": "lockstep"}, "lockstep"),
        ({"composed": "true"}, "lockstep"),
        ({"flight_controller": "ardupilot"}, "lockstep"),
        ({"vehicle": "auv"}, "lockstep"),
    ],
)
def test_graph_time_mode_is_derived_from_arguments(given: dict[str, str], expected: str) -> None:
    assert SimulationOptions.of_launch(DEFAULTS | given).chosen_time_mode == expected


@pytest.mark.parametrize("time_mode", TIME_MODES)
def test_own_node_uses_time_mode_of_the_graph(time_mode: str) -> None:
    timing = node_arguments({TIME_MODE: time_mode}, {"executable": "balloon"})["parameters"][-1]
    assert timing == {"time_mode": time_mode, "use_sim_time": time_mode != "wall"}


def test_own_node_uses_files_namespace_and_log_level_of_the_graph() -> None:
    given = {
        TIME_MODE: "wall",
        "dynamics_param_file": "vehicle.yaml",
        "params_file": "a.yaml, b.yaml",
        "namespace": "one",
        "log_level": "warn",
    }
    made = node_arguments(given, {"executable": "balloon", "parameters": ["own.yaml", {"drag": 3.0}]})
    assert made["parameters"][:-1] == ["vehicle.yaml", "own.yaml", {"drag": 3.0}, "a.yaml", "b.yaml"]
    assert (made["executable"], made["namespace"], made["ros_arguments"]) == ("balloon", "one", ["--log-level", "warn"])
    assert node_arguments(given, {"namespace": "two"})["namespace"] == "two"


def test_own_node_placed_before_its_graph_is_rejected() -> None:
    with pytest.raises(ParameterError, match="place it after IncludeLaunchDescription"):
        node_arguments({"time_mode": "lockstep"}, {})


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Launch file of the example; its package is installed into a temporary folder."""
    name = EXAMPLE.name
    index = tmp_path / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / name).touch()
    (tmp_path / "share" / name).symlink_to(EXAMPLE)
    program = tmp_path / "lib" / name / "balloon"
    program.parent.mkdir(parents=True)
    program.write_text(
        f"#!{sys.executable}\nimport runpy\nrunpy.run_path({str(EXAMPLE / name / 'balloon.py')!r}, None, '__main__')\n"
    )
    program.chmod(0o755)
    path = install_example(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([path, os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("AMENT_PREFIX_PATH", os.pathsep.join([str(tmp_path), os.environ.get("AMENT_PREFIX_PATH", "")]))
    return EXAMPLE / "launch" / "balloon.launch.py"


def timing_of(node_name: str) -> tuple[str, bool]:
    """Parameters time_mode and use_sim_time of a running node."""
    context = rclpy.Context()
    rclpy.init(context=context)
    asking = rclpy.create_node("asking", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(asking)
    try:
        client = asking.create_client(GetParameters, f"{node_name}/get_parameters")
        assert client.wait_for_service(TIMEOUT_S)
        answer = client.call_async(GetParameters.Request(names=["time_mode", "use_sim_time"]))
        executor.spin_until_future_complete(answer, TIMEOUT_S)
        time_mode, use_sim_time = answer.result().values
        return time_mode.string_value, use_sim_time.bool_value
    finally:
        asking.destroy_node()
        rclpy.shutdown(context=context)


@pytest.mark.usefixtures("ros_domain")
@WITH_LAUNCH
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((), ("wall", False)),
        (("use_sim_time:=true",), ("paced", True)),
        (("time_mode:=lockstep", "namespace:=one"), ("lockstep", True)),
    ],
    ids=["by default", "by use_sim_time", "by time_mode"],
)
def test_example_flies_in_time_mode_of_the_graph(
    example: Path, given: tuple[str, ...], expected: tuple[str, bool]
) -> None:
    prefix = "/one" if "namespace:=one" in given else ""
    process = launched(*given, file=str(example))
    try:
        wait_for_truth(process, f"{prefix}/sim/truth_state", 0.5)
        assert timing_of(f"{prefix}/forces_and_moments") == expected
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=30.0)
    finally:
        process.kill()
    assert process.returncode == 0, output


@pytest.mark.usefixtures("ros_domain", "example")
@WITH_LAUNCH
def test_vehicle_of_the_example_flies_with_its_own_nodes() -> None:
    process = launched("vehicle:=balloon", "real_time_multiplier:=2", file="standalone.launch.py")
    try:
        wait_for_truth(process, "/sim/truth_state", 0.5)
        # The time manager that its file names runs in lockstep alone.
        assert timing_of("/dynamics") == ("lockstep", True)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=30.0)
    finally:
        process.kill()
    assert process.returncode == 0, output

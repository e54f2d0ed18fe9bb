"""A node that refuses a parameter prints one line and exits with code 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize(
    ("executable", "arguments", "expected_error"),
    [
        ("lockstep_time_manager", ["-p", "step_size:=0.5"], "'step_size': 0.5 given; allowed: number, from 0.0001 to"),
        ("lockstep_time_manager", ["-p", "step_sise:=0.005"], "no parameter 'step_sise'; did you mean 'step_size'"),
        ("standalone_time_manager", ["-p", "real_time_multiplier:=0.0"], "'real_time_multiplier': 0.0 given; allowed"),
        ("standalone_sensors", ["-p", "imu_update_frequency:=fast"], "'imu_update_frequency': 'fast' given; allowed"),
        ("standalone_sensors", ["-p", "gyro_stdef:=0.1"], "no parameter 'gyro_stdef'; did you mean 'gyro_stdev'"),
        ("multirotor_forces_and_moments", [], "is missing; it is required"),
        ("standalone_dynamics", ["-p", "mass:=-1.0"], "'mass': -1.0 given; allowed: number, from 1e-06 to 1e+06 kg"),
        ("standalone_dynamics", [], "is missing; it is required"),
        ("standalone_dynamics", ["-p", "time_mode:=lock"], "'time_mode': 'lock' given; allowed: text, one of wall"),
        ("rc", ["-p", "rc_frequency:=0.5"], "'rc_frequency': 0.5 given; allowed: number, from 1 to 400 Hz"),
        ("rc", ["-p", "time_mode:=paced"], "'use_sim_time': False given; with time_mode 'paced' allowed: true"),
        ("sil_board", ["-p", "firmware_param_file:=/no/such.yaml"], "/no/such.yaml"),
        ("autopilot", ["-p", "square_speed:=0.0"], "'square_speed': 0.0 given; allowed: number, from 0.01 to 200 m/s"),
        ("rc", ["--params-file", "/no/such.yaml"], "parameter file '/no/such.yaml': No such file or directory"),
        ("rc", ["-p", "rc_frequency"], "Couldn't parse parameter override rule: '-p rc_frequency'"),
        ("rc", ["-r", "__ns:=/not-a-name"], "Couldn't parse remap rule: '-r __ns:=/not-a-name'"),
        ("rc", ["--no-such-option"], "unknown ROS arguments ['--no-such-option']"),
    ],
)
def test_node_names_rejected_parameters_and_exits_with_1(
    processes: Any, executable: str, arguments: list[str], expected_error: str
) -> None:
    program = processes.node(executable, *arguments)
    assert program.wait() == 1
    assert len(program.error_lines) == 1, program.stderr
    assert expected_error in program.error_lines[0]


FILES = {
    "not YAML": ("/**:\n  ros__parameters: [1\n", "is not YAML: line 3: expected"),
    "no parameters": ("/**:\n  rc_frequency: 3\n", "line 2: section '/**/rc_frequency' has no 'ros__parameters'"),
    "a number": (
        "/**:\n  ros__parameters: 3\n",
        "line 1: 'ros__parameters' of '/**' is not a mapping from names to values",
    ),
    "misspelt": ("rc:\n  ros__parameters:\n    rc_frequenzy: 50.0\n", "no parameter 'rc_frequenzy'; did you mean"),
}


@pytest.mark.parametrize(("text", "expected_error"), FILES.values(), ids=FILES)
@pytest.mark.parametrize("module", ["executables", "commands.cli"])
def test_invalid_parameter_file_is_reported_in_one_line(
    processes: Any, tmp_path: Path, module: str, text: str, expected_error: str
) -> None:
    file = tmp_path / "given.yaml"
    file.write_text(text)
    before = ["sim" if module == "commands.cli" else "rc"]
    program = processes.run(module, *before, "--ros-args", "--params-file", str(file))
    assert program.wait() == 1
    assert len(program.error_lines) == 1, program.stderr
    assert expected_error in program.error_lines[0]
    if "misspelt" not in expected_error and "no parameter" not in expected_error:
        assert str(file) in program.error_lines[0]


def test_runner_rejects_invalid_ros_namespace(processes: Any) -> None:
    program = processes.command("sim", "--namespace", "not-a-name")
    assert program.wait() == 1
    assert len(program.error_lines) == 1 and "Invalid namespace" in program.error_lines[0]

"""The command `rosflight_py_sim trim`, run as users run it, with and without a simulation to set."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosflight_msgs.msg import SimState

from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import message_of_truth, truth_of_message
from test.processes.conftest import Interrupted


def test_trim_prints_state_inputs_outputs_and_modes(processes: Any) -> None:
    program = processes.command("trim", "--vehicle", "anaconda", "--airspeed", "20", "--turn-radius", "inf")
    assert program.wait() == 0, program.stderr
    for words in ("Trim of anaconda", "elevator", "throttle", "output 4", "short period", "phugoid", "spiral"):
        assert words in program.stdout, program.stdout
    assert not program.error_lines


@pytest.mark.parametrize(
    ("arguments", "code", "expected_error"),
    [
        (["--airspeed", "90"], 1, "anaconda, airspeed 90 m/s, flight-path angle 0 deg, turn radius inf m"),
        (["--airspeed", "20", "--turn-radius", "0"], 1, "turn-radius 0 given; allowed: metres other than 0, or inf"),
        (["--airspeed", "20", "--ros-args", "-p", "mass:=-1.0"], 1, "'mass': -1.0 given; allowed"),
        (["--airspeed", "20", "--ros-args", "-p", "dynamics.mass:=-1.0"], 1, "'mass': -1.0 given; allowed"),
        (["--airspeed", "20", "--ros-args", "-p", "mas:=1.0"], 1, "no parameter 'mas'; did you mean 'mass'"),
        (["--airspeed", "20", "--params-file", "/no/such.yaml"], 1, "'/no/such.yaml': No such file"),
        ([], 2, "--airspeed"),
    ],
)
def test_untrimmable_condition_is_rejected_with_clear_message(
    processes: Any, arguments: list[str], code: int, expected_error: str
) -> None:
    program = processes.command("trim", "--vehicle", "anaconda", *arguments)
    assert program.wait() == code
    assert expected_error in program.stderr
    assert "Traceback" not in program.stderr


def test_parameter_files_and_single_values_apply(processes: Any, tmp_path: Path) -> None:
    file = tmp_path / "light.yaml"
    file.write_text("/**:\n  ros__parameters: {mass: 1.0}\n")

    def throttle(*arguments: str) -> float:
        program = processes.command("trim", "--airspeed", "0", *arguments)
        assert program.wait() == 0, program.stderr
        row = next(line for line in program.stdout.splitlines() if "motor 0" in line)
        return float(row.split("│")[2])

    own, light = throttle(), throttle("--params-file", str(file))
    heavy = throttle("--params-file", str(file), "--ros-args", "-p", "mass:=3.5")
    assert light < own
    assert heavy == own


def test_trimmed_state_is_set_in_running_simulation(processes: Any) -> None:
    processes.command("sim", "--namespace", "uav", "--ros-args", "-p", "real_time_multiplier:=0.02")
    observer = processes.observer(namespace="uav")
    heights: list[float] = []
    observer.node.create_subscription(SimState, TRUTH_STATE.name, lambda m: heights.append(-m.pose.position.z), 10)
    observer.wait_for(lambda: bool(heights), "the simulation's first state")
    assert max(heights) < 1.0, "on the ground to begin with"
    arguments = ("--airspeed", "6", "--altitude", "80", "--namespace", "uav", "--set")
    program = processes.command("trim", *arguments)
    observer.wait_for(lambda: heights[-1] > 75.0, "the trimmed state on the topic")
    observer.wait_for(lambda: program.process.poll() is not None, "the end of the command")
    assert program.wait() == 0, program.stderr
    assert "state set at" in program.stdout


def test_ctrl_c_ends_trim_without_traceback(interrupted_command: Interrupted) -> None:
    code, printed, complaints = interrupted_command("time.sleep", "trim", "--airspeed", "6", "--set")
    assert (code, complaints) == (130, "")
    assert "Trim of multirotor" in printed


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["--version"], "rosflight_py_sim"),
        (["sim", "--help"], "--time-mode"),
        (["trim", "--help"], "--airspeed"),
        (["joysticks"], "joystick"),
    ],
)
def test_commands_without_a_vehicle_do_not_load_ros(tmp_path: Path, words: list[str], printed: str) -> None:
    program = (
        "import sys; sys.modules.update(dict.fromkeys(['rclpy', 'rosflight_msgs', 'std_msgs', 'geometry_msgs']));"
        f"from rosflight_py_sim.commands.cli import main; main({words})"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout


def test_set_without_running_simulation_fails_with_reason(processes: Any) -> None:
    # A namespace of its own, in case another process uses the domain after all.
    program = processes.command("trim", "--airspeed", "6", "--set", "--namespace", "nobody_is_here")
    assert program.wait() == 1
    assert "service /nobody_is_here/dynamics/set_sim_state not available" in program.stderr
    assert "Traceback" not in program.stderr


def test_message_round_trips_the_truth_vector() -> None:
    truth = np.arange(19.0) / 7.0 + math.pi
    assert truth_of_message(message_of_truth(truth)) == pytest.approx(truth, abs=0.0)

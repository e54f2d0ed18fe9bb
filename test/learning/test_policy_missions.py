"""Missions of policies: take-off, the policy's flight, landing, and the verdict."""

from __future__ import annotations

from pathlib import Path

import pytest
from short_flights import CALIBRATED, SMALL_BIASES, flown_directly

from rosflight_py_sim.sweep.definition import Row
from rosflight_py_sim.sweep.sweep_file import read_sweep


def flown(tmp_path: Path, *lines: str) -> Row:
    file = tmp_path / "policy.yaml"
    parameters = "\n".join(f"  {line}" for line in lines)
    file.write_text(
        "description: A policy\nvehicle: multirotor\nautopilot: policy_autopilot\nruns: 1\nlimit: 60\n"
        f"parameters:\n  step_size: 0.01\n{SMALL_BIASES}\n{parameters}\nfirmware: {{{CALIBRATED}}}\n"
        "measures:\n  end: last(truth_state.position_ned[2])\n  north: max(truth_state.position_ned[0])\n"
        "  duration: duration(phase == 2)\n"
    )
    return flown_directly(read_sweep(file))


def test_policy_flies_between_take_off_and_landing(tmp_path: Path) -> None:
    goal = "goal_position: [2.0, 0.0, -6.0]"
    row = flown(tmp_path, "policy: 'policy_flights:velocity'", "actions: velocity", "policy_time: 8.0", goal)
    assert row.reason == ""
    assert row.measures["duration"] == pytest.approx(8.0, abs=0.1)
    assert row.measures["north"] == pytest.approx(2.0, abs=0.5)
    assert abs(row.measures["end"]) < 0.2


def test_mission_of_waypoints_ends_with_the_last_one(tmp_path: Path) -> None:
    waypoints = "goal_waypoints: [1.0, 0.0, -5.0, 0.0, 0.0, -5.0]"
    row = flown(tmp_path, "policy: 'policy_flights:velocity'", "actions: velocity", "task: waypoints", waypoints)
    assert row.reason == ""
    assert row.measures["duration"] < 7.0


def test_landing_ends_the_mission(tmp_path: Path) -> None:
    row = flown(
        tmp_path,
        "policy: 'policy_flights:velocity'",
        "actions: velocity",
        "task: landing",
        "goal_position: [0.0, 0.0, 2.0]",
        "policy_time: 40.0",
        "max_descent_speed: 0.5",
    )
    assert row.reason == ""
    # Touch-down is detected up to 0.15 m above the height of the take-off, 0.12 m.
    assert abs(row.measures["end"]) < 0.28


def test_policy_that_leaves_its_goal_fails(tmp_path: Path) -> None:
    row = flown(tmp_path, "policy: 'rosflight_py_sim.parts.policy:neutral'", "policy_time: 8.0", "goal_limit: 2.0")
    assert not row.succeeded
    assert "goal" in row.reason

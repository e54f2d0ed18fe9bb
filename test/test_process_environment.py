"""Environment variables of a process, and what ROS 2 prints about them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rosflight_py_sim.ground.process_environment import prepare_environment, profile_variable
from rosflight_py_sim.ground.ros_distributions import rclpy_version

RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
FAST_DDS_3, FAST_DDS_2 = "FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE"

START_NODE = """
from rosflight_py_sim.ground.process_environment import stay_on_this_machine
stay_on_this_machine()
import rclpy
rclpy.init()
rclpy.create_node("quiet").destroy_node()
rclpy.shutdown()
"""


def without_profile() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in (FAST_DDS_3, FAST_DDS_2)}


@pytest.mark.parametrize(
    ("version", "variable"),
    [("7.1.6", FAST_DDS_2), ("9.1.2", FAST_DDS_3), ("10.0.10", FAST_DDS_3), ("11.0.0", FAST_DDS_3), ("", FAST_DDS_3)],
)
def test_profile_is_selected_by_the_variable_of_the_release_of_fast_dds(version: str, variable: str) -> None:
    assert profile_variable(version) == variable


@pytest.mark.parametrize(
    ("given", "variables"),
    [
        ({RANGE: "LOCALHOST"}, {profile_variable(rclpy_version())}),
        ({RANGE: "SUBNET"}, set()),
        ({RANGE: "LOCALHOST", FAST_DDS_3: "own.xml"}, {FAST_DDS_3}),
        ({RANGE: "LOCALHOST", FAST_DDS_2: "own.xml"}, {FAST_DDS_2}),
    ],
)
def test_profile_is_selected_for_this_machine_unless_another_is_given(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], variables: set[str]
) -> None:
    environment = dict(given)
    monkeypatch.setattr(os, "environ", environment)
    prepare_environment()
    assert environment.keys() & {FAST_DDS_3, FAST_DDS_2} == variables
    assert given.items() <= environment.items()


def test_node_starts_without_a_warning_about_the_profile() -> None:
    done = subprocess.run(
        [sys.executable, "-c", START_NODE], env=without_profile(), capture_output=True, text=True, check=True
    )
    assert done.stderr == ""

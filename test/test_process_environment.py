"""Environment variables of a process, and what ROS 2 prints about them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.process_environment import address_towards, prepare_environment, profile_variable
from rosflight_py_sim.ground.ros_distributions import rclpy_version

RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
FAST_DDS_3, FAST_DDS_2 = "FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE"
PEERS, ADDRESS = "ROS_STATIC_PEERS", "ROSFLIGHT_PY_SIM_ADDRESS"

# RFC 2606 reserves this name: it never has an address.
UNKNOWN = "simulator.invalid"

START_NODE = """
from rosflight_py_sim.ground.process_environment import stay_on_this_machine
stay_on_this_machine()
import rclpy
rclpy.init()
rclpy.create_node("quiet").destroy_node()
rclpy.shutdown()
"""


def without_profile() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in (FAST_DDS_3, FAST_DDS_2, ADDRESS)}


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


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ({RANGE: "LOCALHOST"}, "127.0.0.1"),
        ({RANGE: "LOCALHOST", PEERS: ""}, "127.0.0.1"),
        ({RANGE: "LOCALHOST", PEERS: "localhost;127.0.0.2"}, "127.0.0.1"),
        ({RANGE: "LOCALHOST", PEERS: UNKNOWN, "ROS_LOCALHOST_ONLY": "1"}, "127.0.0.1"),
        ({RANGE: "LOCALHOST", PEERS: UNKNOWN, ADDRESS: "192.0.2.1"}, "192.0.2.1"),
        ({RANGE: "LOCALHOST", FAST_DDS_3: "loopback.xml"}, "127.0.0.1"),
        ({RANGE: "SUBNET", PEERS: UNKNOWN}, None),
        ({RANGE: "OFF", PEERS: UNKNOWN}, None),
    ],
)
def test_only_peers_open_an_address_beside_loopback(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], address: str | None
) -> None:
    environment = dict(given)
    monkeypatch.setattr(os, "environ", environment)
    prepare_environment()
    assert environment.get(ADDRESS) == address


def test_unknown_peer_is_refused_by_name() -> None:
    with pytest.raises(ParameterError, match=f"{PEERS}: '{UNKNOWN}' given, which has no IPv4 address: .*allowed"):
        address_towards(f"localhost;{UNKNOWN}")


@pytest.mark.parametrize("words", [["-m", "rosflight_py_sim", "sim"], ["-m", "rosflight_py_sim.executables", "rc"]])
def test_program_with_an_unknown_peer_ends_with_one_line(words: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != ADDRESS} | {PEERS: UNKNOWN}
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert f"environment variable {PEERS}: '{UNKNOWN}' given" in line


def test_node_starts_without_a_warning_about_the_profile() -> None:
    done = subprocess.run(
        [sys.executable, "-c", START_NODE], env=without_profile(), capture_output=True, text=True, check=True
    )
    assert done.stderr == ""

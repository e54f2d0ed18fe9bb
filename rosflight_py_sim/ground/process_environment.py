"""Environment variables of a process, set before ROS 2 and numpy are imported; variables already set are kept."""

from __future__ import annotations

import os
from pathlib import Path

from rosflight_py_sim.ground.ros_distributions import distribution_of, rclpy_version

_RANGE, _LOCAL = "ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST"
_PROFILE, _PROFILE_OF_FAST_DDS_2 = "FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE"

# By default, OpenBLAS starts a thread per core in each process, which costs a third of a node's start.
_THREADS = "OPENBLAS_NUM_THREADS"


def prepare_environment() -> None:
    """Set the variables that all processes of the package need.

    If discovery is limited to this machine, Fast DDS receives only at 127.0.0.1, and announces its participants every
    half second. ROS 2's discovery range alone leaves the ports of Fast DDS open on all addresses of the machine.
    """
    os.environ.setdefault(_THREADS, "1")
    if os.environ.get(_RANGE, "").upper() == _LOCAL and not {_PROFILE, _PROFILE_OF_FAST_DDS_2} & os.environ.keys():
        os.environ[profile_variable(rclpy_version())] = str(Path(__file__).with_name("loopback.xml"))


def profile_variable(version: str) -> str:
    """Environment variable with the file of Fast DDS's profile, in the distribution with this version of rclpy.

    With Fast DDS 3, ROS 2 reads the variable of Fast DDS 2, too, and each node prints a warning.
    """
    found = distribution_of(version)
    return _PROFILE_OF_FAST_DDS_2 if found is not None and found.fast_dds == 2 else _PROFILE


def stay_on_this_machine() -> None:
    """Prepare the environment with discovery limited to this machine."""
    os.environ.setdefault(_RANGE, _LOCAL)
    prepare_environment()

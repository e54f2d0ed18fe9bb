"""Environment variables of a process, set before ROS 2 and numpy are imported; variables already set are kept."""

from __future__ import annotations

import os
from pathlib import Path

from rosflight_py_sim.ground.ros_distributions import DISTRIBUTIONS, distribution_of, rclpy_version

_RANGE, _LOCAL = "ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST"

# By default, OpenBLAS starts a thread per core in each process, which costs a third of a node's start.
_THREADS = "OPENBLAS_NUM_THREADS"


def prepare_environment() -> None:
    """Set the variables that all processes of the package need.

    If discovery is limited to this machine, Fast DDS receives only at 127.0.0.1, and announces its participants every
    half second. ROS 2's discovery range alone leaves the ports of Fast DDS open on all addresses of the machine.
    """
    os.environ.setdefault(_THREADS, "1")
    if os.environ.get(_RANGE, "").upper() == _LOCAL and not os.environ.keys() & {one.profiles for one in DISTRIBUTIONS}:
        # Not both variables: the ROS 2 of Fast DDS 3 warns of the other one.
        installed = distribution_of(rclpy_version()) or DISTRIBUTIONS[-1]
        os.environ[installed.profiles] = str(Path(__file__).with_name("loopback.xml"))


def stay_on_this_machine() -> None:
    """Prepare the environment with discovery limited to this machine."""
    os.environ.setdefault(_RANGE, _LOCAL)
    prepare_environment()

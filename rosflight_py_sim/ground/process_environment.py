"""Environment variables of a process, set before ROS 2 and numpy are imported; variables already set are kept."""

from __future__ import annotations

import os
from pathlib import Path

_RANGE, _LOCAL = "ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST"
# Of Fast DDS 3, and of earlier releases, such as Jazzy's.
_PROFILES = ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE")

# By default, OpenBLAS starts a thread per core in each process, which costs a third of a node's start.
_THREADS = "OPENBLAS_NUM_THREADS"


def prepare_environment() -> None:
    """Set the variables that all processes of the package need.

    If discovery is limited to this machine, Fast DDS receives only at 127.0.0.1, and announces its participants every
    half second. ROS 2's discovery range alone leaves the ports of Fast DDS open on all addresses of the machine.
    """
    os.environ.setdefault(_THREADS, "1")
    if os.environ.get(_RANGE, "").upper() == _LOCAL and not any(name in os.environ for name in _PROFILES):
        os.environ.update(dict.fromkeys(_PROFILES, str(Path(__file__).with_name("loopback.xml"))))


def stay_on_this_machine() -> None:
    """Prepare the environment with discovery limited to this machine."""
    os.environ.setdefault(_RANGE, _LOCAL)
    prepare_environment()

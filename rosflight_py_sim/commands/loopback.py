"""Network of the graph: this machine only, unless the environment is set otherwise."""

from __future__ import annotations

import os
from pathlib import Path

_RANGE, _LOCAL = "ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST"
_PROFILES = ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE")


def stay_on_this_machine() -> None:
    """Set the environment so that nodes discover only nodes of this machine and receive only at 127.0.0.1.

    ROS 2's discovery range alone leaves the ports of Fast DDS open on all addresses of the machine.
    """
    if os.environ.setdefault(_RANGE, _LOCAL).upper() == _LOCAL and not any(name in os.environ for name in _PROFILES):
        os.environ[_PROFILES[0]] = str(Path(__file__).with_suffix(".xml"))

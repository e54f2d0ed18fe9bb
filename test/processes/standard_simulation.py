"""A simulation that offers the standard services, and a client of them, in a ROS domain of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from simulation_interfaces.msg import EntityState

from test.processes.conftest import Processes
from test.processes.standard_client import StandardClient

ClaimDomain = Callable[[], AbstractContextManager[int]]

STEP_NS = 10_000_000
SLOWLY = ("--real-time-multiplier", "0.2", "--ros-args", "-p", "step_size:=0.01", "-p", "device:=none")
"""A pace at which the simulation leaves the processor to the client."""


@contextmanager
def simulated(claim_domain: ClaimDomain, folder: Path, *arguments: str) -> Iterator[tuple[StandardClient, Any]]:
    """A client, and the program of a simulation with these arguments."""
    with claim_domain() as domain:
        processes = Processes(domain, folder)
        client = StandardClient(domain)
        try:
            yield client, processes.command("sim", "--simulation-interfaces", *arguments)
        finally:
            client.close()
            processes.close()


def placed(x: float, y: float, z: float, yaw: float = 0.0) -> EntityState:
    """State at rest, in ENU; yaw from east."""
    state = EntityState()
    state.pose.position.x, state.pose.position.y, state.pose.position.z = x, y, z
    state.pose.orientation.z, state.pose.orientation.w = math.sin(yaw / 2.0), math.cos(yaw / 2.0)
    return state


def numbers(vector: Any) -> tuple[float, ...]:
    """Elements of a vector or quaternion message."""
    names = [name for name in ("x", "y", "z", "w") if hasattr(vector, name)]
    return tuple(getattr(vector, name) for name in names)

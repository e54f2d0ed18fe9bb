"""Client of a running simulation, for the scripts in this folder: messages and services, each with a time limit.

A script is a class with a method `act`, run by `run`. It connects to simulations on this machine unless
ROS_AUTOMATIC_DISCOVERY_RANGE is set. Exit code 0: done; 1: stopped, with the reason on stderr; 130: Ctrl-C or SIGTERM.
"""

from __future__ import annotations

import os
import sys
import time
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import rclpy
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rosflight_msgs.msg import SimState

# Time limit for messages and replies, s of system time.
LIMIT_S = 10.0

HINT = "is a simulation running, not paused, and in this ROS_DOMAIN_ID?"


class StoppedError(RuntimeError):
    """The script cannot go on; the text gives the reason."""


class SimulationClient(Node):
    """A script for one vehicle; `-r __ns:=/NAMESPACE` after `--ros-args` selects a vehicle of a fleet."""

    def __init__(self, name: str) -> None:
        """Subscribe to the truth state."""
        super().__init__(name)
        self.truth = SimState()
        self.create_subscription(SimState, "sim/truth_state", self.on_truth, 1)

    @abstractmethod
    def act(self) -> None:
        """Do the script's work.

        Raises:
            StoppedError: it cannot be done.
        """

    def on_truth(self, message: SimState) -> None:
        """Keep the newest truth state."""
        self.truth = message

    @property
    def time_s(self) -> float:
        """Simulated time, s; 0 before the first truth state."""
        return float(self.truth.header.stamp.sec + 1e-9 * self.truth.header.stamp.nanosec)

    @property
    def place(self) -> str:
        """Time and position in words."""
        p = self.truth.pose.position
        return f"{self.time_s:.1f} s  north {p.x:.2f} m  east {p.y:.2f} m  height {-p.z:.2f} m"

    @property
    def seen(self) -> str:
        """What the script last saw of the vehicle."""
        return self.place if self.time_s else "no vehicle"

    def look(self) -> None:
        """Wait for a new truth state."""
        time_s = self.time_s
        self.until(lambda: self.time_s != time_s, "truth state")

    def until(self, condition: Callable[[], object], what: str, limit_s: float = LIMIT_S) -> None:
        """Process messages until a condition holds; `what` names it if it does not within `limit_s` of system time."""
        end_s = time.monotonic() + limit_s
        while not condition():
            if not rclpy.ok():
                raise ExternalShutdownException
            if time.monotonic() > end_s:
                raise StoppedError(f"no {what} within {limit_s:g} s; {HINT}")
            rclpy.spin_once(self, timeout_sec=0.1)

    def call(self, kind: Any, service: str, **fields: Any) -> Any:
        """Call a service and return its reply; a reply without success stops the script."""
        client = self.create_client(kind, service)
        try:
            self.until(client.service_is_ready, f"service {client.srv_name}")
            future = client.call_async(kind.Request(**fields))
            self.until(future.done, f"reply of {client.srv_name}")
            reply = future.result()
        finally:
            self.destroy_client(client)
        if not getattr(reply, "success", True):
            raise StoppedError(f"{service}: {reply.message}")
        return reply

    def parameter(self, node: str, name: str) -> Any:
        """Value of a node's parameter."""
        (value,) = self.call(GetParameters, f"{node}/get_parameters", names=[name]).values
        return parameter_value_to_python(value)

    def set_parameters(self, node: str, **values: Any) -> str:
        """Set parameters of a node, all or none; return the reason of a refusal, empty for none."""
        changes = [Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
        result = self.call(SetParametersAtomically, f"{node}/set_parameters_atomically", parameters=changes).result
        return "" if result.successful else str(result.reason)

    def press(self, kind: Any, service: str, **fields: Any) -> str:
        """Call a service, print its reply, and return the text."""
        text = str(self.call(kind, service, **fields).message)
        print(f"{service}: {text}", flush=True)
        return text


def run(script: Callable[[], SimulationClient]) -> None:
    """Run a script and exit."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    rclpy.init()
    one: SimulationClient | None = None
    code = 0
    try:
        one = script()
        one.act()
    except StoppedError as reason:
        print(f"stopped: {reason}", file=sys.stderr, flush=True)
        code = 1
    except (KeyboardInterrupt, Exception) as error:
        # A signal shuts ROS down, and calls then raise errors of many types.
        if rclpy.ok() and not isinstance(error, KeyboardInterrupt):
            raise
        print(f"interrupted; last seen: {one.seen if one else 'no vehicle'}", file=sys.stderr, flush=True)
        code = 130
    finally:
        rclpy.try_shutdown()
    sys.exit(code)

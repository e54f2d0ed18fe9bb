"""What this package uses of rclpy beyond its public interface.

`test/interfaces/test_rclpy_internals.py` fails where a version of rclpy lacks one of these or uses it
otherwise.
"""

from __future__ import annotations

from typing import Any

from rclpy.clock import Clock
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.subscription import Subscription

RCLError: type[RuntimeError] = rclpy_implementation.RCLError
"""What rcl refuses: a domain, a name, a parameter file; `rclpy.exceptions` has no class for it."""

UnknownROSArgsError: type[RuntimeError] = rclpy_implementation.UnknownROSArgsError
"""Arguments after --ros-args that rcl does not know."""


def parameter_overrides(node: Node) -> dict[str, Any]:
    """Value of each parameter that was given to a node from any source: arguments, files, constructor.

    rclpy shows only those of parameters that have been declared.
    """
    return {name: parameter.value for name, parameter in node._parameter_overrides.items()}


def set_clock(node: Node, clock: Clock) -> None:
    """Replace the clock that `node.get_clock()` returns."""
    node._clock = clock


def is_served(node: Node, subscription: Subscription[Any]) -> bool:
    """Whether the node's executor serves a subscription of the node, and the node destroys it."""
    return subscription in node._subscriptions


def serve(node: Node, subscription: Subscription[Any]) -> None:
    """Let the node's executor serve a subscription again."""
    node._subscriptions.append(subscription)
    node._wake_executor()


def leave_unserved(node: Node, subscription: Subscription[Any]) -> None:
    """Exclude a subscription from what the node's executor serves, and from what the node destroys with itself."""
    node._subscriptions.remove(subscription)
    node._wake_executor()

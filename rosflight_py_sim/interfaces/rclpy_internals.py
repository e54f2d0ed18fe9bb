"""Functions that use rclpy beyond its documentation.

`ground/ros_internals.py` lists the names and the releases in which they were checked.
`test/interfaces/test_ros_internals.py` fails if the installed rclpy lacks one of them or uses it differently, and if
another module uses such a name.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType, ROSClock
from rclpy.exceptions import InvalidHandle
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from rclpy.service import Service
from rclpy.subscription import Subscription
from rclpy.task import Future
from rclpy.time import Time

from rosflight_py_sim.ground.parameters import ParameterError

RCLError: type[RuntimeError] = rclpy_implementation.RCLError
"""Error of rcl about a domain, a name or a parameter file; `rclpy.exceptions` has no class for it."""

UnknownROSArgsError: type[RuntimeError] = rclpy_implementation.UnknownROSArgsError
"""Error for unknown arguments after --ros-args."""


def parameter_overrides(node: Node) -> dict[str, Any]:
    """Values of all parameters given to a node by arguments, files or its constructor.

    rclpy's public interface returns only those of declared parameters.
    """
    return {name: parameter.value for name, parameter in node._parameter_overrides.items()}


def override(node: Node, values: Mapping[str, Any]) -> None:
    """Give values to a node whose parameters are not declared yet, as by its constructor.

    The constructor takes them before the node has its name, by which they are chosen.

    Raises:
        ParameterError: a value is not of a ROS type.
    """
    for name, value in values.items():
        try:
            node._parameter_overrides[name] = Parameter(name, value=value)
        except TypeError as error:
            raise ParameterError(f"parameter '{name}': {value} given; allowed: a value of one ROS type") from error


def set_clock(node: Node, clock: Clock) -> None:
    """Replace the clock that `node.get_clock()` returns."""
    node._clock = clock


def time_setter(clock: ROSClock) -> Callable[[int], None]:
    """Function that sets the time, ns, of a clock as `set_ros_time_override` does, in a quarter of its time.

    It may only be called while the clock exists.
    """
    override, point, kind = clock.handle.set_ros_time_override, type(Time()._time_handle), ClockType.ROS_TIME

    def set_time(time_ns: int) -> None:
        override(point(time_ns, kind))

    return set_time


def call_last(node: Node, callback: Callable[[list[Parameter[Any]]], SetParametersResult]) -> None:
    """Call a function at each change of parameters, after all other callbacks have accepted the change.

    rclpy's public interface calls the newest function first.
    """
    node._on_set_parameters_callbacks.append(callback)


def is_served(node: Node, subscription: Subscription[Any]) -> bool:
    """Whether the node's executor serves a subscription of the node, and the node destroys it."""
    return subscription in node._subscriptions


def serve(node: Node, subscription: Subscription[Any]) -> None:
    """Make the node's executor serve a subscription again."""
    node._subscriptions.append(subscription)
    node._wake_executor()


def leave_unserved(node: Node, subscription: Subscription[Any]) -> None:
    """Remove a subscription from those that the node's executor serves and that the node destroys with itself."""
    node._subscriptions.remove(subscription)
    node._wake_executor()


def forget_destroyed(node: Node) -> None:
    """Release rclpy's references to destroyed subscriptions, clients, services and timers of a node."""
    group = node.default_callback_group
    group.entities = {one for one in group.entities if one() is not None}


def answer_later(service: Service[Any, Any]) -> None:
    """Let callbacks of a service return a Future of the response; the response is sent when the Future has it.

    Every executor sends the result of a callback with `service.send_response`.
    """
    send_response = service.send_response

    def send_now(response: Any, header: Any) -> None:
        # A service that has been destroyed since the request arrived cannot reply; its clients notice that it is gone.
        with contextlib.suppress(InvalidHandle):
            send_response(response, header)

    def send(response: Any, header: Any) -> None:
        if isinstance(response, Future):
            response.add_done_callback(lambda done: send_now(done.result(), header))
        else:
            send_now(response, header)

    service.send_response = send  # type: ignore[method-assign]


def make_executor() -> Executor:
    """Create the fastest executor: EventsExecutor, or SingleThreadedExecutor in Jazzy before release 7.1.4."""
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def raw_publish(publisher: Publisher[Any]) -> Callable[[bytes], None]:
    """Function that publishes a serialised message; `publisher.publish` takes several times as long."""
    publish: Callable[[bytes], None] = publisher.handle.publish_raw
    return publish


def subscription_counter(publisher: Publisher[Any]) -> Callable[[], int]:
    """Function that counts the matching subscriptions; the publisher's own method takes several times as long."""
    count: Callable[[], int] = publisher.handle.get_subscription_count
    return count


def publisher_counter(subscription: Subscription[Any]) -> Callable[[], int]:
    """Function that counts the matching publishers."""
    count: Callable[[], int] = subscription.handle.get_publisher_count
    return count


def take_serialised(subscription: Subscription[Any]) -> tuple[bytes, dict[str, Any]] | None:
    """The oldest message in the queue of a subscription, with facts about it; None if the queue is empty."""
    with subscription.handle:
        taken = subscription.handle.take_message(subscription.msg_type, True)
    return None if taken is None else (bytes(taken[0]), taken[1])

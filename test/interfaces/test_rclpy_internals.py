"""rclpy still has the private names that `rclpy_internals.py` uses, with the same meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rclpy
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import ClockType, ROSClock
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future
from std_msgs.msg import Int32
from std_srvs.srv import Trigger

from rosflight_py_sim.interfaces import rclpy_internals
from rosflight_py_sim.nodes.running import make_executor

CHANGED = "rclpy has changed: mend rosflight_py_sim/interfaces/rclpy_internals.py"


@pytest.fixture
def node(ros_domain: int) -> Iterator[Node]:
    rclpy.init(args=["test", "--ros-args", "-p", "of_arguments:=3"])
    made = Node("internals", parameter_overrides=[Parameter("of_constructor", value=[1.5])])
    yield made
    made.destroy_node()
    rclpy.shutdown()


@pytest.mark.parametrize(
    "name",
    ["_parameter_overrides", "_clock", "_subscriptions", "_wake_executor", "_on_set_parameters_callbacks"],
)
def test_rclpy_node_still_has_the_private_attribute(node: Node, name: str) -> None:
    assert hasattr(node, name), f"rclpy.node.Node has no {name}; {CHANGED}"


def test_overrides_from_all_sources_are_known_before_declaration(node: Node) -> None:
    given = rclpy_internals.parameter_overrides(node)
    assert {"of_arguments": 3, "of_constructor": [1.5]}.items() <= given.items(), CHANGED


def test_node_returns_the_replaced_clock(node: Node) -> None:
    clock: Any = ROSClock()
    assert clock.clock_type is ClockType.ROS_TIME
    rclpy_internals.set_clock(node, clock)
    assert node.get_clock() is clock, CHANGED


def test_time_setter_sets_the_time_of_a_clock() -> None:
    clock: Any = ROSClock()
    clock._set_ros_time_is_active(True)
    set_time = rclpy_internals.time_setter(clock)
    for time_ns in (2_500_000, 0, 1_700_000_000_123_456_789):
        set_time(time_ns)
        assert clock.now().nanoseconds == time_ns, CHANGED


def test_last_callback_is_called_only_for_changes_that_all_others_accept(node: Node) -> None:
    node.declare_parameter("mass", 1.0)
    called: list[str] = []

    def answer(name: str, *, accept: bool) -> Callable[[Any], SetParametersResult]:
        def on_set(_: Any) -> SetParametersResult:
            called.append(name)
            return SetParametersResult(successful=accept)

        return on_set

    rclpy_internals.call_last(node, answer("last", accept=True))
    node.add_on_set_parameters_callback(answer("accepts", accept=True))
    assert node.set_parameters_atomically([Parameter("mass", value=2.0)]).successful
    assert called == ["accepts", "last"], CHANGED
    node.add_on_set_parameters_callback(answer("refuses", accept=False))
    assert not node.set_parameters_atomically([Parameter("mass", value=3.0)]).successful
    assert called[2:] == ["refuses"], CHANGED
    assert node.get_parameter("mass").value == 2.0


def test_executor_serves_a_subscription_only_while_enabled(node: Node) -> None:
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    received: list[int] = []
    subscription = node.create_subscription(Int32, "number", lambda message: received.append(message.data), 10)
    publisher = node.create_publisher(Int32, "number", 10)
    while not publisher.get_subscription_count():
        executor.spin_once(timeout_sec=0.1)

    def receives(number: int) -> bool:
        publisher.publish(Int32(data=number))
        for _ in range(10):
            executor.spin_once(timeout_sec=0.05)
        return number in received

    assert rclpy_internals.is_served(node, subscription) and receives(1)
    rclpy_internals.leave_unserved(node, subscription)
    assert not rclpy_internals.is_served(node, subscription) and not receives(2), CHANGED
    rclpy_internals.serve(node, subscription)
    assert rclpy_internals.is_served(node, subscription) and receives(3), CHANGED
    executor.shutdown()


@pytest.mark.parametrize("new_executor", [SingleThreadedExecutor, make_executor])
def test_executor_sends_a_response_when_its_future_has_it(node: Node, new_executor: Callable[[], Executor]) -> None:
    executor = new_executor()
    executor.add_node(node)
    pending: list[Future[Trigger.Response]] = []

    def serve(request: Trigger.Request, response: Trigger.Response) -> Future[Trigger.Response]:
        pending.append(Future())
        return pending[0]

    rclpy_internals.answer_later(node.create_service(Trigger, "later", serve))
    client = node.create_client(Trigger, "later")
    while not client.service_is_ready():
        executor.spin_once(timeout_sec=0.1)
    answer = client.call_async(Trigger.Request())
    while not pending:
        executor.spin_once(timeout_sec=0.1)
    executor.spin_once(timeout_sec=0.1)
    assert not answer.done(), CHANGED
    pending[0].set_result(Trigger.Response(message="late"))
    while not answer.done():
        executor.spin_once(timeout_sec=0.1)
    result = answer.result()
    assert result is not None and result.message == "late"
    executor.remove_node(node)


def test_rcl_error_types_match_those_raised_by_rclpy(ros_domain: int) -> None:
    with pytest.raises(rclpy_internals.UnknownROSArgsError):
        rclpy.init(args=["test", "--ros-args", "--no-such-option"])
    with pytest.raises(rclpy_internals.RCLError):
        rclpy.init(args=["test", "--ros-args", "-p", "no value"])

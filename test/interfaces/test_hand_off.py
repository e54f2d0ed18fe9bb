"""Hand-off of messages inside a process, with and without external subscribers."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CompressedImage
from std_msgs.msg import String
from std_srvs.srv import Trigger

from rosflight_py_sim.ground.parameters import ParameterTable
from rosflight_py_sim.ground.shared_parameters import TIME_MODE
from rosflight_py_sim.interfaces.hand_off import HandOff
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.running import make_executor
from rosflight_py_sim.step.camera_topics import PictureFile, compressed_topic
from rosflight_py_sim.step.qos import CHAIN, LATCHED, LATCHED_LIST
from rosflight_py_sim.step.topic_statistics import TopicCounter
from rosflight_py_sim.step.topics import (
    BATTERY,
    CLOCK,
    IMU,
    IMU_DATA,
    MAG,
    TRUTH_WIND,
    BatterySample,
    ImuEstimate,
    ImuSample,
    MagSample,
    StepTopic,
    WindSample,
)

TIMEOUT_S = 30.0
DEEP = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
DEEP_LATCHED = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE, durability=LATCHED.durability)


class Member(SimulationNode):
    """A node that takes part in the hand-off."""

    DEFAULT_NAME = "member"
    PARAMETERS = ParameterTable(TIME_MODE)


class Process:
    """Members on one executor, and external nodes, each with its own participant, as in separate processes."""

    def __init__(self) -> None:
        rclpy.init()
        self.executor = make_executor()
        self.hand_off = HandOff(self.executor)
        self.nodes: list[Node] = []
        self._outside: list[tuple[Context, Node, SingleThreadedExecutor]] = []

    def member(self, name: str) -> Member:
        """Add a member, in lockstep."""
        lockstep = rclpy.parameter.Parameter("time_mode", value="lockstep")
        node = Member(name=name, hand_off=self.hand_off, parameter_overrides=[lockstep])
        return self.add(node)

    def add(self, node: Any) -> Any:
        """Add a node to the executor."""
        self.nodes.append(node)
        self.executor.add_node(node)
        return node

    def outside(self) -> Node:
        """Add an external node, with its own participant."""
        context = Context()
        rclpy.init(context=context)
        node = Node("outside", context=context)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        self._outside.append((context, node, executor))
        return node

    def leave(self, node: Node) -> None:
        """Destroy an external node."""
        (one,) = [one for one in self._outside if one[1] is node]
        self._outside.remove(one)
        context, _, executor = one
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)

    def until(self, condition: Callable[[], object]) -> None:
        """Run all nodes until the condition holds."""
        end = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < end
            self.turn()

    def idle(self, seconds: float = 0.3) -> None:
        """Run all nodes for some system time."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end)

    def turn(self) -> None:
        self.executor.spin_once(timeout_sec=0.01)
        self.turn_outside()

    def turn_outside(self) -> None:
        """Run the external nodes."""
        for _, _, executor in self._outside:
            executor.spin_once(timeout_sec=0.001)

    def close(self) -> None:
        for _, node, _ in list(self._outside):
            self.leave(node)
        for node in self.nodes:
            node.destroy_node()
        self.hand_off.close()
        self.executor.shutdown()
        rclpy.shutdown()


@pytest.fixture
def process(ros_domain: int) -> Iterator[Process]:
    assert os.environ["ROS_DOMAIN_ID"] == str(ros_domain)
    process = Process()
    yield process
    process.close()


def wind(k: int) -> WindSample:
    return WindSample(k, (float(k), 0.0, 0.0))


def collect_messages(node: Node, topic: StepTopic[Any], qos: QoSProfile) -> list[Any]:
    """All further messages that a plain rclpy node receives, decoded."""
    received: list[Any] = []
    node.create_subscription(
        topic.message_type, topic.name, lambda data: received.append(topic.decode(data)), qos, raw=True
    )
    return received


def test_messages_are_handed_over_unchanged_in_sending_order(process: Process) -> None:
    first, second = process.member("first"), process.member("second")
    received: list[Any] = []
    second.subscribe(TRUTH_WIND, lambda m: received.append(("a", m)))
    second.subscribe(IMU, lambda m: received.append(("b", m)))
    first.subscribe(TRUTH_WIND, lambda m: received.append(("c", m)))
    send_wind, send_imu = first.publisher(TRUTH_WIND), second.publisher(IMU)
    sent = [wind(1), ImuSample(2, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0)), wind(3)]
    send_wind(sent[0])
    send_imu(sent[1])
    send_wind(sent[2])
    assert not received
    process.until(lambda: len(received) == 5)
    assert [who for who, _ in received] == ["a", "c", "b", "a", "c"]
    assert [message for _, message in received] == [sent[0], sent[0], sent[1], sent[2], sent[2]]
    assert received[0][1] is received[1][1] is sent[0]


def test_endpoints_are_in_the_graph_without_ros_traffic(process: Process) -> None:
    node = process.member("first")
    node.subscribe(TRUTH_WIND, lambda _: None)
    node.publisher(TRUTH_WIND)(wind(1))
    process.idle()
    for infos in (node.get_publishers_info_by_topic, node.get_subscriptions_info_by_topic):
        (info,) = infos(TRUTH_WIND.name)
        assert (info.node_name, info.topic_type) == ("first", "geometry_msgs/msg/Vector3Stamped")
    (outlet,) = process.hand_off.outlets("/sim/truth_wind")
    assert outlet.last == wind(1)
    assert outlet.sent_count == 0


def test_external_subscriber_gets_latched_message_then_all_messages_in_order(process: Process) -> None:
    send = process.member("first").publisher(TRUTH_WIND)
    for k in range(10):
        send(wind(k))
    process.idle(0.1)
    received = collect_messages(process.outside(), TRUTH_WIND, DEEP_LATCHED)
    process.until(lambda: received)
    for k in range(10, 200):
        send(wind(k))
        process.turn()
    process.until(lambda: len(received) == 191)
    assert received == [wind(k) for k in range(9, 200)]


def test_messages_of_four_steps_are_published_together_and_the_last_at_the_end_of_the_turn(process: Process) -> None:
    first, second = process.member("first"), process.member("second")
    received = collect_messages(process.outside(), TRUTH_WIND, DEEP)
    send_time, send_wind = first.publisher(CLOCK), second.publisher(TRUTH_WIND)
    process.until(lambda: send_wind(wind(0)) or received)
    process.idle()
    received.clear()
    second.subscribe(CLOCK, lambda time_ns: send_wind(wind(time_ns)), qos=CHAIN)
    received_within: list[Any] = []

    def advance(message: WindSample) -> None:
        if message.time_ns < 10:
            send_time(message.time_ns + 1)
            return
        end = time.monotonic() + TIMEOUT_S
        # The turn began after time 1 was sent: messages are sent with times 5 and 9.
        while len(received) < 8 and time.monotonic() < end:
            process.turn_outside()
        process.turn_outside()
        received_within.extend(received)

    first.subscribe(TRUTH_WIND, advance, qos=CHAIN)
    send_time(1)
    process.until(lambda: len(received) == 10)
    assert received_within == [wind(k) for k in range(1, 9)]
    assert received == [wind(k) for k in range(1, 11)]


def test_subscriber_after_last_unsubscribe_gets_latest_message_only(process: Process) -> None:
    send = process.member("first").publisher(TRUTH_WIND)
    (outlet,) = process.hand_off.outlets("/sim/truth_wind")
    send(wind(1))
    early = process.outside()
    received = collect_messages(early, TRUTH_WIND, DEEP_LATCHED)
    process.until(lambda: received == [wind(1)])
    process.leave(early)
    process.until(lambda: not outlet.is_encoded)
    process.idle()
    for k in range(2, 6):
        send(wind(k))
    process.idle()
    late = collect_messages(process.outside(), TRUTH_WIND, DEEP_LATCHED)
    process.until(lambda: late)
    send(wind(6))
    process.until(lambda: len(late) == 2)
    assert late == [wind(5), wind(6)]


def test_external_subscriber_does_not_affect_members(process: Process) -> None:
    first, second = process.member("first"), process.member("second")
    received: list[WindSample] = []
    second.subscribe(TRUTH_WIND, received.append)
    send = first.publisher(TRUTH_WIND)
    node = process.outside()
    outside = collect_messages(node, TRUTH_WIND, DEEP)
    (subscription,) = (one for one in node.subscriptions if one.topic_name == "/sim/truth_wind")
    process.until(lambda: process.hand_off.outlets("/sim/truth_wind")[0].is_encoded)
    # Publisher and subscription match independently.
    process.until(subscription.get_publisher_count)
    for k in range(50):
        send(wind(k))
        process.turn()
    process.until(lambda: len(outside) == 50)
    process.idle()
    assert received == outside == [wind(k) for k in range(50)]


def test_external_publisher_is_received_even_when_repeating_a_member_message(process: Process) -> None:
    first, second = process.member("first"), process.member("second")
    received: list[WindSample] = []
    second.subscribe(TRUTH_WIND, received.append, qos=CHAIN)
    send = first.publisher(TRUTH_WIND)
    node = process.outside()
    both = collect_messages(node, TRUTH_WIND, DEEP)
    publisher = node.create_publisher(TRUTH_WIND.message_type, TRUTH_WIND.name, LATCHED)
    process.until(lambda: process.hand_off.outlets("/sim/truth_wind")[0].is_encoded)
    process.until(lambda: publisher.get_subscription_count() == 2)
    send(wind(1))
    process.until(lambda: both == [wind(1)])
    process.idle()
    assert received == [wind(1)]
    for count in (2, 3):
        publisher.publish(TRUTH_WIND.encode(wind(1)))
        process.until(lambda n=count: len(received) == n)
    publisher.publish(TRUTH_WIND.encode(wind(2)))
    process.until(lambda: len(received) == 4)
    process.idle()
    assert received == [wind(1), wind(1), wind(1), wind(2)]


def test_message_sent_before_its_publisher_was_renewed_is_not_received_again(process: Process) -> None:
    first, second = process.member("first"), process.member("second")
    received: list[WindSample] = []
    second.subscribe(TRUTH_WIND, received.append, qos=CHAIN)
    newest = second.poll(TRUTH_WIND)
    send = first.publisher(TRUTH_WIND)
    (outlet,) = process.hand_off.outlets("/sim/truth_wind")
    early = process.outside()
    collect_messages(early, TRUTH_WIND, DEEP)
    process.until(lambda: outlet.is_encoded)
    for k in range(1, 6):
        send(wind(k))
    process.until(lambda: len(received) == 5)
    assert newest.take() == wind(5)
    process.leave(early)
    process.until(lambda: not outlet.is_encoded)
    process.idle()
    # From now on, the subscription takes messages from the middleware, too.
    publisher = process.outside().create_publisher(TRUTH_WIND.message_type, TRUTH_WIND.name, LATCHED)
    process.until(lambda: publisher.get_subscription_count() == 2)
    process.idle()
    assert received == [wind(k) for k in range(1, 6)]
    assert newest.take() is None
    publisher.publish(TRUTH_WIND.encode(wind(6)))
    process.until(lambda: len(received) == 6)
    assert received[5] == newest.take() == wind(6)
    newest.close()


def test_late_member_gets_latched_messages_only(process: Process) -> None:
    first = process.member("first")
    first.publisher(TRUTH_WIND)(wind(1))
    first.publisher(MAG)(MagSample(1, (0.0,) * 3))
    process.idle(0.1)
    late = process.member("second")
    received: list[Any] = []
    late.subscribe(TRUTH_WIND, received.append)
    late.subscribe(TRUTH_WIND, lambda _: received.append("volatile"), qos=CHAIN)
    late.subscribe(MAG, received.append)
    process.idle(0.1)
    assert received == [wind(1)]


def test_late_subscribers_receive_whole_latched_queue_in_order(process: Process) -> None:
    several = StepTopic[String]("several", String, LATCHED_LIST)
    send = process.member("first").publisher(several)
    for k in range(8):
        send(String(data=str(k)))
    process.idle(0.1)
    within: list[str] = []
    process.member("second").subscribe(several, lambda message: within.append(message.data))
    outside = collect_messages(process.outside(), several, DEEP_LATCHED)
    process.until(lambda: len(outside) == LATCHED_LIST.depth)
    send(String(data="8"))
    process.until(lambda: len(outside) == LATCHED_LIST.depth + 1)
    assert within == [message.data for message in outside] == ["3", "4", "5", "6", "7", "8"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_publisher_with_insufficient_qos_is_not_matched(process: Process) -> None:
    first = process.member("first")
    received: list[Any] = []
    first.subscribe(MAG, received.append, qos=LATCHED)
    first.publisher(MAG)(MagSample(1, (0.0,) * 3))
    process.idle(0.1)
    assert not received


def test_handed_over_values_equal_their_wire_encoding(process: Process) -> None:
    first = process.member("first")
    received: list[BatterySample] = []
    first.subscribe(BATTERY, received.append)
    first.publisher(BATTERY)(BatterySample(1, 0.1, 0.2))
    process.until(lambda: received)
    assert received[0] != BatterySample(1, 0.1, 0.2)
    assert received[0] == BATTERY.decode(BATTERY.encode(BatterySample(1, 0.1, 0.2)))


def test_same_ros_message_with_another_row_is_converted(process: Process) -> None:
    first = process.member("first")
    received: list[ImuEstimate] = []
    first.subscribe(IMU_DATA.renamed(IMU.name), received.append)
    first.publisher(IMU)(ImuSample(1, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0)))
    process.until(lambda: received)
    assert received == [ImuEstimate(1, (0.0, 0.0, 0.0, 1.0), (1.0, 2.0, 3.0), (4.0, 5.0, 6.0))]


def test_destroyed_node_receives_nothing_and_leaves_the_graph(process: Process) -> None:
    first, second = process.member("first"), process.member("second")
    received: list[WindSample] = []
    second.subscribe(TRUTH_WIND, received.append)
    send = first.publisher(TRUTH_WIND)
    send(wind(1))
    process.executor.remove_node(second)
    process.nodes.remove(second)
    second.destroy_node()
    send(wind(2))
    process.until(lambda: first.count_subscribers(TRUTH_WIND.name) == 0)
    assert not received


def test_message_of_another_row_does_not_reach_a_destroyed_node(process: Process) -> None:
    first, second = process.member("first"), process.member("second")
    received: list[ImuEstimate] = []
    second.subscribe(IMU_DATA.renamed(IMU.name), received.append)
    first.publisher(IMU)(ImuSample(1, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0)))
    process.executor.remove_node(second)
    process.nodes.remove(second)
    second.destroy_node()
    process.idle(0.1)
    assert not received


def test_each_message_counts_once_whatever_its_way(process: Process) -> None:
    first, second = process.member("first"), process.member("second")
    send = first.publisher(TRUTH_WIND)
    send(wind(0))
    counter, at_once = TopicCounter(), TopicCounter()
    received: list[WindSample] = []
    subscribe = process.hand_off.subscribe
    subscribe(second, TRUTH_WIND, TRUTH_WIND.name, LATCHED, received.append, counter)
    subscribe(second, TRUTH_WIND, TRUTH_WIND.name, CHAIN, lambda _: None, at_once, at_once=True)
    outside = process.outside().create_publisher(TRUTH_WIND.message_type, TRUTH_WIND.name, LATCHED)
    for k in range(1, 101):
        send(wind(k))
        process.turn()
    process.until(lambda: outside.get_subscription_count() == 2)
    outside.publish(TRUTH_WIND.encode(wind(101)))
    process.until(lambda: len(received) == 102 and at_once.total == 101)
    (outlet,) = process.hand_off.outlets("/sim/truth_wind")
    assert (outlet.counter.total, counter.total) == (101, 102)
    assert counter.took_ns and min(counter.took_ns) > 0
    first.destroy_publisher(outlet.publisher)
    assert (counter.total, at_once.total) == (102, 101)


def test_callback_may_end_its_subscription_while_external_messages_wait(process: Process) -> None:
    member = process.member("member")
    received: list[WindSample] = []

    def end(message: WindSample) -> None:
        received.append(message)
        member.destroy_subscription(subscription)

    subscription = member.subscribe(TRUTH_WIND, end, qos=CHAIN)
    process.idle()
    node = process.outside()
    publisher = node.create_publisher(TRUTH_WIND.message_type, TRUTH_WIND.name, DEEP)
    # The process is not run meanwhile, so the messages wait in the middleware's queue.
    end_s = time.monotonic() + TIMEOUT_S
    while not (publisher.get_subscription_count() and member.count_publishers(TRUTH_WIND.name)):
        assert time.monotonic() < end_s
        time.sleep(0.01)
    for k in (1, 2, 3):
        publisher.publish(TRUTH_WIND.encode(wind(k)))
    time.sleep(0.3)
    process.until(lambda: received)
    process.idle()
    assert len(received) == 1
    assert member.count_subscribers(TRUTH_WIND.name) == 0


def test_message_is_built_only_with_subscribers(process: Process) -> None:
    first = process.member("first")
    send = first.lazy_publisher(TRUTH_WIND)
    made: list[int] = []

    def make() -> WindSample:
        made.append(1)
        return wind(1)

    send(make)
    assert not made
    received: list[WindSample] = []
    first.subscribe(TRUTH_WIND, received.append, qos=CHAIN)
    send(make)
    process.until(lambda: received)
    assert len(made) == 1


def test_image_is_handed_over_unchanged_and_encoded_for_external_subscribers(process: Process) -> None:
    camera, bridge = process.member("camera"), process.member("bridge")
    row = compressed_topic("front")
    send = camera.lazy_publisher(row, "/auv")
    pictures: list[PictureFile] = []
    bridge.subscribe(row, pictures.append, "/auv")
    sent = PictureFile(5_000_000_007, b"not a file, but bytes")
    send(lambda: sent)
    process.until(lambda: pictures)
    assert pictures[0] is sent

    outside = process.outside()
    received: list[CompressedImage] = []
    name = "/auv/camera/front/image_raw/compressed"
    subscription = outside.create_subscription(CompressedImage, name, received.append, CHAIN)
    # A subscription in the graph may not receive yet: publisher and subscription match independently.
    process.until(lambda: process.hand_off.outlets(name)[0].is_encoded)
    process.until(subscription.get_publisher_count)
    send(lambda: sent)
    process.until(lambda: received)
    assert bytes(received[0].data) == sent.file
    assert (received[0].header.stamp.sec, received[0].header.stamp.nanosec) == (5, 7)
    assert received[0].header.frame_id == "front_camera_optical_frame"
    assert all(picture is sent for picture in pictures)


def test_service_is_called_and_answered_within_a_step(process: Process) -> None:
    caller, server, manager = (process.member(name) for name in ("caller", "server", "manager"))
    steps: list[int] = []
    seen: dict[str, int] = {}

    def serve(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        seen["served"] = steps[-1]
        return response

    server.create_service(Trigger, "serve", serve)
    client = caller.create_client(Trigger, "serve")
    process.until(client.service_is_ready)
    send_state, send_clock = manager.publisher(TRUTH_WIND), manager.publisher(CLOCK)

    def on_clock(time_ns: int) -> None:
        steps.append(time_ns)
        send_state(wind(time_ns))

    def on_wind(message: WindSample) -> None:
        if message.time_ns == 100:
            future = client.call_async(Trigger.Request())
            future.add_done_callback(lambda _: seen.update(answered=steps[-1]))
        if message.time_ns < 200:
            send_clock(message.time_ns + 1)

    caller.subscribe(CLOCK, on_clock)
    caller.subscribe(TRUTH_WIND, on_wind)
    send_clock(1)
    process.until(lambda: steps and steps[-1] == 200)
    assert seen["served"] - 100 in (0, 1)
    assert seen["answered"] - seen["served"] in (0, 1, 2)


def test_callback_exception_is_raised_from_spin(process: Process) -> None:
    first = process.member("first")

    def fail(message: WindSample) -> None:
        raise RuntimeError(f"wind {message.time_ns}")

    first.subscribe(TRUTH_WIND, fail)
    process.hand_off.check()
    first.publisher(TRUTH_WIND)(wind(7))
    process.until(lambda: process.hand_off.failure)
    with pytest.raises(RuntimeError, match="wind 7"):
        process.hand_off.check()


def test_input_at_once_receives_within_the_call_before_those_that_wait(process: Process) -> None:
    sender, receiver = process.member("sender"), process.member("receiver")
    order: list[str] = []
    receiver.subscribe(TRUTH_WIND, lambda message: order.append(f"later {message.time_ns}"))
    receiver.subscribe(TRUTH_WIND, lambda message: order.append(f"at once {message.time_ns}"), at_once=True)
    send = sender.publisher(TRUTH_WIND)
    for k in range(2):
        send(wind(k))
        order.append(f"sent {k}")
    assert order == ["at once 0", "sent 0", "at once 1", "sent 1"]
    process.until(lambda: len(order) == 6)
    assert order[4:] == ["later 0", "later 1"]


def test_exception_of_an_input_at_once_is_raised_from_spin_not_at_the_sender(process: Process) -> None:
    sender, receiver = process.member("sender"), process.member("receiver")

    def fail(_: WindSample) -> None:
        raise RuntimeError("cannot take this")

    receiver.subscribe(TRUTH_WIND, fail, at_once=True)
    sender.publisher(TRUTH_WIND)(wind(0))
    with pytest.raises(RuntimeError, match="cannot take this"):
        process.hand_off.check()


def test_plain_node_with_queue_of_one_gets_one_message_per_step(process: Process) -> None:
    first, second = process.member("first"), process.member("second")
    guest = Node("guest")
    received = collect_messages(guest, TRUTH_WIND, CHAIN)
    send_time, send_wind = first.publisher(CLOCK), second.publisher(TRUTH_WIND)
    steps = 200
    second.subscribe(CLOCK, lambda time_ns: send_wind(wind(time_ns)), qos=CHAIN)
    first.subscribe(TRUTH_WIND, lambda m: send_time(m.time_ns + 1) if m.time_ns < steps else None, qos=CHAIN)
    process.add(guest)
    send_time(1)
    process.until(lambda: received and received[-1].time_ns == steps)
    assert [m.time_ns for m in received] == list(range(1, steps + 1))

"""Hand-off of messages inside a process: who receives what, with and without somebody outside."""

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

from rosflight_py_sim.interfaces.camera_topics import PictureFile, compressed_topic
from rosflight_py_sim.interfaces.hand_off import HandOff
from rosflight_py_sim.interfaces.qos import CHAIN, LATCHED, LATCHED_LIST
from rosflight_py_sim.interfaces.simulation_node import TIME_MODE, SimulationNode
from rosflight_py_sim.interfaces.step_topics import (
    BATTERY,
    CLOCK,
    IMU,
    IMU_DATA,
    TRUTH_WIND,
    BatterySample,
    ImuEstimate,
    ImuSample,
    StepTopic,
    Wind,
)
from rosflight_py_sim.nodes.running import make_executor
from rosflight_py_sim.parameters import ParameterTable

TIMEOUT_S = 30.0
DEEP = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
DEEP_LATCHED = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE, durability=LATCHED.durability)


class Member(SimulationNode):
    """A node that is connected."""

    DEFAULT_NAME = "member"
    PARAMETERS = ParameterTable(TIME_MODE)


class Process:
    """Members on one executor, and nodes outside, each as if in a process of its own."""

    def __init__(self) -> None:
        rclpy.init()
        self.executor = make_executor()
        self.hand_off = HandOff(self.executor)
        self.nodes: list[Node] = []
        self._outside: list[tuple[Context, Node, SingleThreadedExecutor]] = []

    def member(self, name: str) -> Member:
        """One more member, in lockstep."""
        lockstep = rclpy.parameter.Parameter("time_mode", value="lockstep")
        node = Member(name=name, hand_off=self.hand_off, parameter_overrides=[lockstep])
        return self.add(node)

    def add(self, node: Any) -> Any:
        """Let a node take part."""
        self.nodes.append(node)
        self.executor.add_node(node)
        return node

    def outside(self) -> Node:
        """A node with a participant of its own."""
        context = Context()
        rclpy.init(context=context)
        node = Node("outside", context=context)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        self._outside.append((context, node, executor))
        return node

    def leave(self, node: Node) -> None:
        """End a node outside."""
        (one,) = [one for one in self._outside if one[1] is node]
        self._outside.remove(one)
        context, _, executor = one
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)

    def until(self, condition: Callable[[], object]) -> None:
        """Run everybody until the condition holds."""
        end = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < end
            self.turn()

    def idle(self, seconds: float = 0.3) -> None:
        """Run everybody for a while."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end)

    def turn(self) -> None:
        self.executor.spin_once(timeout_sec=0.01)
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


def wind(k: int) -> Wind:
    return Wind(k, (float(k), 0.0, 0.0))


def hear(node: Node, topic: StepTopic[Any], qos: QoSProfile) -> list[Any]:
    """The messages that a node of plain rclpy receives from now on, decoded."""
    heard: list[Any] = []
    node.create_subscription(
        topic.message_type, topic.name, lambda data: heard.append(topic.decode(data)), qos, raw=True
    )
    return heard


def test_message_is_handed_over_as_it_is_in_the_order_of_sending(process: Process) -> None:
    first, second = process.member("first"), process.member("second")
    heard: list[Any] = []
    second.subscribe(TRUTH_WIND, lambda m: heard.append(("a", m)))
    second.subscribe(IMU, lambda m: heard.append(("b", m)))
    first.subscribe(TRUTH_WIND, lambda m: heard.append(("c", m)))
    send_wind, send_imu = first.publisher(TRUTH_WIND), second.publisher(IMU)
    sent = [wind(1), ImuSample(2, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0)), wind(3)]
    send_wind(sent[0])
    send_imu(sent[1])
    send_wind(sent[2])
    assert not heard
    process.until(lambda: len(heard) == 5)
    assert [who for who, _ in heard] == ["a", "c", "b", "a", "c"]
    assert [message for _, message in heard] == [sent[0], sent[0], sent[1], sent[2], sent[2]]
    assert heard[0][1] is heard[1][1] is sent[0]


def test_everything_is_in_the_graph_and_nothing_goes_out(process: Process) -> None:
    node = process.member("first")
    node.subscribe(TRUTH_WIND, lambda _: None)
    node.publisher(TRUTH_WIND)(wind(1))
    process.idle()
    for infos in (node.get_publishers_info_by_topic, node.get_subscriptions_info_by_topic):
        (info,) = infos(TRUTH_WIND.name)
        assert (info.node_name, info.topic_type) == ("first", "geometry_msgs/msg/Vector3Stamped")
    (outlet,) = process.hand_off.outlets("/sim/truth_wind")
    assert outlet.last == wind(1)
    assert outlet.sent is None


def test_outside_gets_what_is_latched_at_once_and_then_every_message_in_order(process: Process) -> None:
    send = process.member("first").publisher(TRUTH_WIND)
    for k in range(10):
        send(wind(k))
    process.idle(0.1)
    heard = hear(process.outside(), TRUTH_WIND, DEEP_LATCHED)
    process.until(lambda: heard)
    for k in range(10, 200):
        send(wind(k))
        process.turn()
    process.until(lambda: len(heard) == 191)
    assert heard == [wind(k) for k in range(9, 200)]


def test_who_comes_after_the_last_listener_has_gone_gets_the_newest_and_nothing_older(process: Process) -> None:
    send = process.member("first").publisher(TRUTH_WIND)
    (outlet,) = process.hand_off.outlets("/sim/truth_wind")
    send(wind(1))
    early = process.outside()
    heard = hear(early, TRUTH_WIND, DEEP_LATCHED)
    process.until(lambda: heard == [wind(1)])
    process.leave(early)
    process.until(lambda: not outlet.is_encoded)
    process.idle()
    for k in range(2, 6):
        send(wind(k))
    process.idle()
    late = hear(process.outside(), TRUTH_WIND, DEEP_LATCHED)
    process.until(lambda: late)
    send(wind(6))
    process.until(lambda: len(late) == 2)
    assert late == [wind(5), wind(6)]


def test_listener_outside_changes_nothing_for_members(process: Process) -> None:
    first, second = process.member("first"), process.member("second")
    heard: list[Wind] = []
    second.subscribe(TRUTH_WIND, heard.append)
    send = first.publisher(TRUTH_WIND)
    outside = hear(process.outside(), TRUTH_WIND, DEEP)
    process.until(lambda: process.hand_off.outlets("/sim/truth_wind")[0].is_encoded)
    # The other side matches on its own.
    process.idle()
    for k in range(50):
        send(wind(k))
        process.turn()
    process.until(lambda: len(outside) == 50)
    process.idle()
    assert heard == outside == [wind(k) for k in range(50)]


def test_publisher_outside_is_heard_also_when_it_repeats_what_a_member_said(process: Process) -> None:
    first, second = process.member("first"), process.member("second")
    heard: list[Wind] = []
    second.subscribe(TRUTH_WIND, heard.append, qos=CHAIN)
    send = first.publisher(TRUTH_WIND)
    node = process.outside()
    both = hear(node, TRUTH_WIND, DEEP)
    publisher = node.create_publisher(TRUTH_WIND.message_type, TRUTH_WIND.name, LATCHED)
    process.until(lambda: process.hand_off.outlets("/sim/truth_wind")[0].is_encoded)
    process.until(lambda: publisher.get_subscription_count() == 2)
    send(wind(1))
    process.until(lambda: both == [wind(1)])
    process.idle()
    assert heard == [wind(1)]
    for count in (2, 3):
        publisher.publish(TRUTH_WIND.encode(wind(1)))
        process.until(lambda n=count: len(heard) == n)
    publisher.publish(TRUTH_WIND.encode(wind(2)))
    process.until(lambda: len(heard) == 4)
    process.idle()
    assert heard == [wind(1), wind(1), wind(1), wind(2)]


def test_member_that_comes_late_gets_what_is_latched_and_not_what_is_not(process: Process) -> None:
    first = process.member("first")
    first.publisher(TRUTH_WIND)(wind(1))
    first.publisher(IMU)(ImuSample(1, (0.0,) * 3, (0.0,) * 3))
    process.idle(0.1)
    late = process.member("second")
    heard: list[Any] = []
    late.subscribe(TRUTH_WIND, heard.append)
    late.subscribe(TRUTH_WIND, lambda _: heard.append("volatile"), qos=CHAIN)
    late.subscribe(IMU, heard.append)
    process.idle(0.1)
    assert heard == [wind(1)]


def test_latched_queue_of_several_reaches_late_subscribers_within_and_outside_in_order(process: Process) -> None:
    several = StepTopic[String]("several", String, LATCHED_LIST)
    send = process.member("first").publisher(several)
    for k in range(8):
        send(String(data=str(k)))
    process.idle(0.1)
    within: list[str] = []
    process.member("second").subscribe(several, lambda message: within.append(message.data))
    outside = hear(process.outside(), several, DEEP_LATCHED)
    process.until(lambda: len(outside) == LATCHED_LIST.depth)
    send(String(data="8"))
    process.until(lambda: len(outside) == LATCHED_LIST.depth + 1)
    assert within == [message.data for message in outside] == ["3", "4", "5", "6", "7", "8"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_publisher_that_offers_less_is_not_connected(process: Process) -> None:
    first = process.member("first")
    heard: list[Any] = []
    first.subscribe(IMU, heard.append, qos=LATCHED)
    first.publisher(IMU)(ImuSample(1, (0.0,) * 3, (0.0,) * 3))
    process.idle(0.1)
    assert not heard


def test_numbers_are_those_that_travel(process: Process) -> None:
    first = process.member("first")
    heard: list[BatterySample] = []
    first.subscribe(BATTERY, heard.append)
    first.publisher(BATTERY)(BatterySample(1, 0.1, 0.2))
    process.until(lambda: heard)
    assert heard[0] != BatterySample(1, 0.1, 0.2)
    assert heard[0] == BATTERY.decode(BATTERY.encode(BatterySample(1, 0.1, 0.2)))


def test_same_ros_message_under_another_row_is_converted(process: Process) -> None:
    first = process.member("first")
    heard: list[ImuEstimate] = []
    first.subscribe(IMU_DATA.renamed(IMU.name), heard.append)
    first.publisher(IMU)(ImuSample(1, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0)))
    process.until(lambda: heard)
    assert heard == [ImuEstimate(1, (0.0, 0.0, 0.0, 1.0), (1.0, 2.0, 3.0), (4.0, 5.0, 6.0))]


def test_node_that_has_ended_hears_nothing_and_leaves_the_graph(process: Process) -> None:
    first, second = process.member("first"), process.member("second")
    heard: list[Wind] = []
    second.subscribe(TRUTH_WIND, heard.append)
    send = first.publisher(TRUTH_WIND)
    send(wind(1))
    process.executor.remove_node(second)
    process.nodes.remove(second)
    second.destroy_node()
    send(wind(2))
    process.until(lambda: first.count_subscribers(TRUTH_WIND.name) == 0)
    assert not heard


def test_message_is_made_only_if_somebody_subscribes(process: Process) -> None:
    first = process.member("first")
    send = first.lazy_publisher(TRUTH_WIND)
    made: list[int] = []

    def make() -> Wind:
        made.append(1)
        return wind(1)

    send(make)
    assert not made
    heard: list[Wind] = []
    first.subscribe(TRUTH_WIND, heard.append, qos=CHAIN)
    send(make)
    process.until(lambda: heard)
    assert len(made) == 1


def test_picture_is_handed_on_as_it_is_and_encoded_for_others(process: Process) -> None:
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
    heard: list[CompressedImage] = []
    outside.create_subscription(CompressedImage, "/auv/camera/front/image_raw/compressed", heard.append, CHAIN)
    process.until(lambda: camera.count_subscribers("/auv/camera/front/image_raw/compressed") == 2)
    send(lambda: sent)
    process.until(lambda: heard)
    assert bytes(heard[0].data) == sent.file
    assert (heard[0].header.stamp.sec, heard[0].header.stamp.nanosec) == (5, 7)
    assert heard[0].header.frame_id == "front_camera_optical_frame"
    assert all(picture is sent for picture in pictures)


def test_service_is_called_served_and_answered_within_a_step(process: Process) -> None:
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

    def on_wind(message: Wind) -> None:
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


def test_exception_of_a_callback_is_raised_to_who_spins(process: Process) -> None:
    first = process.member("first")

    def fail(message: Wind) -> None:
        raise RuntimeError(f"wind {message.time_ns}")

    first.subscribe(TRUTH_WIND, fail)
    process.hand_off.check()
    first.publisher(TRUTH_WIND)(wind(7))
    process.until(lambda: process.hand_off.failure)
    with pytest.raises(RuntimeError, match="wind 7"):
        process.hand_off.check()


def test_plain_node_that_keeps_one_message_gets_one_of_each_step(process: Process) -> None:
    first, second = process.member("first"), process.member("second")
    guest = Node("guest")
    heard = hear(guest, TRUTH_WIND, CHAIN)
    send_time, send_wind = first.publisher(CLOCK), second.publisher(TRUTH_WIND)
    steps = 200
    second.subscribe(CLOCK, lambda time_ns: send_wind(wind(time_ns)), qos=CHAIN)
    first.subscribe(TRUTH_WIND, lambda m: send_time(m.time_ns + 1) if m.time_ns < steps else None, qos=CHAIN)
    process.add(guest)
    send_time(1)
    process.until(lambda: heard and heard[-1].time_ns == steps)
    assert [m.time_ns for m in heard] == list(range(1, steps + 1))

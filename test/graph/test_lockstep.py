"""Lockstep: each step follows from the previous one, a repeated time changes nothing, and the pace is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from rosflight_msgs.msg import BatteryStatus, Command, OutputRaw, Status
from rosgraph_msgs.msg import Clock

from rosflight_py_sim.ground.stamps import set_time, time_ns_of
from rosflight_py_sim.step.topics import (
    CLOCK,
    COMMAND,
    FORCES_AND_MOMENTS,
    IMU,
    PWM_OUTPUT,
    REPEATED_CLOCK,
    STATUS,
    TRUTH_BATTERY,
    TRUTH_ROTOR_SPEEDS,
    TRUTH_STATE,
    StepTopic,
)

STEP_NS = 2_500_000
MakeGraph = Callable[..., Any]


@pytest.fixture
def paused(undisturbed_graph: MakeGraph) -> Iterator[Any]:
    """A graph, paused until the end of the test; the previous test's messages from outside are out of date."""
    g = undisturbed_graph().ready()
    g.spin_for(0.3)
    g.pause()
    yield g
    assert g.call("time_manager/toggle_pause").success


def stamp_of(message: Any) -> int:
    stamp = message.clock if isinstance(message, Clock) else message.header.stamp
    return time_ns_of(stamp)


def test_each_truth_message_leads_its_clock_by_one_step(undisturbed_graph: MakeGraph) -> None:
    g = undisturbed_graph().ready()
    order: list[tuple[str, int]] = []
    for name, row in (("clock", CLOCK), ("truth", TRUTH_STATE)):
        g.tester.create_subscription(
            row.message_type, row.name, lambda message, name=name: order.append((name, stamp_of(message))), 10
        )
    start = g.time_s
    g.spin_until(lambda: g.time_s > start + 0.3 and order)
    first = next(k for k, (name, _) in enumerate(order) if name == "clock")
    times = order[first : first + 100]
    t = times[0][1]
    assert times == [pair for k in range(50) for pair in (("clock", t + k * STEP_NS), ("truth", t + (k + 1) * STEP_NS))]


def test_each_node_in_the_chain_replies_once_per_step(paused: Any) -> None:
    g = paused
    topics = (CLOCK, IMU, PWM_OUTPUT, FORCES_AND_MOMENTS, TRUTH_STATE)
    received = {topic: g.collect_messages(topic) for topic in topics}
    start = g.time_ns
    g.idle(0.3)
    for messages in received.values():
        messages.clear()
    g.set_parameter("time_manager", "step_count", 50)
    assert g.call("time_manager/step").success
    g.spin_until(lambda: g.time_ns == start + 50 * STEP_NS and len(received[TRUTH_STATE]) == 50)
    for topic, messages in received.items():
        shift = 1 if topic is TRUTH_STATE else 0
        assert [stamp_of(m) for m in messages] == [start + (k + shift) * STEP_NS for k in range(50)], topic
    g.set_parameter("time_manager", "step_count", 1)


def test_command_takes_effect_after_the_latency_of_the_link(paused: Any) -> None:
    g = paused
    sender = g.tester.create_publisher(Command, COMMAND.name, 1)
    g.spin_until(sender.get_subscription_count, "the flight controller's subscription")
    firmware = g.node("sil_board").firmware
    command = Command(mode=Command.MODE_ROLL_PITCH_YAWRATE_THROTTLE)
    set_time(command.header.stamp, g.time_ns)
    sender.publish(command)
    g.idle(0.3)
    active = []
    for _ in range(6):
        g.step()
        active.append(firmware.command.offboard_active)
    # The first pass at least 6 ms after the stamp t is the one at t + 7.5 ms.
    assert active == [False, False, False, True, True, True]


def assert_taken_one_step_later(
    g: Any, sender: Any, message: Any, taken: Callable[[], bool], comes_before_its_step: bool
) -> None:
    """Send a message with the stamp of the next step, before or after that step: it takes effect in the one after."""
    set_time(message.header.stamp, g.time_ns)
    if not comes_before_its_step:
        g.step()
    sender.publish(message)
    g.idle(0.3)
    if comes_before_its_step:
        g.step()
    assert not taken()
    g.step()
    assert taken()


@pytest.mark.parametrize("comes_before_its_step", [True, False])
@pytest.mark.parametrize(
    ("topic", "message", "taken"),
    [
        (STATUS, Status(armed=True), lambda sensors: sensors.armed),
        (TRUTH_ROTOR_SPEEDS, OutputRaw(values=[77.0] * 14), lambda sensors: 77.0 in sensors.rotor_speeds),
        (TRUTH_BATTERY, BatteryStatus(voltage=7.0), lambda sensors: sensors.power[0] == 7.0),
    ],
    ids=["status", "rotor speeds", "battery"],
)
def test_sensors_take_stamped_input_one_step_after_its_stamp_in_either_order(
    paused: Any, topic: StepTopic[Any], message: Any, taken: Callable[[Any], bool], comes_before_its_step: bool
) -> None:
    g = paused
    own = g.collect_messages(topic)
    g.spin_until(lambda: g.step() or own, "a message of the graph's own, which sends no other for 20 ms")
    sender = g.tester.create_publisher(type(message), topic.name, 1)
    g.spin_until(sender.get_subscription_count, "the sensors' subscription")
    sensors = g.node("sensors")
    assert_taken_one_step_later(g, sender, message, lambda: taken(sensors), comes_before_its_step)


def test_step_size_is_changeable_at_runtime(paused: Any) -> None:
    g = paused
    for size_ns in (5_000_000, 1_000_000, STEP_NS):
        g.set_parameter("time_manager", "step_size", size_ns * 1e-9)
        g.spin_until(lambda size_ns=size_ns: g.node("dynamics").step_ns == size_ns)
        before = g.time_ns
        g.step()
        assert g.time_ns == before + size_ns
    g.call("time_manager/toggle_pause")
    g.set_parameter("time_manager", "step_size", 0.005)
    g.spin_for(0.2)
    g.set_parameter("time_manager", "step_size", STEP_NS * 1e-9)
    g.spin_for(0.2)
    g.pause()


@pytest.mark.parametrize("comes_before_its_step", [True, False])
def test_command_takes_effect_one_step_after_its_stamp_in_either_order(
    undisturbed_graph: MakeGraph, comes_before_its_step: bool
) -> None:
    g = undisturbed_graph("-p", "link_latency:=0.0").ready()
    g.spin_for(0.3)
    g.pause()
    sender = g.tester.create_publisher(Command, COMMAND.name, 1)
    g.spin_until(sender.get_subscription_count, "the flight controller's subscription")
    firmware = g.node("sil_board").firmware
    command = Command(mode=Command.MODE_ROLL_PITCH_YAWRATE_THROTTLE)
    assert_taken_one_step_later(g, sender, command, lambda: firmware.command.offboard_active, comes_before_its_step)
    assert g.call("time_manager/toggle_pause").success


def test_repeated_time_gets_same_replies_but_no_imu_message_and_changes_nothing(graph: MakeGraph) -> None:
    g = graph()
    g.arm(calibrate=False)
    g.pause()
    imu = g.collect_messages(IMU)
    received = [g.collect_messages(topic) for topic in (PWM_OUTPUT, FORCES_AND_MOMENTS, TRUTH_STATE)]
    clocks = [g.tester.create_publisher(Clock, topic.name, 1) for topic in (CLOCK, REPEATED_CLOCK)]
    g.idle(0.3)
    g.step()
    g.spin_until(lambda: all(received) and imu)
    answers = [messages[-1] for messages in received]
    again = Clock()
    set_time(again.clock, g.time_ns - STEP_NS)
    for turn in range(1, 4):
        for messages in (imu, *received):
            messages.clear()
        for clock in clocks:
            clock.publish(again)
        g.spin_until(lambda: all(received), f"the answers of turn {turn}")
        g.idle(0.05)
        assert received == [[answer] for answer in answers]
        assert not imu
    before = g.time_ns
    g.step()
    assert g.time_ns == before + STEP_NS


def test_imu_vibrates_while_armed_with_turning_rotors(graph: MakeGraph) -> None:
    g = graph("-p", "acc_bias_range:=0.0").ready()
    imu = g.collect_messages(IMU)

    def deviation_of_a_sample() -> float:
        imu.clear()
        g.spin_until(lambda: len(imu) >= 200, "200 IMU samples")
        return float(np.std([message.linear_acceleration.x for message in imu]))

    # 150 ug/sqrt(Hz) at 400 Hz. The standard error of a deviation of 200 samples is 5 %; the tolerance is five of them.
    assert deviation_of_a_sample() == pytest.approx(0.0294, rel=0.25)
    g.arm(calibrate=False)
    assert deviation_of_a_sample() == pytest.approx(0.202, rel=0.25)
    assert g.call("toggle_arm").success
    g.spin_until(lambda: not g.status.armed, "disarmed")
    g.spin_for(1.0)
    assert deviation_of_a_sample() == pytest.approx(0.0294, rel=0.25)


@pytest.mark.parametrize("multiplier", [1.0, 0.5])
def test_paced_simulation_does_not_run_ahead(graph: MakeGraph, multiplier: float) -> None:
    g = graph(multiplier=multiplier).ready()
    began_s, began_wall_s = g.time_s, time.monotonic()
    for _ in range(5):
        g.spin_for(0.1)
        # The run may still catch up a delay of up to 0.1 s, plus a step at the beginning and the end.
        allowed_s = multiplier * (time.monotonic() - began_wall_s + 0.1) + 2 * STEP_NS * 1e-9
        assert g.time_s - began_s <= allowed_s

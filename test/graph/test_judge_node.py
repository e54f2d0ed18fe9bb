"""The node that passes live messages to a mission's judge."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.missions.judge_node import JudgeNode
from rosflight_py_sim.missions.mission_judge import Input
from rosflight_py_sim.recording.recorded_vehicle import MotionLog
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import vehicle

TIMEOUT_S = 30.0


@pytest.fixture
def judged(ros_domain: int) -> Any:
    """A function that publishes a state of a time, s, and waits until the judge has received it; node and log."""
    rclpy.init(args=[])
    actuators = vehicle("multirotor").actuators
    log = MotionLog(actuators)
    received: list[float] = []

    def take(state: VehicleState) -> None:
        received.append(state.time_s)
        log.append(state.time_s, state.truth, [0.0] * len(actuators), np.zeros(3))

    judge: Any = SimpleNamespace(inputs=[Input(TRUTH_STATE, take, needed=True)], idle_until_ns=0)
    node = JudgeNode(judge, SimpleNamespace(text="{}"))  # type: ignore[arg-type]
    tester = Node("tester")
    publisher = tester.create_publisher(TRUTH_STATE.message_type, TRUTH_STATE.name, TRUTH_STATE.qos)
    executor = SingleThreadedExecutor()
    for one in (node, tester):
        executor.add_node(one)

    def spin_until(condition: Callable[[], object]) -> None:
        end_s = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < end_s
            executor.spin_once(timeout_sec=0.02)

    def publish(time_s: float) -> None:
        spin_until(publisher.get_subscription_count)
        publisher.publish(VehicleState(round(time_s * NANOSECONDS)).encode())
        spin_until(lambda: time_s in received)

    yield publish, node, log
    for one in (node, tester):
        executor.remove_node(one)
        one.destroy_node()
    executor.shutdown()
    rclpy.try_shutdown()


def test_time_that_goes_back_ends_the_judging_without_an_exception(judged: Any) -> None:
    publish, node, log = judged
    publish(12.91)
    assert not node.torn
    publish(12.86)
    assert node.torn == (
        "the time went back from 12.91 s to 12.86 s; does another simulation in the ROS domain publish the same topics?"
    )
    assert len(log) == 1

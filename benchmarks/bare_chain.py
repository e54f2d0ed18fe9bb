"""A closed chain of five bare rclpy nodes: the cost of the middleware alone.

The nodes pass on the messages of one simulation step (clock, IMU, PWM, wrench, truth state, wind: six messages, seven
deliveries) without computing anything. The chain is the reference for the simulator, measured in the same run.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable
from typing import Any

import rclpy
from geometry_msgs.msg import Vector3Stamped, WrenchStamped
from rclpy.node import Node
from rosflight_msgs.msg import PwmOutput, SimState
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu

from rosflight_py_sim.nodes.running import make_executor, settle

WARM_UP_S = 2.0
CHAIN = ("time_manager", "sensors", "sil_board", "forces_and_moments", "dynamics")


def _relay(node: Node, subscribed: tuple[Any, str], published: list[tuple[Any, str]]) -> None:
    outputs = [(node.create_publisher(message_type, topic, 1), message_type()) for message_type, topic in published]

    def hand_on(message: Any) -> None:
        for publisher, output in outputs:
            publisher.publish(output)

    node.create_subscription(*subscribed, hand_on, 1)


def make_node(name: str, count: Callable[[], None]) -> Node:
    """One node of the chain; the time manager calls `count` once a step."""
    node = Node(name)
    clock, imu, pwm = (Clock, "chain/clock"), (Imu, "chain/imu"), (PwmOutput, "chain/pwm")
    wrench, truth = (WrenchStamped, "chain/wrench"), (SimState, "chain/truth")
    wind = (Vector3Stamped, "chain/wind")
    if name == "time_manager":
        publisher, output = node.create_publisher(*clock, 1), Clock()

        moving = False

        def on_truth(message: Any) -> None:
            nonlocal moving
            moving = True
            count()
            publisher.publish(output)

        def start() -> None:
            # The first message, and any that was lost before discovery.
            nonlocal moving
            if not moving:
                publisher.publish(output)
            moving = False

        node.create_subscription(*truth, on_truth, 1)
        node.create_timer(0.5, start)
    elif name == "sensors":
        _relay(node, clock, [imu])
        node.create_subscription(*truth, lambda message: None, 1)
    elif name == "sil_board":
        _relay(node, imu, [pwm])
    elif name == "forces_and_moments":
        _relay(node, pwm, [wrench])
        node.create_subscription(*wind, lambda message: None, 1)
    elif name == "dynamics":
        _relay(node, wrench, [wind, truth])
    return node


def _measure(names: tuple[str, ...], duration_s: float) -> float:
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    rclpy.init()
    executor = make_executor()
    for name in names:
        executor.add_node(make_node(name, count))
    settle()
    end = time.monotonic() + WARM_UP_S
    while time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    before, began = steps, time.monotonic()
    end = began + duration_s
    while time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    rate = (steps - before) / (time.monotonic() - began)
    rclpy.try_shutdown()
    return rate


def _process(name: str, duration_s: float, result: Any) -> None:
    rate = _measure((name,), duration_s + (0.0 if name == "time_manager" else 3.0))
    if name == "time_manager":
        result.put(rate)


def composed_rate(duration_s: float = 5.0) -> float:
    """Steps per second with all five nodes in this process."""
    return _measure(CHAIN, duration_s)


def separate_rate(duration_s: float = 5.0) -> float:
    """Steps per second with one process per node."""
    context = multiprocessing.get_context("spawn")
    result = context.Queue()
    processes = [context.Process(target=_process, args=(name, duration_s, result)) for name in reversed(CHAIN)]
    for process in processes:
        process.start()
    rate: float = result.get(timeout=duration_s + 60.0)
    for process in processes:
        process.join(timeout=20.0)
        if process.is_alive():
            process.kill()
    return rate


if __name__ == "__main__":
    which = separate_rate if "--separate" in sys.argv else composed_rate
    print(f"{which():.0f} steps/s")

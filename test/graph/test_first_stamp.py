"""The first messages of nodes that start alone, with a time manager and inputs that the test publishes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.time import Time
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from rosflight_py_sim.ground.stamps import NANOSECONDS, stamp_ns
from rosflight_py_sim.interfaces.diagnostics import DIAGNOSTICS_QOS, DIAGNOSTICS_TOPIC
from rosflight_py_sim.interfaces.node_of_part import node_of
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.lockstep_time_manager import LockstepTimeManager
from rosflight_py_sim.nodes.running import SharedNames
from rosflight_py_sim.nodes.sil_board import SilBoard
from rosflight_py_sim.parts.multirotor_forces import MultirotorForces
from rosflight_py_sim.parts.rigid_body_dynamics import RigidBodyDynamics
from rosflight_py_sim.step.qos import LATCHED
from rosflight_py_sim.step.topics import (
    CLOCK,
    FORCES_AND_MOMENTS,
    HAS_STARTED,
    PWM_OUTPUT,
    SIM_STEP_SIZE,
    TRUTH_BATTERY,
    TRUTH_STATE,
    TRUTH_WIND,
    PulseWidths,
    StepSize,
    StepTopic,
    Wrench,
)
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import vehicle

MultirotorForcesAndMoments = node_of(MultirotorForces)
StandaloneDynamics = node_of(RigidBodyDynamics)

TIMEOUT_S = 30.0
LATE_NS = 5 * NANOSECONDS

DIAGNOSTICS = StepTopic[DiagnosticArray](DIAGNOSTICS_TOPIC, DiagnosticArray, DIAGNOSTICS_QOS)

# System time in which a message that must not be published would have arrived, s.
SILENCE_S = 0.7


class Bench:
    """A node under test beside a node that publishes what the rest of the graph would."""

    def __init__(self) -> None:
        rclpy.init(args=[])
        self.tester = Node("tester")
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.tester)
        self._nodes: list[Node] = [self.tester]

    def start(self, cls: type[SimulationNode], time_mode: str) -> SimulationNode:
        values = {"time_mode": time_mode, "use_sim_time": True}
        overrides = [Parameter(name, value=value) for name, value in values.items()]
        node = cls(
            sources=[vehicle("multirotor").parameter_file], shared_names=SharedNames(), parameter_overrides=overrides
        )
        self._nodes.append(node)
        self.executor.add_node(node)
        return node

    def publish(self, topic: Any, message: Any) -> None:
        """Publish a message of a topic of the step, latched if the topic is, once a subscription matches."""
        publisher = self.tester.create_publisher(topic.message_type, topic.name, topic.qos)
        self.spin_until(publisher.get_subscription_count, f"a subscription to {topic.name}")
        publisher.publish(message if hasattr(message, "SLOT_TYPES") else topic.encode(message))

    def stamps(self, topic: Any) -> list[int]:
        """Stamps (ns) of all messages of a topic, from the first; the list grows."""
        received: list[int] = []
        qos = LATCHED if topic.qos is LATCHED else 10
        take = lambda data: received.append(stamp_ns(data))  # noqa: E731
        self.tester.create_subscription(topic.message_type, topic.name, take, qos, raw=True)
        return received

    def spin(self, seconds: float) -> None:
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            self.executor.spin_once(timeout_sec=0.02)

    def spin_until(self, condition: Callable[[], object], what: str) -> None:
        end_s = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < end_s, what
            self.executor.spin_once(timeout_sec=0.02)

    def close(self) -> None:
        for node in self._nodes:
            self.executor.remove_node(node)
            node.destroy_node()
        self.executor.shutdown()
        rclpy.try_shutdown()


@pytest.fixture
def bench(ros_domain: int) -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.close()


@pytest.mark.parametrize("time_mode", ["paced", "gated", "lockstep"])
def test_dynamics_in_a_running_graph_publishes_nothing_before_the_time(bench: Bench, time_mode: str) -> None:
    states, winds = bench.stamps(TRUTH_STATE), bench.stamps(TRUTH_WIND)
    node = bench.start(StandaloneDynamics, time_mode)
    bench.publish(HAS_STARTED, Bool(data=True))
    reset = bench.tester.create_client(Trigger, "dynamics/reset")
    bench.spin_until(reset.service_is_ready, "the service")
    bench.spin_until(reset.call_async(Trigger.Request()).done, "the reply")
    bench.spin(SILENCE_S)
    assert not states and not winds
    bench.publish(CLOCK, LATE_NS)
    # In lockstep, the wind at the end of the step may have been published before the restart.
    bench.spin_until(lambda: states and (winds or time_mode == "lockstep"), "the initial state")
    bench.spin(0.2)
    assert set(states) == {LATE_NS}
    assert set(winds) == (set() if time_mode == "lockstep" else {LATE_NS})
    # The subscription that waited for the time would wake the node at each step.
    if time_mode == "lockstep":
        assert CLOCK.name not in [one.topic_name for one in node.subscriptions]


def test_time_manager_in_a_running_graph_gives_no_step_size_before_the_time(bench: Bench) -> None:
    steps, times = bench.stamps(SIM_STEP_SIZE), bench.stamps(CLOCK)
    bench.start(LockstepTimeManager, "lockstep")
    bench.spin(SILENCE_S)
    assert not steps and not times
    state = VehicleState(LATE_NS, np.array([0.0, 0.0, 0.0, 1.0] + 15 * [0.0]))
    bench.publish(TRUTH_STATE, state)
    bench.spin_until(lambda: steps and times, "the time")
    assert set(steps) == set(times) == {LATE_NS}


@pytest.mark.parametrize("time_mode", ["paced", "gated", "lockstep"])
def test_dynamics_publishes_time_zero_if_time_has_not_started(bench: Bench, time_mode: str) -> None:
    states, winds = bench.stamps(TRUTH_STATE), bench.stamps(TRUTH_WIND)
    bench.start(StandaloneDynamics, time_mode)
    bench.publish(HAS_STARTED, Bool(data=False))
    bench.spin_until(lambda: states and winds, "the initial state")
    assert set(states) == set(winds) == {0}


def test_wrench_gives_dynamics_the_time(bench: Bench) -> None:
    states, winds = bench.stamps(TRUTH_STATE), bench.stamps(TRUTH_WIND)
    bench.start(StandaloneDynamics, "lockstep")
    bench.publish(SIM_STEP_SIZE, StepSize(0, 2_500_000, is_requested=False))
    bench.publish(FORCES_AND_MOMENTS, Wrench(LATE_NS, (0.0,) * 3, (0.0,) * 3))
    bench.spin_until(lambda: LATE_NS + 2_500_000 in states, "the state after the step")
    # The initial state, stamped LATE_NS, may have been overwritten in the queue.
    assert min(states) >= LATE_NS
    bench.spin_until(lambda: winds, "the wind after the step")
    assert set(winds) == {LATE_NS + 2_500_000}


@pytest.mark.parametrize("cls", [StandaloneDynamics, SilBoard])
def test_node_in_a_running_graph_reports_nothing_before_the_time(bench: Bench, cls: type[SimulationNode]) -> None:
    reports = bench.stamps(DIAGNOSTICS)
    node = bench.start(cls, "lockstep")
    bench.publish(HAS_STARTED, Bool(data=True))
    # Beyond the time after which a graph without sim/has_started counts as one whose time has not started.
    bench.spin(6.5)
    assert not reports
    node.get_clock().set_ros_time_override(Time(nanoseconds=LATE_NS, clock_type=ClockType.ROS_TIME))
    bench.spin_until(lambda: reports, "a report")
    assert set(reports) == {LATE_NS}
    # The subscription that waited for the time has ended, except that dynamics has one of its own.
    waiting = [one.topic_name.lstrip("/") for one in node.subscriptions].count(HAS_STARTED.name)
    assert waiting == (cls is StandaloneDynamics)


def test_node_reports_time_zero_if_time_has_not_started(bench: Bench) -> None:
    reports = bench.stamps(DIAGNOSTICS)
    bench.start(SilBoard, "lockstep")
    bench.publish(HAS_STARTED, Bool(data=False))
    bench.spin_until(lambda: reports, "a report")
    assert reports == [0]


def test_battery_before_the_first_state_has_the_stamp_of_the_outputs(bench: Bench) -> None:
    batteries = bench.stamps(TRUTH_BATTERY)
    bench.start(MultirotorForcesAndMoments, "paced")
    bench.publish(PWM_OUTPUT, PulseWidths(LATE_NS, (1000,) * 14))
    bench.spin_until(lambda: batteries, "the battery's state")
    assert batteries == [LATE_NS]


def test_flight_controller_is_not_run_before_the_time(bench: Bench) -> None:
    outputs = bench.stamps(PWM_OUTPUT)
    node = bench.start(SilBoard, "paced")
    assert node.set_parameters([Parameter("use_timer", value=False)])[0].successful
    client = bench.tester.create_client(Trigger, "sil_board/run")
    bench.spin_until(client.service_is_ready, "the service")
    refused = client.call_async(Trigger.Request())
    bench.spin_until(refused.done, "the reply")
    assert not refused.result().success
    assert refused.result().message == "the time is not known: no /clock message has arrived"
    bench.publish(CLOCK, LATE_NS)
    bench.spin_until(lambda: node.get_clock().now().nanoseconds == LATE_NS, "the time")
    ran = client.call_async(Trigger.Request())
    bench.spin_until(lambda: ran.done() and outputs, "the outputs")
    assert ran.result().success and outputs == [LATE_NS]

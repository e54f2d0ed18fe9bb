"""Nodes written like ROSflight's (typed messages, its QoS and clock) work with those of this package."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from geometry_msgs.msg import Vector3Stamped, WrenchStamped
from rclpy.clock import Clock as RclpyClock
from rclpy.clock import ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosflight_msgs.msg import PwmOutput, SimState
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu

from test.processes.conftest import SLOWLY, few_steps

pytestmark = pytest.mark.timeout(120)

STEP_NS = 10_000_000


class TypedDynamics(Node):
    """Answers each wrench with the state of a vehicle at rest 3 m above the ground, and with wind.

    It publishes nothing before the first wrench.
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__("dynamics", **arguments)
        self.wrenches: list[WrenchStamped] = []
        self.imu: list[Imu] = []
        self._truth = self.create_publisher(SimState, "sim/truth_state", 1)
        self._wind = self.create_publisher(Vector3Stamped, "sim/truth_wind", 1)
        self.create_subscription(WrenchStamped, "sim/forces_and_moments", self._on_wrench, 1)
        self.create_subscription(Imu, "sim/sensors/imu/data", self.imu.append, 1)

    def _on_wrench(self, message: WrenchStamped) -> None:
        self.wrenches.append(message)
        state = SimState()
        state.header.stamp = self.get_clock().now().to_msg()
        state.header.frame_id = "world"
        state.pose.position.z = -3.0
        state.pose.orientation.w = 1.0
        self._truth.publish(state)
        wind = Vector3Stamped()
        wind.header.stamp = state.header.stamp
        self._wind.publish(wind)


class TypedTimeManager(Node):
    """Publishes /clock at a fixed rate of system time with best-effort QoS, like a sensor."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__("time_manager", **arguments)
        self._time_ns = 0
        qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._publisher = self.create_publisher(Clock, "clock", qos)
        steady = RclpyClock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(STEP_NS * 1e-9, self._on_timer, clock=steady)

    def _on_timer(self) -> None:
        self._time_ns += STEP_NS
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(self._time_ns, 10**9)
        self._publisher.publish(message)


def nanoseconds(message: Any) -> int:
    return int(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)


def assert_no_errors(simulation: Any, replaced: str) -> None:
    for program in simulation.programs.values():
        assert program.process.poll() is None or program.name == replaced
        assert program.error_lines == []


@pytest.mark.parametrize("time_mode", ["wall", "paced", "gated"])
def test_graph_starts_with_dynamics_that_publishes_only_after_a_wrench(
    simulate: Callable[..., Any], time_mode: str
) -> None:
    simulation = simulate(time_mode, SLOWLY, *few_steps(time_mode), leave_out=("standalone_dynamics",))
    observer = simulation.observer()
    simulated = Parameter("use_sim_time", value=time_mode != "wall")
    peer = TypedDynamics(context=observer.context, parameter_overrides=[simulated])
    observer.add(peer)
    observer.wait_for(lambda: len(peer.wrenches) > 40 and len(peer.imu) > 40, "wrenches and IMU readings")
    stamps = [nanoseconds(message) for message in peer.wrenches]
    assert all(later >= sooner for sooner, later in pairwise(stamps[20:]))
    assert stamps[-1] > stamps[20]
    # Body axes; the state has no acceleration and no contact, so the accelerometer reads noise only, as in free fall.
    assert abs(peer.imu[-1].linear_acceleration.z) < 20.0
    assert_no_errors(simulation, "standalone_dynamics")


def test_graph_runs_on_best_effort_clock(simulate: Callable[..., Any]) -> None:
    simulation = simulate("paced", SLOWLY, *few_steps("paced"), leave_out=("standalone_time_manager",))
    observer = simulation.observer()
    observer.add(TypedTimeManager(context=observer.context))
    imu: list[Imu] = []
    pwm: list[PwmOutput] = []
    observer.node.create_subscription(Imu, "sim/sensors/imu/data", imu.append, 1)
    observer.node.create_subscription(PwmOutput, "sim/pwm_output", pwm.append, 1)
    observer.wait_for(lambda: len(imu) > 30 and len(pwm) > 30, "measurements and outputs")
    observer.wait_for_advance(0.5)
    assert {nanoseconds(message) % STEP_NS for message in imu + pwm} == {0}
    assert_no_errors(simulation, "standalone_time_manager")

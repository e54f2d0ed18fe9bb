"""A dynamics node written the way ROSflight's are (typed, volatile, depth 1, its own clock) works among ours."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from geometry_msgs.msg import Vector3Stamped, WrenchStamped
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosflight_msgs.msg import SimState
from sensor_msgs.msg import Imu

pytestmark = pytest.mark.timeout(120)


class TypedDynamics(Node):
    """Answers each wrench with a state that stands still 3 m above the ground, and with wind."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__("dynamics", **arguments)
        self.wrenches: list[WrenchStamped] = []
        self.imu: list[Imu] = []
        self._truth = self.create_publisher(SimState, "sim/truth_state", 1)
        self._wind = self.create_publisher(Vector3Stamped, "sim/truth_wind", 1)
        self.create_subscription(WrenchStamped, "sim/forces_and_moments", self._on_wrench, 1)
        self.create_subscription(Imu, "sim/sensors/imu/data", self.imu.append, 1)
        # As ROSflight's: it publishes its state before the first wrench, so that the loop can begin.
        self._timer = self.create_timer(0.1, self._publish)

    def _on_wrench(self, message: WrenchStamped) -> None:
        self.wrenches.append(message)
        self._publish()

    def _publish(self) -> None:
        state = SimState()
        state.header.stamp = self.get_clock().now().to_msg()
        state.header.frame_id = "world"
        state.pose.position.z = -3.0
        state.pose.orientation.w = 1.0
        self._truth.publish(state)
        wind = Vector3Stamped()
        wind.header.stamp = state.header.stamp
        self._wind.publish(wind)


@pytest.mark.parametrize("time_mode", ["wall", "paced"])
def test_typed_dynamics_takes_the_place_of_ours(simulate: Callable[..., Any], time_mode: str) -> None:
    simulation = simulate(time_mode)
    simulation.programs["standalone_dynamics"].kill()
    observer = simulation.observer()
    simulated = Parameter("use_sim_time", value=time_mode == "paced")
    peer = TypedDynamics(context=observer.context, parameter_overrides=[simulated])
    observer.add(peer)
    observer.wait_for(lambda: len(peer.wrenches) > 200 and len(peer.imu) > 200, "wrenches and IMU readings")
    stamps = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in peer.wrenches]
    assert all(later >= sooner for sooner, later in pairwise(stamps[20:]))
    assert stamps[-1] > stamps[20]
    # Body axes, at rest and held in the air: no specific force but the noise of an accelerometer in free fall.
    assert abs(peer.imu[-1].linear_acceleration.z) < 20.0
    for program in simulation.programs.values():
        assert program.process.poll() is None or program.name == "standalone_dynamics"
        assert program.complaints == []

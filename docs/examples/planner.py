"""Example of a node that simulated time can wait for: holds the multirotor 5 m above the origin.

Start `.venv/bin/rosflight_py_sim sim --ros-args -p "wait_for:=['/command']"` and, in another terminal,
`.venv/bin/python docs/examples/planner.py`. The simulation waits in each step for this node's command, so a slow
machine slows the simulation down instead of changing the flight. To fly, call the services calibrate_imu, toggle_arm
and toggle_override.
"""

import os

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosflight_msgs.msg import Command, SimState

HEIGHT_M = 5.0
# Throttle at which the multirotor hovers, and gains of the height (1/m), its rate (s/m), position (rad/m) and velocity
# (rad s/m).
HOVER = 0.43
HEIGHT_GAIN, CLIMB_GAIN, POSITION_GAIN, VELOCITY_GAIN = 0.08, 0.1, 0.06, 0.1
GREATEST_TILT = 0.3


class Planner(Node):
    """Node that answers each truth state with a command of the same stamp."""

    def __init__(self) -> None:
        """Subscribe and publish, reliably, so that no message is lost."""
        super().__init__("planner")
        self.commands = self.create_publisher(Command, "command", QoSProfile(depth=10))
        self.create_subscription(SimState, "sim/truth_state", self.on_state, QoSProfile(depth=10))

    def on_state(self, state: SimState) -> None:
        """Command roll, pitch and throttle; the yaw rate is zero."""
        p, v, q = state.pose.position, state.twist.linear, state.pose.orientation
        # Down component of the velocity, which is in body axes.
        down = 2.0 * (q.x * q.z - q.w * q.y) * v.x + 2.0 * (q.y * q.z + q.w * q.x) * v.y
        down += (1.0 - 2.0 * (q.x * q.x + q.y * q.y)) * v.z
        throttle = HOVER + HEIGHT_GAIN * (HEIGHT_M + p.z) + CLIMB_GAIN * down
        # At small angles, and facing north.
        command = Command(mode=Command.MODE_ROLL_PITCH_YAWRATE_THROTTLE)
        command.header.stamp = state.header.stamp
        # Throttle, roll and pitch: Fz, Qx and Qy.
        command.u[2] = min(max(throttle, 0.0), 1.0)
        command.u[3] = limited(-POSITION_GAIN * p.y - VELOCITY_GAIN * v.y)
        command.u[4] = limited(POSITION_GAIN * p.x + VELOCITY_GAIN * v.x)
        self.commands.publish(command)


def limited(angle: float) -> float:
    """The angle, rad, within the greatest tilt."""
    return min(max(angle, -GREATEST_TILT), GREATEST_TILT)


def main() -> None:
    """Run until Ctrl-C."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    rclpy.init()
    try:
        rclpy.spin(Planner())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()

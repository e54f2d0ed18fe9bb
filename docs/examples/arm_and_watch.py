"""Arms the simulated vehicle, flies the autopilot's square, and prints the position once a second.

Start the graph first: `.venv/bin/rosflight_py_sim sim --autopilot`; then, in another terminal,
`ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST .venv/bin/python docs/examples/arm_and_watch.py`.
"""

import rclpy
from rclpy.node import Node
from rosflight_msgs.msg import SimState, Status
from std_msgs.msg import String
from std_srvs.srv import Trigger

UNCALIBRATED_IMU = 0x20


class Watch(Node):
    """Receives position, status and phase; calls services by name."""

    def __init__(self) -> None:
        """Subscribe."""
        super().__init__("watch")
        self.status = Status()
        self.phase = ""
        self.printed_s = -1
        self.create_subscription(SimState, "sim/truth_state", self.on_truth, 1)
        self.create_subscription(Status, "status", self.on_status, 1)
        self.create_subscription(String, "autopilot/phase", self.on_phase, 1)

    def on_truth(self, message: SimState) -> None:
        """Print the position once per simulated second."""
        if message.header.stamp.sec > self.printed_s:
            self.printed_s = message.header.stamp.sec
            p = message.pose.position
            print(f"{self.printed_s:4d} s  north {p.x:6.2f} m  east {p.y:6.2f} m  height {-p.z:5.2f} m  {self.phase}")

    def on_status(self, message: Status) -> None:
        """Keep the newest status."""
        self.status = message

    def on_phase(self, message: String) -> None:
        """Keep the autopilot's phase."""
        self.phase = message.data

    def call(self, service: str) -> None:
        """Call a service and print its reply."""
        client = self.create_client(Trigger, service)
        client.wait_for_service()
        future = client.call_async(Trigger.Request())
        rclpy.spin_until_future_complete(self, future)
        print(f"{service}: {future.result().message}")


def main() -> None:
    """Fly one mission."""
    rclpy.init()
    node = Watch()
    node.call("calibrate_imu")
    while node.status.header.stamp.sec == 0 or node.status.error_code & UNCALIBRATED_IMU:
        rclpy.spin_once(node)
    node.call("toggle_arm")
    while not node.status.armed:
        rclpy.spin_once(node)
    node.call("toggle_override")
    while not node.status.offboard or node.status.rc_override & Status.OVERRIDE_ATT_SWITCH:
        rclpy.spin_once(node)
    node.call("autopilot/start")
    while node.phase != "done":
        rclpy.spin_once(node)
    node.call("toggle_arm")
    rclpy.shutdown()


if __name__ == "__main__":
    main()

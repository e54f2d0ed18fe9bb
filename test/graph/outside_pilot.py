"""Call services of a running multirotor, and command it, from a separate process."""

from __future__ import annotations

import rclpy
from rclpy.node import Node
from rosflight_msgs.msg import Command, Status
from std_srvs.srv import Trigger


def main() -> None:
    rclpy.init()
    node = Node("outside_pilot")
    statuses: list[Status] = []
    node.create_subscription(Status, "status", statuses.append, 10)
    commands = node.create_publisher(Command, "command", 10)

    def call(service: str) -> None:
        client = node.create_client(Trigger, service)
        while not client.wait_for_service(1.0):
            pass
        future = client.call_async(Trigger.Request())
        rclpy.spin_until_future_complete(node, future)
        assert future.result().success, (service, future.result().message)

    def wait_for_statuses(count: int) -> None:
        end = len(statuses) + count
        while len(statuses) < end:
            rclpy.spin_once(node, timeout_sec=0.1)

    wait_for_statuses(2)
    call("calibrate_imu")
    while statuses[-1].error_code & 0x20:
        wait_for_statuses(1)
    call("toggle_arm")
    while not statuses[-1].armed:
        wait_for_statuses(1)
    call("toggle_override")
    for _ in range(15):
        command = Command(mode=Command.MODE_ROLL_PITCH_YAWRATE_THROTTLE, u=[0.0, 0.0, 0.7, 0.05, 0.0, 0.1] + [0.0] * 4)
        command.header.stamp = statuses[-1].header.stamp
        commands.publish(command)
        wait_for_statuses(1)
    for service in ("toggle_pause", "step", "step", "toggle_pause"):
        call(f"time_manager/{service}")
    wait_for_statuses(2)
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()

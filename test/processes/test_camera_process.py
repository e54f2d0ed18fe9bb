"""The camera as a process of its own: it hears a truth state that anybody may send, and goes when asked to."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rosflight_msgs.msg import SimState
from sensor_msgs.msg import CameraInfo, Image

from rosflight_py_sim.interfaces.step_topics import TRUTH_STATE

pytestmark = pytest.mark.timeout(120)


class Diver(Node):
    """Sends a state under water, a hundred times a second of system time."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__("diver", **arguments)
        self.pictures: list[Image] = []
        self.infos: list[CameraInfo] = []
        self._truth = self.create_publisher(SimState, TRUTH_STATE.name, 1)
        self._timer = self.create_timer(0.01, self._publish)
        self.create_subscription(Image, "camera/bottom/image_raw", self.pictures.append, qos_profile_sensor_data)
        self.create_subscription(CameraInfo, "camera/bottom/camera_info", self.infos.append, qos_profile_sensor_data)

    def _publish(self) -> None:
        state = SimState()
        state.header.stamp = self.get_clock().now().to_msg()
        state.pose.position.x, state.pose.position.z, state.pose.orientation.w = -3.0, 2.0, 1.0
        self._truth.publish(state)


@pytest.mark.parametrize("use_sim_time", ["true", "false"])
def test_camera_process_in_a_namespace_renders_the_configured_world(processes: Any, use_sim_time: str) -> None:
    given = ("-r", "__ns:=/diver", "-p", f"use_sim_time:={use_sim_time}", "-p", "world:=pool", "-p", "image_width:=80")
    camera = processes.node("camera", *given, "-p", "image_height:=60")
    observer = processes.observer()
    diver = Diver(context=observer.context, namespace="diver")
    observer.add(diver)
    observer.wait_for(lambda: len(diver.pictures) > 5 and len(diver.infos) > 5, "pictures")
    picture = np.array(diver.pictures[-1].data, dtype=int).reshape(60, 80, 3)
    # The floor line passes below, forward and back: orange, where the tiles beside it are bluish grey.
    blue, _, red = picture[5, 39]
    assert red > 2 * blue
    assert picture[5, 10, 0] > picture[5, 10, 2]
    camera.signal(signal.SIGTERM)
    assert camera.wait() == 0
    assert camera.error_lines == []

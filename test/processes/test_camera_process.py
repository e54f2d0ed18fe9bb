"""The camera as a separate process: it receives truth states from any publisher, and ends on a signal."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rosflight_msgs.msg import SimState
from sensor_msgs.msg import CameraInfo, Image

from rosflight_py_sim.camera import CAMERA_PARAMETERS, Renderer, cameras
from rosflight_py_sim.ground.stamps import set_time, time_ns_of
from rosflight_py_sim.nodes.vehicle_shape import faces_of_shape
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import truth_of_message
from rosflight_py_sim.viewer.appearance import appearance
from rosflight_py_sim.world import DRY_LAND

pytestmark = pytest.mark.timeout(120)


class Diver(Node):
    """Publishes a state under water at 100 Hz of system time."""

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
    # The floor line runs fore and aft below the vehicle: orange between bluish grey tiles.
    blue, _, red = picture[5, 39]
    assert red > 2 * blue
    assert picture[5, 10, 0] > picture[5, 10, 2]
    camera.signal(signal.SIGTERM)
    assert camera.wait() == 0
    assert camera.error_lines == []


class Pair(Node):
    """Publishes the states of two vehicles, a step of 0.1 s every 0.02 s of system time; the other vehicle moves."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__("pair", **arguments)
        self.pictures: list[Image] = []
        self.steps = 0
        self.publishes_other = False
        self.first_of_both_ns = 0
        self._own = self.create_publisher(SimState, "/sea/own/sim/truth_state", 1)
        self._other = self.create_publisher(SimState, "/sea/other/sim/truth_state", 1)
        self._timer = self.create_timer(0.02, self._publish)
        self.create_subscription(Image, "/sea/own/camera/front/image_raw", self.pictures.append, 10)

    def _publish(self) -> None:
        self.steps += 1
        time_ns = self.steps * 100_000_000
        if self.publishes_other:
            self.first_of_both_ns = self.first_of_both_ns or time_ns
            self._other.publish(self.other_at(time_ns))
        self._own.publish(self.own_at(time_ns))

    @staticmethod
    def own_at(time_ns: int) -> SimState:
        state = SimState()
        set_time(state.header.stamp, time_ns)
        state.pose.position.z, state.pose.orientation.w = -20.0, 1.0
        return state

    @classmethod
    def other_at(cls, time_ns: int) -> SimState:
        state = cls.own_at(time_ns)
        state.pose.position.x, state.pose.position.y = 2.0, 0.3 * ((time_ns // 100_000_000) % 5 - 2)
        return state


def test_image_waits_for_the_state_of_the_other_vehicle_with_its_stamp(processes: Any) -> None:
    size = {"image_width": 80, "image_height": 60}
    given = {"time_mode": "lockstep", "use_sim_time": "true", "vehicles": "[own, other]", "other.appearance": "dart"}
    parameters = [part for name, value in (given | size).items() for part in ("-p", f"{name}:={value}")]
    camera = processes.node("camera", "-r", "__ns:=/sea/own", *parameters)
    observer = processes.observer()
    pair = Pair(context=observer.context)
    observer.add(pair)
    observer.wait_for(lambda: pair.count_subscribers("/sea/own/sim/truth_state"), "the camera")
    steps = pair.steps
    observer.wait_for(lambda: pair.steps > steps + 20, "steps without the other vehicle")
    assert pair.pictures == []
    pair.publishes_other = True
    observer.wait_for(lambda: len(pair.pictures) > 8, "pictures")

    renderer = Renderer(DRY_LAND, 80, 60, vehicles=[faces_of_shape(appearance("dart"))])
    front = cameras(CAMERA_PARAMETERS.checked(size))[0]
    for picture in pair.pictures:
        time_ns = time_ns_of(picture.header.stamp)
        assert time_ns >= pair.first_of_both_ns
        own, other = truth_of_message(pair.own_at(time_ns)), truth_of_message(pair.other_at(time_ns))
        np.testing.assert_array_equal(
            np.array(picture.data, dtype=np.uint8).reshape(60, 80, 3), renderer.render(front, own, [other])
        )
    renderer.close()
    camera.signal(signal.SIGTERM)
    assert camera.wait() == 0
    assert camera.error_lines == []

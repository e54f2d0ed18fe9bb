"""Cost of camera images: rendered and compressed without ROS, and by the camera node in the whole graph."""

from __future__ import annotations

import time
from dataclasses import dataclass

import cv2
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import CompressedImage

from rosflight_py_sim.camera import CAMERA_PARAMETERS, Renderer, cameras
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.ground.topic_names import compressed_image
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.world import load_world

WARM_UP_S = 2.0


@dataclass
class PictureRun:
    """CPU time per image, ms: `drawn` for rendering, `compressed` for JPEG."""

    drawn: float
    compressed: float


@dataclass
class FilmedRun:
    """Real-time factor of a run, and CPU time per simulated second, s."""

    real_time_factor: float
    cpu: float


def picture_run(name: str, seconds: float = 3.0) -> PictureRun:
    """Render images of a camera that moves along the floor line of the pool, 320 x 240, with antialiasing."""
    camera = next(one for one in cameras(CAMERA_PARAMETERS.defaults()) if one.name == name)
    renderer = Renderer(load_world("pool"), camera.width, camera.height)
    truth = np.zeros(19)
    truth[2], truth[3] = 2.0, 1.0
    renderer.render(camera, truth)
    drawn = compressed = 0.0
    count, began = 0, time.monotonic()
    while time.monotonic() - began < seconds:
        truth[0] = -4.0 + 0.02 * (count % 200)
        start = time.process_time()
        picture = renderer.render(camera, truth)
        middle = time.process_time()
        cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 90])
        drawn, compressed = drawn + middle - start, compressed + time.process_time() - middle
        count += 1
    renderer.close()
    return PictureRun(1e3 * drawn / count, 1e3 * compressed / count)


def filmed_run(filmed: bool, seconds: float = 5.0) -> FilmedRun:
    """Run a multirotor over the pool in one process, with both cameras subscribed at 30 Hz, or without cameras."""
    member = Member(vehicle("multirotor").carrying("camera", filmed))
    settings: dict[str, Value] = {"real_time_multiplier": 0.0, "world": "pool"}
    graph = ComposedGraph([member], settings=settings, arguments=["--log-level", "warn"])
    subscriber = Node("subscriber")
    graph.include(subscriber)
    for name in ("front", "bottom") if filmed else ():
        subscriber.create_subscription(CompressedImage, compressed_image(name), lambda message: None, CHAIN, raw=True)
    clock = graph.nodes[0].get_clock()
    began = time.monotonic()
    graph.spin(lambda: clock.now().nanoseconds == 0 and time.monotonic() - began < 60.0)
    for length in (WARM_UP_S, seconds):
        began, began_cpu, began_ns = time.monotonic(), time.process_time(), clock.now().nanoseconds
        graph.spin(lambda began=began, length=length: time.monotonic() - began < length)  # type: ignore[misc]
        simulated = (clock.now().nanoseconds - began_ns) / NANOSECONDS
        run = FilmedRun(simulated / (time.monotonic() - began), (time.process_time() - began_cpu) / simulated)
    graph.close()
    return run

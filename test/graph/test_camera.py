"""The camera node in the graph: its messages, their subscribers and their timing."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from geometry_msgs.msg import Point
from rclpy.qos import qos_profile_sensor_data
from rclpy.serialization import deserialize_message
from rosflight_msgs.msg import SimState
from sensor_msgs.msg import CameraInfo, CompressedImage, Image

from rosflight_py_sim.camera import CAMERA_PARAMETERS, Renderer, cameras
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import time_ns_of
from rosflight_py_sim.step.camera_topics import TailWire
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import truth_of_message
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.world import load_world

MakeGraph = Callable[..., Any]

SMALL = ("-p", "image_width:=64", "-p", "image_height:=48", "-p", "world:=pool")


def filmed(*namespaces: str) -> list[Member]:
    one = vehicle("multirotor").carrying("camera", True)
    return [Member(one, at) for at in namespaces or ("",)]


def stamp_ns(message: Any) -> int:
    return time_ns_of(message.header.stamp)


def pixels(message: Image) -> Any:
    return np.array(message.data, dtype=np.uint8).reshape(message.height, message.width, 3)


def test_images_show_the_view_at_their_timestamp(graph: MakeGraph) -> None:
    sim = graph(*SMALL, vehicles=filmed())
    raw = sim.collect_messages("camera/front/image_raw", Image, qos_profile_sensor_data)
    compressed = sim.collect_messages("camera/front/image_raw/compressed", CompressedImage)
    info = sim.collect_messages("camera/front/camera_info", CameraInfo)
    states = sim.collect_messages(TRUTH_STATE)
    sim.spin_until(lambda: min(len(raw), len(compressed), len(info)) >= 6, "pictures")

    last = raw[-1]
    assert (last.width, last.height, last.step, last.encoding) == (64, 48, 3 * 64, "bgr8")
    assert last.header.frame_id == "front_camera_optical_frame"
    # 30 Hz, on the steps of 2.5 ms.
    gaps = np.diff([stamp_ns(one) for one in raw]) * 1e-9
    assert np.mean(gaps) == pytest.approx(1 / 30, abs=1 / 400)

    state = next(one for one in states if stamp_ns(one) == stamp_ns(last))
    given = {"image_width": 64, "image_height": 48}
    camera = cameras(CAMERA_PARAMETERS.checked(given))[0]
    renderer = Renderer(load_world("pool"), 64, 48)
    expected = renderer.render(camera, truth_of_message(state))
    np.testing.assert_array_equal(pixels(last), expected)

    twin = next(one for one in compressed if stamp_ns(one) == stamp_ns(last))
    assert twin.format == "bgr8; jpeg compressed bgr8"
    assert bytes(twin.data) == cv2.imencode(".jpg", expected, [cv2.IMWRITE_JPEG_QUALITY, 90])[1].tobytes()
    renderer.close()

    assert (info[-1].width, info[-1].height, info[-1].distortion_model) == (64, 48, "plumb_bob")
    focal_length = 32 / math.tan(math.radians(40))
    np.testing.assert_allclose(info[-1].k, [focal_length, 0, 31.5, 0, focal_length, 23.5, 0, 0, 1], rtol=1e-12)
    np.testing.assert_allclose(np.reshape(info[-1].p, (3, 4))[:, :3], np.reshape(info[-1].k, (3, 3)))


def test_images_without_subscribers_are_not_rendered(graph: MakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    render = Renderer.render

    def counted(self: Renderer, camera: Any, *truths: Any) -> Any:
        drawn.append(camera.name)
        return render(self, camera, *truths)

    monkeypatch.setattr(Renderer, "render", counted)
    sim = graph(*SMALL, vehicles=filmed())
    received = sim.collect_messages("camera/bottom/image_raw/compressed", CompressedImage)
    sim.spin_until(lambda: len(received) >= 3, "pictures")
    assert set(drawn) == {"bottom"}


def test_same_run_yields_identical_images(graph: MakeGraph) -> None:
    runs = []
    for _ in range(2):
        sim = graph(*SMALL, vehicles=filmed())
        received = sim.collect_messages("camera/bottom/image_raw/compressed", CompressedImage)
        sim.spin_until(lambda received=received: len(received) >= 8, "pictures")
        runs.append({stamp_ns(one): bytes(one.data) for one in received})
        sim.close()
    both = runs[0].keys() & runs[1].keys()
    assert len(both) >= 5
    assert all(runs[0][time] == runs[1][time] for time in both)


def test_each_fleet_camera_sees_from_its_own_vehicle(graph: MakeGraph) -> None:
    sim = graph(*SMALL, vehicles=filmed("one", "two"))
    views = [sim.collect_messages(f"/{at}/camera/bottom/image_raw", Image) for at in ("one", "two")]
    state = SimState()
    state.pose.position, state.pose.orientation.w = Point(x=3.0, y=-2.0, z=-6.0), 1.0
    sim.ready()
    sim.set_state(state)
    # On the floor, the camera sees only a tile; from 6 m above the water, the pool.
    sim.spin_until(lambda: all(views), "a picture of each")
    counts = [len(one) for one in views]
    sim.spin_until(lambda: all(len(one) > n + 1 for one, n in zip(views, counts, strict=True)), "newer pictures")
    assert abs(pixels(views[0][-1]).astype(int) - pixels(views[1][-1])).mean() > 5


def test_frame_rate_field_of_view_and_quality_are_changeable_at_runtime(graph: MakeGraph) -> None:
    sim = graph(*SMALL, vehicles=filmed())
    info = sim.collect_messages("camera/front/camera_info", CameraInfo)
    files = sim.collect_messages("camera/front/image_raw/compressed", CompressedImage)
    sim.spin_until(lambda: len(info) > 3 and len(files) > 3, "pictures")
    sharp = len(files[-1].data)
    sim.set_parameter("camera", "jpeg_quality", 10)
    sim.set_parameter("camera", "frame_rate", 100.0)
    sim.set_parameter("camera", "camera_fields_of_view", [60.0, 80.0])
    sim.spin_until(lambda: info[-1].k[0] > 50.0, "the narrow field of view")
    count = len(files)
    sim.spin_until(lambda: len(files) > count + 4, "pictures")
    assert info[-1].k[0] == pytest.approx(32 / math.tan(math.radians(30)))
    assert np.diff([stamp_ns(one) for one in files[-4:]]).tolist() == [10_000_000] * 3
    assert len(files[-1].data) < 0.7 * sharp


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("world:=puddle", "parameter 'world': there is no world 'puddle'; allowed: a name"),
        ("camera_names:=['front']", "'camera_positions': 6 numbers given"),
    ],
)
def test_invalid_settings_are_rejected(graph: MakeGraph, given: str, text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        graph("-p", given, vehicles=filmed())


RUN_CAMERA = "from rosflight_py_sim.nodes.running import run_by_name; run_by_name('camera')"


@pytest.mark.parametrize("missing", ["panda3d", "cv2"])
def test_missing_library_ends_the_node_and_names_the_extra(command_line: Callable[..., Any], missing: str) -> None:
    done = command_line("-c", f"import sys; sys.modules[{missing!r}] = None; {RUN_CAMERA}")
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert "pip install" in done.stderr and "or leave the cameras out" in done.stderr


def test_missing_system_library_ends_the_node_and_names_the_package(
    command_line: Callable[..., Any], tmp_path: Path
) -> None:
    # An empty file instead of a library: the loader takes the first file of that name, and fails.
    (tmp_path / "libX11.so.6").touch()
    folders = os.pathsep.join([str(tmp_path), os.environ.get("LD_LIBRARY_PATH", "")])
    done = command_line("-c", RUN_CAMERA, LD_LIBRARY_PATH=folders)
    assert done.returncode == 1
    assert "apt-get install libx11-6" in done.stderr.splitlines()[-1]


def test_vehicle_has_the_cameras_of_its_file_unless_told_otherwise() -> None:
    assert vehicle("auv").extra_nodes == ("camera",)
    assert vehicle("auv").carrying("camera", False).extra_nodes == ()
    assert vehicle("auv").carrying("camera", None) == vehicle("auv")
    assert vehicle("auv").carrying("camera", True).extra_nodes == ("camera",)


@pytest.mark.parametrize("size", [0, 1, 7, 230_400])
def test_wire_bytes_match_the_message(size: int) -> None:
    data = bytes(k % 251 for k in range(size))
    message = Image(height=3, width=5, encoding="mono8", step=5)
    message.header.frame_id = "it"
    read = deserialize_message(TailWire(message).encode(7_000_000_009, data), Image)
    assert bytes(read.data) == data
    assert (read.header.stamp.sec, read.header.stamp.nanosec, read.header.frame_id) == (7, 9, "it")
    assert (read.height, read.width, read.encoding, read.step) == (3, 5, "mono8", 5)

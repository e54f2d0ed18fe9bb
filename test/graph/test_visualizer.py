"""The visualizer in the graph: frames and markers match the truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosflight_msgs.msg import SimState
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage
from transforms3d.quaternions import quat2mat
from visualization_msgs.msg import Marker, MarkerArray

from rosflight_py_sim.graph.fleet import Member, fleet
from rosflight_py_sim.graph.vehicle_appearance import appearance_of
from rosflight_py_sim.ground.coordinate_frames import swap_attitude, swap_ned_enu
from rosflight_py_sim.ground.stamps import time_ns_of
from rosflight_py_sim.step.topics import FORCES_AND_MOMENTS, TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import truth_of_message
from rosflight_py_sim.vehicles import vehicle

MakeGraph = Callable[..., Any]
Array = NDArray[np.float64]

DRAWN = {"executables": ["visualizer"]}
KEEP_ALL = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)
VOLATILE = QoSProfile(depth=1000)

# The messages carry the truth's own doubles; a few roundings of numbers of order 1 to 100.
ROUNDING = 1e-12


def stamp_ns(message: Any) -> int:
    return time_ns_of(message.header.stamp)


def numbers(transform: Any) -> tuple[Array, Array]:
    """Position, and attitude w x y z."""
    place, turn = transform.translation, transform.rotation
    return np.array([place.x, place.y, place.z]), np.array([turn.w, turn.x, turn.y, turn.z])


def points(marker: Marker) -> Array:
    return np.array([(p.x, p.y, p.z) for p in marker.points])


class Frames:
    """Newest transform of each frame on /tf and /tf_static."""

    def __init__(self, sim: Any) -> None:
        self.received: list[Any] = []
        self.newest: dict[str, Any] = {}
        sim.tester.create_subscription(TFMessage, "/tf", self._on_tf, VOLATILE)
        sim.tester.create_subscription(TFMessage, "/tf_static", self._on_tf, KEEP_ALL)

    def _on_tf(self, message: TFMessage) -> None:
        self.received.append(message)
        self.newest |= {one.child_frame_id: one for one in message.transforms}

    def chain(self, name: str) -> Array:
        """Homogeneous matrix (4, 4) from a frame to map."""
        whole = np.eye(4)
        while name != "map":
            one = self.newest[name]
            place, turn = numbers(one.transform)
            step = np.eye(4)
            step[:3, :3], step[:3, 3] = quat2mat(turn), place
            whole = step @ whole
            name = one.header.frame_id
        return whole


def tilted(sim: Any) -> SimState:
    """A state with every number different from zero, 12 m up."""
    state = SimState()
    p, q = state.pose.position, state.pose.orientation
    p.x, p.y, p.z = 3.0, -2.0, -12.0
    q.w, q.x, q.y, q.z = 0.5, 0.5, -0.5, 0.5
    return state


def test_base_link_matches_truth_in_rep_103_axes(graph: MakeGraph) -> None:
    sim = graph(**DRAWN).ready()
    states = sim.collect_messages(TRUTH_STATE, qos=VOLATILE)
    frames = Frames(sim)
    sim.set_state(tilted(sim))
    count = len(frames.received)
    sim.spin_until(lambda: len(frames.received) > count + 5 and "body" in frames.newest, "frames")
    # A stamp has two states if a state was set at that time.
    known: dict[int, list[Array]] = {}
    for state in states:
        known.setdefault(stamp_ns(state), []).append(truth_of_message(state))
    base_links = [one for message in frames.received for one in message.transforms if one.child_frame_id == "base_link"]
    checked = 0
    for one in base_links:
        assert one.header.frame_id == "map"
        if stamp_ns(one) not in known:
            continue
        place, turn = numbers(one.transform)
        told_pose = pytest.approx(np.concatenate([place, turn]), abs=ROUNDING)
        poses = [np.concatenate([swap_ned_enu(t[:3]), swap_attitude(t[3:7])]) for t in known[stamp_ns(one)]]
        assert any(pose == told_pose for pose in poses)
        checked += 1
    assert checked >= 5
    # The chain of frames returns the messages' own axes: body in NED equals the truth.
    newest = known[stamp_ns(frames.newest["base_link"])][-1]
    in_ned = np.linalg.inv(frames.chain("NED")) @ frames.chain("body")
    assert in_ned[:3, 3] == pytest.approx(newest[:3], abs=1e-9)
    assert in_ned[:3, :3] == pytest.approx(quat2mat(newest[3:7]), abs=1e-9)


def test_sensor_frames_are_attached_to_the_vehicle(graph: MakeGraph) -> None:
    member = vehicle("multirotor").carrying("camera", True)
    sim = graph("-p", "image_width:=32", "-p", "image_height:=24", vehicles=[Member(member)], **DRAWN)
    frames = Frames(sim)
    wanted = {"NED", "body", "imu", "gnss", "sonar", "front_camera_optical_frame", "bottom_camera_optical_frame"}
    sim.spin_until(lambda: wanted <= set(frames.newest), "the fixed frames")
    place, turn = numbers(frames.newest["front_camera_optical_frame"].transform)
    # 16 cm ahead; the image's right, down and line of sight in forward, left, up.
    assert place == pytest.approx([0.16, 0.0, 0.0])
    assert quat2mat(turn) == pytest.approx(np.array([(0, -1, 0), (0, 0, -1), (1, 0, 0)]).T, abs=ROUNDING)
    place, turn = numbers(frames.newest["bottom_camera_optical_frame"].transform)
    assert place == pytest.approx([0.0, 0.0, -0.1])
    assert quat2mat(turn)[:, 2] == pytest.approx([0, 0, -1], abs=ROUNDING)
    assert quat2mat(turn)[:, 1] == pytest.approx([-1, 0, 0], abs=ROUNDING)
    sonar = quat2mat(numbers(frames.newest["sonar"].transform)[1])
    assert sonar[:, 0] == pytest.approx([0, 0, -1], abs=ROUNDING)


def small_camera(**settings: Any) -> dict[str, Any]:
    """Settings of one camera; its frame is 1 m ahead of the vehicle."""
    one = {"camera_names": ["eye"], "camera_positions": [1.0, 0.0, 0.0], "camera_fields_of_view": [60.0]}
    return {"image_width": 32, "image_height": 24, "camera_angles": [0.0] * 3, **one, **settings}


def test_each_vehicle_has_the_frames_of_its_own_cameras(graph: MakeGraph) -> None:
    filmed = vehicle("multirotor").carrying("camera", True)
    settings = {
        "first": small_camera(),
        "second": small_camera(camera_names=["nose"], camera_angles=[0.0, -90.0, 0.0]),
    }
    members = [Member(filmed, name, {"initial_position": [0.0, 9.0], **given}) for name, given in settings.items()]
    sim = graph(vehicles=members, **DRAWN)
    frames = Frames(sim)
    wanted = {"first/eye_camera_optical_frame", "second/nose_camera_optical_frame"}
    sim.spin_until(lambda: wanted <= set(frames.newest), "the frames of the cameras")
    assert {name for name in frames.newest if "camera" in name} == wanted
    for name, sight in zip(sorted(wanted), ([1, 0, 0], [0, 0, -1]), strict=True):
        assert frames.newest[name].header.frame_id == f"{name.split('/')[0]}/base_link"
        place, turn = numbers(frames.newest[name].transform)
        assert place == pytest.approx([1.0, 0.0, 0.0])
        assert quat2mat(turn)[:, 2] == pytest.approx(sight, abs=ROUNDING)


def test_camera_frame_follows_the_gimbal(graph: MakeGraph) -> None:
    given = small_camera(gimbal_camera="eye", gimbal_outputs=[-1, 0, -1])
    member = Member(vehicle("multirotor").carrying("camera", True), settings=given)
    sim = graph(vehicles=[member], **DRAWN)
    frames = Frames(sim)

    def sight() -> Any:
        return quat2mat(numbers(frames.newest["eye_camera_optical_frame"].transform)[1])[:, 2]

    def looks(*direction: float) -> bool:
        return "eye_camera_optical_frame" in frames.newest and np.allclose(sight(), direction, atol=1e-6)

    # The pulse of a motor at rest is the shortest one: -90 degrees.
    sim.spin_until(lambda: looks(0.0, 0.0, -1.0), "a camera that looks down")
    sim.set_parameter("camera", "gimbal_angles", [-30.0, 30.0, -45.0, 20.0, -180.0, 180.0])
    half = np.sqrt(0.5)
    sim.spin_until(lambda: looks(half, 0.0, -half), "a camera that looks ahead and down")
    assert numbers(frames.newest["eye_camera_optical_frame"].transform)[0] == pytest.approx([1.0, 0.0, 0.0])


def test_each_mesh_part_has_its_own_frame(graph: MakeGraph) -> None:
    sim = graph(**DRAWN).ready()
    meshes = sim.collect_messages("rviz/mesh", Marker, KEEP_ALL)
    frames = Frames(sim)
    parts = appearance_of(vehicle("multirotor")).parts
    sim.spin_until(lambda: {m.id for m in meshes} == set(range(len(parts))), "all parts")
    sim.spin_until(lambda: "rotor_4" in frames.newest, "frames of the rotors")
    by_id = {m.id: m for m in meshes}
    for number, part in enumerate(parts):
        one = by_id[number]
        assert (one.type, one.ns, one.frame_locked) == (Marker.TRIANGLE_LIST, "vehicle", True)
        assert len(one.points) == 3 * len(part.mesh.triangles)
        assert one.header.frame_id == ("base_link" if part.motion is None else part.name.replace(" ", "_"))
        assert one.color.r == pytest.approx(part.colour[0] / 255.0, abs=1e-6)  # float32
        # Seen in body axes (forward, left, up), the corners are those of the part.
        corners = points(one)
        if part.motion is not None:
            place, turn = numbers(frames.newest[one.header.frame_id].transform)
            assert place == pytest.approx(np.array(part.pivot_frd) * [1, -1, -1], abs=ROUNDING)
            axis = np.array(part.motion.axis_frd) * [1, -1, -1]
            assert np.linalg.norm(np.cross(turn[1:], axis)) < ROUNDING
            expected = part.mesh.corners
        else:
            expected = part.mesh.corners + np.array(part.pivot_frd)
        assert corners == pytest.approx(expected.reshape(-1, 3) * [1, -1, -1], abs=1e-6)  # float32


def test_rotor_meshes_spin_with_motors(graph: MakeGraph) -> None:
    sim = graph(**DRAWN)
    frames = Frames(sim)
    sim.arm()
    angles: list[float] = []

    def turned() -> bool:
        if "rotor_1" in frames.newest:
            angles.append(float(numbers(frames.newest["rotor_1"].transform)[1][3]))
        return len(set(angles)) > 3

    sim.spin_until(turned, "a rotor that turns")


def test_path_follows_vehicle_and_restarts_after_a_jump(graph: MakeGraph) -> None:
    # In real time: at full speed, the vehicle would land before many frames are drawn.
    sim = graph("-p", "path_spacing:=0.001", multiplier=1.0, **DRAWN).ready()
    states = sim.collect_messages(TRUTH_STATE, qos=VOLATILE)
    paths = sim.collect_messages("rviz/mesh_path", Marker, VOLATILE)
    state = tilted(sim)
    # Further than it could have flown by itself, even if a busy machine draws rarely.
    state.pose.position.x = 400.0
    # So high that it falls for some seconds.
    state.pose.position.z = -120.0
    sim.set_state(state)
    sim.spin_until(lambda: paths and len(paths[-1].points) > 3 and points(paths[-1])[0, 1] > 399.0, "a path")
    assert (paths[-1].type, paths[-1].header.frame_id, paths[-1].ns) == (Marker.LINE_STRIP, "map", "vehicle")
    been = {tuple(swap_ned_enu(truth_of_message(one)[:3]).tolist()) for one in states}
    assert {tuple(point) for point in points(paths[-1]).tolist()} <= been
    state.pose.position.x = 800.0
    sim.set_state(state)
    sim.spin_until(lambda: points(paths[-1])[-1, 1] > 799.0, "a path from the new place")
    assert np.all(points(paths[-1])[:, 1] > 799.0)


def test_arrows_show_force_and_wind(graph: MakeGraph) -> None:
    wind = ("-p", "sim_has_wind:=true", "-p", "use_random_wind:=false", "-p", "steady_state_wind:=[3.0, 1.0, -0.5]")
    sim = graph(*wind, "-p", "wind_arrow_scale:=0.5", "-p", "force_arrow_scale:=0.1", **DRAWN).ready()
    wrenches = sim.collect_messages(FORCES_AND_MOMENTS)
    received = sim.collect_messages("rviz/arrows", MarkerArray)
    sim.arm()
    sim.spin_until(
        lambda: received and len(received[-1].markers) == 2 and len(received[-1].markers[0].points) == 2, "arrows"
    )
    sim.idle(0.2)
    force, blowing = received[-1].markers
    assert [force.ns, blowing.ns] == ["vehicle force", "vehicle wind"]
    begin, end = points(blowing)
    assert end - begin == pytest.approx(0.5 * np.array([1.0, 3.0, 0.5]), abs=ROUNDING * 10)
    begin, end = points(force)
    # On the ground, level: idling rotors push up, and the wind pushes the vehicle.
    expected = 0.1 * np.array([wrenches[-1].wrench.force.y, wrenches[-1].wrench.force.x, -wrenches[-1].wrench.force.z])
    assert end - begin == pytest.approx(expected, rel=0.2, abs=0.05)


def test_late_subscribers_receive_everything_even_while_paused(graph: MakeGraph) -> None:
    sim = graph(**DRAWN).ready()
    sim.pause()
    sim.idle(0.2)
    frames = Frames(sim)
    # Volatile, so that only republished messages arrive.
    meshes = sim.collect_messages("rviz/mesh", Marker, VOLATILE)
    parts = len(appearance_of(vehicle("multirotor")).parts)
    sim.spin_until(lambda: "base_link" in frames.newest and len({m.id for m in meshes}) == parts, "all of it")


def test_each_fleet_vehicle_has_frames_and_markers(graph: MakeGraph) -> None:
    members = fleet(vehicle("multirotor"), count=2, seed=1)
    sim = graph(vehicles=members, namespace="sky", **DRAWN)
    frames = Frames(sim)
    mesh = sim.collect_messages("/sky/rviz/mesh", Marker, KEEP_ALL)
    wanted = {f"sky/multirotor_{k}/{name}" for k in (1, 2) for name in ("base_link", "rotor_1", "imu")}
    sim.spin_until(lambda: wanted <= set(frames.newest), "frames of both")
    sim.spin_until(lambda: {m.ns for m in mesh} == {"sky/multirotor_1", "sky/multirotor_2"}, "both meshes")
    names = [node.get_name() for node in sim.nodes]
    assert names.count("visualizer") == 1
    # The second stands 20 m to the east of the first.
    first, second = (frames.chain(f"sky/multirotor_{k}/base_link")[:3, 3] for k in (1, 2))
    assert second - first == pytest.approx([20.0, 0.0, 0.0], abs=0.1)


def test_reset_restarts_the_path(graph: MakeGraph) -> None:
    sim = graph("-p", "path_spacing:=0.001", multiplier=1.0, **DRAWN).ready()
    paths = sim.collect_messages("rviz/mesh_path", Marker, VOLATILE)
    state = tilted(sim)
    state.pose.position.x = 400.0
    sim.set_state(state)
    sim.spin_until(lambda: paths and len(paths[-1].points) > 3 and points(paths[-1])[-1, 1] > 399.0, "a path out there")
    assert sim.call("dynamics/reset", Trigger).success
    sim.spin_until(lambda: points(paths[-1])[-1, 1] < 1.0, "a path at the start")
    assert np.all(points(paths[-1])[:, 1] < 1.0)


def test_visualizer_neither_blocks_the_graph_nor_wakes_for_messages(graph: MakeGraph) -> None:
    sim = graph(**DRAWN).ready()
    node = sim.node("visualizer")
    assert list(node.subscriptions) == []
    sim.remove(node)
    sim.spin_for(0.1)


def test_configured_world_is_drawn(undisturbed_graph: MakeGraph) -> None:
    sim = undisturbed_graph(vehicle_name="auv", flight_controller="auv_controller", **DRAWN)
    world = sim.collect_messages("rviz/world", Marker, KEEP_ALL)
    sim.spin_until(lambda: {"floor", "walls", "water", "gate"} <= {m.ns for m in world}, "the pool")
    floor = next(m for m in world if m.ns == "floor")
    assert floor.header.frame_id == "map"
    assert np.all(points(floor)[:, 2] < 0.0)


@pytest.mark.parametrize(
    ("name", "controller"), [("auv", "auv_controller"), ("aerosonde", "sil_board"), ("hexarotor", "sil_board")]
)
def test_vehicle_shape_comes_from_its_file(undisturbed_graph: MakeGraph, name: str, controller: str) -> None:
    sim = undisturbed_graph(vehicle_name=name, flight_controller=controller, **DRAWN)
    meshes = sim.collect_messages("rviz/mesh", Marker, KEEP_ALL)
    assert sim.node("visualizer").values["appearance"] == vehicle(name).appearance
    parts = appearance_of(vehicle(name)).parts
    sim.spin_until(lambda: len({m.id for m in meshes}) >= len(parts), "all parts")
    sim.idle(0.2)
    assert {m.id for m in meshes} == set(range(len(parts)))

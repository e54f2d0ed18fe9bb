"""Where the camera's views place the world, and that the vehicle stands on it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
import viser
from transforms3d.euler import euler2quat
from transforms3d.quaternions import rotate_vector

from rosflight_py_sim.graph.vehicle_appearance import appearance_of
from rosflight_py_sim.vehicles import known_vehicles, vehicle
from rosflight_py_sim.viewer.on_ground import corners_of
from rosflight_py_sim.viewer.web.camera_views import VIEWS
from rosflight_py_sim.viewer.web.scene import Scene
from rosflight_py_sim.viewer.web.server import open_server, stop_server
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView
from rosflight_py_sim.world import DRY_LAND
from test.viewer.drawn_batches import places

ROLL, PITCH, YAW = 0.3, -0.2, 1.2


def truth_at(down: float, roll: float = ROLL, pitch: float = PITCH, yaw: float = YAW) -> np.ndarray:
    truth = np.zeros(19)
    truth[0:3] = 12.0, -7.0, down
    truth[3:7] = euler2quat(yaw, pitch, roll, "rzyx")
    return truth


@pytest.fixture(scope="module")
def server() -> Iterator[viser.ViserServer]:
    server = open_server("127.0.0.1", 0, "test")
    yield server
    stop_server(server)


@pytest.mark.parametrize(("name", "turned"), [("follow", 0), ("chase", 1), ("onboard", 3)])
def test_moving_views_hold_the_vehicle_in_the_centre_and_turn_with_it(name: str, turned: int) -> None:
    truth = truth_at(-30.0)
    pose = VIEWS[name].pose_of_world(truth)
    assert pose is not None
    attitude, position = pose
    assert rotate_vector(truth[0:3], attitude) + position == pytest.approx(np.zeros(3), abs=1e-12)
    # The vehicle's forward axis, in the axes of the camera.
    forward = rotate_vector(rotate_vector((1.0, 0.0, 0.0), truth[3:7]), attitude)
    heading, climb = math.atan2(forward[1], forward[0]), math.asin(-forward[2])
    assert heading == pytest.approx(YAW if turned == 0 else 0.0, abs=1e-12)
    assert climb == pytest.approx(0.0 if turned == 3 else PITCH, abs=1e-12)


def test_fixed_view_leaves_the_world_where_it_is() -> None:
    assert VIEWS["fixed"].pose_of_world(truth_at(-30.0)) is None


@pytest.mark.parametrize("name", known_vehicles())
def test_drawn_vehicle_never_stands_in_the_ground(server: viser.ViserServer, name: str) -> None:
    shape = appearance_of(vehicle(name))
    scene = Scene(server, {name: shape}, DRY_LAND)
    first = next(part for part in shape.parts if part.motion is None)
    for roll, pitch in ((0.0, 0.0), (0.2, -0.1), (math.pi, 0.0)):
        # In contact, the legs sink into the ground by the compression of its spring.
        truth = truth_at(0.01, roll, pitch)
        scene.show({name: VehicleView(0.0, truth, np.zeros(3), np.zeros(14))})
        lowest = max(rotate_vector(corner, truth[3:7])[2] for corner in corners_of(shape))
        (position,) = places(server, f"/map/vehicles/{name}_{first.name}")
        assert position[2] + lowest == pytest.approx(0.0, abs=2e-3)
        assert position[0:2].tolist() == [12.0, -7.0]


@pytest.mark.parametrize(("name", "length"), [("aerosonde", 100.0), ("multirotor", 1.0)])
def test_runway_or_pad_lies_where_the_flight_begins_along_its_heading(
    server: viser.ViserServer, name: str, length: float
) -> None:
    scene = Scene(server, {name: appearance_of(vehicle(name))}, DRY_LAND)
    for truth in (truth_at(-0.1, 0.0, 0.0), truth_at(-50.0)):
        scene.show({name: VehicleView(0.0, truth, np.zeros(3), np.zeros(14))})
    surface = server.scene.get_handle_by_name("/map/start_1_surface")
    assert isinstance(surface, viser.BatchedMeshHandle)
    assert np.ptp(surface.vertices[:, 0]) > length
    assert surface.batched_positions[:, 0:2].tolist() == [[12.0, -7.0]]
    # Poses are sent as 32-bit numbers.
    assert surface.batched_wxyzs[0] == pytest.approx(euler2quat(YAW, 0.0, 0.0, "rzyx"), abs=1e-6)


def test_shadow_lies_below_the_vehicle_on_the_ground(server: viser.ViserServer) -> None:
    scene = Scene(server, {"": appearance_of(vehicle("multirotor"))}, DRY_LAND)
    scene.show({"": VehicleView(0.0, truth_at(-20.0), np.zeros(3), np.zeros(14))})
    assert places(server, "/map/shadows/vehicle_shadow")[0] == pytest.approx([12.0, -7.0, 0.0], abs=0.1)

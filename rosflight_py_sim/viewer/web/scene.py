"""The 3D scene of the browser viewer: vehicles with moving parts, paths, wind, and the world.

Scene coordinates are the simulation's, north east down, with -down as the up direction. `Scene.show` accepts states
from a running simulation or a recording. The cockpit of the page writes the names of several vehicles.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

import numpy as np
import viser
from numpy.typing import NDArray

from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.viewer.appearance import Appearance
from rosflight_py_sim.viewer.on_ground import Clearance
from rosflight_py_sim.viewer.web.camera_views import VIEWS, placed
from rosflight_py_sim.viewer.web.ground import FAR, add_starts, gap_of
from rosflight_py_sim.viewer.web.trail import Trails
from rosflight_py_sim.viewer.web.vehicle_models import VehicleModels, node_name
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView
from rosflight_py_sim.viewer.web.world_models import WIND_COLOUR, floor_colour, show_world
from rosflight_py_sim.world import World

# Fleets larger than this have a name and a wind arrow for the selected vehicle only.
_MOST_MARKED = 12

# Wind speed whose arrow is as long as the vehicle.
_WIND_SCALE = 5.0
_LEAST_WIND = 0.05

_ROOT = "/map"

# Node whose children are above the vehicles. Each has the vehicle's name, percent-encoded, which `names.js` writes.
_NAMES = f"{_ROOT}/names"


class Scene:
    """The complete scene.

    Attributes:
        chosen: name of the vehicle that the camera shows.
    """

    def __init__(self, server: viser.ViserServer, vehicles: Mapping[str, Appearance], world: World) -> None:
        """Build the scene; `vehicles`: name to appearance, the first is selected. Names may contain slashes."""
        self.chosen = next(iter(vehicles))
        self._view = VIEWS["follow"]
        self._server = server
        server.scene.set_up_direction("-z")
        self._map = server.scene.add_frame(_ROOT, show_axes=False)
        self._size = max(appearance.size for appearance in vehicles.values())
        show_world(server.scene, _ROOT, world, gap_of(self._size))
        self._shapes = dict(vehicles)
        self._floor = world.floor_down
        self._models = VehicleModels(server.scene, _ROOT, vehicles, self._floor, floor_colour(world))
        self._clearances = {name: Clearance(shape) for name, shape in vehicles.items()}
        self._paths = Trails(
            server.scene, f"{_ROOT}/path", {name: 0.25 * shape.size for name, shape in vehicles.items()}
        )
        self._begins = set(vehicles) if world.water is None else set()
        self._starts = 0
        self._shows_wind = True
        self._marks: dict[str, _Mark] = {}
        self._mark()
        self._aim()

    def show(self, views: Mapping[str, VehicleView]) -> None:
        """Move vehicles, by name, to new states."""
        with self._server.atomic():
            self._mark()
            starts: dict[tuple[str, float], list[tuple[Appearance, NDArray[np.float64]]]] = {}
            for name, view in views.items():
                shape = self._shapes[name]
                position = self._clearances[name].above(self._floor, view.truth)
                yaw = euler_from_quaternion(*view.truth[3:7].tolist())[2]
                if name in self._begins and self._floor - position[2] < shape.size:
                    pose = np.array([*position[0:2], self._floor, yaw])
                    starts.setdefault((shape.name, shape.size), []).append((shape, pose))
                self._begins.discard(name)
                self._models.move(name, position, view.truth[3:7], yaw)
                self._models.turn_parts(name, view.pwm_us, view.time_s)
                self._paths.pass_through(name, position, view.time_s, float(np.linalg.norm(view.truth[7:10])))
                if name in self._marks:
                    self._marks[name].show(position, view.wind_ned, shows_wind=self._shows_wind)
                if name == self.chosen and (pose_of_world := self._view.pose_of_world(view.truth)) is not None:
                    self._map.wxyz, self._map.position = np.array(pose_of_world[0]), pose_of_world[1]
            for alike in starts.values():
                self._starts += 1
                poses = np.array([pose for _, pose in alike])
                add_starts(self._server.scene, f"{_ROOT}/start_{self._starts}", alike[0][0], poses)
            self._models.draw(self.chosen)
            self._paths.draw()

    def choose_view(self, name: str) -> None:
        """Show one of the `VIEWS` in every browser."""
        self._view = VIEWS[name]
        self._aim()
        for client in self._server.get_clients().values():
            # Before its first message, a browser's camera is where `initial_camera` places it.
            if client.camera.update_timestamp:
                client.camera.position, client.camera.look_at = placed(self._view, self._size)

    def clear_paths(self) -> None:
        """Clear all paths."""
        self._paths.clear()

    def show_paths(self, visible: bool) -> None:
        """Show or hide the paths."""
        self._paths.visible = visible

    def show_wind(self, visible: bool) -> None:
        """Show or hide the wind arrows."""
        self._shows_wind = visible

    def _mark(self) -> None:
        """Mark the vehicles that have a name and a wind arrow, and no others."""
        wanted = self._shapes.keys() if len(self._shapes) <= _MOST_MARKED else {self.chosen}
        for name in self._marks.keys() - wanted:
            self._marks.pop(name).remove()
        for name in wanted - self._marks.keys():
            label = name if len(self._shapes) > 1 else ""
            self._marks[name] = _Mark(self._server.scene, f"{_ROOT}/{node_name(name)}", label, self._shapes[name].size)

    def _aim(self) -> None:
        """Place the camera of browsers that connect from now on."""
        camera = self._server.initial_camera
        camera.position, camera.look_at = placed(self._view, self._size)
        camera.fov = 0.9
        camera.near, camera.far = max(0.05, 0.1 * self._size), FAR


class _Mark:
    """Wind arrow and place of the name of a vehicle."""

    def __init__(self, scene: viser.SceneApi, node: str, label: str, size: float) -> None:
        """Add them; `node`: beginning of the arrow's node, `label`: empty for none, `size`: of the vehicle, m."""
        self._size = size
        self._drawn_wind = np.zeros(3)
        self._wind = scene.add_arrows(
            f"{node}_wind",
            np.zeros((1, 2, 3)),
            WIND_COLOUR,
            shaft_radius=0.02 * size,
            head_radius=0.05 * size,
            head_length=0.12 * size,
            visible=False,
        )
        self._label = scene.add_frame(f"{_NAMES}/{quote(label, safe='')}", show_axes=False) if label else None

    def show(self, position: NDArray[np.float64], wind_ned: NDArray[np.float64], *, shows_wind: bool) -> None:
        if self._label is not None:
            self._label.position = position + np.array([0.0, 0.0, -0.6 * self._size])
        speed = float(np.linalg.norm(wind_ned))
        self._wind.visible = shows_wind and speed > _LEAST_WIND
        # Above the vehicle, with the middle of the arrow over the vehicle's centre.
        self._wind.position = position + np.array([0.0, 0.0, -0.75 * self._size])
        if np.linalg.norm(wind_ned - self._drawn_wind) > 0.02 * speed:
            half = 0.5 * self._size / _WIND_SCALE * wind_ned
            self._wind.points = np.array([[-half, half]], dtype=np.float32)
            self._drawn_wind = wind_ned.copy()

    def remove(self) -> None:
        self._wind.remove()
        if self._label is not None:
            self._label.remove()

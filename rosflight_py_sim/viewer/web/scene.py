"""The 3D scene of the browser viewer: vehicles with moving parts, paths, wind, and the world.

Scene coordinates are the simulation's, north east down, with -down as the up direction. `Scene.show` accepts states
from a running simulation or a recording.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import viser
from numpy.typing import NDArray

from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.viewer.appearance import Appearance, MovingParts, part_attitude
from rosflight_py_sim.viewer.on_ground import Clearance
from rosflight_py_sim.viewer.web.camera_views import VIEWS, placed
from rosflight_py_sim.viewer.web.ground import FAR, Shadow, add_start, gap_of
from rosflight_py_sim.viewer.web.trail import Trail
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView
from rosflight_py_sim.viewer.web.world_models import WIND_COLOUR, floor_colour, show_world
from rosflight_py_sim.world import World

# Longest time between two images over which rotors are turned: beyond it, blades would seem to stop or turn backwards.
_BLADE_S = 1.0 / 30.0

# Wind speed whose arrow is as long as the vehicle.
_WIND_SCALE = 5.0
_LEAST_WIND = 0.05

_ROOT = "/map"


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
        several = len(vehicles) > 1
        self._vehicles = {
            name: _Vehicle(server.scene, name, appearance, world, named=several)
            for name, appearance in vehicles.items()
        }
        self._aim()

    def show(self, name: str, view: VehicleView) -> None:
        """Move a vehicle to a new state."""
        with self._server.atomic():
            self._vehicles[name].show(view)
            if name == self.chosen and (pose := self._view.pose_of_world(view.truth)) is not None:
                self._map.wxyz, self._map.position = np.array(pose[0]), pose[1]

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
        for vehicle in self._vehicles.values():
            vehicle.trail.clear()

    def show_paths(self, visible: bool) -> None:
        """Show or hide the paths."""
        for vehicle in self._vehicles.values():
            vehicle.trail.visible = visible

    def show_wind(self, visible: bool) -> None:
        """Show or hide the wind arrows."""
        for vehicle in self._vehicles.values():
            vehicle.shows_wind = visible

    def _aim(self) -> None:
        """Place the camera of browsers that connect from now on."""
        camera = self._server.initial_camera
        camera.position, camera.look_at = placed(self._view, self._size)
        camera.fov = 0.9
        camera.near, camera.far = max(0.05, 0.1 * self._size), FAR


class _Vehicle:
    """One vehicle's nodes in the scene."""

    def __init__(self, scene: viser.SceneApi, name: str, appearance: Appearance, world: World, *, named: bool) -> None:
        own = name.replace("/", "_") or "vehicle"
        self._body = scene.add_frame(f"{_ROOT}/{own}", show_axes=False)
        self._moving = MovingParts(appearance)
        self._parts = [
            scene.add_mesh_simple(
                f"{_ROOT}/{own}/{part.name}",
                part.mesh.vertices,
                part.mesh.triangles,
                color=part.colour,
                flat_shading=True,
                position=part.pivot_frd,
            )
            for part in appearance.parts
        ]
        self._scene, self._start = scene, f"{_ROOT}/{own}_start"
        self._floor = world.floor_down
        self._starts_here = world.water is None
        self._clearance = Clearance(appearance)
        self._shadow = Shadow(scene, f"{_ROOT}/{own}_shadow", appearance, self._floor, floor_colour(world))
        self._appearance = appearance
        self._size = appearance.size
        self._wind = scene.add_arrows(
            f"{_ROOT}/{own}_wind",
            np.zeros((1, 2, 3)),
            WIND_COLOUR,
            shaft_radius=0.02 * self._size,
            head_radius=0.05 * self._size,
            head_length=0.12 * self._size,
            visible=False,
        )
        self._label = (
            scene.add_label(f"{_ROOT}/{own}_name", name, anchor="bottom-center", font_screen_scale=0.8)
            if named
            else None
        )
        self._drawn_wind = np.zeros(3)
        self._time_s = -1.0
        self.shows_wind = True
        self.trail = Trail(scene, f"{_ROOT}/{own}_path", spacing=0.25 * self._size)

    def show(self, view: VehicleView) -> None:
        position = self._clearance.above(self._floor, view.truth)
        yaw = euler_from_quaternion(*view.truth[3:7].tolist())[2]
        if self._starts_here and self._floor - position[2] < self._size:
            add_start(self._scene, self._start, self._appearance, np.array([*position[0:2], self._floor, yaw]))
        self._starts_here = False
        self._body.position = position
        self._body.wxyz = view.truth[3:7]
        self._shadow.fall_from(position, yaw)
        self._move_parts(view)
        self._show_wind(view.wind_ned, position)
        if self._label is not None:
            self._label.position = position + np.array([0.0, 0.0, -0.6 * self._size])
        self.trail.pass_through(position, view.time_s, float(np.linalg.norm(view.truth[7:10])))

    def _move_parts(self, view: VehicleView) -> None:
        self._moving.move(view.pwm_us, min(max(view.time_s - self._time_s, 0.0), _BLADE_S))
        self._time_s = view.time_s
        for part, drawn, angle in zip(self._appearance.parts, self._parts, self._moving.angles, strict=True):
            if part.motion is not None:
                drawn.wxyz = part_attitude(part, angle)

    def _show_wind(self, wind_ned: NDArray[np.float64], position: NDArray[np.float64]) -> None:
        speed = float(np.linalg.norm(wind_ned))
        self._wind.visible = self.shows_wind and speed > _LEAST_WIND
        # Above the vehicle, with the middle of the arrow over the vehicle's centre.
        self._wind.position = position + np.array([0.0, 0.0, -0.75 * self._size])
        if np.linalg.norm(wind_ned - self._drawn_wind) > 0.02 * speed:
            half = 0.5 * self._size / _WIND_SCALE * wind_ned
            self._wind.points = np.array([[-half, half]], dtype=np.float32)
            self._drawn_wind = wind_ned.copy()

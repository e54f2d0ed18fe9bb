"""Models of all vehicles in the scene, with moving parts, and their shadows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

import numpy as np
import viser

from rosflight_py_sim.shapes.meshes import merged
from rosflight_py_sim.viewer.appearance import Appearance, DrawnPart, MovingParts
from rosflight_py_sim.viewer.on_ground import shadow_of
from rosflight_py_sim.viewer.web.batches import Batches, Floats, products, rotated
from rosflight_py_sim.viewer.web.ground import shadow_depth
from rosflight_py_sim.world.colours import Colour

# Longest time between two images over which rotors are turned: beyond it, blades would seem to stop or turn backwards.
_BLADE_S = 1.0 / 30.0

_SHADOW_SHARE = 0.4


class VehicleModels:
    """The models; equal parts of all vehicles are one node of the scene.

    A browser moves nodes at once, but the parts within a node some frames later. The nodes therefore move with one
    vehicle, which stays in its place in the view at any speed; the positions of parts are relative to that vehicle.
    """

    def __init__(
        self, scene: viser.SceneApi, root: str, vehicles: Mapping[str, Appearance], floor: float, colour: Colour
    ) -> None:
        """Add the models below a node.

        Args:
            scene: viser's scene.
            root: name of the node, whose axes are north, east, down.
            vehicles: appearance of each vehicle.
            floor: down coordinate of the ground, m.
            colour: of the ground.
        """
        self._floor = floor
        # The ground does not climb with the vehicle.
        self._origin = scene.add_frame(f"{root}/vehicles", show_axes=False)
        self._ground = scene.add_frame(f"{root}/shadows", show_axes=False)
        self._models, self._shadows = Batches(scene, f"{root}/vehicles"), Batches(scene, f"{root}/shadows")
        self._moving = [MovingParts(shape) for shape in vehicles.values()]
        self._times_s = [-1.0] * len(vehicles)
        self._sizes = np.array([shape.size for shape in vehicles.values()])
        self._numbers = {name: vehicle for vehicle, name in enumerate(vehicles)}
        # Of each vehicle: position, attitude, and attitude of its shadow.
        self._positions = np.zeros((len(vehicles), 3))
        self._attitudes = np.tile([1.0, 0.0, 0.0, 0.0], (len(vehicles), 1))
        self._headings = self._attitudes.copy()
        pieces = []
        red, green, blue = (int(_SHADOW_SHARE * one) for one in colour)
        for vehicle, (name, shape) in enumerate(vehicles.items()):
            own = node_name(name)
            for part, place in _pieces(shape):
                self._models.add(f"{own}_{part.name}", part.mesh, part.colour)
                pieces.append((vehicle, part, place))
            shadow = shadow_of(shape)
            self._shadows.add(f"{own}_shadow", shadow, (red, green, blue), side="double")
        # Of each piece: its vehicle, pivot, axis, and place of its angle.
        self._vehicle = np.array([vehicle for vehicle, *_ in pieces])
        self._pivots = np.array([part.pivot_frd for _, part, _ in pieces])
        self._axes = np.array([part.motion.axis_frd if part.motion else (0.0, 0.0, 0.0) for _, part, _ in pieces])
        self._places = [place for _, _, place in pieces]
        self._angles = np.zeros(len(pieces))
        self.draw(next(iter(vehicles)))

    def move(self, name: str, position: Floats, attitude: Floats, yaw: float) -> None:
        """Move a vehicle.

        Args:
            name: the vehicle.
            position: NED (3,), m.
            attitude: quaternion w x y z (4,).
            yaw: heading, rad.
        """
        vehicle = self._numbers[name]
        self._positions[vehicle], self._attitudes[vehicle] = position, attitude
        self._headings[vehicle] = np.cos(0.5 * yaw), 0.0, 0.0, np.sin(0.5 * yaw)

    def turn_parts(self, name: str, pwm_us: Floats, time_s: float) -> None:
        """Move the parts of a vehicle to a time, s, with the pulse widths of its outputs (14,), us."""
        vehicle = self._numbers[name]
        elapsed_s = time_s - self._times_s[vehicle]
        self._moving[vehicle].move(pwm_us, min(max(elapsed_s, 0.0), _BLADE_S))
        self._times_s[vehicle] = time_s

    def draw(self, near: str) -> None:
        """Show all vehicles; `near`: the vehicle with which the nodes move."""
        angles = np.array(
            [
                self._moving[vehicle].angles[place] if place >= 0 else 0.0
                for vehicle, place in zip(self._vehicle.tolist(), self._places, strict=True)
            ]
        )
        half = 0.5 * angles[:, None]
        turned = np.hstack([np.cos(half), np.sin(half) * self._axes])
        attitudes = self._attitudes[self._vehicle]
        origin = self._positions[self._numbers[near]].copy()
        relative = self._positions - origin
        self._models.attitudes[:] = products(attitudes, turned)
        self._models.positions[:] = relative[self._vehicle] + rotated(self._pivots, attitudes)
        heights = np.maximum(self._floor - self._positions[:, 2], 0.0)
        self._shadows.positions[:, 0:2] = relative[:, 0:2]
        self._shadows.positions[:, 2] = self._floor + shadow_depth(self._sizes, heights)
        self._shadows.attitudes[:] = self._headings
        self._origin.position, self._ground.position = origin, origin * [1.0, 1.0, 0.0]
        self._models.draw()
        self._shadows.draw()


def node_name(vehicle: str) -> str:
    """Name of a vehicle's node."""
    return vehicle.replace("/", "_") or "vehicle"


def _pieces(shape: Appearance) -> Iterator[tuple[DrawnPart, int]]:
    """Moving parts with their places in the shape, and the fixed ones of each colour as one part, at -1."""
    fixed = sorted((part for part in shape.parts if part.motion is None), key=lambda part: part.colour)
    for colour, parts in groupby(fixed, key=lambda part: part.colour):
        alike = list(parts)
        yield DrawnPart(alike[0].name, merged(part.mesh.moved(part.pivot_frd) for part in alike), colour), -1
    yield from ((part, place) for place, part in enumerate(shape.parts) if part.motion is not None)

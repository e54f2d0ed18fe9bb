"""Vehicles on the ground: position above it, shadow, and the runway or pad on which a flight begins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.shapes.meshes import Mesh, box, merged, rod
from rosflight_py_sim.viewer.appearance import Appearance
from rosflight_py_sim.world.colours import Colour

_ASPHALT, _CONCRETE, _PAINT_COLOUR = (92, 95, 99), (150, 152, 150), (236, 238, 240)

# Triangles of a shadow with a smaller area, in squares of the vehicle's size, stand upright.
_LEAST_AREA = 1e-7


@dataclass(frozen=True, eq=False)
class StartMark:
    """A flat surface and the paint on it, as meshes around the start: x ahead, y to the right, z down, m."""

    surface: Mesh
    surface_colour: Colour
    paint: Mesh
    paint_colour: Colour = _PAINT_COLOUR


def corners_of(appearance: Appearance) -> NDArray[np.float64]:
    """Corners of all parts at rest (n, 3), body axes, m."""
    corners = np.concatenate([part.mesh.vertices + np.array(part.pivot_frd) for part in appearance.parts])
    return np.unique(corners.round(3), axis=0)


class Clearance:
    """Positions at which no corner of a vehicle is below the ground: contact lets it sink in by some millimetres."""

    def __init__(self, appearance: Appearance) -> None:
        """Find the corners of all parts at rest."""
        self._corners = corners_of(appearance)

    def above(self, floor: float, truth: NDArray[np.float64]) -> NDArray[np.float64]:
        """Position NED (3,), m, of a vehicle with the truth vector `truth` (19,); `floor`: down of the ground, m."""
        w, x, y, z = truth[3:7]
        # The down component of each corner: last row of the rotation from body to inertial axes.
        down = self._corners @ np.array([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)])
        sunk = float(truth[2] + down.max() - floor)
        return np.asarray(truth[0:3] - np.array([0.0, 0.0, max(sunk, 0.0)]))


def shadow_of(appearance: Appearance) -> Mesh:
    """Flat shadow of a level vehicle straight below it, body axes, m: the triangles that face up."""
    whole = merged(part.mesh.moved(part.pivot_frd) for part in appearance.parts)
    flat = whole.vertices * np.array([1.0, 1.0, 0.0], dtype=np.float32)
    a, b, c = np.moveaxis(flat[whole.triangles][:, :, 0:2].astype(np.float64), 1, 0)
    one, other = b - a, c - a
    facing = one[:, 1] * other[:, 0] - one[:, 0] * other[:, 1]
    return Mesh(flat, whole.triangles[facing > _LEAST_AREA * appearance.size**2])


def start_mark(appearance: Appearance) -> StartMark:
    """Runway of a vehicle with wheels, or pad of another."""
    size = appearance.size
    if any(part.name == "wheels" for part in appearance.parts):
        return _runway(size)
    return _pad(size)


def _runway(size: float) -> StartMark:
    length, width = 60.0 * size, 6.0 * size
    surface = _flat(length, width, 0.4 * length, 0.0)
    dashes = [_flat(0.03 * length, 0.1 * size, (k + 0.5) * 0.06 * length, 0.0) for k in range(-1, 15)]
    bars = [_flat(0.03 * length, 0.3 * size, -0.08 * length, side * size) for side in (-2.4, -1.6, -0.8, 0.8, 1.6, 2.4)]
    edges = [_flat(length, 0.1 * size, 0.4 * length, side * 0.48 * width) for side in (-1.0, 1.0)]
    return StartMark(surface, _ASPHALT, merged([*dashes, *bars, *edges]))


def _pad(size: float) -> StartMark:
    radius = 1.3 * max(size, 0.5)
    surface = rod((0.0, 0.0, 0.0), (0.0, 0.0, 0.002), radius, sides=40)
    stroke = 0.14 * radius
    letter = [_flat(radius, stroke, 0.0, side * 0.32 * radius) for side in (-1.0, 1.0)]
    return StartMark(surface, _CONCRETE, merged([*letter, _flat(stroke, 0.64 * radius, 0.0, 0.0)]))


def _flat(length: float, width: float, north: float, east: float) -> Mesh:
    return box((length, width, 0.002), (north, east, 0.0))

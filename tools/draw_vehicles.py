"""Draw docs/pictures/vehicles.png: the vehicles as shown in RViz and the browser.

Run from the project's folder: `.venv/bin/python tools/draw_vehicles.py`.
"""

from __future__ import annotations

import math
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from transforms3d.euler import euler2mat
from transforms3d.quaternions import quat2mat

from rosflight_py_sim.graph.vehicle_appearance import appearance_of
from rosflight_py_sim.vehicles import STANDALONE, Vehicle, all_vehicles
from rosflight_py_sim.viewer.appearance import Appearance, MovingParts, part_attitude

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "vehicles.png"

WIDTH, HEIGHT = 400, 300
_FINER = 3
_COLUMNS = 3
_BACKGROUND = (246, 243, 240)
_TEXT = (80, 80, 80)

# Direction of view, deg: from ahead, right and above.
_PITCH, _YAW = -28.0, 215.0
_LIGHT = np.array([0.35, 0.25, -0.9]) / np.linalg.norm([0.35, 0.25, -0.9])

# Outputs of a fixed wing that rolls right and climbs; other vehicles only have rotors to move.
_OUTPUTS = [1750.0, 1400.0, 1600.0, 1500.0, 1700.0] + [1500.0] * 9

Array = NDArray[np.float64]


def triangles(shape: Appearance) -> tuple[Array, Array]:
    """Corners (n, 3, 3) in body axes, and colours (n, 3), of a vehicle whose outputs are `_OUTPUTS`."""
    moving = MovingParts(shape)
    moving.move(_OUTPUTS, 0.03)
    corners, colours = [], []
    for part, angle in zip(shape.parts, moving.angles, strict=True):
        placed = part.mesh.corners @ quat2mat(part_attitude(part, angle)).T + np.array(part.pivot_frd)
        corners.append(placed)
        colours.append(np.tile(np.array(part.colour, dtype=np.float64), (len(placed), 1)))
    return np.concatenate(corners), np.concatenate(colours)


def view(title: str, shape: Appearance) -> NDArray[np.uint8]:
    """Orthographic picture (HEIGHT, WIDTH, 3), blue green red, with hidden surfaces removed."""
    corners, colours = triangles(shape)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, np.newaxis]
    lit = colours * (0.5 + 0.5 * np.clip(normals @ _LIGHT, 0.0, None))[:, np.newaxis]
    # Camera axes: forward, right, down.
    seen = corners @ euler2mat(0.0, math.radians(_PITCH), math.radians(_YAW))
    flat = seen[:, :, 1:]
    low, high = flat.min(axis=(0, 1)), flat.max(axis=(0, 1))
    size = np.array([WIDTH, HEIGHT]) * _FINER
    scale = 0.86 * np.min(size / (high - low))
    pixels = (flat - 0.5 * (low + high)) * scale + 0.5 * size
    picture = np.tile(np.array(_BACKGROUND, dtype=np.float64), (size[1], size[0], 1))
    depth = np.full((size[1], size[0]), np.inf)
    for place, near, colour in zip(pixels, seen[:, :, 0], lit, strict=True):
        _fill(picture, depth, place, near, colour[::-1])
    small = cv2.resize(picture.astype(np.uint8), (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
    cv2.putText(small, title, (12, HEIGHT - 12), cv2.FONT_HERSHEY_SIMPLEX, 0.55, _TEXT, 1, cv2.LINE_AA)
    return np.asarray(small, dtype=np.uint8)


def _fill(picture: Array, depth: Array, corners: Array, near: Array, colour: Array) -> None:
    """Draw one triangle with a depth test."""
    (ax, ay), (bx, by), (cx, cy) = corners
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    if abs(area) < 1e-9:
        return
    left, top = np.floor(corners.min(axis=0)).astype(int)
    right, bottom = np.ceil(corners.max(axis=0)).astype(int) + 1
    y, x = np.mgrid[top:bottom, left:right] + 0.5
    b = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area
    c = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area
    distance = near[0] + b * (near[1] - near[0]) + c * (near[2] - near[0])
    window = (slice(top, bottom), slice(left, right))
    drawn = (b >= 0.0) & (c >= 0.0) & (b + c <= 1.0) & (distance < depth[window])
    depth[window][drawn] = distance[drawn]
    picture[window][drawn] = colour


def main() -> None:
    """Draw the picture."""
    # Several names of the same vehicle share one picture.
    first: dict[Path, tuple[str, Vehicle]] = {}
    for (name, dynamics), one in all_vehicles().items():
        first.setdefault(one.parameter_file, (name if dynamics == STANDALONE else f"{name} by {dynamics}", one))
    pictures = [view(title, appearance_of(one)) for title, one in first.values()]
    rows = [pictures[k : k + _COLUMNS] for k in range(0, len(pictures), _COLUMNS)]
    rows[-1] += [np.full_like(pictures[0], _BACKGROUND)] * (_COLUMNS - len(rows[-1]))
    picture = np.vstack([np.hstack(row) for row in rows])
    cv2.imwrite(str(PICTURE), picture, [cv2.IMWRITE_PNG_COMPRESSION, 9])


if __name__ == "__main__":
    main()

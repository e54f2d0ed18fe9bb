"""Draw docs/pictures/cameras.png: views of a vehicle's cameras in the package's worlds.

Run from the project's folder: `.venv/bin/python tools/draw_camera_views.py`.
"""

from __future__ import annotations

import math
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from transforms3d.euler import euler2quat

from rosflight_py_sim.camera import CAMERA_PARAMETERS, Renderer, cameras
from rosflight_py_sim.world import DRY_LAND, World, load_world

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "cameras.png"

SIZE = {"image_width": 320, "image_height": 240}
_GAP = 6


def view(world: World, camera: str, place: tuple[float, float, float], *turns_deg: float) -> NDArray[np.uint8]:
    """View of a camera on a vehicle at a position NED (m), turned by roll, pitch and yaw (deg)."""
    truth = np.zeros(19)
    truth[:3] = place
    truth[3:7] = euler2quat(*(math.radians(turn) for turn in turns_deg))
    chosen = next(one for one in cameras(CAMERA_PARAMETERS.checked(SIZE)) if one.name == camera)
    renderer = Renderer(world, chosen.width, chosen.height)
    picture = renderer.render(chosen, truth).copy()
    renderer.close()
    return picture


def main() -> None:
    """Draw the picture."""
    pool, sea = load_world("pool"), load_world("open_water")
    rows = [
        [
            view(pool, "front", (-3.8, 0.0, 1.9), 0.0, -6.0, 8.0),
            view(pool, "front", (1.0, 0.84, 2.0), 0.0, 0.0, 40.0),
            view(pool, "front", (3.6, 3.0, 1.6), 0.0, 40.0, 40.0),
            view(pool, "front", (-10.5, -6.5, -3.2), 0.0, -20.0, 30.0),
        ],
        [
            view(pool, "bottom", (-1.1, 0.1, 2.0), 0.0, 0.0, 4.0),
            view(pool, "bottom", (4.2, 3.5, 1.6), 0.0, 0.0, 40.0),
            view(sea, "front", (3.6, 0.4, 5.6), 0.0, -8.0, 2.0),
            view(DRY_LAND, "front", (0.0, 0.0, -15.0), 4.0, -14.0, 0.0),
        ],
    ]
    columns = np.full((SIZE["image_height"], _GAP, 3), 255, dtype=np.uint8)
    lines = []
    for row in rows:
        lines.append(np.hstack([part for one in row for part in (one, columns)][:-1]))
    gap = np.full((_GAP, lines[0].shape[1], 3), 255, dtype=np.uint8)
    cv2.imwrite(str(PICTURE), np.vstack([lines[0], gap, lines[1]]), [cv2.IMWRITE_PNG_COMPRESSION, 9])


if __name__ == "__main__":
    main()

"""Draw docs/pictures/vehicles_in_view.png: vehicles as the camera of another vehicle sees them.

Run from the project's folder: `.venv/bin/python tools/draw_vehicles_in_view.py`.
"""

from __future__ import annotations

import math
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from transforms3d.euler import euler2quat

from rosflight_py_sim.camera import CAMERA_PARAMETERS, Renderer, cameras
from rosflight_py_sim.graph.vehicle_appearance import appearance_of
from rosflight_py_sim.nodes.vehicle_shape import faces_of_shape
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.world import DRY_LAND, World, load_world

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "vehicles_in_view.png"

_GAP = 6

Pose = tuple[float, ...]
"""North, east, down (m), roll, pitch and yaw (deg)."""


def truth_of(pose: Pose) -> NDArray[np.float64]:
    """Truth vector (19,) of a vehicle at rest."""
    truth = np.zeros(19)
    truth[:3] = pose[:3]
    truth[3:7] = euler2quat(*(math.radians(turn) for turn in pose[3:]))
    return truth


def view(world: World, own: Pose, others: dict[str, Pose]) -> NDArray[np.uint8]:
    """View of the front camera of a vehicle, with other vehicles by kind."""
    camera = cameras(CAMERA_PARAMETERS.defaults())[0]
    shapes = [faces_of_shape(appearance_of(vehicle(kind))) for kind in others]
    renderer = Renderer(world, camera.width, camera.height, vehicles=shapes)
    picture = renderer.render(camera, truth_of(own), [truth_of(pose) for pose in others.values()]).copy()
    renderer.close()
    return picture


def main() -> None:
    """Draw the picture."""
    pool = load_world("pool")
    over_pool = {"multirotor": (-8.2, -4.8, -3.1, 0.0, 0.0, 60.0), "bluerov2": (-6.0, -4.0, 0.6, 0.0, 0.0, 0.0)}
    views = [
        view(pool, (-10.5, -6.5, -3.2, 0.0, -20.0, 30.0), over_pool),
        view(pool, (-4.0, 0.0, 2.0, 0.0, 0.0, 0.0), {"bluerov2": (-2.6, 0.3, 1.9, 0.0, 0.0, 150.0)}),
        view(DRY_LAND, (0.0, 0.0, -40.0, 0.0, 0.0, 0.0), {"anaconda": (3.2, -0.3, -40.3, 25.0, 5.0, 120.0)}),
    ]
    gap = np.full((views[0].shape[0], _GAP, 3), 255, dtype=np.uint8)
    row = np.hstack([part for one in views for part in (one, gap)][:-1])
    cv2.imwrite(str(PICTURE), row, [cv2.IMWRITE_PNG_COMPRESSION, 9])


if __name__ == "__main__":
    main()

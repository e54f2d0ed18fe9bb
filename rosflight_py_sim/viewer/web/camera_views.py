"""Views of the camera: where the world lies in front of it, for a state of the vehicle.

The camera of each browser stays where its user places it. The world moves instead, which needs no message to the
cameras and gives every browser the same view.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.physics.rotations import euler_from_quaternion, quaternion_from_euler, rotate_to_body

Floats = NDArray[np.float64]
Quaternion = tuple[float, float, float, float]

_LEVEL: Quaternion = (1.0, 0.0, 0.0, 0.0)


def _unturned(_: Quaternion) -> Quaternion:
    return _LEVEL


def _heading(attitude: Quaternion) -> Quaternion:
    return quaternion_from_euler(0.0, 0.0, euler_from_quaternion(*attitude)[2])


def _all_of(attitude: Quaternion) -> Quaternion:
    return attitude


@dataclass(frozen=True)
class CameraView:
    """A view.

    Attributes:
        axes: attitude of the axes in which the camera rests, for the vehicle's attitude; None: the world does not move.
        camera: position of the camera in these axes, in sizes of the vehicle from its centre.
        look_at: point that the camera looks at, likewise.
    """

    axes: Callable[[Quaternion], Quaternion] | None
    camera: tuple[float, float, float]
    look_at: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def pose_of_world(self, truth: Floats) -> tuple[Quaternion, Floats] | None:
        """Attitude (w x y z) and position (3,), m, of the world in front of the camera; None: as before.

        Args:
            truth: truth vector (19,): position NED, m, and quaternion w x y z first.
        """
        if self.axes is None:
            return None
        w, x, y, z = self.axes((float(truth[3]), float(truth[4]), float(truth[5]), float(truth[6])))
        north, east, down = truth[0:3].tolist()
        return (w, -x, -y, -z), -np.array(rotate_to_body(w, x, y, z, north, east, down))


_ASIDE = (-2.9, 1.45, -0.9)

VIEWS = {
    "follow": CameraView(_unturned, _ASIDE),
    "chase": CameraView(_heading, (-2.6, 0.0, -0.8)),
    "onboard": CameraView(_all_of, (0.65, 0.0, -0.1), (60.0, 0.0, -0.1)),
    "fixed": CameraView(None, _ASIDE),
}
"""The views by name. A fixed camera stays where the vehicle was when the view was chosen; `follow` keeps its direction,
`chase` turns with the heading, and `onboard` with the attitude."""


def placed(view: CameraView, size: float) -> tuple[Floats, Floats]:
    """Position of the camera and of the point that it looks at, m, for a vehicle of this size, m."""
    scale = 1.1 * max(size, 0.4)
    return scale * np.array(view.camera), scale * np.array(view.look_at)

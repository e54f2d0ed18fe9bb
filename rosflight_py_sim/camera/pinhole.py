"""The pinhole camera: where in the picture a place appears.

The camera's own axes are those of image processing (REP 103's optical frame): x to the right in the picture, y down in
it, z along the line of sight. A place (x, y, z) appears at the pixel

    u = cx + f x / z,    v = cy + f y / z,    f = (width / 2) / tan(fov / 2),

where whole numbers of u and v are pixel centres, counted from the top left one, (0, 0): the optical axis is at
cx = (width - 1) / 2, cy = (height - 1) / 2. Pixels are square and lenses do not distort. Source: Hartley and Zisserman,
Multiple View Geometry, 2nd ed., section 6.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from transforms3d.euler import euler2mat
from transforms3d.quaternions import quat2mat

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Camera:
    """A camera on a vehicle.

    Attributes:
        name: as in topics.
        position_body: of the pinhole, body axes, m.
        angles: roll, pitch, yaw of the camera in the body, rad. With none it looks forward and the picture's top is up;
            a pitch of -90 degrees looks down, the picture's top forward.
        field_of_view: from the picture's left edge to its right one, rad.
        width, height: of the picture, pixels.
    """

    name: str
    position_body: Vector
    angles: Vector
    field_of_view: float
    width: int
    height: int

    @property
    def focal_length(self) -> float:
        """Focal length, pixels."""
        return 0.5 * self.width / math.tan(0.5 * self.field_of_view)

    @property
    def centre(self) -> tuple[float, float]:
        """Pixel (u, v) of the optical axis."""
        return 0.5 * (self.width - 1), 0.5 * (self.height - 1)

    def pose(self, truth: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Position NED (3,), m, and the matrix (3, 3) that turns the camera's axes into NED, on a vehicle (19,)."""
        body = quat2mat(truth[3:7])
        mount = euler2mat(*self.angles)
        position: NDArray[np.float64] = truth[0:3] + body @ np.array(self.position_body)
        # Columns: right, down and forward in the camera's forward-right-down axes.
        turned: NDArray[np.float64] = (body @ mount)[:, [1, 2, 0]]
        return position, turned

    def pixel(self, truth: NDArray[np.float64], place_ned: Vector) -> tuple[float, float]:
        """Where (u, v) a place appears; not finite for a place that is not ahead of the camera."""
        position, turned = self.pose(truth)
        x, y, z = turned.T @ (np.array(place_ned) - position)
        if z <= 0.0:
            return math.nan, math.nan
        return self.centre[0] + self.focal_length * x / z, self.centre[1] + self.focal_length * y / z

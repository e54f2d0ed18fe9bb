"""Pinhole camera: projection of points onto pixels.

The camera's axes are REP 103's optical frame: x right in the image, y down in the image, z along the optical axis.
A point (x, y, z) projects onto the pixel

    u = cx + f x / z,    v = cy + f y / z,    f = (width / 2) / tan(fov / 2).

Integer u and v are pixel centres, with (0, 0) at the top left, so the optical axis is at cx = (width - 1) / 2,
cy = (height - 1) / 2. Pixels are square; there is no lens distortion. Source: Hartley and Zisserman, Multiple View
Geometry, 2nd ed., section 6.1.
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
        name: name in topics.
        position_body: of the pinhole, body axes, m.
        angles: roll, pitch, yaw of the camera relative to the body, rad. At 0 0 0 the camera looks forward with the top
            of the image up; at a pitch of -90 degrees it looks down with the top of the image forward.
        field_of_view: horizontal, rad.
        width, height: of the image, pixels.
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
        """Position NED (3,), m, and rotation matrix (3, 3) from camera axes to NED; `truth` is the vehicle's (19,)."""
        body = quat2mat(truth[3:7])
        mount = euler2mat(*self.angles)
        position: NDArray[np.float64] = truth[0:3] + body @ np.array(self.position_body)
        # Columns: right, down and forward in the camera's forward-right-down axes.
        turned: NDArray[np.float64] = (body @ mount)[:, [1, 2, 0]]
        return position, turned

    def shows_sphere(self, place: NDArray[np.float64], radius: float) -> bool:
        """Whether a sphere may cover at least a pixel of the image; `place` is its centre (3,) in camera axes, m."""
        x, y, z = place.tolist()
        if z < -radius or 2.0 * radius * self.focal_length < z:
            return False
        half_width, half_height = 0.5 * self.width, 0.5 * self.height
        return all(
            (abs(aside) * self.focal_length - z * half) <= radius * math.hypot(self.focal_length, half)
            for aside, half in ((x, half_width), (y, half_height))
        )

    def pixel(self, truth: NDArray[np.float64], place_ned: Vector) -> tuple[float, float]:
        """Pixel (u, v) of a point NED (3,), m; not finite unless the point is ahead of the camera."""
        position, turned = self.pose(truth)
        x, y, z = turned.T @ (np.array(place_ned) - position)
        if z <= 0.0:
            return math.nan, math.nan
        return self.centre[0] + self.focal_length * x / z, self.centre[1] + self.focal_length * y / z

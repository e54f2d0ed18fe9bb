"""Conversion between this project's axes and those of RViz and most of ROS.

Here the inertial frame is north, east, down (NED) and the body frame forward, right, down (FRD). REP 103 ("Standard
Units of Measure and Coordinate Conventions") uses east, north, up (ENU), forward, left, up (FLU), and for cameras the
optical frame: right, down, forward. REP 105 ("Coordinate Frames for Mobile Platforms") names them: `map` is the
inertial frame, `base_link` the body.

Both changes of axes are rotations by half a turn and therefore their own inverse: every function works in both
directions. Arrays may have further leading dimensions. Quaternions are w, x, y, z.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

MAP, BASE_LINK = "map", "base_link"
"""Names of the frames, by REP 105."""

OPTICAL_IN_FRD = (0.5, 0.5, 0.5, 0.5)
"""Attitude of a camera's optical frame in the camera's forward, right, down axes."""

FRD_IN_FLU = (0.0, 1.0, 0.0, 0.0)
"""Attitude of forward, right, down axes in forward, left, up axes."""

_ENU_OF_NED = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
_HALF_ROOT = math.sqrt(0.5)


def swap_ned_enu(vector: ArrayLike) -> Array:
    """Convert a position or vector (..., 3) from NED to ENU, or from ENU to NED."""
    v = np.asarray(vector, dtype=np.float64)
    return np.stack([v[..., 1], v[..., 0], -v[..., 2]], axis=-1)


def swap_frd_flu(vector: ArrayLike) -> Array:
    """Convert a position or vector (..., 3) from FRD to FLU, or from FLU to FRD."""
    return np.asarray(vector, dtype=np.float64) * np.array([1.0, -1.0, -1.0])


def swap_attitude(quaternion: ArrayLike) -> Array:
    """Convert an attitude (..., 4) of FRD axes in NED to that of FLU axes in ENU, or back.

    The rotation from FLU to FRD, followed by the vehicle's attitude and the rotation from NED to ENU.
    """
    w, x, y, z = np.moveaxis(np.asarray(quaternion, dtype=np.float64), -1, 0)
    return _HALF_ROOT * np.stack([w + z, x + y, x - y, w - z], axis=-1)


def swap_mounting(quaternion: ArrayLike) -> Array:
    """Convert the attitude (..., 4) of a part on the body from FRD axes of both to FLU axes of both, or back."""
    return np.asarray(quaternion, dtype=np.float64) * np.array([1.0, 1.0, -1.0, -1.0])


def swap_covariance(covariance: ArrayLike) -> Array:
    """Convert the covariance (..., 3, 3) of a vector from NED to ENU, or from ENU to NED."""
    return np.asarray(_ENU_OF_NED @ np.asarray(covariance, dtype=np.float64) @ _ENU_OF_NED.T)

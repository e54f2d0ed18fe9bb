"""From this project's axes to those of RViz and most of ROS, and back.

Here the inertial frame is north, east, down (NED) and the body's forward, right, down (FRD). REP 103 ("Standard Units
of Measure and Coordinate Conventions") has east, north, up (ENU) and forward, left, up (FLU), and for cameras the
optical frame: right, down, forward. REP 105 ("Coordinate Frames for Mobile Platforms") names them: `map` is the
inertial frame, `base_link` the body.

Both changes of axes are turns by half a circle, so that each undoes itself: every function here goes both ways. Arrays
may have further dimensions in front. Quaternions are w, x, y, z.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

MAP, BASE_LINK = "map", "base_link"
"""Names of the frames, by REP 105."""

OPTICAL_IN_FLU = (0.5, -0.5, 0.5, -0.5)
"""Attitude of a camera's optical frame in the camera's forward, left, up axes."""

_ENU_OF_NED = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
_HALF_ROOT = math.sqrt(0.5)


def swap_ned_enu(vector: ArrayLike) -> Array:
    """ENU of a position or vector (..., 3) in NED, or NED of one in ENU."""
    v = np.asarray(vector, dtype=np.float64)
    return np.stack([v[..., 1], v[..., 0], -v[..., 2]], axis=-1)


def swap_frd_flu(vector: ArrayLike) -> Array:
    """FLU of a position or vector (..., 3) in FRD, or FRD of one in FLU."""
    return np.asarray(vector, dtype=np.float64) * np.array([1.0, -1.0, -1.0])


def swap_attitude(quaternion: ArrayLike) -> Array:
    """Attitude (..., 4) of FLU axes in ENU, of one of FRD axes in NED, or the other way round.

    The turn from FLU to FRD, then that of the vehicle, then the one from NED to ENU.
    """
    w, x, y, z = np.moveaxis(np.asarray(quaternion, dtype=np.float64), -1, 0)
    return _HALF_ROOT * np.stack([w + z, x + y, x - y, w - z], axis=-1)


def swap_mounting(quaternion: ArrayLike) -> Array:
    """Attitude (..., 4) of a thing on the body with both in FLU axes, of one with both in FRD, or the other way."""
    return np.asarray(quaternion, dtype=np.float64) * np.array([1.0, 1.0, -1.0, -1.0])


def swap_covariance(covariance: ArrayLike) -> Array:
    """Covariance (..., 3, 3) of a vector in ENU, of one in NED, or the other way round."""
    return np.asarray(_ENU_OF_NED @ np.asarray(covariance, dtype=np.float64) @ _ENU_OF_NED.T)

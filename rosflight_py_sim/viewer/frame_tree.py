"""Transforms of the fixed tf frames, in the axes of REP 103."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from transforms3d.euler import euler2quat
from transforms3d.quaternions import qmult

from rosflight_py_sim.camera.pinhole import Camera
from rosflight_py_sim.coordinate_frames import BASE_LINK, MAP, OPTICAL_IN_FLU, swap_frd_flu, swap_mounting

_HALF = math.sqrt(0.5)


class Placement(NamedTuple):
    """A frame relative to its parent.

    Attributes:
        parent, name: names of the frames.
        transform: position x y z, m, and attitude x y z w, in the order of messages.
    """

    parent: str
    name: str
    transform: tuple[float, ...]


def transform(place: ArrayLike, attitude: ArrayLike) -> tuple[float, ...]:
    """Transform in the order of messages, from a quaternion w x y z."""
    x, y, z = np.asarray(place, dtype=np.float64).tolist()
    qw, qx, qy, qz = np.asarray(attitude, dtype=np.float64).tolist()
    return x, y, z, qx, qy, qz, qw


def prefixed(namespace: str, frame: str) -> str:
    """Name of a vehicle's frame, with the namespace as prefix, so that names of several vehicles differ."""
    return f"{namespace.strip('/')}/{frame}".lstrip("/")


WORLD_FRAMES = (Placement(MAP, "NED", transform((0, 0, 0), (0.0, _HALF, _HALF, 0.0))),)
"""North, east, down: the frame_id of messages in these axes."""

# Attitude of each frame in forward, left, up; all are at the centre of mass, where the sensor models are.
_SENSORS = {
    # Forward, right, down: the frame_id of messages in these axes, and the axes of the IMU.
    "body": (0.0, 1.0, 0.0, 0.0),
    "imu": (0.0, 1.0, 0.0, 0.0),
    "gnss": (1.0, 0.0, 0.0, 0.0),
    # x along the beam, which points down.
    "sonar": (_HALF, 0.0, _HALF, 0.0),
}


def sensor_frames(namespace: str) -> list[Placement]:
    """Body and sensor frames of a vehicle, relative to its base_link."""
    base = prefixed(namespace, BASE_LINK)
    return [Placement(base, prefixed(namespace, name), transform((0, 0, 0), turn)) for name, turn in _SENSORS.items()]


def camera_frame(namespace: str, camera: Camera) -> Placement:
    """Optical frame of a camera, relative to base_link: x right in the image, y down, z along the line of sight."""
    name = prefixed(namespace, f"{camera.name}_camera_optical_frame")
    attitude = qmult(swap_mounting(euler2quat(*camera.angles)), OPTICAL_IN_FLU)
    return Placement(prefixed(namespace, BASE_LINK), name, transform(swap_frd_flu(camera.position_body), attitude))

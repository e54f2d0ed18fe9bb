"""Transforms of tf frames, in the axes of REP 103."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from transforms3d.quaternions import qmult

from rosflight_py_sim.ground.coordinate_frames import BASE_LINK, FRD_IN_FLU, MAP, swap_frd_flu
from rosflight_py_sim.ground.topic_names import absolute_name

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
    return absolute_name(namespace, frame)[1:]


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


def transform_of_mounting(position_body: ArrayLike, attitude_body: ArrayLike) -> tuple[float, ...]:
    """Transform relative to base_link, from a position (m) and a quaternion w x y z in body axes."""
    return transform(swap_frd_flu(position_body), qmult(FRD_IN_FLU, attitude_body))

"""The truth state of a vehicle as nodes exchange it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rosflight_msgs.msg import SimState

from rosflight_py_sim.interfaces.wire import NANOSECONDS, WireFormat

TRUTH_WIRE = WireFormat(SimState, frame_id="NED")

TRUTH_SIZE = 19


class VehicleState:
    """Truth state of one vehicle; the arrays are views of one vector, `truth`, and are updated in place.

    Attributes:
        truth: all of it, (19,).
        position_ned: north, east, down from the origin, m (3,).
        quaternion: body to inertial, w x y z (4,).
        velocity_body: velocity over ground in body axes, m/s (3,).
        angular_velocity: p q r in body axes, rad/s (3,).
        acceleration_body: sum of all forces over mass in body axes, m/s^2 (3,).
        angular_acceleration: in body axes, rad/s^2 (3,).
        time_ns: stamp of the state, ns; -1 before any was heard.
    """

    def __init__(self) -> None:
        """A level vehicle at rest at the origin, of no time."""
        self.truth: NDArray[np.float64] = np.zeros(TRUTH_SIZE)
        self.truth[3] = 1.0
        self.position_ned = self.truth[0:3]
        self.quaternion = self.truth[3:7]
        self.velocity_body = self.truth[7:10]
        self.angular_velocity = self.truth[10:13]
        self.acceleration_body = self.truth[13:16]
        self.angular_acceleration = self.truth[16:19]
        self.time_ns = -1

    @property
    def time_s(self) -> float:
        """Stamp of the state, s."""
        return self.time_ns / NANOSECONDS

    def read(self, message: bytes) -> None:
        """Take over a serialised rosflight_msgs/SimState."""
        m = TRUTH_WIRE.decode(message)
        self.truth[:] = (*m[2:5], m[8], *m[5:8], *m[9:])
        self.time_ns = m[0] * NANOSECONDS + m[1]


def truth_numbers(truth: NDArray[np.float64]) -> list[float]:
    """The numbers of a SimState message, in its field order, of a truth vector (19,)."""
    n: list[float] = truth.tolist()
    n[3:7] = n[4], n[5], n[6], n[3]
    return n


def truth_of_message(message: SimState) -> NDArray[np.float64]:
    """Truth vector (19,) of a SimState message."""
    p, q = message.pose.position, message.pose.orientation
    parts = [
        message.twist.linear,
        message.twist.angular,
        message.acceleration.linear,
        message.acceleration.angular,
    ]
    return np.array([p.x, p.y, p.z, q.w, q.x, q.y, q.z, *(c for v in parts for c in (v.x, v.y, v.z))])


def message_of_truth(truth: NDArray[np.float64]) -> SimState:
    """SimState message, without a stamp, of a truth vector (19,)."""
    message = SimState()
    p, q = message.pose.position, message.pose.orientation
    n: list[float] = truth.tolist()
    p.x, p.y, p.z, q.w, q.x, q.y, q.z = n[:7]
    parts = [
        message.twist.linear,
        message.twist.angular,
        message.acceleration.linear,
        message.acceleration.angular,
    ]
    for i, v in enumerate(parts):
        v.x, v.y, v.z = n[7 + 3 * i : 10 + 3 * i]
    return message

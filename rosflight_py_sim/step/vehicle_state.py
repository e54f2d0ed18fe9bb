"""The truth state of a vehicle, as exchanged between nodes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from rosflight_msgs.msg import SimState

from rosflight_py_sim.ground.stamps import EPOCH, NANOSECONDS
from rosflight_py_sim.step.wire import WireFormat

_WIRE = WireFormat(SimState, frame_id="NED")

PLACES = {
    "position_ned": _WIRE.place("pose.position"),
    "quaternion_xyzw": _WIRE.place("pose.orientation"),
    "velocity_body": _WIRE.place("twist.linear"),
    "angular_velocity": _WIRE.place("twist.angular"),
    "acceleration_body": _WIRE.place("acceleration.linear"),
    "angular_acceleration": _WIRE.place("acceleration.angular"),
}
"""Place of each field in a serialised rosflight_msgs/SimState."""

TRUTH_SIZE = 19


class VehicleState:
    """Truth state of one vehicle: a message on sim/truth_state. Receivers share it and must not change it.

    Attributes:
        time_ns: stamp of the state, ns; -1 if it has none.
        truth: truth vector (19,); the properties are views of it.
    """

    __slots__ = ("time_ns", "truth")

    FIELDS: ClassVar[tuple[str, ...]] = (
        "time_ns",
        "position_ned",
        "quaternion",
        "velocity_body",
        "angular_velocity",
        "acceleration_body",
        "angular_acceleration",
    )

    def __init__(self, time_ns: int = -1, truth: NDArray[np.float64] | None = None) -> None:
        """Wrap a truth vector; by default that of a level vehicle at rest at the origin."""
        self.time_ns = time_ns
        self.truth = _AT_REST.copy() if truth is None else truth

    @property
    def position_ned(self) -> NDArray[np.float64]:
        """North, east, down from the origin, m (3,)."""
        return self.truth[0:3]

    @property
    def quaternion(self) -> NDArray[np.float64]:
        """Body to inertial, w x y z (4,)."""
        return self.truth[3:7]

    @property
    def velocity_body(self) -> NDArray[np.float64]:
        """Velocity over ground in body axes, m/s (3,)."""
        return self.truth[7:10]

    @property
    def angular_velocity(self) -> NDArray[np.float64]:
        """p q r in body axes, rad/s (3,)."""
        return self.truth[10:13]

    @property
    def acceleration_body(self) -> NDArray[np.float64]:
        """Sum of all forces over mass in body axes, m/s^2 (3,)."""
        return self.truth[13:16]

    @property
    def angular_acceleration(self) -> NDArray[np.float64]:
        """Angular acceleration in body axes, rad/s^2 (3,)."""
        return self.truth[16:19]

    @property
    def time_s(self) -> float:
        """Stamp of the state, s."""
        return self.time_ns / NANOSECONDS

    def encode(self) -> bytes:
        """Serialised rosflight_msgs/SimState."""
        n: list[float] = self.truth.tolist()
        n[3:7] = n[4], n[5], n[6], n[3]
        return _WIRE.encode(self.time_ns, *n)

    @classmethod
    def decode(cls, data: bytes) -> VehicleState:
        """State from a serialised rosflight_msgs/SimState."""
        m = _WIRE.decode(data)
        return cls(m[0] * NANOSECONDS + m[1] - EPOCH.ns, np.array((*m[2:5], m[8], *m[5:8], *m[9:])))


_AT_REST: NDArray[np.float64] = np.zeros(TRUTH_SIZE)
_AT_REST[3] = 1.0


def truth_of_message(message: SimState) -> NDArray[np.float64]:
    """Truth vector (19,) from a SimState message."""
    p, q = message.pose.position, message.pose.orientation
    parts = [
        message.twist.linear,
        message.twist.angular,
        message.acceleration.linear,
        message.acceleration.angular,
    ]
    return np.array([p.x, p.y, p.z, q.w, q.x, q.y, q.z, *(c for v in parts for c in (v.x, v.y, v.z))])


def message_of_truth(truth: NDArray[np.float64]) -> SimState:
    """SimState message, without a stamp, from a truth vector (19,)."""
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

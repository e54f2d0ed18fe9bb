"""One vehicle as the browser viewer hears it."""

from __future__ import annotations

import re

import numpy as np
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from rosflight_msgs.msg import Status
from sensor_msgs.msg import CompressedImage

from rosflight_py_sim.interfaces.dynamics_interface import WIND_WIRE
from rosflight_py_sim.interfaces.forces_and_moments_interface import PWM_WIRE
from rosflight_py_sim.interfaces.newest import Newest
from rosflight_py_sim.interfaces.time_manager_interface import topic_of
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.interfaces.viewed_topics import VIEWED, viewed_topic
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView

_LOOKED_AT = ("truth_state", "truth_wind", "pwm_output")


class ViewedVehicle:
    """Looks at what is published of a vehicle.

    Attributes:
        name: its namespace, from the viewer's.
        state: its newest truth state.
    """

    def __init__(self, node: Node, name: str, *, relayed: bool) -> None:
        """Subscribe."""
        self.name = name
        self.state = VehicleState()
        self._node = node
        self._newest = {
            topic: Newest(node, topic_of(name, viewed_topic(topic, relayed=relayed)), message_type)
            for topic, message_type in VIEWED.items()
            if topic in _LOOKED_AT
        }
        self._status = Newest(node, topic_of(name, "status"), Status)
        self._cameras: dict[str, Newest] = {}
        self._wind_ned = np.zeros(3)
        self._pwm_us = np.zeros(14)

    def close(self) -> None:
        """End the subscriptions."""
        self.watch_cameras(())
        for newest in (*self._newest.values(), self._status):
            newest.close()

    def look(self) -> VehicleView | None:
        """What there is to see; None: nothing has changed."""
        truth, wind, pwm = (self._newest[name].take() for name in _LOOKED_AT)
        if wind is not None:
            self._wind_ned = np.array(WIND_WIRE.decode(wind)[2:5])
        if pwm is not None:
            self._pwm_us = np.array(PWM_WIRE.decode(pwm)[2:16], dtype=np.float64)
        images = self._pictures()
        if truth is not None:
            self.state.read(truth)
        elif not images or self.state.time_ns < 0:
            return None
        return VehicleView(self.state.time_s, self.state.truth.copy(), self._wind_ned, self._pwm_us, images)

    def status_text(self) -> str | None:
        """What the flight controller said of itself since the last call."""
        message = self._status.take()
        if message is None:
            return None
        status: Status = deserialize_message(message, Status)
        text = "armed" if status.armed else "disarmed"
        text += ", failsafe" if status.failsafe else ""
        text += f", errors {status.error_code:#04x}" if status.error_code else ""
        return text + (", flown by the computer" if status.offboard and not status.rc_override else "")

    def cameras(self, topics: list[tuple[str, list[str]]]) -> dict[str, str]:
        """Names of its cameras to their topics, of all topics of the graph."""
        root = self._node.resolve_topic_name(topic_of(self.name, "camera"))
        pattern = re.compile(rf"{re.escape(root)}/(\w+)/image_raw/compressed")
        found = {topic: pattern.fullmatch(topic) for topic, _ in topics}
        return {match[1]: topic for topic, match in found.items() if match}

    def watch_cameras(self, topics: dict[str, str] | tuple[()]) -> None:
        """Look at the pictures of these cameras, by name, and of no others: a camera that nobody watches rests."""
        wanted = dict(topics)
        for name in [name for name in self._cameras if name not in wanted]:
            self._cameras.pop(name).close()
        for name in wanted.keys() - self._cameras.keys():
            self._cameras[name] = Newest(self._node, wanted[name], CompressedImage)

    def _pictures(self) -> dict[str, bytes]:
        taken = {name: newest.take() for name, newest in self._cameras.items()}
        return {
            name: bytes(deserialize_message(message, CompressedImage).data)
            for name, message in taken.items()
            if message is not None
        }

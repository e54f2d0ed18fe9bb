"""Subscriptions of the browser viewer to one vehicle."""

from __future__ import annotations

import re

import numpy as np

from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.ground.topic_names import CAMERAS, compressed_image
from rosflight_py_sim.interfaces.polled_subscription import PolledSubscription
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.step.camera_topics import PictureFile, compressed_topic
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import polled
from rosflight_py_sim.step.topics import PWM_OUTPUT, STATUS, TRUTH_STATE, TRUTH_WIND, topic_of
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView


class ViewedVehicle(Part):
    """Polls the topics of a vehicle.

    Attributes:
        name: namespace of the vehicle, relative to the viewer's.
        state: newest truth state of the vehicle.
    """

    take_truth, take_wind = polled(TRUTH_STATE), polled(TRUTH_WIND)
    take_pwm, take_status = polled(PWM_OUTPUT), polled(STATUS)

    def __init__(self, node: SimulationNode, name: str) -> None:
        """Build the part of a vehicle, whose cameras the node polls."""
        super().__init__({})
        self.name = name
        self.state = VehicleState()
        self._node = node
        self._cameras: dict[str, PolledSubscription[PictureFile]] = {}
        self._wind_ned = np.zeros(3)
        self._pwm_us = np.zeros(OUTPUTS)

    def poll(self) -> VehicleView | None:
        """Current view of the vehicle; None if nothing has changed."""
        truth, wind, pwm = self.take_truth(), self.take_wind(), self.take_pwm()
        if wind is not None:
            self._wind_ned = np.array(wind.velocity_ned)
        if pwm is not None:
            self._pwm_us = np.array(pwm.pulse_us, dtype=np.float64)
        images = self._pictures()
        if truth is not None:
            self.state = truth
        elif not images or self.state.time_ns < 0:
            return None
        return VehicleView(self.state.time_s, self.state.truth.copy(), self._wind_ned, self._pwm_us, images)

    def status_text(self) -> str | None:
        """Text of the flight controller's newest status; None if there is none since the last call."""
        status = self.take_status()
        if status is None:
            return None
        text = "armed" if status.armed else "disarmed"
        text += ", failsafe" if status.failsafe else ""
        text += f", errors {status.error_code:#04x}" if status.error_code else ""
        return text + (", flown by the computer" if status.offboard and not status.rc_override else "")

    def cameras(self, topics: list[tuple[str, list[str]]]) -> dict[str, str]:
        """Camera names of the vehicle to their topics, given all topics of the graph."""
        root = self._node.resolve_topic_name(topic_of(self.name, CAMERAS))
        pattern = re.compile(re.escape(root.removesuffix(CAMERAS)) + compressed_image(r"(\w+)"))
        found = {topic: pattern.fullmatch(topic) for topic, _ in topics}
        return {match[1]: topic for topic, match in found.items() if match}

    def watch_cameras(self, topics: dict[str, str] | tuple[()]) -> None:
        """Subscribe to these cameras, by name, and to no others: a camera without subscriptions renders nothing."""
        wanted = dict(topics)
        for name in [name for name in self._cameras if name not in wanted]:
            self._cameras.pop(name).close()
        for name in wanted.keys() - self._cameras.keys():
            self._cameras[name] = self._node.poll(compressed_topic(name).renamed(wanted[name]))

    def _pictures(self) -> dict[str, bytes]:
        taken = {name: newest.take() for name, newest in self._cameras.items()}
        return {name: picture.file for name, picture in taken.items() if picture is not None}

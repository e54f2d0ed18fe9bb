"""Subscriptions of the browser viewer to one vehicle."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
from nav_msgs.msg import Path
from std_msgs.msg import String

from rosflight_py_sim.autopilot.mission_phase import has_landed
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.ground.topic_names import CAMERAS, compressed_image
from rosflight_py_sim.interfaces.polled_subscription import PolledSubscription
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.parts.auv_controller import RELEASED
from rosflight_py_sim.step.camera_topics import PictureFile, compressed_topic
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.pilot_topics import PILOT
from rosflight_py_sim.step.ports import Input, Kind, newest, output, polled
from rosflight_py_sim.step.qos import LATCHED_LIST
from rosflight_py_sim.step.topics import (
    ACTIVE_FAILURES,
    AUTOPILOT_PHASE,
    AUTOPILOT_PROGRESS,
    AUTOPILOT_ROUTE,
    BATTERY,
    HOLD_DOING,
    PWM_OUTPUT,
    RC,
    SETPOINT,
    STATUS,
    TRUTH_STATE,
    TRUTH_WIND,
    topic_of,
)
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.transmitter.channels import ARM, CENTRE, OVERRIDE
from rosflight_py_sim.viewer.web.flight_events import FlightEvents
from rosflight_py_sim.viewer.web.pilot_state import PilotState
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView

_OF_STATUS = ("armed", "failsafe", "error_code", "rc_override", "offboard")


class ViewedVehicle(Part):
    """Polls the topics of a vehicle.

    Attributes:
        name: namespace of the vehicle, relative to the viewer's.
        state: newest truth state of the vehicle.
        events: events of its flight.
    """

    take_truth, take_wind = polled(TRUTH_STATE), polled(TRUTH_WIND)
    take_pwm, take_status = polled(PWM_OUTPUT), polled(STATUS)
    take_rc, take_battery = polled(RC), polled(BATTERY)
    take_setpoint, take_progress = polled(SETPOINT), polled(AUTOPILOT_PROGRESS)
    report_sticks = output(PILOT)

    def __init__(self, node: SimulationNode, name: str) -> None:
        """Build the part of a vehicle, whose cameras the node polls."""
        super().__init__({})
        self.name = name
        self.state = VehicleState()
        self._node = node
        self._cameras: dict[str, PolledSubscription[PictureFile]] = {}
        self._wind_ned = np.zeros(3)
        self._pwm_us = np.zeros(OUTPUTS)
        self._pilot = PilotState()
        self.events = FlightEvents()
        self._battery: tuple[float, float] | None = None
        self._rc_us: tuple[int, ...] | None = None

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
            self.events.take_position(truth.time_s, truth.position_ned.tolist())
        elif not images or self.state.time_ns < 0:
            return None
        return VehicleView(
            self.state.time_s,
            self.state.truth.copy(),
            self._wind_ned,
            self._pwm_us,
            images,
            self._battery,
            self._rc_us,
        )

    @property
    def pilot(self) -> PilotState:
        """The state that `pilot_state` returned last."""
        return self._pilot

    def pilot_state(self, *, paused: bool) -> PilotState:
        """What is known of flight controller, transmitter and mission, with the time of the newest truth state."""
        status, rc, battery = self.take_status(), self.take_rc(), self.take_battery()
        setpoint, progress = self.take_setpoint(), self.take_progress()
        change: dict[str, Any] = {"time_s": self.state.time_s, "paused": paused}
        if status is not None:
            change |= {name: getattr(status, name) for name in _OF_STATUS}
        if rc is not None:
            self._rc_us = tuple(map(int, rc.pulse_us))
            change |= {"arm_switch": rc.pulse_us[ARM] > CENTRE, "override_switch": rc.pulse_us[OVERRIDE] > CENTRE}
        if battery is not None:
            self._battery = battery.voltage, battery.current
            change["battery_v"] = battery.voltage
        if setpoint is not None:
            change["target_down"] = setpoint.position_ned[2]
        if progress is not None:
            change["progress"] = progress.data
        self._pilot = replace(self._pilot, **change)
        self.events.take_state(self._pilot)
        return self._pilot

    @newest(AUTOPILOT_ROUTE)
    def on_route(self, message: Path) -> None:
        """Note the waypoints of the mission."""
        places = [pose.pose.position for pose in message.poses]
        self.events.take_route([(place.x, place.y, place.z) for place in places])

    def _on_failures(self, message: String) -> None:
        self.events.note(self.state.time_s, f"failures of {message.data}")

    failures = Input(ACTIVE_FAILURES, Kind.NEWEST, qos=LATCHED_LIST)(_on_failures)

    @newest(AUTOPILOT_PHASE)
    def on_phase(self, message: String) -> None:
        """Note the phase of the mission."""
        landed = has_landed(self._pilot.phase, message.data) or (self._pilot.landed and message.data == "done")
        self._pilot = replace(self._pilot, phase=message.data, landed=landed)

    @newest(HOLD_DOING)
    def on_doing(self, message: String) -> None:
        """Note what a vehicle that can hold depth and heading does."""
        self._pilot = replace(self._pilot, holds=message.data != RELEASED)

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

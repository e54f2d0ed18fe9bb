"""Who writes a mission down while it goes on: rows of a log, from the topics that anybody can hear."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from geometry_msgs.msg import Vector3Stamped
from rclpy.node import Node
from rosflight_msgs.msg import PwmOutput, SimState

from rosflight_py_sim.interfaces.dynamics_interface import WIND_WIRE
from rosflight_py_sim.interfaces.forces_and_moments_interface import PWM_WIRE
from rosflight_py_sim.interfaces.qos import CHAIN
from rosflight_py_sim.interfaces.ticks import Schedule
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.interfaces.wire import stamp_ns
from rosflight_py_sim.vehicles import Vehicle

LOG_RATE_HZ = 50.0

_WIND, _PWM = "sim/truth_wind", "sim/pwm_output"


class MissionRecorder(Node, ABC):
    """Writes a row 50 times a simulated second, while there is something to record.

    Messages are kept as they come and read only when a row is due: most of them never are.

    Class attributes:
        HEARS: topics besides those of every log, with their types; the newest message of each is in `newest`.

    Attributes:
        wall_s: wall time from the first row to the last.
        state: the truth, as of the row that is being written.
        newest: topic to its newest message, serialised.
    """

    HEARS: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, vehicle: Vehicle, name: str, **arguments: Any) -> None:
        """Listen."""
        super().__init__(name, **arguments)
        self.wall_s = 0.0
        self.state = VehicleState()
        self.newest: dict[str, bytes] = {}
        self._actuators = vehicle.actuators
        self._began_s = 0.0
        self._schedule = Schedule(LOG_RATE_HZ)
        self._topics = {_WIND: Vector3Stamped, _PWM: PwmOutput, **self.HEARS}
        for topic, message_type in self._topics.items():
            self._keep(topic, message_type)
        self.create_subscription(SimState, "sim/truth_state", self._on_truth, CHAIN, raw=True)

    @property
    @abstractmethod
    def is_on(self) -> bool:
        """Whether there is something to record."""

    @abstractmethod
    def write(self, commands: list[float], flow_ned: tuple[float, ...]) -> None:
        """Write a row of `state`, the actuators' commands and the flow of air or water, m/s."""

    def _keep(self, topic: str, message_type: Any) -> None:
        def keep(message: bytes) -> None:
            self.newest[topic] = message

        self.create_subscription(message_type, topic, keep, CHAIN, raw=True)

    def _on_truth(self, message: bytes) -> None:
        on = self.is_on and len(self.newest) == len(self._topics)
        if not on or not self._schedule.due(stamp_ns(message)):
            return
        self.state.read(message)
        pwm_us = PWM_WIRE.decode(self.newest[_PWM])[2:]
        self._began_s = self._began_s or time.monotonic()
        self.wall_s = time.monotonic() - self._began_s
        commands = [actuator.command(pwm_us[actuator.output]) for actuator in self._actuators]
        self.write(commands, WIND_WIRE.decode(self.newest[_WIND])[2:])

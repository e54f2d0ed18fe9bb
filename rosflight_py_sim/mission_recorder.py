"""Who writes a mission down while it goes on: rows of a log, from the topics that anybody can hear."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from rclpy.node import Node

from rosflight_py_sim.interfaces.qos import CHAIN
from rosflight_py_sim.interfaces.step_topics import PWM_OUTPUT, TRUTH_STATE, TRUTH_WIND, M, StepTopic
from rosflight_py_sim.interfaces.ticks import Schedule
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.stamps import stamp_ns
from rosflight_py_sim.vehicles import Vehicle

LOG_RATE_HZ = 50.0


class MissionRecorder(Node, ABC):
    """Writes a row 50 times a simulated second, while there is something to record.

    Messages are kept as they come and read only when a row is due: most of them never are.

    Class attributes:
        HEARS: topics besides those of every log; `newest` gives the newest message of each.

    Attributes:
        wall_s: wall time from the first row to the last.
        state: the truth, as of the row that is being written.
    """

    HEARS: ClassVar[tuple[StepTopic[Any], ...]] = ()

    def __init__(self, vehicle: Vehicle, name: str, **arguments: Any) -> None:
        """Listen."""
        super().__init__(name, **arguments)
        self.wall_s = 0.0
        self.state = VehicleState()
        self._newest: dict[str, bytes] = {}
        self._actuators = vehicle.actuators
        self._began_s = 0.0
        self._schedule = Schedule(LOG_RATE_HZ)
        self._topics: tuple[StepTopic[Any], ...] = (TRUTH_WIND, PWM_OUTPUT, *self.HEARS)
        for topic in self._topics:
            self._keep(topic)
        self.create_subscription(TRUTH_STATE.message_type, TRUTH_STATE.name, self._on_truth, CHAIN, raw=True)

    @property
    @abstractmethod
    def is_on(self) -> bool:
        """Whether there is something to record."""

    @abstractmethod
    def write(self, commands: list[float], flow_ned: Sequence[float]) -> None:
        """Write a row of `state`, the actuators' commands and the flow of air or water, m/s."""

    def newest(self, topic: StepTopic[M]) -> M:
        """The newest message of a topic."""
        return topic.decode(self._newest[topic.name])

    def _keep(self, topic: StepTopic[Any]) -> None:
        def keep(message: bytes) -> None:
            self._newest[topic.name] = message

        self.create_subscription(topic.message_type, topic.name, keep, CHAIN, raw=True)

    def _on_truth(self, message: bytes) -> None:
        on = self.is_on and len(self._newest) == len(self._topics)
        if not on or not self._schedule.due(stamp_ns(message)):
            return
        self.state = TRUTH_STATE.decode(message)
        pwm_us = self.newest(PWM_OUTPUT).pulse_us
        self._began_s = self._began_s or time.monotonic()
        self.wall_s = time.monotonic() - self._began_s
        commands = [actuator.command(pwm_us[actuator.output]) for actuator in self._actuators]
        self.write(commands, self.newest(TRUTH_WIND).velocity_ned)

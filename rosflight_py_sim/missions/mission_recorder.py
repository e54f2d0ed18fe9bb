"""Base class for recording a mission: rows of a log, from public topics."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.step_topics import PWM_OUTPUT, TRUTH_STATE, TRUTH_WIND, M, StepTopic
from rosflight_py_sim.interfaces.ticks import Schedule
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import Vehicle

LOG_RATE_HZ = 50.0


class MissionRecorder(SimulationNode, ABC):
    """Adds a row 50 times a simulated second while there is something to record.

    Class attributes:
        SUBSCRIBES: topics besides those of every log; `newest` returns the newest message of each.

    Attributes:
        wall_s: wall time from the first row to the last.
        state: true state for the row being written.
    """

    SUBSCRIBES: ClassVar[tuple[StepTopic[Any], ...]] = ()

    def __init__(self, vehicle: Vehicle, **arguments: Any) -> None:
        """Listen."""
        super().__init__(**arguments)
        self.wall_s = 0.0
        self.state = VehicleState()
        self._newest: dict[str, Any] = {}
        self._actuators = vehicle.actuators
        self._began_s = 0.0
        self._schedule = Schedule(LOG_RATE_HZ)
        self._topics: tuple[StepTopic[Any], ...] = (TRUTH_WIND, PWM_OUTPUT, *self.SUBSCRIBES)
        for topic in self._topics:
            self._keep(topic)
        self.subscribe(TRUTH_STATE, self._on_truth)

    @property
    @abstractmethod
    def is_on(self) -> bool:
        """Whether there is something to record."""

    @abstractmethod
    def write(self, commands: list[float], flow_ned: Sequence[float]) -> None:
        """Add a row from `state`, the actuators' commands and the velocity of air or water, m/s."""

    def newest(self, topic: StepTopic[M]) -> M:
        """Newest message of a topic."""
        message: M = self._newest[topic.name]
        return message

    def _keep(self, topic: StepTopic[Any]) -> None:
        self.subscribe(topic, partial(self._newest.__setitem__, topic.name))

    def _on_truth(self, state: VehicleState) -> None:
        on = self.is_on and len(self._newest) == len(self._topics)
        if not on or not self._schedule.due(state.time_ns):
            return
        self.state = state
        pwm_us = self.newest(PWM_OUTPUT).pulse_us
        self._began_s = self._began_s or time.monotonic()
        self.wall_s = time.monotonic() - self._began_s
        commands = [actuator.command(pwm_us[actuator.output]) for actuator in self._actuators]
        self.write(commands, self.newest(TRUTH_WIND).velocity_ned)

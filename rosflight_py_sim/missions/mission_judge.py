"""Evaluation of a mission from the messages of public topics, live or recorded."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from std_msgs.msg import String

from rosflight_py_sim.ground.parameters import ParameterTable, Values
from rosflight_py_sim.ground.shared_parameters import TAKE_OFF_TIMEOUT
from rosflight_py_sim.kernels.chain import NEVER_NS, Cells, ChainLink, StepTime
from rosflight_py_sim.missions.oscillation import Oscillation, OscillationWatch
from rosflight_py_sim.missions.take_off import TakeOffWatch
from rosflight_py_sim.recording.motion_summary import MotionSummary, summarise_motion
from rosflight_py_sim.recording.state_log import Array, StateLog
from rosflight_py_sim.step.mission_topics import MISSION_END
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import PWM_OUTPUT, TRUTH_STATE, TRUTH_WIND, M, StepTopic
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import Vehicle

LOG_RATE_HZ = 50.0


class Input(NamedTuple):
    """Topic of a judge.

    Attributes:
        topic: the topic.
        take: function that takes its messages.
        needed: whether the verdict needs the topic.
        is_kept: whether only the newest message counts, and only when a state is taken.
        precedes: whether the message of a step is sent before the state of that step.
    """

    topic: StepTopic[Any]
    take: Callable[[Any], None]
    needed: bool
    is_kept: bool = False
    precedes: bool = False


class KeyFigures(Protocol):
    """A data class of numbers that sum up a mission."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


@dataclass(frozen=True)
class Verdict:
    """Result of a mission.

    Attributes:
        title: of the table.
        rows: of the table: a name and a text with its unit.
        completed: whether the mission succeeded.
        shortfall: limits that a mission exceeds which was flown to its end; empty if there are none.
    """

    title: str
    rows: list[tuple[str, str]]
    completed: bool
    shortfall: str = ""


class MissionJudge(ABC):
    """Logs a mission, 50 rows per simulated second, and evaluates the log.

    A source of messages, live or recorded, passes the messages of each topic to `take` of its entry in `inputs`. The
    same messages in the same order give the same verdict.

    Class attributes:
        SUBSCRIBES: topics in addition to those of every log; `newest` returns the newest message of each.
        NODE: default name of the node that has the parameters.
        PARAMETERS: names of the parameters that the judge takes from that node.
        LIMITS: limits of acceptance in addition to TAKE_OFF_TIMEOUT, with their defaults; a mission that exceeds one is
            not completed.
        SUMMARY: class of `summary`.

    Attributes:
        vehicle: the vehicle that flies.
        name: display name of the vehicle, for tables and plots.
        values: values of PARAMETERS, and of the limits of acceptance.
        inputs: topics and the functions that take their messages.
        polled: functions that return the newest message since their last call, or None, for kept inputs whose messages
            the source does not pass to `take`; by topic.
        relink: function that makes the links of `links` out of date; a source that uses them sets it.
        system_s: function that returns the system time of the message being taken, s; a recorded source sets it.
        wall_s: system time from the first to the last row, s.
        state: newest true state.
        reason: reason why the mission was aborted; empty if it was completed or has not ended.
        has_ended: whether the mission has ended; nothing is logged after that.
        take_off: detection of a vehicle that does not leave the ground; its `text` ends the mission.
    """

    SUBSCRIBES: ClassVar[tuple[StepTopic[Any], ...]] = ()
    NODE: ClassVar[str] = ""
    PARAMETERS: ClassVar[tuple[str, ...]] = ()
    LIMITS: ClassVar[ParameterTable] = ParameterTable()
    SUMMARY: ClassVar[type[KeyFigures]] = MotionSummary
    log: StateLog

    def __init__(self, vehicle: Vehicle, values: Values) -> None:
        """Judge a mission of the vehicle; `values` are those of PARAMETERS, and limits that differ from the defaults.

        Raises:
            ParameterError: the mission cannot be flown with these values, or a limit is not allowed.
        """
        table = self.limits_for(vehicle)
        limits = table.checked({name: value for name, value in values.items() if name in table})
        self.vehicle, self.values = vehicle, {**values, **limits}
        self.name = vehicle.name
        self.system_s: Callable[[], float] = time.monotonic
        self.wall_s = 0.0
        self.state = VehicleState()
        self.reason = ""
        self.has_ended = False
        self.take_off = TakeOffWatch(self.values)
        self.inputs: list[Input] = []
        self.polled: dict[str, Callable[[], Any]] = {}
        self.relink: Callable[[], None] = lambda: None
        # Setting an attribute takes half the time of setting an item of a dictionary.
        self._newest = SimpleNamespace()
        self._began_s: float | None = None
        self._oscillations = OscillationWatch()
        self._schedule, self._row_ns = Schedule(LOG_RATE_HZ), -1
        self._topics: tuple[StepTopic[Any], ...] = (TRUTH_WIND, PWM_OUTPUT, *self.SUBSCRIBES)
        for topic in self._topics:
            keep, precedes = partial(setattr, self._newest, topic.name), topic not in self.SUBSCRIBES
            self.inputs.append(Input(topic, keep, needed=True, is_kept=True, precedes=precedes))
        self.subscribe(TRUTH_STATE, self._on_truth)
        self.subscribe(MISSION_END, self._on_end, needed=False)

    @classmethod
    def limits_for(cls, vehicle: Vehicle) -> ParameterTable:
        """Limits of acceptance for a mission of the vehicle."""
        return ParameterTable(TAKE_OFF_TIMEOUT) + cls.LIMITS

    def subscribe(self, topic: StepTopic[M], take: Callable[[M], None], *, needed: bool = True) -> None:
        """Pass the messages of a topic to `take`; `needed`: whether the verdict needs the topic."""
        self.inputs.append(Input(topic, take, needed))

    @property
    @abstractmethod
    def is_on(self) -> bool:
        """Whether the mission is to be logged now."""

    @abstractmethod
    def write(self, commands: list[float], flow_ned: Sequence[float]) -> None:
        """Log a row from `state`, the actuators' commands and the velocity of air or water, m/s."""

    @property
    def summary(self) -> KeyFigures:
        """Key figures of the log, which must have at least two rows.

        Raises:
            ValueError: fewer than two rows, or values that are not finite.
        """
        return summarise_motion(self.log, self.wall_s)

    @abstractmethod
    def verdict(self) -> Verdict:
        """Evaluate the log, which must have at least two rows.

        Raises:
            ValueError: fewer than two rows, or values that are not finite.
        """

    @abstractmethod
    def draw(self, plot: Path) -> None:
        """Draw the plot of the mission; the log must have at least two rows."""

    @property
    def path_ned(self) -> Array | None:
        """Planned path to show in plots, m (n, 3); None if there is none."""
        return None

    @property
    def has_begun(self) -> bool:
        """Whether the log suffices for a verdict."""
        return len(self.log) >= 2

    @property
    def oscillation(self) -> Oscillation | None:
        """First oscillation of the attitude in the rows so far; None if there is none."""
        self._oscillations.observe(self.log)
        return self._oscillations.found

    @property
    def idle_until_ns(self) -> int:
        """Time until which messages that are only kept, and in a pipeline those of the state, need not arrive, ns."""
        if not self.is_on or self.has_ended:
            return NEVER_NS
        return self._schedule.next_ns

    @property
    def is_logging(self) -> bool:
        """Whether rows are logged, and nothing else is done with a state that a kernel cannot do."""
        return self._takes_rows and self.take_off.is_for_kernel

    @property
    def _takes_rows(self) -> bool:
        return self.is_on and not self.has_ended and len(vars(self._newest)) == len(self._topics)

    def links(self, time: StepTime, topic: str, cells: Cells) -> Sequence[ChainLink] | None:
        """Links of a chain in place of taking a topic's messages; by default None.

        Args:
            time: time of the message.
            topic: name of the topic: the true state, or the status, of which the chain only repeats the last message.
            cells: numbers of the topics of the chain.
        """
        return None

    def newest(self, topic: StepTopic[M]) -> M:
        """Newest message of a topic."""
        message: M = getattr(self._newest, topic.name)
        return message

    def note_failure(self, reason: str) -> None:
        """Note why the mission was aborted, and an attitude that oscillated; an empty text: it was not."""
        oscillation = self.oscillation if reason else None
        self.reason = reason if oscillation is None else f"{reason}; {oscillation}"

    def _on_end(self, message: String) -> None:
        self.relink()
        self.has_ended = True
        self.note_failure(message.data)

    def _on_truth(self, state: VehicleState) -> None:
        self.state = state
        if self._row_ns <= state.time_ns < self._schedule.next_ns:
            return
        for name, read in self.polled.items():
            if (message := read()) is not None:
                setattr(self._newest, name, message)
        if not self._takes_rows or not self._schedule.due(state.time_ns):
            return
        self._row_ns = state.time_ns
        pwm_us = self.newest(PWM_OUTPUT).pulse_us
        now_s = self.system_s()
        if self._began_s is None:
            self._began_s = now_s
        self.wall_s = now_s - self._began_s
        actuators = self.vehicle.actuators
        commands = [actuator.command(pwm_us[actuator.output]) for actuator in actuators]
        motors = [command for command, actuator in zip(commands, actuators, strict=True) if actuator.is_motor]
        was_logging = self.is_logging
        if self.take_off.is_watching:
            height, speed = -float(state.position_ned[2]), float(np.linalg.norm(state.velocity_body))
            self.take_off.observe(state.time_s, height, speed, motors)
        self.write(commands, self.newest(TRUTH_WIND).velocity_ned)
        if self.is_logging is not was_logging:
            self.relink()

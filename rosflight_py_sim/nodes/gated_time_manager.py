"""Time manager that advances when truth state and IMU message of every vehicle have arrived (time mode `gated`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, TypeAlias

from rclpy.timer import Timer

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Value, number
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.interfaces.start_time import StartingVehicle, StartTime
from rosflight_py_sim.interfaces.stepping_time_manager import SteppingTimeManager
from rosflight_py_sim.interfaces.time_manager_interface import only
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.ports import queued
from rosflight_py_sim.step.stamped_inputs import ExpectedInput
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import (
    COMMAND,
    IMU,
    RC,
    TRUTH_STATE,
    ControlCommand,
    ImuSample,
    PulseWidths,
    StepTopic,
    topic_of,
)

# Interval at which to check whether the start time is known.
_START_S = 0.05

# Number of consecutive time-outs that causes a warning with the missing messages.
_MAX_TIMEOUTS = 10


Message: TypeAlias = tuple[str, StepTopic[Any]]
"""A vehicle's name and a topic of it."""


class _GatingVehicle(StartingVehicle):
    """A vehicle whose messages open the gate."""

    @queued(TRUTH_STATE, is_stamp=True)
    def take_truth(self, time_ns: int) -> None:
        """Store the stamp, and report the message."""
        self.newest_ns = time_ns
        self.manager.take_message((self.name, TRUTH_STATE))

    @queued(IMU)
    def _on_imu(self, _: ImuSample) -> None:
        self.manager.take_message((self.name, IMU))

    @queued(RC)
    def _on_rc(self, _: PulseWidths) -> None:
        self.manager.take_message((self.name, RC))

    @queued(COMMAND)
    def _on_command(self, _: ControlCommand) -> None:
        self.manager.take_message((self.name, COMMAND))


class GatedTimeManager(SteppingTimeManager):
    """Publishes the next /clock when each vehicle's truth state and IMU message have arrived since the last one.

    For graphs with nodes that do not answer stamp by stamp, such as ROSflight's own: every node runs as in `paced`, and
    a slow machine slows the simulation down instead of losing steps. The first truth state and IMU message to arrive
    open the gate, whatever their stamps, so the results are not repeatable to the bit. RC frames and commands that
    arrived regularly and are now late also keep the gate closed, so that a process without processor time does not look
    like a lost transmitter. If a message is missing for `step_timeout`, time advances without it; no time is published
    twice.

    The step must not be shorter than the intervals at which sensors and flight controller run; otherwise some steps
    have no message to wait for.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("standalone_time_manager",)
    PARAMETERS: ClassVar[ParameterTable] = SteppingTimeManager.PARAMETERS + ParameterTable(
        only("gated"),
        Parameter(
            "step_timeout",
            0.25,
            "System time after which the simulation continues without the missing messages of a step; 1e9: in effect "
            "never",
            "s",
            minimum=0.01,
            maximum=1e9,
        ),
    )

    HOSTS: ClassVar[tuple[type[Any], ...]] = (_GatingVehicle,)

    def initialise(self) -> None:
        """Set the state before the first step."""
        super().initialise()
        self._missing: set[Message] = set()
        self._timeouts, self._timeouts_in_a_row = 0, 0
        self._steps_at_check = -1
        self._timeout_timer: Timer | None = None

    def begin(self) -> None:
        """Wait for the first truth state."""
        self._answers: set[Message] = set()
        self._gating: dict[Message, ExpectedInput] = {}
        for name in self.vehicles:
            self._expect(name)
        super().begin()
        self._start_time = StartTime(self)
        self._start_timer = self.create_system_timer(_START_S, self._start)

    def configure(self, values: dict[str, Value]) -> None:
        """Set step, pace and time-out."""
        super().configure(values)
        self._step_ns = round(number(values, "step_size") * NANOSECONDS)
        timer = self.create_system_timer(number(values, "step_timeout"), self._on_timeout_timer)
        if self._timeout_timer is not None:
            self.destroy_timer(self._timeout_timer)
        self._timeout_timer = timer

    @property
    def next_ns(self) -> int:
        """Current time plus one step."""
        return self.time_ns + self._step_ns

    @property
    def step_is_complete(self) -> bool:
        """Whether the simulation has started and every message of the step has arrived."""
        return not self._missing and self.time_ns >= 0 and not self.is_without_vehicles

    def update_time(self) -> None:
        """Advance by one step, and close the gate."""
        super().update_time()
        self._missing.update(self._answers)
        self._missing.update(message for message, one in self._gating.items() if one.is_late(self.time_ns))

    def add_vehicle(self, name: str) -> None:
        """Serve another vehicle; from the next step on, wait for its messages too."""
        super().add_vehicle(name)
        self._expect(name)

    def _expect(self, name: str) -> None:
        self._answers |= {(name, row) for row in (TRUTH_STATE, IMU)}
        self._gating |= {(name, row): ExpectedInput() for row in (RC, COMMAND)}

    def remove_vehicle(self, name: str) -> None:
        """Stop waiting for the messages of a vehicle."""
        super().remove_vehicle(name)
        self._missing = {one for one in self._missing if one[0] != name}
        self._answers = {one for one in self._answers if one[0] != name}
        self._gating = {one: expected for one, expected in self._gating.items() if one[0] != name}

    def _start(self) -> None:
        known_ns = self._start_time.known_ns()
        if known_ns is not None:
            self.destroy_timer(self._start_timer)
            self.time_ns = known_ns
            self.complete_step()

    def take_message(self, message: Message) -> None:
        """Open the gate if it was the last message missing."""
        if message in self._gating:
            self._gating[message].received(self.time_ns)
        if message in self._missing:
            self._missing.discard(message)
            if not self._missing:
                self._timeouts_in_a_row = 0
                self.end_of_missing()
                self.complete_step()

    def _on_timeout_timer(self) -> None:
        timed_out = bool(self._missing) and self.steps == self._steps_at_check
        self._steps_at_check = self.steps
        if not timed_out:
            return
        self._timeouts += 1
        self._timeouts_in_a_row += 1
        if self._timeouts_in_a_row >= _MAX_TIMEOUTS:
            self.warn_of_missing(
                f"no {self._missing_text()} after {self.time_text}: a node is missing or still starting, or the step "
                f"({self._step_ns / NANOSECONDS:g} s) is shorter than the interval at which it publishes"
            )
        for message in self._missing & self._gating.keys():
            self._gating[message].give_up()
        self._missing.clear()
        self.complete_step()

    def _missing_text(self) -> str:
        return ", ".join(sorted(topic_of(vehicle, row.name) for vehicle, row in self._missing))

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Number of steps continued without a missing message."""
        yield Diagnosis("", "", values={"time-outs": self._timeouts})
        if self._timeouts_in_a_row:
            level = Level.ERROR if self._timeouts_in_a_row >= _MAX_TIMEOUTS else Level.WARN
            message = f"{self._timeouts_in_a_row} time-outs in a row, at {self.time_text}"
            yield Diagnosis("", f"{message}: no {self._missing_text()}" if self._missing else message, level)
        yield from super().diagnose(period)

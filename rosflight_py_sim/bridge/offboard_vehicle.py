"""A vehicle of the bridge whose flight controller a front-end commands; no step waits for the commands."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import ClassVar

from rosflight_msgs.msg import Command
from std_msgs.msg import UInt8, UInt32

from rosflight_py_sim.bridge.bridged_vehicle import VehicleFrontEnds
from rosflight_py_sim.bridge.commanded_vehicle import CommandedVehicle
from rosflight_py_sim.bridge.front_end_interface import GuidedState, OffboardFrontEnd
from rosflight_py_sim.ground.parameters import ParameterTable, Values, number
from rosflight_py_sim.ground.shared_parameters import START_DATE, TIME_MODE
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.parts.autopilot import COMMAND_FREQUENCY
from rosflight_py_sim.step.diagnosis import Diagnosis
from rosflight_py_sim.step.part import Log
from rosflight_py_sim.step.ports import output
from rosflight_py_sim.step.schedule import LONGEST_STEP_NS
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import CAGE_TRIGGERED, CAGE_TRIGGERED_LAST, COMMAND, GUIDED_MODE, ControlCommand


class OffboardVehicle(CommandedVehicle):
    """Passes snapshots to an `OffboardFrontEnd` at `command_frequency`, and sends its commands on `command`.

    A command has the stamp of the state from which it was computed, like an autopilot's.
    """

    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(TIME_MODE, START_DATE, COMMAND_FREQUENCY)

    commander: OffboardFrontEnd

    send_command = output(COMMAND)
    send_mode = output(GUIDED_MODE)
    send_triggered = output(CAGE_TRIGGERED)
    send_triggered_last = output(CAGE_TRIGGERED_LAST)

    def __init__(self, values: Values, front_ends: VehicleFrontEnds, log: Log) -> None:
        """Store the front-ends."""
        assert isinstance(front_ends.commander, OffboardFrontEnd)
        self.commander = front_ends.commander
        super().__init__(values, front_ends, log)

    def initialise(self) -> None:
        """Set the state before the first message."""
        super().initialise()
        self._period, self._commanded_ns = -1, -1
        self._guided: GuidedState | None = None

    @cached_property
    def _period_ns(self) -> int:
        return round(NANOSECONDS / number(self.values, COMMAND_FREQUENCY.name))

    def on_state(self) -> None:
        """Send a command, once per command period."""
        time_ns = self._state.time_ns
        # The period number is the same for all vehicles, and gives round times in the data.
        period = time_ns // self._period_ns
        if period == self._period:
            return
        self._period = period
        elapsed_ns = time_ns - self._commanded_ns
        # After a longer gap, or if time goes back, another node was restarted: integrators must not advance.
        is_step = self._commanded_ns >= 0 and 0 < elapsed_ns <= LONGEST_STEP_NS
        self.update_clock(time_ns)
        snapshot = self.snapshot(time_ns)
        self.answered_ns = self._commanded_ns = time_ns
        if self.has_failures:
            self.advance_failures(time_ns)
        self.commander.serve_before(time_ns)
        command = self.commander.command(self.index, snapshot, elapsed_ns / NANOSECONDS if is_step else 0.0)
        self._send_guided_state(self.commander.guided_state(self.index))
        if command is not None:
            self.send_command(ControlCommand(time_ns, command.mode, Command.IGNORE_NONE, command.u))

    def _send_guided_state(self, guided: GuidedState) -> None:
        """Send the fields that have changed."""
        before, self._guided = self._guided, guided
        if guided == before:
            return
        if before is None or guided.mode != before.mode:
            self.send_mode(UInt8(data=guided.mode))
        if before is None or guided.cage_triggered != before.cage_triggered:
            self.send_triggered(UInt32(data=guided.cage_triggered))
        if before is None or guided.cage_triggered_last != before.cage_triggered_last:
            self.send_triggered_last(UInt32(data=guided.cage_triggered_last))

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """One entry for the vehicle."""
        yield Diagnosis(
            self.name or "vehicle",
            self.commander.activity(self.index),
            hardware_id=self.commander.peer(self.index),
            values={"time": self._commanded_ns / NANOSECONDS, **self.commander.details(self.index)},
        )

"""Commands of the companion computer in a chain of kernels: sent as numbers, and taken over when they have arrived."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.command import COMMANDS, CommandInForce, CommandMux
from rosflight_py_sim.firmware.rc import RC_TIMEOUT_US, Receiver, RepeatedFrames
from rosflight_py_sim.kernels.chain import NEVER_NS, ChainLink, Due, StepTime
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.kernels.single import single

ROWS = 8
"""Largest number of commands in transit; Python sends further ones."""

STAMP, ARRIVAL, MODE = range(3)
"""Columns of the times and modes in transit: stamp (ns), arrival (us), mode."""

COMMAND_NUMBERS = 2 + COMMANDS
"""Numbers of a command: mode, bits of values to ignore, ten values."""


@kernel_record
class OffboardCommands:
    """Commands in a chain.

    Attributes:
        is_open: whether the chain may send commands.
        first: row of the oldest command in transit.
        count: number of commands in transit.
        latency_us: time from the stamp to the arrival, us.
        has_others: whether Python has commands in transit.
        rc_due_us: time at which the RC signal counts as lost without another frame, us.
        arrival_us: arrival of the last command that the chain has taken over, us; -1 without one.
        pass_us: time of the pass in which it took it over, us.
    """

    is_open: bool
    first: int
    count: int
    latency_us: int
    has_others: bool
    rc_due_us: int
    arrival_us: int
    pass_us: int


@kernel
def rc_is_due(time_us: int, frames: RepeatedFrames, commands: OffboardCommands) -> bool:
    """Whether the RC signal counts as lost."""
    due_us = commands.rc_due_us
    if frames.time_us >= 0:
        due_us = frames.time_us + RC_TIMEOUT_US + 1
    return time_us >= due_us


@kernel
def send_command(
    time: StepTime,
    by_python: Due,
    commands: OffboardCommands,
    in_transit: NDArray[np.int64],
    values: NDArray[np.float64],
    numbers: NDArray[np.float64],
) -> bool:
    """Send the command `numbers` (12,), or return that Python must, because there are other messages before it.

    Args:
        time: time whose stamp the command has.
        by_python: time at which the firmware receives the next message that Python holds.
        commands: the commands.
        in_transit: times and modes (ROWS, 3).
        values: values of the commands in transit (ROWS, 10), and those in force (1, 10).
        numbers: mode, bits of values to ignore, ten values.
    """
    if not commands.is_open or by_python.at_ns <= NEVER_NS or commands.count >= ROWS or numbers[1] != 0.0:
        return True
    row = (commands.first + commands.count) % ROWS
    in_transit[row, STAMP] = time.time_ns
    in_transit[row, ARRIVAL] = time.time_ns // 1000 + commands.latency_us
    in_transit[row, MODE] = int(numbers[0])
    for i in range(COMMANDS):
        values[row, i] = single(numbers[2 + i])
    commands.count += 1
    return False


@kernel
def take_command(
    time: StepTime,
    frames: RepeatedFrames,
    commands: OffboardCommands,
    in_force: CommandInForce,
    in_transit: NDArray[np.int64],
    values: NDArray[np.float64],
    combined: NDArray[np.float64],
) -> bool:
    """Take over a command that has arrived, into the first row of `combined` (2, 10), or return that Python must."""
    row, time_us = commands.first, time.time_ns // 1000
    arrival_us = in_transit[row, ARRIVAL]
    if commands.count == 0 or in_transit[row, STAMP] >= time.time_ns or arrival_us > time_us:
        return False
    following = (row + 1) % ROWS
    is_last = commands.count == 1 or in_transit[following, STAMP] >= time.time_ns
    if not is_last and in_transit[following, ARRIVAL] <= time_us:
        return True
    total = 0.0
    for i in range(COMMANDS):
        total += values[row, i]
    tick_us = in_force.tick_us
    sent_us = arrival_us - arrival_us % tick_us
    is_same = (
        in_force.is_steady
        and frames.is_settled
        and not commands.has_others
        and in_transit[row, MODE] == in_force.mode
        and (in_force.stick_throttle < values[row, in_force.throttle_axis]) == in_force.is_lower
        and math.isfinite(total)
        and time_us - time_us % tick_us <= sent_us + in_force.timeout_us
    )
    if not is_same or rc_is_due(time_us, frames, commands):
        return True
    for i in range(COMMANDS):
        values[ROWS, i] = values[row, i]
        if not (in_force.overridden >> i) & 1:
            combined[0, i] = values[row, i]
    commands.arrival_us, commands.pass_us = arrival_us, time_us
    commands.first, commands.count = following, commands.count - 1
    frames.until_us = sent_us + in_force.timeout_us + tick_us
    return False


@kernel
def is_rest_due(time: StepTime, rest: Due, frames: RepeatedFrames, commands: OffboardCommands) -> bool:
    """Whether Python must do the rest of a pass: at a given time, and when the signal or the command expires."""
    time_us = time.time_ns // 1000
    return time.time_ns >= rest.at_ns or time_us >= frames.until_us or rc_is_due(time_us, frames, commands)


class ChainedCommands:
    """Commands that a chain sends to the firmware.

    Attributes:
        record: the commands, for the kernels.
    """

    def __init__(self, latency_us: int) -> None:
        """No command is in transit; `latency_us` is the time from the stamp of each to its arrival, us."""
        self.record = OffboardCommands(
            is_open=True,
            first=0,
            count=0,
            latency_us=latency_us,
            has_others=False,
            rc_due_us=0,
            arrival_us=-1,
            pass_us=0,
        )
        self._in_transit: NDArray[np.int64] = np.zeros((ROWS, 3), dtype=np.int64)
        self._values: NDArray[np.float64] = np.zeros((ROWS + 1, COMMANDS))

    def sent(
        self, time: StepTime, numbers: NDArray[np.float64], by_python: Due, hold: Callable[[int, int], None]
    ) -> ChainLink:
        """Link that sends the command `numbers` with the stamp `time`; `hold` lets Python send it instead."""
        taken = self.record, self._in_transit, self._values, numbers
        return ChainLink(bound(send_command, time, by_python, *taken), hold)

    def taken(self, time: StepTime, frames: RepeatedFrames, command: CommandMux) -> Callable[[], bool]:
        """`take_command` of a firmware."""
        of_chain = self.record, command.in_force, self._in_transit, self._values
        return bound(take_command, time, frames, *of_chain, command.combined)

    def prepare_pass(self, rc_due_us: float, *, has_others: bool) -> None:
        """Set what Python may have changed: when RC is lost, and whether Python has commands in transit."""
        record = self.record
        record.has_others, record.rc_due_us = has_others, int(min(max(0.0, rc_due_us), NEVER_NS))

    def store(self, command: CommandMux, receiver: Receiver) -> None:
        """Let Python have the command that the chain has taken over, if there is one."""
        record = self.record
        if record.arrival_us >= 0:
            command.resume(record.arrival_us, self._values[ROWS].tolist())
            receiver.note_pass(record.pass_us)
            record.arrival_us = -1

    def drain(self) -> Iterator[tuple[int, int, list[float]]]:
        """Remove the commands in transit: stamp (ns), mode and values of each."""
        record = self.record
        while record.count:
            row = record.first
            record.first, record.count = (row + 1) % ROWS, record.count - 1
            yield int(self._in_transit[row, STAMP]), int(self._in_transit[row, MODE]), self._values[row].tolist()

"""A flight controller behind a MAVLink link: its parameters, commands and time, as a companion computer knows them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from rclpy.task import Future

from rosflight_py_sim.firmware import BoardCommand, FirmwareParameterOutOfRange, FirmwareParameters, Refused
from rosflight_py_sim.firmware.board_command import command_name
from rosflight_py_sim.firmware.parameter_file import ParameterFileError
from rosflight_py_sim.parts.rosflight_io.any_board import Outcome
from rosflight_py_sim.parts.rosflight_io.linked_mag_calibration import LinkedMagCalibration
from rosflight_py_sim.parts.rosflight_io.linked_time import LinkedTime
from rosflight_py_sim.protocols.rosflight_mavlink import dialect
from rosflight_py_sim.protocols.rosflight_mavlink.values import (
    ParamTypeError,
    StatusLines,
    param_type,
    parameter_bits,
    parameter_value,
    text_of,
)
from rosflight_py_sim.step.part import Log

REPLY_LIMIT_S = 2.0
"""System time after which a missing reply of the flight controller counts as lost, s."""

_HEARTBEAT_S = 1.0
_REQUEST_S = 1.0

# Greatest number of missing parameters that are requested at once.
_MOST_REQUESTED = 32

_SYSTEM = 1


class MessagePort(Protocol):
    """Destination of the messages to the flight controller."""

    def send(self, message: Any) -> None:
        """Send a message."""


class LinkedBoard:
    """The flight controller as `AnyBoard`; requests have the outcome that the flight controller reports.

    The owner passes each message to `take`, and calls `tick` several times a second of system time.

    Attributes:
        parameters: copy of the flight controller's parameters, which its messages update.
        parameters_changed: see AnyBoard.
        reboots: number of reboots that were noticed.
        time: time of the flight controller.
        armed: whether the flight controller reported that it is armed.
    """

    def __init__(self, port: MessagePort, log: Log, *, strict_files: bool) -> None:
        """Send through `port`."""
        self.parameters = FirmwareParameters(unlimited_numbers=True)
        self.parameters_changed = False
        self.reboots = 0
        self.armed = False
        self.time = LinkedTime()
        self._mag_calibration = LinkedMagCalibration(self, log)
        self._port, self._log, self._strict_files = port, log, strict_files
        self._lines = StatusLines()
        self._received: set[int] = set()
        self._number = 0
        self._has_version = False
        self._commands: deque[tuple[int, Future[str], float]] = deque()
        self._settings: dict[str, deque[tuple[bytes, Future[str], float]]] = {}
        self._heartbeat_s = self._request_s = -float("inf")
        self._takers: Mapping[type, Callable[[Any, int], None]] = {
            dialect.ParamValue: self._take_parameter,
            dialect.RosflightCmdAck: self._take_acknowledgement,
            dialect.Statustext: self._take_text,
            dialect.Timesync: self._take_time,
            dialect.RosflightVersion: self._take_version,
            dialect.RosflightStatus: self._take_status,
            dialect.SmallMag: self._mag_calibration.take,
        }

    @property
    def has_all_parameters(self) -> bool:
        """Whether all parameters have been received."""
        return 0 < self._number == len(self._received)

    def perform(self, command: BoardCommand) -> Outcome:
        """Send a command; the outcome is known when it is acknowledged."""
        outcome: Future[str] = Future()
        self._commands.append((int(command), outcome, time.monotonic() + REPLY_LIMIT_S))
        self._port.send(dialect.RosflightCmd(command))
        return outcome

    def calibrate_mag(self) -> Outcome:
        """Calibrate the magnetometer by the measurements that the flight controller sends.

        Raises:
            Refused: armed, or no sample received yet.
        """
        return self._mag_calibration.start()

    def set_parameter(self, name: str, value: float) -> Outcome:
        """Send a parameter; the outcome is known when the flight controller reports its value.

        Raises:
            UnknownFirmwareParameter: there is no such parameter.
            FirmwareParameterOutOfRange: not finite, or a value that the parameter's type does not have.
        """
        checked = FirmwareParameters(unlimited_numbers=True)
        checked.set(name, value)
        number = checked[name]
        bits = parameter_bits(number)
        outcome: Future[str] = Future()
        limit_s = time.monotonic() + REPLY_LIMIT_S
        self._settings.setdefault(name, deque()).append((bits, outcome, limit_s))
        self._port.send(dialect.ParamSet(_SYSTEM, 0, name.encode(), bits, param_type(number)))
        return outcome

    def load(self, file: Path) -> Outcome:
        """Send the parameters of a file that differ; the outcome is known when all have been reported.

        Raises:
            ParameterFileError: the file cannot be used; nothing is sent.
        """
        wanted = FirmwareParameters()
        wanted.restore(self.parameters.snapshot())
        wanted.load(file, None if self._strict_files else self._log.warning)
        changed = {name: value for name, value in wanted.snapshot().items() if value != self.parameters[name]}
        outcomes = [self.set_parameter(name, value) for name, value in changed.items()]
        missing = [one for one in outcomes if isinstance(one, Future)]
        if not missing:
            return f"loaded {file}"
        whole: Future[str] = Future()

        def count(_: Future[str]) -> None:
            if not whole.done() and all(one.done() for one in missing):
                refused = [str(error) for one in missing if (error := one.exception())]
                if refused:
                    whole.set_exception(ParameterFileError(f"{file}: {'; '.join(refused)}"))
                else:
                    whole.set_result(f"loaded {file}")

        for one in missing:
            one.add_done_callback(count)
        return whole

    def take(self, message: Any, now_ns: int) -> None:
        """Process a message of the flight controller, received at `now_ns` of the companion computer's time."""
        taker = self._takers.get(type(message))
        if taker is not None:
            taker(message, now_ns)
        if not isinstance(message, dialect.Statustext):
            self._lines.forget()

    def tick(self, now_ns: int) -> None:
        """Send what is due: heartbeat, request for the time, requests for parameters and version that are missing."""
        now_s = time.monotonic()
        self._port.send(dialect.Timesync(0, now_ns))
        if now_s >= self._heartbeat_s:
            self._heartbeat_s = now_s + _HEARTBEAT_S
            self._port.send(dialect.Heartbeat(dialect.VehicleType.GENERIC))
        if now_s >= self._request_s:
            self._request_s = now_s + _REQUEST_S
            self._request_missing()
        self._give_up(now_s)

    def _request_missing(self) -> None:
        if not self._has_version:
            self._port.send(dialect.RosflightCmd(BoardCommand.SEND_VERSION))
        if not self._received:
            self._port.send(dialect.ParamRequestList(_SYSTEM, 0))
        elif not self.has_all_parameters:
            missing = sorted(set(range(self._number)) - self._received)
            for index in missing[:_MOST_REQUESTED]:
                self._port.send(dialect.ParamRequestRead(_SYSTEM, 0, b"", index))

    def _give_up(self, now_s: float) -> None:
        """End requests without a reply."""
        text = f"no reply from the flight controller within {REPLY_LIMIT_S:g} s: it is paused, or the link is broken"
        while self._commands and self._commands[0][2] < now_s:
            command, outcome, _ = self._commands.popleft()
            outcome.set_exception(Refused(f"{command_name(command)}: {text}"))
        for name, settings in self._settings.items():
            while settings and settings[0][2] < now_s:
                settings.popleft()[1].set_exception(Refused(f"firmware parameter '{name}': {text}"))

    # Messages.

    def _take_parameter(self, message: dialect.ParamValue, _: int) -> None:
        name = text_of(message.param_id)
        if name not in self.parameters:
            return
        try:
            value = parameter_value(message.param_value, message.param_type)
            had_all = self.has_all_parameters
            changed = self.parameters.set(name, value)
        except (ParamTypeError, FirmwareParameterOutOfRange) as error:
            self._log.error(f"parameter of the flight controller ignored: {error}")
            return
        self._number = message.param_count
        self._received.add(message.param_index)
        if not had_all:
            self.parameters.unsaved = False
            self.parameters_changed = self.has_all_parameters
        elif changed:
            self.parameters_changed = True
        settings = self._settings.get(name)
        if settings:
            bits, outcome, _limit_s = settings[0]
            # Another value without a reason was sent before the new one took effect.
            if bits == message.param_value:
                settings.popleft()
                outcome.set_result(f"{name} {value:g}")
            elif self._lines.last:
                settings.popleft()
                outcome.set_exception(FirmwareParameterOutOfRange(self._lines.last))

    def _take_acknowledgement(self, message: dialect.RosflightCmdAck, _: int) -> None:
        is_done = message.success == dialect.Acknowledgement.SUCCESS
        if is_done and message.command in (BoardCommand.WRITE_PARAMS, BoardCommand.READ_PARAMS):
            self.parameters.unsaved = False
        waiting = next((one for one in self._commands if one[0] == message.command), None)
        if waiting is None:
            return
        self._commands.remove(waiting)
        text = self._lines.last
        if is_done:
            waiting[1].set_result(text or f"{command_name(message.command)}: done")
        else:
            waiting[1].set_exception(Refused(text or f"{command_name(message.command)}: refused"))

    def _take_text(self, message: dialect.Statustext, _: int) -> None:
        text = self._lines.add(message.text)
        if text is None:
            return
        if message.severity <= dialect.TextSeverity.ERROR:
            self._log.error(f"flight controller: {text}")
        elif message.severity == dialect.TextSeverity.WARNING:
            self._log.warning(f"flight controller: {text}")
        else:
            self._log.info(f"flight controller: {text}")

    def _take_time(self, message: dialect.Timesync, now_ns: int) -> None:
        if message.tc1 > 0 and self.time.update(message.tc1, now_ns):
            # Its parameters may have changed.
            self.reboots += 1
            self._received.clear()
            self._has_version = False

    def _take_version(self, message: dialect.RosflightVersion, _: int) -> None:
        self._has_version = True

    def _take_status(self, message: dialect.RosflightStatus, _: int) -> None:
        self.armed = bool(message.armed)

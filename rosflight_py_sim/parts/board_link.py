"""The flight controller's end of its MAVLink link: what it sends of its own accord, and what it does on request.

The streams follow rosflight_firmware: each corrected measurement and each RC frame as it arrives, the attitude with
each IMU sample, the outputs at 50 Hz, the status at 10 Hz and on change, a heartbeat at 1 Hz. Times in messages count
from the firmware's start.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.firmware import (
    Board,
    BoardCommand,
    CommandMode,
    Firmware,
    FirmwareParameterOutOfRange,
    OutputType,
    ParameterFileError,
    Refused,
    Severity,
)
from rosflight_py_sim.firmware.board_command import command_name
from rosflight_py_sim.parts.rosflight_io.status import VERSION
from rosflight_py_sim.protocols.rosflight_mavlink import dialect
from rosflight_py_sim.protocols.rosflight_mavlink.dialect import Acknowledgement, TextSeverity
from rosflight_py_sim.protocols.rosflight_mavlink.values import (
    ParamTypeError,
    param_type,
    parameter_bits,
    parameter_value,
    status_texts,
    text_of,
)
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import (
    AirspeedSample,
    AttitudeEstimate,
    BaroSample,
    BatterySample,
    GnssSample,
    ImuEstimate,
    MagSample,
    Outputs,
    PulseWidths,
    RangeSample,
    StatusReport,
)

_HEARTBEAT_HZ = 1.0

# Log lines kept until the companion computer has sent its first heartbeat; the oldest are dropped.
_MOST_LINES = 25

_LAST_AUX_TYPE = OutputType.MOTOR

# Norm from which on a quaternion has a direction.
_SMALLEST_NORM = 1e-6

_SEVERITIES = {
    Severity.INFO: TextSeverity.INFO,
    Severity.WARNING: TextSeverity.WARNING,
    Severity.ERROR: TextSeverity.ERROR,
    Severity.CRITICAL: TextSeverity.CRITICAL,
}

COUNTERS = ("commands", "refused_commands", "refused_parameters", "invalid", "other_system")
"""Counters of a link."""


class MessagePort(Protocol):
    """Source and destination of the messages."""

    counters: Counter[str]

    def messages(self) -> Iterator[Any]:
        """Messages that have arrived, at most a bounded number."""

    def time_passed(self, time_ns: int) -> None:
        """Grant the bytes that may be received in this time, and deliver frames whose delay on a late link is over."""

    def send(self, message: Any, system: int) -> None:
        """Send a message of the system with that number."""

    def fail(self, signals: Signals) -> None:
        """Apply the failures of the link, and no others, from now on."""


class BoardLink:
    """Sends the board's messages through a port, and executes those that arrive.

    Messages from the companion computer take effect after the firmware's link latency. Requests for other systems than
    SYS_ID are ignored. Log lines are sent once the companion computer has sent a heartbeat.

    Attributes:
        counters: the port's counters, and numbers of commands, refused_commands, refused_parameters, invalid messages
            (an unknown mode, or a number that is not finite), and messages for an other_system.
        senders: functions that send what the board's outputs publish, by the names of the outputs.
    """

    def __init__(self, board: Board, port: MessagePort) -> None:
        """Send and receive through `port`."""
        self.counters = port.counters
        self._board, self._port = board, port
        self._is_connected = False
        self._lines: deque[dialect.Statustext] = deque(maxlen=_MOST_LINES)
        self._heartbeat = Schedule(_HEARTBEAT_HZ)
        self._names = board.firmware.parameters.names()
        self._index_of = {name: index for index, name in enumerate(self._names)}
        self._next_listed = len(self._names)
        self._reboots = False
        board.on_change.append(self._send_parameter)
        self.senders: dict[str, Callable[[Any], None]] = {
            "send_attitude": self._send_attitude,
            "send_imu": self._send_imu,
            "send_output": self._send_output,
            "send_rc": self._send_rc,
            "send_airspeed": self._send_airspeed,
            "send_baro": self._send_baro,
            "send_mag": self._send_mag,
            "send_range": self._send_range,
            "send_battery": self._send_battery,
            "send_gnss": self._send_gnss,
            "send_status": self._send_status,
        }
        self._requests: dict[type, Callable[[Any], None]] = {
            dialect.Heartbeat: self._take_heartbeat,
            dialect.ParamRequestList: self._list_parameters,
            dialect.ParamRequestRead: self._read_parameter,
            dialect.ParamSet: self._set_parameter,
            dialect.RosflightCmd: self._take_command,
            dialect.Timesync: self._answer_timesync,
        }

    @property
    def activity(self) -> str:
        """Whether a companion computer is connected, in words."""
        return "connected" if self._is_connected else "no heartbeat from a companion computer yet"

    @property
    def _firmware(self) -> Firmware:
        return self._board.firmware

    def fail(self, signals: Signals) -> None:
        """Apply the failures of the link, and no others, from now on."""
        self._port.fail(signals)

    def receive(self, time_ns: int) -> None:
        """Receive the messages that have arrived, before a pass of the firmware."""
        firmware = self._firmware
        self._port.time_passed(time_ns)
        for message in self._port.messages():
            match message:
                case dialect.OffboardControl(mode, ignore, u):
                    if self._is_valid(mode in list(CommandMode), u):
                        firmware.set_command(firmware.time_us, mode, ignore, u)
                case dialect.RosflightAuxCmd(types, values):
                    if self._is_valid(max(types) <= _LAST_AUX_TYPE, values):
                        firmware.set_aux_command(types, values)
                case dialect.ExternalAttitude():
                    if self._is_valid(math.hypot(*message) >= _SMALLEST_NORM, message):
                        firmware.set_external_attitude(message)
                case _ if type(message) in self._requests:
                    firmware.after_latency(partial(self._requests[type(message)], message))

    def _is_valid(self, is_known: bool, numbers: Sequence[float]) -> bool:
        is_valid = is_known and all(map(math.isfinite, numbers))
        self.counters["invalid"] += not is_valid
        return is_valid

    def finish_pass(self, time_ns: int) -> None:
        """Send what is due after a pass: a heartbeat, the next listed parameter; reboot if that was requested."""
        if self._heartbeat.due(time_ns):
            is_fixed_wing = bool(self._firmware.parameters["FIXED_WING"])
            kind = dialect.VehicleType.FIXED_WING if is_fixed_wing else dialect.VehicleType.QUADROTOR
            self._send(dialect.Heartbeat(kind))
        if self._next_listed < len(self._names):
            self._send_parameter(self._names[self._next_listed])
            self._next_listed += 1
        if self._reboots:
            self._reboots = False
            self._reboot()

    def log(self, severity: Severity, text: str) -> None:
        """Send a log line of the firmware, in as many status texts as it takes."""
        for piece in status_texts(text):
            one = dialect.Statustext(_SEVERITIES[severity], piece)
            if self._is_connected:
                self._send(one)
            else:
                self._lines.append(one)

    def _send(self, message: Any) -> None:
        self._port.send(message, int(self._firmware.parameters["SYS_ID"]))

    # Streams.

    def _uptime_us(self, time_ns: int) -> int:
        return self._firmware.uptime_us(time_ns // 1000)

    def _uptime_ms(self, time_ns: int) -> int:
        return self._uptime_us(time_ns) // 1000 & 0xFFFFFFFF

    def _send_attitude(self, attitude: AttitudeEstimate) -> None:
        time_ns, (x, y, z, w), rates = attitude
        self._send(dialect.AttitudeQuaternion(self._uptime_ms(time_ns), w, x, y, z, *rates))

    def _send_imu(self, imu: ImuEstimate) -> None:
        time_ns, _, gyro, accel = imu
        values = self._uptime_us(time_ns), *accel, *gyro, self._firmware.imu_temperature
        self._send(dialect.SmallImu._make(values))

    def _send_output(self, outputs: Outputs) -> None:
        self._send(dialect.RosflightOutputRaw(self._uptime_us(outputs.time_ns) // 1000, tuple(outputs.values)))

    def _send_rc(self, rc: PulseWidths) -> None:
        self._send(dialect.RcChannels(self._uptime_ms(rc.time_ns), len(rc.pulse_us), *rc.pulse_us))

    def _send_airspeed(self, sample: AirspeedSample) -> None:
        self._send(dialect.DiffPressure(*sample[1:]))

    def _send_baro(self, sample: BaroSample) -> None:
        self._send(dialect.SmallBaro(*sample[1:]))

    def _send_mag(self, sample: MagSample) -> None:
        self._send(dialect.SmallMag(*sample[1]))

    def _send_range(self, sample: RangeSample) -> None:
        self._send(dialect.SmallRange(dialect.RangeType.SONAR, sample.distance, sample.maximum, sample.minimum))

    def _send_battery(self, sample: BatterySample) -> None:
        self._send(dialect.RosflightBatteryStatus(*sample[1:]))

    def _send_gnss(self, fix: GnssSample) -> None:
        self._send(
            dialect.RosflightGnss(
                fix.unix_seconds,
                fix.unix_nanoseconds,
                fix.fix_type,
                fix.satellites,
                fix.latitude_deg,
                fix.longitude_deg,
                fix.altitude_msl_m,
                fix.velocity_north,
                fix.velocity_east,
                fix.velocity_down,
                fix.horizontal_accuracy,
                fix.vertical_accuracy,
                fix.speed_accuracy,
                self._uptime_us(fix.time_ns),
            )
        )

    def _send_status(self, status: StatusReport) -> None:
        self._send(
            dialect.RosflightStatus(
                status.armed,
                status.failsafe,
                status.rc_override,
                status.offboard,
                status.error_code,
                status.control_mode,
                status.num_errors,
                status.loop_time_us,
            )
        )

    # Requests.

    def _take_heartbeat(self, _: dialect.Heartbeat) -> None:
        self._is_connected = True
        while self._lines:
            self._send(self._lines.popleft())

    def _answer_timesync(self, request: dialect.Timesync) -> None:
        if request.tc1 == 0:
            # Never 0, which would be a request.
            now_ns = max(1, self._firmware.uptime_us(self._firmware.time_us) * 1000)
            self._send(dialect.Timesync(now_ns, request.ts1))

    def _is_for_other(self, target_system: int) -> bool:
        is_for_other = target_system != self._firmware.parameters["SYS_ID"]
        self.counters["other_system"] += is_for_other
        return is_for_other

    def _list_parameters(self, request: dialect.ParamRequestList) -> None:
        if not self._is_for_other(request.target_system):
            self._next_listed = 0

    def _read_parameter(self, request: dialect.ParamRequestRead) -> None:
        if self._is_for_other(request.target_system):
            return
        index = request.param_index
        name = text_of(request.param_id) if index < 0 else self._names[index] if index < len(self._names) else ""
        if name in self._index_of:
            self._send_parameter(name)
        else:
            given = f"'{name}'" if index < 0 else f"index {index} of {len(self._names)}"
            self._refuse_parameter(f"there is no firmware parameter {given}")

    def _set_parameter(self, request: dialect.ParamSet) -> None:
        if self._is_for_other(request.target_system):
            return
        name = text_of(request.param_id)
        parameters = self._firmware.parameters
        if name not in parameters:
            self._refuse_parameter(f"there is no firmware parameter '{name}'")
            return
        try:
            value = parameter_value(request.param_value, request.param_type)
            if type(value) is not parameters.types[name]:
                expected = param_type(parameters[name])
                raise ParamTypeError(f"'{name}': type {request.param_type} given; allowed: {expected.value}")
            if parameters.set(name, value):
                return
        except (ParamTypeError, FirmwareParameterOutOfRange) as error:
            self._refuse_parameter(str(error))
        # A change has been reported already.
        self._send_parameter(name)

    def _refuse_parameter(self, text: str) -> None:
        self.counters["refused_parameters"] += 1
        self.log(Severity.ERROR, text)

    def _send_parameter(self, name: str) -> None:
        value = self._firmware.parameters[name]
        self._send(
            dialect.ParamValue(
                name.encode(), parameter_bits(value), param_type(value), len(self._names), self._index_of[name]
            )
        )

    def _take_command(self, request: dialect.RosflightCmd) -> None:
        self.counters["commands"] += 1
        success = Acknowledgement.SUCCESS
        try:
            self._firmware.state_machine.refuse_while_armed(command_name(request.command))
            self.log(Severity.INFO, self._done(request.command))
        except (Refused, ParameterFileError) as error:
            self.counters["refused_commands"] += 1
            success = Acknowledgement.FAILED
            # The firmware has logged a refusal.
            if not isinstance(error, Refused):
                self.log(Severity.ERROR, str(error))
        self._send(dialect.RosflightCmdAck(request.command, success))

    def _done(self, command: int) -> str:
        """Execute a command; return what was done."""
        if command == BoardCommand.SEND_VERSION:
            self._send(dialect.RosflightVersion(VERSION.encode()))
            return f"version {VERSION}"
        if command == BoardCommand.REBOOT:
            # After the pass, which the present firmware completes.
            self._reboots = True
            return "rebooting"
        return self._board.perform(command)

    def _reboot(self) -> None:
        try:
            self._board.reboot()
        except (Refused, ParameterFileError) as error:
            self.log(Severity.ERROR, f"no reboot: {error}")
            return
        self._is_connected = False
        self._next_listed = len(self._names)

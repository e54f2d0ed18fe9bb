"""Simulated flight-controller board: the part that runs the firmware and offers rosflight_io's interface.

The firmware itself is in rosflight_py_sim.firmware; this part connects it to messages and services.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import String

from rosflight_py_sim.failures.failure import FAILURES, LINKS, LOST, Failure
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.failures.signal import Link
from rosflight_py_sim.firmware import (
    AS_ROSFLIGHT,
    FIRMWARE_PARAMETERS,
    REPAIRED,
    STRICT_FIRMWARE_FILES,
    Board,
    ErrorFlag,
    Firmware,
    ParameterFileError,
    Severity,
    state_text,
)
from rosflight_py_sim.ground.confined_files import expanded
from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Value, number
from rosflight_py_sim.ground.shared_parameters import STARTS_IN_FLIGHT, TIME_MODE
from rosflight_py_sim.kernels.chain import NEVER_NS, Cell, Cells, ChainLink, Due, StepTime, Taken, counted, gate
from rosflight_py_sim.kernels.jit import bound
from rosflight_py_sim.kernels.single import single
from rosflight_py_sim.parts.board_link import BoardLink, MessagePort
from rosflight_py_sim.parts.rosflight_io.commands import CommandServices
from rosflight_py_sim.parts.rosflight_io.estimates import EstimateOutputs
from rosflight_py_sim.parts.rosflight_io.parameters import FIRMWARE_PARAM_FILE, PARAM_FILE_FOLDER, ParameterServices
from rosflight_py_sim.parts.rosflight_io.sensors import SensorRelay
from rosflight_py_sim.parts.rosflight_io.status import VERSION, StatusReports, status_report
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.numbers import cell_of
from rosflight_py_sim.step.ports import Output, drop, expected, later, newest, output, ports_of, repeated, trigger
from rosflight_py_sim.step.schedule import Schedule, skip_unless_due
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import (
    ATTITUDE,
    ATTITUDE_EULER,
    AUX_COMMAND,
    BARO,
    BATTERY,
    COMMAND,
    DIFF_PRESSURE,
    EXTERNAL_ATTITUDE,
    GNSS_FIX,
    IMU,
    IMU_DATA,
    IMU_TEMPERATURE,
    MAG,
    PWM_OUTPUT,
    RANGE,
    RC,
    STATUS,
    AttitudeEstimate,
    AuxiliaryCommand,
    ControlCommand,
    EulerAngles,
    ImuEstimate,
    ImuSample,
    Outputs,
    PulseWidths,
    new_message,
)

_OUTPUT_RATE_HZ = 50.0
_STATUS_RATE_HZ = 10.0

_COMMAND = "command"


class RosflightBoard(CommandServices, ParameterServices, StatusReports, EstimateOutputs, SensorRelay):
    """Runs the firmware on each IMU message, and sends sim/pwm_output.

    An RC frame or command stamped t takes effect in the answer after t, whether it arrives before or after the answer
    of t.

    Attributes:
        board: the board; it replaces its firmware at a reboot.
        link: the MAVLink link to the companion computer; None without one.
        measures_loop_time: whether the firmware reports the time of its passes, as measured on the system clock.
    """

    KIND: ClassVar[NodeKind | None] = NodeKind.FLIGHT_CONTROLLER
    DEFAULT_NAME: ClassVar[str] = "sil_board"
    ALIASES: ClassVar[tuple[str, ...]] = ("rosflight_sil_manager",)
    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        TIME_MODE,
        Parameter("use_timer", True, "Run the firmware continuously; if false, only when sil_board/run is called"),
        Parameter(
            "simulation_loop_frequency",
            400.0,
            "Rate of the firmware's main loop (in lockstep it runs once a step)",
            "Hz",
            minimum=1.0,
            maximum=10000.0,
            read_only=True,
        ),
        FIRMWARE_PARAM_FILE,
        FIRMWARE_PARAMETERS,
        STRICT_FIRMWARE_FILES,
        Parameter(
            "param_storage_file",
            "",
            "File for saved parameters, written by param_write and read at start-up; if empty, written parameters "
            "last as long as the node",
            read_only=True,
        ),
        PARAM_FILE_FOLDER,
        Parameter(
            "as_rosflight",
            False,
            "Reproduce the quirks of ROSflight's firmware that are repaired by default (listed in docs/firmware.md)",
            read_only=True,
        ),
        Parameter(
            "offboard_without_rc",
            False,
            "Follow commands of the companion computer in failsafe, while the RC signal is lost",
            read_only=True,
        ),
        Parameter(
            "offers_rosflight_io",
            True,
            "Whether the node has the topics and services of `rosflight_io`; if false, a `rosflight_io` on the MAVLink "
            "link has them (docs/mavlink.md)",
            read_only=True,
        ),
        Parameter(
            "link_latency",
            0.006,
            "Time that commands, auxiliary commands and external attitudes take from the companion computer to the "
            "firmware",
            "s",
            minimum=0.0,
            maximum=1.0,
            read_only=True,
        ),
        STARTS_IN_FLIGHT,
        FAILURES,
    )
    FALLIBLE: ClassVar[tuple[str, ...]] = (_COMMAND, *LINKS)
    REPLACED: ClassVar[tuple[str, ...]] = ("answer", "run", "receive_imu", "receive_command")

    board: Board

    send_pwm = output(PWM_OUTPUT)

    def initialise(self) -> None:
        """Set the state before the first message."""
        super().initialise()
        self.measures_loop_time = False
        self.link: BoardLink | None = None
        self._link: Link[ControlCommand] | None = None
        self._pwm = PulseWidths(-1, ())
        self._imu_is_new = False
        self._output_schedule = Schedule(_OUTPUT_RATE_HZ)
        self._status_schedule = Schedule(_STATUS_RATE_HZ)
        self._has_estimates = True
        self._frame_link: ChainLink | None = None

    def connect_link(self, port: MessagePort) -> None:
        """Speak MAVLink through a port; call it before `begin`."""
        self.link = BoardLink(self.board, port)

    def offers_rosflight_io(self) -> bool:
        """Whether the parameter `offers_rosflight_io` is true."""
        return bool(self.values["offers_rosflight_io"])

    def begin(self) -> None:
        """Send through the link what the outputs publish; find out whether the estimates have receivers at all."""
        if self.link is not None:
            # Of the class: the link has them even where topics have not.
            for out in ports_of(type(self)):
                if isinstance(out, Output) and out.name in self.link.senders:
                    out.bind(self, _both(getattr(self, out.name), self.link.senders[out.name], lazy=out.lazy))
        super().begin()
        self.send_version(String(data=VERSION))
        self._has_estimates = any(send is not drop for send in (self.send_attitude, self.send_euler, self.send_imu))

    def configure(self, values: dict[str, Value]) -> None:
        """Start the firmware, once.

        Raises:
            ParameterError: a file of firmware parameters cannot be used.
        """
        super().configure(values)
        if not hasattr(self, "board"):
            try:
                self.board = self._started_board(values)
            except ParameterFileError as error:
                raise ParameterError(str(error)) from error

    def _started_board(self, values: dict[str, Value]) -> Board:
        initial, storage = str(values["firmware_param_file"]), str(values["param_storage_file"])
        given: Any = values[FIRMWARE_PARAMETERS.name]
        return Board(
            Path(initial) if initial else None,
            expanded(storage) if storage else None,
            self._log_of_firmware,
            AS_ROSFLIGHT if values["as_rosflight"] else REPAIRED,
            given=given,
            strict_files=bool(values[STRICT_FIRMWARE_FILES.name]),
            offboard_without_rc=bool(values["offboard_without_rc"]),
            link_latency_us=round(number(values, "link_latency") * 1e6),
            in_flight=bool(values[STARTS_IN_FLIGHT.name]),
        )

    def _log_of_firmware(self, severity: Severity, text: str) -> None:
        if self.link is not None:
            self.link.log(severity, text)
        # rclpy requires a separate call site per level.
        if severity == Severity.INFO:
            self.log.info(text)
        elif severity == Severity.WARNING:
            self.log.warning(text)
        elif severity == Severity.ERROR:
            self.log.error(text)
        else:
            self.log.fatal(text)

    @property
    def firmware(self) -> Firmware:
        """The running flight controller; a reboot replaces it."""
        return self.board.firmware

    # Inputs.

    @expected(RC)
    def receive_rc(self, rc: PulseWidths) -> None:
        """Receive a frame of the transmitter."""
        # What a chain has received came before.
        self.board.firmware.take_frames()
        self.board.firmware.receive_rc(rc.time_ns // 1000, rc.pulse_us)
        self.send_rc(rc)

    @trigger(IMU, rate="simulation_loop_frequency", needed=True)
    def receive_imu(self, imu: ImuSample) -> None:
        """Receive an IMU sample."""
        self._take_imu(imu)

    def _take_imu(self, imu: ImuSample) -> None:
        self._imu_is_new = True
        time_ns, gyro, accel, _, _ = imu
        self.board.firmware.receive_imu(time_ns // 1000, gyro, accel, self.imu_temperature_k)

    @expected(COMMAND, ages_from_arrival=True, when="offers_rosflight_io")
    def receive_command(self, command: ControlCommand) -> None:
        """Receive a command of the companion computer, through a link that may fail."""
        if self._link is None:
            self._set_command(command)
        else:
            self._link.send(self._now_us() * 1000, command)

    @later(AUX_COMMAND, when="offers_rosflight_io")
    def receive_aux_command(self, command: AuxiliaryCommand) -> None:
        """Receive an auxiliary command."""
        self._timed_firmware().set_aux_command(command.types, command.values)

    @newest(EXTERNAL_ATTITUDE, when="offers_rosflight_io")
    def receive_external_attitude(self, attitude: AttitudeEstimate) -> None:
        """Receive an attitude that another estimator gives."""
        x, y, z, w = attitude.quaternion_xyzw
        self.wake.at_ns = 0
        self._timed_firmware().set_external_attitude((w, x, y, z))

    repeated_clock = repeated()

    def _timed_firmware(self) -> Firmware:
        """The firmware, with the time of its last pass, which a chain does not set."""
        firmware = self.board.firmware
        firmware.time_us = self._now_us()
        return firmware

    def _now_us(self) -> int:
        """Reference time for the age of commands, us: that of the firmware's last pass."""
        answered_ns = self.answered_ns
        return answered_ns // 1000 if answered_ns > 0 else 0

    def _set_command(self, command: ControlCommand) -> None:
        _, mode, ignore, u = command
        # What a chain has received came before.
        self.board.firmware.take_frames()
        self.board.firmware.set_command(self._now_us(), mode, ignore, u)

    @classmethod
    def fallible(cls, values: Mapping[str, Any]) -> Collection[str]:
        """The topic `command`, and the MAVLink link if there is one."""
        return cls.FALLIBLE if values.get("mavlink.port") else (_COMMAND,)

    def check_failure(self, failure: Failure) -> None:
        """Refuse failures of the topic `command` if the companion computer uses the MAVLink link."""
        if failure.target == _COMMAND and not self.offers_rosflight_io():
            raise ParameterError(
                f"failure '{failure.text}' given with offers_rosflight_io false: it concerns the topic `command`, "
                "which does not exist; allowed: offers_rosflight_io true, or a failure of the MAVLink link, such as "
                "'link lost'"
            )

    def fail(self, signals: Signals) -> None:
        """Apply the failures of the topic `command` and of the MAVLink link."""
        command = signals.get((_COMMAND, 0))
        self._link = None if command is None else Link(command, LOST)
        if self.link is not None:
            self.link.fail(signals)

    def input_links(self, time: StepTime, topic: str, numbers: NDArray[Any]) -> Sequence[ChainLink] | None:
        """Let the firmware take a sample, an RC frame or a command.

        None for other topics, and for RC frames if `send_rc` has receivers.
        """
        firmware = self.board.firmware
        if topic == COMMAND.name:

            def hold_command(time_ns: int, status: int) -> None:
                mode, ignore, *values = numbers.tolist()
                command = ControlCommand(time_ns, int(mode), int(ignore), tuple(map(single, values)))
                self.held.waiting.append((time_ns, self.receive_command, command))
                self.wake.at_ns = min(self.wake.at_ns, time_ns + 1)

            return (firmware.command_link(time, numbers, self.wake, hold_command),)
        if topic == RC.name and not self.is_received("send_rc"):

            def frame(stamp_ns: int) -> PulseWidths:
                return PulseWidths(stamp_ns, tuple(numbers.tolist()))

            def receive(stamp_ns: int) -> None:
                self.receive_rc(frame(stamp_ns))

            def hold(stamp_ns: int) -> None:
                self.held.waiting.append((stamp_ns, self.receive_rc, frame(stamp_ns)))
                self.wake.at_ns = min(self.wake.at_ns, stamp_ns + 1)

            sent, self._frame_link = firmware.frame_links(time, numbers, receive, hold)
            return (sent,)
        links = {
            BATTERY.name: firmware.battery_link,
            BARO.name: firmware.baro_link,
            DIFF_PRESSURE.name: firmware.diff_pressure_link,
            MAG.name: firmware.mag_link,
            IMU_TEMPERATURE.name: firmware.temperature_link,
            RANGE.name: firmware.range_link,
        }
        if topic == GNSS_FIX.name:
            return ()
        return (links[topic](numbers),) if topic in links else None

    # Running the firmware.

    def answer(self, time_ns: int, content: ImuSample | None) -> None:
        """Run the firmware; in lockstep, on the IMU message."""
        if content is not None:
            self._take_imu(content)
        firmware = self.board.firmware
        start = time.perf_counter_ns() if self.measures_loop_time else 0
        if self._link is not None:
            for command in self._link.arrived(time_ns):
                self._set_command(command)
        if self.link is not None:
            self.link.receive(time_ns)
        firmware.step(time_ns // 1000)
        pwm = self._pwm = new_message(PulseWidths, (time_ns, firmware.whole_pulse_widths.tolist()))
        if self.measures_loop_time:
            firmware.status.loop_time_us = (time.perf_counter_ns() - start) // 1000
        self.send_pwm(pwm)
        if self._imu_is_new:
            self._imu_is_new = False
            if self._has_estimates:
                self._send_estimates(time_ns)
        self._send_due_outputs(time_ns)
        self._send_due_reports(time_ns)
        if self.link is not None:
            self.link.finish_pass(time_ns)

    def _send_due_outputs(self, time_ns: int) -> None:
        if self._output_schedule.due(time_ns):
            self.send_output(Outputs(time_ns, self.board.firmware.outputs.tolist()))

    @property
    def _repeats_status(self) -> bool:
        """Whether the next reports are the last status again."""
        board, sent = self.board, self._sent_status
        return (
            sent == status_report(sent.time_ns, board.firmware.status)
            and not board.parameters_changed
            and self._sent_unsaved is board.parameters.unsaved
        )

    def _send_due_reports(self, time_ns: int) -> None:
        firmware = self.board.firmware
        if self._status_schedule.due(time_ns) or firmware.status_changed:
            firmware.status_changed = False
            self.send_reports(status_report(time_ns, firmware.status))

    # Compiled answers.

    def cells(self) -> Cells:
        """Pulse widths and estimates."""
        firmware = self.board.firmware
        pulse_us, xyzw = firmware.whole_pulse_widths, (firmware.attitude[1:4], firmware.attitude[0:1])
        return {
            **cell_of(PWM_OUTPUT, pulse_us, lambda time_ns: PulseWidths(time_ns, pulse_us.tolist())),
            ATTITUDE.name: Cell(
                firmware.attitude,
                self._attitude,
                fields={"quaternion_xyzw": xyzw, "angular_velocity": [firmware.angular_velocity]},
            ),
            ATTITUDE_EULER.name: Cell(firmware.euler, self._euler, fields={"roll_pitch_yaw": [firmware.euler]}),
            IMU_DATA.name: Cell(
                firmware.imu_gyro,
                self._imu,
                fields={"quaternion_xyzw": xyzw, "gyro": [firmware.imu_gyro], "accel": [firmware.imu_accel]},
            ),
        }

    def links(self, time: StepTime, cells: Cells, taken: Taken) -> Sequence[ChainLink] | None:
        """Run the firmware up to the mixer in the chain, and the rest when it has something to do.

        None with a MAVLink link, a failing link, or if `use_timer` is false.
        """
        has_link = self.link is not None or self.has_failures
        if has_link or self.measures_loop_time or not self.values["use_timer"]:
            return None
        firmware = self.board.firmware
        framed, self._frame_link = self._frame_link, None
        controlled = firmware.link(time, cells[IMU.name].memory, self.imu_temperature_k)
        if controlled is None:
            return None
        inputs, rest = self.wake, Due(at_ns=0)
        inputs.at_ns = 0
        command_pass = firmware.command_pass(time)

        outputs, reports, sends_outputs = self._output_schedule, self._status_schedule, self.is_received("send_output")
        unsent = outputs.link(time, 1), counted(partial(self.count_unsent, "send_output"))
        repeats = reports.periods()

        def status_ns() -> int:
            return max(self._sent_status.time_ns, repeats.since_ns)

        last_status = Cell(np.zeros(0), lambda time_ns: self._sent_status._replace(time_ns=time_ns), status_ns)
        repeated = taken(STATUS.name, last_status.memory, last_status)
        then = (*(repeated or ()), counted(partial(self.count_unsent, "send_status")))

        def store_reports() -> None:
            # While Python sends the reports, the chain has none.
            if repeats.next_ns < NEVER_NS:
                reports.store(repeats)
                repeats.next_ns = NEVER_NS
                self._sent_status = self._sent_status._replace(time_ns=status_ns())

        def set_rest() -> None:
            store_reports()
            outputs_ns, reports_ns = outputs.next_ns if sends_outputs else NEVER_NS, reports.next_ns
            if repeated is not None and self._repeats_status:
                repeats.next_ns, reports_ns = reports_ns, NEVER_NS
            rest.at_ns = int(min(outputs_ns, reports_ns, max(0.0, firmware.due_us * 1000)))

        def take_inputs(time_ns: int) -> None:
            firmware.take_frames()
            if self.held.waiting:
                self._drain_commands(time_ns)
                self.held.deliver(time_ns)
            firmware.prepare_pass()
            inputs.at_ns = self.held.due_ns
            set_rest()

        def attend(time_ns: int, status: int) -> None:
            store()
            controlled.attend(time_ns, status)
            rest.at_ns = 0

        def store() -> None:
            controlled.leave(0)
            self.imu_temperature_k = firmware.imu_temperature

        def leave(answered_ns: int) -> None:
            store()
            store_reports()
            self._pwm = PulseWidths(answered_ns, firmware.whole_pulse_widths.tolist())

        def take_command(time_ns: int, status: int) -> None:
            firmware.take_frames()
            self._drain_commands(time_ns)
            rest.at_ns = 0

        def leave_commands(answered_ns: int) -> None:
            firmware.take_frames()
            firmware.close_commands()
            self._drain_commands(answered_ns)
            rest.at_ns = 0

        def take_frame(time_ns: int, status: int) -> None:
            assert framed is not None
            firmware.take_frames()
            framed.attend(time_ns, status)
            set_rest()

        def finish(time_ns: int) -> None:
            firmware.take_frames()
            time_us = firmware.time_us = time_ns // 1000
            firmware.finish_pass(time_us)
            firmware.prepare_pass()
            store_reports()
            if sends_outputs:
                self._send_due_outputs(time_ns)
            self._send_due_reports(time_ns)
            set_rest()

        return (
            *(() if framed is None else (framed._replace(attend=take_frame),)),
            gate(time, inputs, take_inputs),
            controlled._replace(attend=attend, leave=leave),
            *(() if sends_outputs or self.send_output is drop else unsent),
            ChainLink(command_pass, take_command, leave_commands, is_late=True),
            ChainLink(firmware.rest_pass(time, rest), lambda time_ns, _: finish(time_ns), is_late=True),
            ChainLink(bound(skip_unless_due, time, repeats, len(then)), is_late=True),
            *(one._replace(is_late=True) for one in then),
        )

    def _drain_commands(self, pass_ns: int) -> None:
        """Let Python have the commands of a chain that have not arrived: those received by the pass at a time, ns."""
        firmware, held = self.board.firmware, []
        for stamp_ns, mode, values in firmware.drained_commands():
            if stamp_ns < pass_ns:
                firmware.set_command(stamp_ns // 1000, mode, 0, values)
            else:
                held.append((stamp_ns, self.receive_command, ControlCommand(stamp_ns, mode, 0, values)))
                self.wake.at_ns = min(self.wake.at_ns, stamp_ns + 1)
        # They were sent before the messages that wait.
        self.held.waiting[:0] = held

    def answer_again(self, time_ns: int) -> None:
        """Send the last pulse widths."""
        self.send_pwm(self._pwm)

    def _send_estimates(self, time_ns: int) -> None:
        self.send_attitude(partial(self._attitude, time_ns))
        self.send_euler(partial(self._euler, time_ns))
        self.send_imu(partial(self._imu, time_ns))

    def _attitude(self, time_ns: int) -> AttitudeEstimate:
        return AttitudeEstimate(time_ns, self._attitude_xyzw, self.board.firmware.angular_velocity.tolist())

    def _euler(self, time_ns: int) -> EulerAngles:
        return EulerAngles(time_ns, self.board.firmware.euler.tolist())

    def _imu(self, time_ns: int) -> ImuEstimate:
        firmware = self.board.firmware
        return ImuEstimate(time_ns, self._attitude_xyzw, firmware.imu_gyro.tolist(), firmware.imu_accel.tolist())

    @property
    def _attitude_xyzw(self) -> tuple[float, ...]:
        w, x, y, z = self.board.firmware.attitude.tolist()
        return x, y, z, w

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """State of the firmware; an uncalibrated IMU is not a warning."""
        status = self.board.firmware.status
        amiss = status.error_code & ~ErrorFlag.UNCALIBRATED_IMU
        level = Level.OK if not (amiss or status.failsafe) else Level.ERROR if status.armed else Level.WARN
        message = state_text(status.error_code, armed=status.armed, failsafe=status.failsafe)
        values = {"armed": status.armed, "failsafe": status.failsafe, "refused IMU samples": status.num_errors}
        yield Diagnosis("", message, level, values=values)
        if self.link is not None:
            yield Diagnosis("mavlink", self.link.activity, values=self.link.counters)


def _both(send: Callable[[Any], None], other: Callable[[Any], None], *, lazy: bool) -> Callable[[Any], None]:
    """Function that sends a message, or what makes it, by two functions, the second of which takes the message."""

    def send_both(message: Any) -> None:
        send(message)
        other(message() if lazy else message)

    return send_both

"""Simulated flight-controller board: runs the firmware and offers rosflight_io's interface.

The firmware itself is in rosflight_py_sim.firmware, without ROS; this node connects it to messages and services.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

from std_srvs.srv import Trigger

from rosflight_py_sim.confined_files import expanded
from rosflight_py_sim.failures.failure import FAILURES, LOST
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
)
from rosflight_py_sim.interfaces.fallible_node import FallibleNode
from rosflight_py_sim.interfaces.ticks import start_ticks
from rosflight_py_sim.nodes.rosflight_io.commands import CommandServices
from rosflight_py_sim.nodes.rosflight_io.parameters import ParameterServices
from rosflight_py_sim.nodes.rosflight_io.sensors import SensorRelay
from rosflight_py_sim.nodes.rosflight_io.status import StatusReports
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, number
from rosflight_py_sim.resources import share_directory
from rosflight_py_sim.shared_parameters import TIME_MODE
from rosflight_py_sim.stamps import seconds_text
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.join import JoinRule, StepJoin
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.stamped_inputs import ExpectedInput, StampedInputs
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import (
    ATTITUDE,
    ATTITUDE_EULER,
    AUX_COMMAND,
    COMMAND,
    EXTERNAL_ATTITUDE,
    IMU,
    IMU_DATA,
    OUTPUT_RAW,
    PWM_OUTPUT,
    RC,
    RC_RAW,
    REPEATED_CLOCK,
    AttitudeEstimate,
    AuxiliaryCommand,
    ControlCommand,
    EulerAngles,
    ImuEstimate,
    ImuSample,
    Outputs,
    PulseWidths,
)

_OUTPUT_RATE_HZ = 50.0


class SilBoard(FallibleNode):
    """Runs the firmware on each IMU message (lockstep) or on a timer, and publishes sim/pwm_output.

    In lockstep each IMU message is answered with PWM, by the rule of `StepJoin`. The answer waits for RC frames and
    commands only if they arrived regularly and are now late, so that a process without processor time does not look
    like a lost transmitter. An RC frame or command stamped t takes effect in the answer after t, whether it arrives
    before or after the answer of t. With use_timer false the firmware runs only when sil_board/run (or
    rosflight_sil/take_sim_step) is called.

    Class attributes:
        JOIN: inputs of an answer.
    """

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
        Parameter(
            "firmware_param_file", "", "File of initial firmware parameters (ROSflight's YAML list)", read_only=True
        ),
        FIRMWARE_PARAMETERS,
        STRICT_FIRMWARE_FILES,
        Parameter(
            "param_storage_file",
            "",
            "File for saved parameters, written by param_write and read at start-up; if empty, written parameters "
            "last as long as the node",
            read_only=True,
        ),
        Parameter(
            "param_file_folder",
            "",
            "Folder of the files that the services param_save_to_file and param_load_from_file may name; if empty, the "
            "node's working directory. Files in the folder of firmware_param_file, in this package's config/ and in "
            "share/ of installed ROS packages can also be loaded. With / a call may name any file, as with ROSflight",
            read_only=True,
        ),
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
            "link_latency",
            0.006,
            "Time that commands, auxiliary commands and external attitudes take from the companion computer to the "
            "firmware",
            "s",
            minimum=0.0,
            maximum=1.0,
            read_only=True,
        ),
        FAILURES,
    )
    FALLIBLE: ClassVar[tuple[str, ...]] = ("command",)

    JOIN: ClassVar[JoinRule] = JoinRule(IMU.name, synchronized=(RC.name, COMMAND.name, "sil_board/run"))

    def __init__(self, **arguments: Any) -> None:
        """Load the firmware's parameters and start running it."""
        self._link: Link[ControlCommand] | None = None
        super().__init__(**arguments)
        storage = str(self.values["param_storage_file"])
        initial = str(self.values["firmware_param_file"])
        given: Any = self.values[FIRMWARE_PARAMETERS.name]
        try:
            self._board = Board(
                Path(initial) if initial else None,
                expanded(storage) if storage else None,
                self._log,
                AS_ROSFLIGHT if self.values["as_rosflight"] else REPAIRED,
                given=given,
                strict_files=bool(self.values[STRICT_FIRMWARE_FILES.name]),
                offboard_without_rc=bool(self.values["offboard_without_rc"]),
                link_latency_us=round(number(self.values, "link_latency") * 1e6),
            )
        except ParameterFileError as error:
            raise ParameterError(str(error)) from error

        self._lockstep = self.values["time_mode"] == "lockstep"
        self._join = StepJoin(self.JOIN, self._answer, self._answer_again, lockstep=self._lockstep)
        self._rc_arrived, self._command_arrived, self._run_arrived = map(self._join.input, self.JOIN.synchronized)
        self._transmitter, self._computer = ExpectedInput(), ExpectedInput()
        self._inputs = StampedInputs()
        self._pwm = PulseWidths(-1, ())
        self._imu_is_new = False
        self._output_schedule = Schedule(_OUTPUT_RATE_HZ)
        # In simulated time the node's clock does not advance during a pass; a measured time would differ between runs.
        self._measures_loop_time = not self.get_parameter("use_sim_time").value
        # Before the IMU's subscription: single-threaded executors serve subscriptions in the order of their creation.
        self._sensors = SensorRelay(self, self._board)
        self._create_topics()
        self._status = StatusReports(self, self._board)
        folder = expanded(str(self.values["param_file_folder"]))
        loadable = [share_directory() / "config", *([Path(initial).parent] if initial else [])]
        self._parameter_services = ParameterServices(self, self._board, folder, loadable)
        self._command_services = CommandServices(self, self._board)
        self.create_service(Trigger, "sil_board/run", self._run_once)
        self.create_service(Trigger, "rosflight_sil/take_sim_step", self._run_once)
        if self._lockstep:
            self.follow_stamps()
            self.subscribe(REPEATED_CLOCK, self._on_repeated_clock)
        else:
            start_ticks(self, number(self.values, "simulation_loop_frequency"), self._on_timer)

    @property
    def firmware(self) -> Firmware:
        """The running flight controller; a reboot replaces it."""
        return self._board.firmware

    def _create_topics(self) -> None:
        self._send_pwm = self.publisher(PWM_OUTPUT)
        self._send_attitude = self.lazy_publisher(ATTITUDE)
        self._send_euler = self.lazy_publisher(ATTITUDE_EULER)
        self._send_imu = self.lazy_publisher(IMU_DATA)
        self._send_output = self.publisher(OUTPUT_RAW)
        self._send_rc = self.publisher(RC_RAW)

        self.subscribe(RC, self._on_rc)
        self.subscribe(IMU, self._on_imu, needed=True)
        self.subscribe(COMMAND, self._on_command)
        self.subscribe(AUX_COMMAND, self._on_aux_command)
        self.subscribe(EXTERNAL_ATTITUDE, self._on_external_attitude)

    # Running the firmware.

    def _on_imu(self, imu: ImuSample) -> None:
        if not self._lockstep:
            self._receive_imu(imu)
        elif not self._waits_for_call(imu.time_ns):
            self._join.trigger(imu.time_ns, imu)
            self._report_punctual(self._join.waiting_ns)

    def _on_repeated_clock(self, time_ns: int) -> None:
        if not self._waits_for_call(time_ns):
            self._join.repeat(time_ns)

    def _waits_for_call(self, time_ns: int) -> bool:
        """Whether the answer of `time_ns` waits for a call of sil_board/run, which no repetition replaces."""
        return time_ns == self._join.waiting_ns and not self.values["use_timer"]

    def _receive_imu(self, imu: ImuSample) -> None:
        self._imu_is_new = True
        temperature_k = self._sensors.imu_temperature_k
        self._board.firmware.receive_imu(imu.time_ns // 1000, imu.accel, imu.gyro, temperature_k)

    def _report_punctual(self, time_ns: int) -> None:
        """Report to the join the inputs for which the answer of `time_ns` need not wait."""
        if not self._transmitter.is_late(time_ns):
            self._rc_arrived(time_ns)
        if not self._computer.is_late(time_ns):
            self._command_arrived(time_ns)
        if self.values["use_timer"]:
            self._run_arrived(time_ns)

    def _on_timer(self, time_ns: int) -> None:
        if self.values["use_timer"]:
            self._join.trigger(time_ns)

    def _run_once(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self.values["use_timer"]:
            response.message = "the firmware runs automatically; set use_timer to false to run it by calls"
            return response
        if self._lockstep and self._join.waiting_ns < 0:
            response.message = "no IMU message is waiting for an answer"
            return response
        now_ns = self.now_ns
        if not self._lockstep and now_ns <= 0:
            response.message = "the time is not known: no /clock message has arrived"
            return response
        if self._lockstep:
            self._join.give_up()
        else:
            self._join.make_stale()
            self._join.trigger(now_ns)
        response.success = True
        response.message = f"ran at {seconds_text(self._join.answered_ns)}"
        return response

    def _answer(self, time_ns: int, imu: ImuSample | None) -> None:
        """Run the firmware; in lockstep, on the IMU message."""
        if imu is not None:
            self.update_clock(time_ns)
            if self._transmitter.is_late(time_ns) or self._computer.is_late(time_ns):
                # The wait has ended without the late inputs: no longer wait for them.
                self._transmitter.give_up()
                self._computer.give_up()
            self._receive_imu(imu)
        if self.has_failures:
            self.advance_failures(time_ns)
        firmware = self._board.firmware
        start = time.perf_counter_ns() if self._measures_loop_time else 0
        self._inputs.deliver(time_ns)
        if self._link is not None:
            for command in self._link.arrived(time_ns):
                self._set_command(command)
        firmware.step(time_ns // 1000)
        self._pwm = PulseWidths(time_ns, firmware.integer_pulse_widths())
        if self._measures_loop_time:
            firmware.status.loop_time_us = (time.perf_counter_ns() - start) // 1000
        self._send_pwm(self._pwm)
        if self._imu_is_new:
            self._imu_is_new = False
            self._report_attitude(time_ns)
        if self._output_schedule.due(time_ns):
            self._send_output(Outputs(time_ns, firmware.outputs.tolist()))
        self._status.report(time_ns)

    def _answer_again(self, time_ns: int) -> None:
        self._send_pwm(self._pwm)

    def _report_attitude(self, time_ns: int) -> None:
        f = self._board.firmware
        self._send_attitude(lambda: AttitudeEstimate(time_ns, self._attitude_xyzw, f.angular_velocity.tolist()))
        self._send_euler(lambda: EulerAngles(time_ns, f.euler.tolist()))
        self._send_imu(lambda: ImuEstimate(time_ns, self._attitude_xyzw, f.imu_gyro.tolist(), f.imu_accel.tolist()))

    @property
    def _attitude_xyzw(self) -> tuple[float, ...]:
        w, x, y, z = self._board.firmware.attitude.tolist()
        return x, y, z, w

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """State of the firmware; an uncalibrated IMU is not a warning."""
        status = self._board.firmware.status
        errors = [flag for flag in ErrorFlag if flag & status.error_code]
        amiss = set(errors) - {ErrorFlag.UNCALIBRATED_IMU}
        level = Level.OK if not (amiss or status.failsafe) else Level.ERROR if status.armed else Level.WARN
        words = ["armed" if status.armed else "disarmed", *(["failsafe"] if status.failsafe else [])]
        message = ", ".join([*words, *(flag.reason for flag in errors)])
        values = {"armed": status.armed, "failsafe": status.failsafe, "refused IMU samples": status.num_errors}
        yield Diagnosis("", message, level, values=values)

    def _log(self, severity: Severity, text: str) -> None:
        logger = self.get_logger()
        # rclpy requires a separate call site per level.
        if severity == Severity.INFO:
            logger.info(text)
        elif severity == Severity.WARNING:
            logger.warning(text)
        elif severity == Severity.ERROR:
            logger.error(text)
        else:
            logger.fatal(text)

    # Receiver and commands.

    def _take(self, stamp_ns: int, act: Callable[[], None]) -> None:
        if self._lockstep:
            self._inputs.take(stamp_ns, self._join.answered_ns, act)
        else:
            act()

    def _on_rc(self, rc: PulseWidths) -> None:
        self._take(rc.time_ns, lambda: self._board.firmware.receive_rc(rc.time_ns // 1000, rc.pulse_us))
        self._send_rc(rc)
        self._transmitter.received(rc.time_ns)
        self._report_punctual(self._join.waiting_ns)

    def _now_us(self) -> int:
        """Reference time for the age of commands, us: that of the firmware's last pass."""
        return max(self._join.answered_ns, 0) // 1000

    def _on_command(self, c: ControlCommand) -> None:
        self._take(c.time_ns, lambda: self._receive_command(c))
        waiting_ns = self._join.waiting_ns
        self._computer.received(self._join.answered_ns if waiting_ns < 0 else waiting_ns)
        self._report_punctual(waiting_ns)

    def _receive_command(self, command: ControlCommand) -> None:
        if self._link is None:
            self._set_command(command)
        else:
            self._link.send(self._now_us() * 1000, command)

    def _set_command(self, c: ControlCommand) -> None:
        self._board.firmware.set_command(self._now_us(), c.mode, c.ignore, c.u)

    def fail(self, signals: Signals) -> None:
        """Let the link from the companion computer fail."""
        self._link = Link(signals["command", 0], LOST) if signals else None

    def _on_aux_command(self, command: AuxiliaryCommand) -> None:
        self._take(command.time_ns, lambda: self._board.firmware.set_aux_command(command.types, command.values))

    def _on_external_attitude(self, attitude: AttitudeEstimate) -> None:
        x, y, z, w = attitude.quaternion_xyzw
        self._board.firmware.set_external_attitude((w, x, y, z))


def main() -> None:
    """Run the node."""
    run(SilBoard)


if __name__ == "__main__":
    main()

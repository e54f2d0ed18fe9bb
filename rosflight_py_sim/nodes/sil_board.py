"""The flight controller's board in simulation: it runs the firmware and speaks rosflight_io's interface.

The firmware itself is in rosflight_py_sim.firmware and knows no ROS; this node carries messages in and out of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

from geometry_msgs.msg import Vector3Stamped
from rosflight_msgs.msg import Attitude, AuxCommand, Command, OutputRaw, RCRaw
from sensor_msgs.msg import Imu
from std_srvs.srv import Trigger

from rosflight_py_sim.firmware import AS_ROSFLIGHT, REPAIRED, Board, ErrorFlag, ParameterFileError, Severity
from rosflight_py_sim.interfaces.diagnostics import Diagnosis, Level
from rosflight_py_sim.interfaces.forces_and_moments_interface import PWM_WIRE
from rosflight_py_sim.interfaces.qos import CHAIN
from rosflight_py_sim.interfaces.rosflight_io_commands import CommandServices
from rosflight_py_sim.interfaces.rosflight_io_parameters import ParameterServices
from rosflight_py_sim.interfaces.rosflight_io_sensors import SensorRelay
from rosflight_py_sim.interfaces.rosflight_io_status import StatusReports
from rosflight_py_sim.interfaces.sensor_interface import IMU_ACCEL, IMU_GYRO
from rosflight_py_sim.interfaces.simulation_node import TIME_MODE, SimulationNode
from rosflight_py_sim.interfaces.stamped_inputs import Companion, StampedInputs
from rosflight_py_sim.interfaces.ticks import Schedule, start_ticks
from rosflight_py_sim.interfaces.traffic import Period
from rosflight_py_sim.interfaces.wire import NANOSECONDS, WireFormat, seconds_text
from rosflight_py_sim.nodes.rc import RC_WIRE
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, number

IMU_WIRE = WireFormat(Imu, frame_id="body")
ATTITUDE_WIRE = WireFormat(Attitude, frame_id="body")
EULER_WIRE = WireFormat(Vector3Stamped)
OUTPUT_WIRE = WireFormat(OutputRaw)
COMMAND_WIRE = WireFormat(Command)
AUX_COMMAND_WIRE = WireFormat(AuxCommand)

_UNKNOWN = (0.0,) * 9

_OUTPUT_RATE_HZ = 50.0


class SilBoard(SimulationNode):
    """Runs the firmware on each IMU message (lockstep) or on a timer, and publishes sim/pwm_output.

    In lockstep an IMU message stamped t is answered with the PWM of t, and the same one again when it comes again. RC
    frames and commands stamped t count from the next answer on, whether they come before that message or after. The
    answer waits for RC frames and commands that came regularly and are late, until the IMU message comes again: a
    process that the machine holds up must not look like a transmitter that is lost.
    With use_timer false the firmware runs only when sil_board/run (or rosflight_sil/take_sim_step) is called.
    """

    DEFAULT_NAME: ClassVar[str] = "sil_board"
    ALIASES: ClassVar[tuple[str, ...]] = ("rosflight_sil_manager",)
    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        TIME_MODE,
        Parameter("use_timer", True, "Run the firmware by itself; false: only when sil_board/run is called"),
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
            "firmware_param_file", "", "Firmware parameters to start with (ROSflight's YAML list)", read_only=True
        ),
        Parameter(
            "param_storage_file",
            "",
            "File that param_write writes and a start reads, in the place of the board's memory; empty: written "
            "parameters last as long as the node",
            read_only=True,
        ),
        Parameter(
            "as_rosflight",
            False,
            "Whether to undo the repairs of ROSflight's firmware, from the estimator's correction to the delay of "
            "commands (docs/firmware.md lists them)",
            read_only=True,
        ),
    )

    def __init__(self, **arguments: Any) -> None:
        """Load the firmware's parameters and start running it."""
        super().__init__(**arguments)
        storage = str(self.values["param_storage_file"])
        initial = str(self.values["firmware_param_file"])
        try:
            self._board = Board(
                Path(initial) if initial else None,
                Path(storage).expanduser() if storage else None,
                self._log,
                AS_ROSFLIGHT if self.values["as_rosflight"] else REPAIRED,
            )
        except ParameterFileError as error:
            raise ParameterError(str(error)) from error

        self._lockstep = self.values["time_mode"] == "lockstep"
        self._imu_ns = -1
        self._transmitter, self._computer = Companion(), Companion()
        self._inputs = StampedInputs()
        self._answered_ns = -1
        self._pwm = [1000] * 14
        self._imu_is_new = False
        self._output_schedule = Schedule(_OUTPUT_RATE_HZ)
        # Where the node's time stands still during a pass, a measured one would differ from run to run.
        self._measures_loop_time = not self.get_parameter("use_sim_time").value
        # Before the IMU's subscription: executors of one thread serve subscriptions in the order of their making.
        self._sensors = SensorRelay(self, self._board)
        self._create_topics()
        self._status = StatusReports(self, self._board)
        self._parameter_services = ParameterServices(self, self._board)
        self._command_services = CommandServices(self, self._board)
        self.create_service(Trigger, "sil_board/run", self._run_once)
        self.create_service(Trigger, "rosflight_sil/take_sim_step", self._run_once)
        if self._lockstep:
            self.follow_stamps()
        else:
            start_ticks(self, number(self.values, "simulation_loop_frequency"), self._on_timer)

    def _create_topics(self) -> None:
        self._send_pwm = self.publisher("sim/pwm_output", PWM_WIRE, CHAIN)
        self._send_attitude = self.publisher("attitude", ATTITUDE_WIRE, CHAIN)
        self._send_euler = self.publisher("attitude/euler", EULER_WIRE, CHAIN)
        self._send_imu = self.publisher("imu/data", IMU_WIRE, CHAIN)
        self._send_output = self.publisher("output_raw", OUTPUT_WIRE, CHAIN)
        self._send_rc = self.publisher("rc_raw", RC_WIRE, CHAIN)

        self.listen("sim/RC", RCRaw, self._on_rc, CHAIN)
        self.listen("sim/sensors/imu/data", Imu, self._on_imu, CHAIN, needed=True)
        self.listen("command", Command, self._on_command, CHAIN)
        self.listen("aux_command", AuxCommand, self._on_aux_command, CHAIN)
        self.listen("external_attitude", Attitude, self._on_external_attitude, CHAIN)

    # Running the firmware.

    def _on_imu(self, message: bytes) -> None:
        m = IMU_WIRE.decode(message)
        stamp = m[0] * NANOSECONDS + m[1]
        if self._lockstep and stamp == self._answered_ns:
            self._send_pwm(stamp, *self._pwm)
            return
        if self._lockstep:
            self.tell_time(stamp)
            if stamp == self._imu_ns:
                # Asked a second time, the companion that is late will not come.
                for companion in (self._transmitter, self._computer):
                    companion.give_up()
        self._imu_ns = stamp
        self._imu_is_new = True
        self._board.firmware.receive_imu(stamp // 1000, m[IMU_ACCEL], m[IMU_GYRO], self._sensors.imu_temperature_k)
        self._answer_imu()

    def _answer_imu(self) -> None:
        """In lockstep, run on the IMU message that waits for an answer, unless a companion is late."""
        time_ns = self._imu_ns
        if not self._lockstep or not self.values["use_timer"] or time_ns == self._answered_ns:
            return
        if not (self._transmitter.is_late(time_ns) or self._computer.is_late(time_ns)):
            self._run(time_ns)

    def _on_timer(self, time_ns: int) -> None:
        if self.values["use_timer"]:
            self._run(time_ns)

    def _run_once(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self.values["use_timer"]:
            response.message = "the firmware runs by itself; set use_timer to false to run it by calls"
            return response
        if self._lockstep and self._imu_ns == self._answered_ns:
            response.message = "no IMU message is waiting for an answer"
            return response
        time_ns = self._imu_ns if self._lockstep else self.get_clock().now().nanoseconds
        self._run(time_ns)
        response.success = True
        response.message = f"ran at {seconds_text(time_ns)}"
        return response

    def _run(self, time_ns: int) -> None:
        firmware = self._board.firmware
        start = time.perf_counter_ns() if self._measures_loop_time else 0
        self._inputs.deliver(time_ns)
        firmware.step(time_ns // 1000)
        self._pwm = firmware.whole_pulse_widths()
        if self._measures_loop_time:
            firmware.status.loop_time_us = (time.perf_counter_ns() - start) // 1000
        self._answered_ns = time_ns
        self._send_pwm(time_ns, *self._pwm)
        if self._imu_is_new:
            self._imu_is_new = False
            self._report_attitude(time_ns)
        if self._output_schedule.due(time_ns):
            self._send_output(time_ns, *firmware.outputs.tolist())
        self._status.report(time_ns)

    def _report_attitude(self, time_ns: int) -> None:
        firmware = self._board.firmware
        w, x, y, z = firmware.attitude.tolist()
        gyro = firmware.imu_gyro.tolist()
        self._send_attitude(time_ns, x, y, z, w, *firmware.angular_velocity.tolist())
        self._send_euler(time_ns, *firmware.euler.tolist())
        self._send_imu(time_ns, x, y, z, w, *_UNKNOWN, *gyro, *_UNKNOWN, *firmware.imu_accel.tolist(), *_UNKNOWN)

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """State of the firmware; that its IMU is to be calibrated first is not amiss."""
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
        # rclpy wants one call site per level.
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
            self._inputs.take(stamp_ns, self._answered_ns, act)
        else:
            act()

    def _on_rc(self, message: bytes) -> None:
        m = RC_WIRE.decode(message)
        stamp = m[0] * NANOSECONDS + m[1]
        self._take(stamp, lambda: self._board.firmware.receive_rc(stamp // 1000, m[2:]))
        self._send_rc(stamp, *m[2:])
        self._transmitter.heard(stamp)
        self._answer_imu()

    def _now_us(self) -> int:
        """Time by which commands age: that of the firmware's last pass."""
        return max(self._answered_ns, 0) // 1000

    def _on_command(self, message: bytes) -> None:
        m = COMMAND_WIRE.decode(message)
        stamp = m[0] * NANOSECONDS + m[1]
        self._take(stamp, lambda: self._board.firmware.set_command(self._now_us(), m[2], m[3], m[4:]))
        self._computer.heard(self._imu_ns)
        self._answer_imu()

    def _on_aux_command(self, message: bytes) -> None:
        m = AUX_COMMAND_WIRE.decode(message)
        stamp = m[0] * NANOSECONDS + m[1]
        self._take(stamp, lambda: self._board.firmware.set_aux_command(m[2:16], m[16:30]))

    def _on_external_attitude(self, message: bytes) -> None:
        m = ATTITUDE_WIRE.decode(message)
        self._board.firmware.set_external_attitude((m[5], *m[2:5]))


def main() -> None:
    """Run the node."""
    run(SilBoard)


if __name__ == "__main__":
    main()

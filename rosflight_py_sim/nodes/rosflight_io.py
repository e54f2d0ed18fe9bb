"""rosflight_io as a node of its own: its topics and services, for a flight controller behind a MAVLink link."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from rosflight_msgs.msg import Error
from std_msgs.msg import String

from rosflight_py_sim.bridge.companion_port import COMPANION_PARAMETERS, CompanionPort
from rosflight_py_sim.bridge.peers import address_text
from rosflight_py_sim.bridge.socket_watch import SocketWatch
from rosflight_py_sim.firmware import STRICT_FIRMWARE_FILES
from rosflight_py_sim.ground.parameters import ParameterTable
from rosflight_py_sim.ground.stamps import NANOSECONDS, set_time
from rosflight_py_sim.ground.units import ZERO_CELSIUS_K
from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.parts.rosflight_io.commands import CommandServices
from rosflight_py_sim.parts.rosflight_io.estimates import EstimateOutputs
from rosflight_py_sim.parts.rosflight_io.linked_board import LinkedBoard
from rosflight_py_sim.parts.rosflight_io.parameters import FIRMWARE_PARAM_FILE, PARAM_FILE_FOLDER, ParameterServices
from rosflight_py_sim.parts.rosflight_io.sensors import CorrectedMeasurements
from rosflight_py_sim.parts.rosflight_io.status import StatusReports
from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.protocols.rosflight_mavlink import dialect
from rosflight_py_sim.protocols.rosflight_mavlink.values import text_of
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.ports import newest
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import (
    AUX_COMMAND,
    COMMAND,
    EXTERNAL_ATTITUDE,
    AirspeedSample,
    AttitudeEstimate,
    AuxiliaryCommand,
    BaroSample,
    BatterySample,
    ControlCommand,
    EulerAngles,
    GnssSample,
    ImuEstimate,
    MagSample,
    Outputs,
    PulseWidths,
    RangeSample,
    StatusReport,
    TemperatureSample,
)

_TICK_S = 0.1

# Simulated time without a message after which the link is reported as broken. The flight controller sends its status
# at 10 Hz.
_LONGEST_SILENCE_NS = 2 * NANOSECONDS

# Beam width that ROSflight's rosflight_io publishes, because the message has none, rad.
_BEAM_WIDTH = 1.0472


class RosflightIo(CommandServices, ParameterServices, StatusReports, EstimateOutputs, CorrectedMeasurements, PartNode):
    """Connects topics and services to a flight controller by MAVLink.

    Messages with a time of the flight controller are stamped with that time, others with the time of their arrival.
    """

    DEFAULT_NAME: ClassVar[str] = "rosflight_io"
    PARAMETERS: ClassVar[ParameterTable] = (
        ParameterTable(FIRMWARE_PARAM_FILE, STRICT_FIRMWARE_FILES, PARAM_FILE_FOLDER) + COMPANION_PARAMETERS
    )

    ANSWERS_BEFORE_START: ClassVar[bool] = False

    board: LinkedBoard

    # Class attributes, because a node that fails during construction is also destroyed.
    _port: CompanionPort | None = None
    _watch: SocketWatch | None = None

    def initialise(self) -> None:
        """Set the state before the first message."""
        super().initialise()
        self._quaternion_xyzw: tuple[float, ...] = (0.0, 0.0, 0.0, 1.0)
        self._temperature_k = 0.0
        self._is_connected = False
        self._obstacle = "no heartbeat from the flight controller yet"
        self._now_ns = self._last_message_ns = 0
        self._takers: Mapping[type, Callable[[Any], None]] = {
            dialect.Heartbeat: self._take_heartbeat,
            dialect.AttitudeQuaternion: self._take_attitude,
            dialect.SmallImu: self._take_imu,
            dialect.RosflightOutputRaw: self._take_outputs,
            dialect.RcChannels: self._take_rc,
            dialect.DiffPressure: self._take_airspeed,
            dialect.SmallBaro: self._take_baro,
            dialect.SmallMag: self._take_mag,
            dialect.SmallRange: self._take_range,
            dialect.RosflightBatteryStatus: self._take_battery,
            dialect.RosflightGnss: self._take_gnss,
            dialect.RosflightStatus: self._take_status,
            dialect.RosflightVersion: self._take_version,
            dialect.RosflightHardError: self._take_hard_error,
        }

    def begin(self) -> None:
        """Open the port."""
        super().begin()
        self._port = port = CompanionPort(self.values)
        self.board = LinkedBoard(port, self.log, strict_files=bool(self.values[STRICT_FIRMWARE_FILES.name]))
        self.get_logger().info(f"flight controller expected on UDP {address_text(port.remote)}")
        self._watch = SocketWatch([port.fileno()], self._call_serve)
        self._watch.arm()
        self.create_system_timer(_TICK_S, self._tick)

    def destroy_node(self) -> None:
        """Also close the port."""
        if self._watch is not None:
            self._watch.close()
            self._watch = None
        if self._port is not None:
            self._port.close()
            self._port = None
        super().destroy_node()

    def _call_serve(self) -> None:
        """Call `_serve` in the executor's thread."""
        executor = self.executor
        if executor is not None:
            executor.create_task(self._serve)

    def _tick(self) -> None:
        self.board.tick(self.now_ns)
        # The watch may have found the node without an executor.
        self._serve()
        if self._is_connected and self._now_ns - self._last_message_ns > _LONGEST_SILENCE_NS:
            self._is_connected = False
            self._obstacle = f"no message from the flight controller for {_LONGEST_SILENCE_NS / NANOSECONDS:g} s"
            self.log.warning(f"{self._obstacle}: the link is broken, or the flight controller has ended")

    def _serve(self) -> None:
        if self._port is None or self._watch is None:
            return
        self._now_ns = self.now_ns
        for message in self._port.messages():
            self._last_message_ns = self._now_ns
            self.board.take(message, self._now_ns)
            taker = self._takers.get(type(message))
            if taker is not None:
                taker(message)
        self._watch.arm()

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Whether the flight controller is connected, and counters of the link."""
        text = "connected" if self._is_connected else self._obstacle
        counters = {} if self._port is None else self._port.counters
        yield Diagnosis("", text, Level.OK if self._is_connected else Level.WARN, values=counters)

    # To the flight controller.

    @newest(COMMAND)
    def receive_command(self, command: ControlCommand) -> None:
        """Send a command."""
        self._send(dialect.OffboardControl(command.mode, command.ignore, tuple(command.u)))

    @newest(AUX_COMMAND)
    def receive_aux_command(self, command: AuxiliaryCommand) -> None:
        """Send an auxiliary command."""
        self._send(dialect.RosflightAuxCmd(tuple(command.types), tuple(command.values)))

    @newest(EXTERNAL_ATTITUDE)
    def receive_external_attitude(self, attitude: AttitudeEstimate) -> None:
        """Send an attitude that another estimator gives."""
        x, y, z, w = attitude.quaternion_xyzw
        self._send(dialect.ExternalAttitude(w, x, y, z))

    def _send(self, message: Any) -> None:
        if self._port is not None:
            self._port.send(message)

    # From the flight controller.

    def _stamp_ns(self, uptime_us: int) -> int:
        return self.board.time.stamp_ns(uptime_us * 1000, self._now_ns)

    def _take_heartbeat(self, _: dialect.Heartbeat) -> None:
        if not self._is_connected:
            self._is_connected = True
            self.log.info("the flight controller is connected")

    def _take_attitude(self, message: dialect.AttitudeQuaternion) -> None:
        w, x, y, z = message[1:5]
        self._quaternion_xyzw = x, y, z, w
        stamp_ns = self._stamp_ns(message.time_boot_ms * 1000)
        self.send_attitude(lambda: AttitudeEstimate(stamp_ns, (x, y, z, w), message[5:]))
        self.send_euler(lambda: EulerAngles(stamp_ns, euler_from_quaternion(w, x, y, z)))

    def _take_imu(self, message: dialect.SmallImu) -> None:
        stamp_ns = self._stamp_ns(message.time_boot_us)
        accel, gyro = message[1:4], message[4:7]
        self.send_imu(lambda: ImuEstimate(stamp_ns, self._quaternion_xyzw, gyro, accel))
        if message.temperature != self._temperature_k:
            self._temperature_k = message.temperature
            self.send_temperature(TemperatureSample(stamp_ns, message.temperature - ZERO_CELSIUS_K))

    def _take_outputs(self, message: dialect.RosflightOutputRaw) -> None:
        self.send_output(Outputs(self._stamp_ns(message.stamp * 1000), message.values))

    def _take_rc(self, message: dialect.RcChannels) -> None:
        self.send_rc(PulseWidths(self._stamp_ns(message.time_boot_ms * 1000), message[2:10]))

    def _take_airspeed(self, message: dialect.DiffPressure) -> None:
        now_ns = self._now_ns
        self.send_airspeed(lambda: AirspeedSample(now_ns, *message))

    def _take_baro(self, message: dialect.SmallBaro) -> None:
        now_ns = self._now_ns
        self.send_baro(lambda: BaroSample(now_ns, *message))

    def _take_mag(self, message: dialect.SmallMag) -> None:
        now_ns = self._now_ns
        self.send_mag(lambda: MagSample(now_ns, tuple(message)))

    def _take_range(self, message: dialect.SmallRange) -> None:
        self.send_range(RangeSample(self._now_ns, _BEAM_WIDTH, message.min_range, message.max_range, message.range))

    def _take_battery(self, message: dialect.RosflightBatteryStatus) -> None:
        now_ns = self._now_ns
        self.send_battery(lambda: BatterySample(now_ns, *message))

    def _take_gnss(self, fix: dialect.RosflightGnss) -> None:
        self.send_gnss(
            GnssSample(
                self._stamp_ns(fix.rosflight_timestamp),
                fix.fix_type,
                fix.num_sat,
                fix.lat,
                fix.lon,
                fix.height,
                fix.h_acc,
                fix.v_acc,
                fix.vel_n,
                fix.vel_e,
                fix.vel_d,
                fix.s_acc,
                fix.seconds,
                fix.nanos,
            )
        )

    def _take_status(self, status: dialect.RosflightStatus) -> None:
        self.send_reports(
            StatusReport(
                self._now_ns,
                bool(status.armed),
                bool(status.failsafe),
                status.rc_override,
                bool(status.offboard),
                status.control_mode,
                status.error_code,
                status.num_errors,
                status.loop_time_us,
            )
        )

    def _take_version(self, message: dialect.RosflightVersion) -> None:
        self.send_version(String(data=text_of(message.version)))

    def _take_hard_error(self, fault: dialect.RosflightHardError) -> None:
        self.log.error(f"a fault has made the flight controller restart; restarts so far: {fault.reset_count}")
        message = Error(
            error_message="a fault has made the flight controller restart",
            error_code=fault.error_code,
            reset_count=fault.reset_count,
            rearm=bool(fault.doRearm),
            pc=fault.pc,
        )
        set_time(message.header.stamp, self._now_ns)
        self.send_error(message)

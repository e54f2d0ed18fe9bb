"""The flight controller's board in simulation: it runs the firmware and speaks rosflight_io's interface.

The firmware itself is in rosflight_py_sim.firmware and knows no ROS; this node carries messages in and out of it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from geometry_msgs.msg import Vector3Stamped
from rosflight_msgs.msg import (
    GNSS,
    Airspeed,
    Attitude,
    AuxCommand,
    Barometer,
    BatteryStatus,
    Command,
    Error,
    OutputRaw,
    RCRaw,
    Status,
)
from rosflight_msgs.srv import ParamFile, ParamGet, ParamSet
from sensor_msgs.msg import Imu, MagneticField, Range, Temperature
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from rosflight_py_sim import __version__
from rosflight_py_sim.firmware import (
    Firmware,
    FirmwareParameterOutOfRange,
    FirmwareParameters,
    ParameterFileError,
    Severity,
    UnknownFirmwareParameter,
)
from rosflight_py_sim.interfaces.forces_and_moments_interface import BATTERY_WIRE, PWM_WIRE
from rosflight_py_sim.interfaces.qos import CHAIN, LATCHED, LATCHED_LIST
from rosflight_py_sim.interfaces.sensor_interface import (
    AIRSPEED_WIRE,
    BARO_WIRE,
    GNSS_WIRE,
    IMU_ACCEL,
    IMU_GYRO,
    MAG_WIRE,
    RANGE_WIRE,
    TEMPERATURE_WIRE,
    ZERO_CELSIUS_K,
)
from rosflight_py_sim.interfaces.simulation_node import TIME_MODE, SimulationNode
from rosflight_py_sim.interfaces.ticks import Schedule, start_ticks
from rosflight_py_sim.interfaces.wire import NANOSECONDS, WireFormat
from rosflight_py_sim.nodes.rc import RC_WIRE
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, number

IMU_WIRE = WireFormat(Imu, frame_id="body")
ATTITUDE_WIRE = WireFormat(Attitude, frame_id="body")
EULER_WIRE = WireFormat(Vector3Stamped)
STATUS_WIRE = WireFormat(Status)
OUTPUT_WIRE = WireFormat(OutputRaw)
COMMAND_WIRE = WireFormat(Command)
AUX_COMMAND_WIRE = WireFormat(AuxCommand)

_UNKNOWN = (0.0,) * 9

_STATUS_RATE_HZ = 10.0
_OUTPUT_RATE_HZ = 50.0


class _Companion:
    """A regular input whose sender the machine may hold up while steps go by: worth a step's waiting.

    A sender counts as regular while it keeps an interval of at most 25 ms of simulated time, and as late 50 ms after it
    was heard, half of what the firmware calls lost.
    """

    def __init__(self) -> None:
        self._last_ns = 0
        self._regular = False

    def heard(self, time_ns: int) -> None:
        self._regular = 0 <= time_ns - self._last_ns <= 25_000_000
        self._last_ns = time_ns

    def is_late(self, time_ns: int) -> bool:
        return self._regular and time_ns - self._last_ns > 50_000_000

    def give_up(self) -> None:
        self._regular = False


class SilBoard(SimulationNode):
    """Runs the firmware on each IMU message (lockstep) or on a timer, and publishes sim/pwm_output.

    In lockstep an IMU message stamped t is answered with the PWM of t, and the same one again when it comes again. The
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
    )

    def __init__(self, **arguments: Any) -> None:
        """Load the firmware's parameters and start running it."""
        super().__init__(**arguments)
        parameters = FirmwareParameters()
        storage = str(self.values["param_storage_file"])
        try:
            if self.values["firmware_param_file"]:
                parameters.load(Path(str(self.values["firmware_param_file"])))
            if storage and Path(storage).exists():
                parameters.load(Path(storage))
        except ParameterFileError as error:
            raise ParameterError(str(error)) from error
        self._parameters_changed = True
        self._unsaved: bool | None = None
        self.firmware = Firmware(parameters, self._log)
        parameters.on_change.append(self._on_parameter_change)

        self._lockstep = self.values["time_mode"] == "lockstep"
        self._imu_ns = -1
        self._transmitter, self._computer = _Companion(), _Companion()
        self._answered_ns = -1
        self._pwm = [1000] * 14
        self._temperature_k = 298.15
        self._imu_is_new = False
        self._status_schedule = Schedule(_STATUS_RATE_HZ)
        self._output_schedule = Schedule(_OUTPUT_RATE_HZ)
        self._create_topics()
        self._create_services()
        if self._lockstep:
            self.follow_stamps()
        else:
            start_ticks(self, number(self.values, "simulation_loop_frequency"), self._on_timer)

    def _create_topics(self) -> None:
        self._send_pwm = self.publisher("sim/pwm_output", PWM_WIRE, CHAIN)
        self._send_attitude = self.publisher("attitude", ATTITUDE_WIRE, CHAIN)
        self._send_euler = self.publisher("attitude/euler", EULER_WIRE, CHAIN)
        self._send_imu = self.publisher("imu/data", IMU_WIRE, CHAIN)
        self._send_temperature = self.publisher("imu/temperature", TEMPERATURE_WIRE, CHAIN)
        self._send_status = self.publisher("status", STATUS_WIRE, CHAIN)
        self._send_output = self.publisher("output_raw", OUTPUT_WIRE, CHAIN)
        self._send_rc = self.publisher("rc_raw", RC_WIRE, CHAIN)
        self._send_airspeed = self.publisher("airspeed", AIRSPEED_WIRE, CHAIN)
        self._send_baro = self.publisher("baro", BARO_WIRE, CHAIN)
        self._send_mag = self.publisher("magnetometer", MAG_WIRE, CHAIN)
        self._send_range = self.publisher("range", RANGE_WIRE, CHAIN)
        self._send_battery = self.publisher("battery", BATTERY_WIRE, CHAIN)
        self._send_gnss = self.publisher("gnss", GNSS_WIRE, CHAIN)
        self._params_changed = self.create_publisher(Bool, "status/params_changed", CHAIN)
        self._unsaved_params = self.create_publisher(Bool, "status/unsaved_params", LATCHED)
        self.create_publisher(Error, "status/rosflight_errors", LATCHED_LIST)
        self.create_publisher(String, "version", LATCHED).publish(String(data=f"rosflight_py_sim {__version__}"))

        self.listen("sim/RC", RCRaw, self._on_rc, CHAIN)
        self.listen("sim/sensors/gnss", GNSS, self._on_gnss, CHAIN)
        self.listen("sim/sensors/mag", MagneticField, self._on_mag, CHAIN)
        self.listen("sim/sensors/baro", Barometer, self._on_baro, CHAIN)
        self.listen("sim/sensors/diff_pressure", Airspeed, self._on_diff_pressure, CHAIN)
        self.listen("sim/sensors/range", Range, self._on_range, CHAIN)
        self.listen("sim/sensors/battery", BatteryStatus, self._on_battery, CHAIN)
        self.listen("sim/sensors/imu/temperature", Temperature, self._on_temperature, CHAIN)
        self.listen("sim/sensors/imu/data", Imu, self._on_imu, CHAIN)
        self.listen("command", Command, self._on_command, CHAIN)
        self.listen("aux_command", AuxCommand, self._on_aux_command, CHAIN)
        self.listen("external_attitude", Attitude, self._on_external_attitude, CHAIN)

    def _create_services(self) -> None:
        self.create_service(Trigger, "sil_board/run", self._run_once)
        self.create_service(Trigger, "rosflight_sil/take_sim_step", self._run_once)
        self.create_service(ParamGet, "param_get", self._param_get)
        self.create_service(ParamSet, "param_set", self._param_set)
        self.create_service(Trigger, "param_write", self._param_write)
        self.create_service(ParamFile, "param_save_to_file", self._param_save_to_file)
        self.create_service(ParamFile, "param_load_from_file", self._param_load_from_file)
        self.create_service(Trigger, "all_params_received", self._all_params_received)
        self.create_service(Trigger, "calibrate_imu", self._calibrate_imu)

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
        self.firmware.receive_imu(stamp // 1000, m[IMU_ACCEL], m[IMU_GYRO], self._temperature_k)
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
        response.message = f"ran at {time_ns / NANOSECONDS:.6g} s"
        return response

    def _run(self, time_ns: int) -> None:
        firmware = self.firmware
        self._pwm = [round(us) for us in firmware.step(time_ns // 1000).tolist()]
        self._answered_ns = time_ns
        self._send_pwm(time_ns, *self._pwm)
        if self._imu_is_new:
            self._imu_is_new = False
            self._report_attitude(time_ns)
        if self._output_schedule.due(time_ns):
            self._send_output(time_ns, *firmware.outputs.tolist())
        if self._status_schedule.due(time_ns) or firmware.status_changed:
            self._report_status(time_ns)

    def _report_attitude(self, time_ns: int) -> None:
        firmware = self.firmware
        w, x, y, z = firmware.attitude.tolist()
        gyro = firmware.imu_gyro.tolist()
        self._send_attitude(time_ns, x, y, z, w, *firmware.angular_velocity.tolist())
        self._send_euler(time_ns, *firmware.euler.tolist())
        self._send_imu(time_ns, x, y, z, w, *_UNKNOWN, *gyro, *_UNKNOWN, *firmware.imu_accel.tolist(), *_UNKNOWN)

    def _report_status(self, time_ns: int) -> None:
        s = self.firmware.status
        self.firmware.status_changed = False
        self._send_status(
            time_ns,
            s.armed,
            s.failsafe,
            s.rc_override,
            s.offboard,
            s.control_mode,
            s.error_code & 0xFF,
            s.num_errors,
            s.loop_time_us,
        )
        if self._parameters_changed:
            self._parameters_changed = False
            self._params_changed.publish(Bool(data=True))
        if self._unsaved is not self.firmware.parameters.unsaved:
            self._unsaved = self.firmware.parameters.unsaved
            self._unsaved_params.publish(Bool(data=self._unsaved))

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

    def _on_parameter_change(self, name: str) -> None:
        self._parameters_changed = True

    # Sensors, receiver and commands.

    def _on_rc(self, message: bytes) -> None:
        m = RC_WIRE.decode(message)
        stamp = m[0] * NANOSECONDS + m[1]
        self.firmware.receive_rc(stamp // 1000, m[2:])
        self._send_rc(stamp, *m[2:])
        self._transmitter.heard(stamp)
        self._answer_imu()

    def _on_gnss(self, message: bytes) -> None:
        m = GNSS_WIRE.decode(message)
        self._send_gnss(m[0] * NANOSECONDS + m[1], *m[2:])

    def _on_mag(self, message: bytes) -> None:
        m = MAG_WIRE.decode(message)
        self.firmware.receive_mag(m[2:5])
        self._send_mag(m[0] * NANOSECONDS + m[1], *self.firmware.magnetic_field.tolist(), *_UNKNOWN)

    def _on_baro(self, message: bytes) -> None:
        m = BARO_WIRE.decode(message)
        firmware = self.firmware
        firmware.receive_baro(m[3], m[4])
        stamp = m[0] * NANOSECONDS + m[1]
        self._send_baro(stamp, firmware.altitude, firmware.baro_pressure, firmware.baro_temperature)

    def _on_diff_pressure(self, message: bytes) -> None:
        m = AIRSPEED_WIRE.decode(message)
        firmware = self.firmware
        firmware.receive_diff_pressure(m[3], m[4])
        stamp = m[0] * NANOSECONDS + m[1]
        self._send_airspeed(stamp, firmware.airspeed, firmware.diff_pressure, firmware.diff_pressure_temperature)

    def _on_range(self, message: bytes) -> None:
        m = RANGE_WIRE.decode(message)
        self.firmware.receive_range(m[6])
        self._send_range(m[0] * NANOSECONDS + m[1], *m[2:])

    def _on_battery(self, message: bytes) -> None:
        m = BATTERY_WIRE.decode(message)
        battery = self.firmware.battery
        self.firmware.receive_battery(m[2], m[3])
        self._send_battery(m[0] * NANOSECONDS + m[1], battery.voltage, battery.current)

    def _on_temperature(self, message: bytes) -> None:
        m = TEMPERATURE_WIRE.decode(message)
        self._temperature_k = m[2] + ZERO_CELSIUS_K
        self._send_temperature(m[0] * NANOSECONDS + m[1], *m[2:])

    def _now_us(self) -> int:
        """Time by which commands age: that of the firmware's last pass."""
        return max(self._answered_ns, 0) // 1000

    def _on_command(self, message: bytes) -> None:
        m = COMMAND_WIRE.decode(message)
        self.firmware.set_command(self._now_us(), m[2], m[3], m[4:])
        self._computer.heard(self._imu_ns)
        self._answer_imu()

    def _on_aux_command(self, message: bytes) -> None:
        m = AUX_COMMAND_WIRE.decode(message)
        self.firmware.set_aux_command(m[2:16], m[16:30])

    def _on_external_attitude(self, message: bytes) -> None:
        m = ATTITUDE_WIRE.decode(message)
        self.firmware.set_external_attitude((m[5], *m[2:5]))

    # rosflight_io's services.

    def _param_get(self, request: ParamGet.Request, response: ParamGet.Response) -> ParamGet.Response:
        value = self.firmware.parameters.get(request.name)
        response.exists = value is not None
        response.value = float(value) if value is not None else 0.0
        return response

    def _param_set(self, request: ParamSet.Request, response: ParamSet.Response) -> ParamSet.Response:
        try:
            self.firmware.parameters.set(request.name, request.value)
        except UnknownFirmwareParameter as error:
            self.get_logger().error(f"param_set refused: {error}")
            return response
        except FirmwareParameterOutOfRange as error:
            self.get_logger().error(f"param_set refused: {error}")
        response.exists = True
        return response

    def _param_write(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        storage = str(self.values["param_storage_file"])
        if not storage:
            self.firmware.parameters.unsaved = False
            response.success = True
            response.message = "kept as long as the node runs; set param_storage_file to keep them in a file"
            return response
        response.success, response.message = self._write(self.firmware.parameters.save, storage)
        return response

    def _param_save_to_file(self, request: ParamFile.Request, response: ParamFile.Response) -> ParamFile.Response:
        response.success, _ = self._write(self.firmware.parameters.export, request.filename)
        return response

    def _write(self, write: Callable[[str], None], filename: str) -> tuple[bool, str]:
        try:
            write(filename)
        except OSError as error:
            self.get_logger().error(f"parameters not saved: {error}")
            return False, str(error)
        return True, f"saved to {filename}"

    def _param_load_from_file(self, request: ParamFile.Request, response: ParamFile.Response) -> ParamFile.Response:
        try:
            self.firmware.parameters.load(Path(request.filename))
        except ParameterFileError as error:
            self.get_logger().error(f"parameters not loaded: {error}")
            return response
        response.success = True
        return response

    def _all_params_received(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = True
        response.message = "all parameters are known"
        return response

    def _calibrate_imu(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self.firmware.calibrate_imu()
        response.message = "calibrating: keep the vehicle still" if response.success else "refused while armed"
        return response


def main() -> None:
    """Run the node."""
    run(SilBoard)


if __name__ == "__main__":
    main()

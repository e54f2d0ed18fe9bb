"""The flight controller: one pass of its main loop an IMU sample.

A pass follows the original's order: sensors, estimator, controller, mixer; then the state machine, the receiver and
the choice between the commands, which the next pass obeys. The numeric part is one kernel call on arrays that are
refilled only when a parameter changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware import command as commands
from rosflight_py_sim.firmware import controller, estimator, rc, sensors
from rosflight_py_sim.firmware.control_step import PARAMETERS_USED as KERNEL_PARAMETERS
from rosflight_py_sim.firmware.control_step import (
    SUSPICIOUS_MIXER,
    SUSPICIOUS_OUTPUT,
    UNHEALTHY_ESTIMATE,
    control_settings,
    control_step,
)
from rosflight_py_sim.firmware.mixer import OUTPUTS
from rosflight_py_sim.firmware.mixer_selection import CHOICE_PARAMETERS, ELEMENT_PREFIXES, MixerSelection
from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.firmware.state_machine import ErrorFlag, Event, Log, Severity, StateMachine

IMU_TIMEOUT_US = 1_000_000
"""Time without an IMU sample after which the IMU counts as not responding."""


class Status:
    """What the controller reports about itself; the fields are those of rosflight_msgs/Status.

    `num_errors` counts IMU samples that were refused. `loop_time_us` stays 0 unless the caller measures it: the
    controller's clock stands still during a pass.
    """

    __slots__ = (
        "armed",
        "control_mode",
        "error_code",
        "failsafe",
        "loop_time_us",
        "num_errors",
        "offboard",
        "rc_override",
    )

    def __init__(self) -> None:
        self.armed = False
        self.failsafe = False
        self.rc_override = 0
        self.offboard = False
        self.control_mode = 0
        self.error_code = 0
        self.num_errors = 0
        self.loop_time_us = 0


class _Surroundings:
    """What the state machine asks, answered from the controller's parts."""

    def __init__(self, firmware: Firmware) -> None:
        self.time_us = 0
        self._firmware = firmware

    def throttle_stick_is_low(self) -> bool:
        return self._firmware.receiver.throttle_stick_is_low()

    def throttle_is_guarded(self) -> bool:
        switch = self._firmware.receiver.switches[rc.Switch.THROTTLE_OVERRIDE]
        return switch or bool(self._firmware.parameters["TAKE_MIN_THR"])

    def wants_gyro_calibration(self) -> bool:
        return bool(self._firmware.parameters["ARM_CAL_GYRO"])

    def start_gyro_calibration(self) -> None:
        self._firmware.calibrate_gyro()

    def log(self, severity: Severity, text: str) -> None:
        self._firmware.log(severity, text)


def _silent(severity: Severity, text: str) -> None:
    """Stands in where nobody wants the log."""


class Firmware:
    """The flight controller.

    Time is given in whole microseconds of any epoch; the first time given counts as the start. `status_changed` is
    set when the status changes in a way that is reported at once; whoever reports it clears it.

    Attributes:
        attitude: (4,) quaternion w x y z, body to inertial.
        euler: (3,) roll, pitch, yaw (rad).
        angular_velocity: (3,) filtered, bias taken out, body axes (rad/s).
        imu_accel, imu_gyro: (3,) corrected sample, body axes (m/s^2, rad/s).
        imu_temperature: K.
        outputs: (14,) raw outputs 0..1.
        altitude: pressure altitude (m), baro_pressure (Pa), baro_temperature (K).
        airspeed: indicated (m/s), diff_pressure (Pa), diff_pressure_temperature (K).
        air_density: from the barometer (kg/m^3).
        range: of the range finder (m).
        magnetic_field: (3,) corrected, body axes (T).
    The arrays are views that the next `step` changes.
    """

    def __init__(
        self,
        parameters: FirmwareParameters | None = None,
        log: Callable[[Severity, str], None] | None = None,
    ) -> None:
        self.parameters = FirmwareParameters() if parameters is None else parameters
        self.log: Log = _silent if log is None else log
        self.status = Status()
        self.status_changed = True

        self._surroundings = _Surroundings(self)
        self.state_machine = StateMachine(self._surroundings)
        self.receiver = rc.Receiver(self.parameters, self.state_machine, self.log)
        self.command = commands.CommandMux(self.parameters, self.receiver)
        self.battery = sensors.Battery(self.parameters)
        self._magnetometer = sensors.Magnetometer(self.parameters)
        self._calibration = sensors.ImuCalibration(
            self.parameters, self.state_machine.handle, self.log, self._forget_gyro_bias, self._accel_calibrated
        )

        self._start_us: int | None = None
        self._imu_time_us = 0
        self._last_imu_us: int | None = None
        self._rc_due_us: float = math.inf
        self._new_imu = False
        self._findings = 0

        self._sample: NDArray[np.float64] = np.zeros(7)
        self._imu: NDArray[np.float64] = np.zeros((2, 3))
        self._estimate = estimator.new_estimator_state()
        self._memory = controller.new_controller_memory()
        self._channels: NDArray[np.float64] = np.zeros((4, OUTPUTS))
        self._mixers = MixerSelection(self.parameters, self.log, self._channels[0])
        self.outputs: NDArray[np.float64] = np.zeros(OUTPUTS)
        self._pwm: NDArray[np.float64] = np.full(OUTPUTS, 1000.0)

        self.attitude = self._estimate[estimator.ATTITUDE : estimator.ATTITUDE + 4]
        self.euler = self._estimate[estimator.EULER : estimator.EULER + 3]
        self.angular_velocity = self._estimate[estimator.RATE : estimator.RATE + 3]
        self.imu_accel = self._imu[0]
        self.imu_gyro = self._imu[1]
        self.imu_temperature = 0.0
        self.magnetic_field = self._magnetometer.field
        self.air_density = sensors.SEA_LEVEL_DENSITY
        self.altitude = 0.0
        self.baro_pressure = 0.0
        self.baro_temperature = 0.0
        self.airspeed = 0.0
        self.diff_pressure = 0.0
        self.diff_pressure_temperature = 0.0
        self.range = 0.0

        self._settings = control_settings(self.parameters)
        self._check_mixer()
        self._check_failsafe()
        if not any(self.parameters[name] for name in sensors.IMU_BIASES):
            self.state_machine.raise_error(ErrorFlag.UNCALIBRATED_IMU)
        self.state_machine.handle(Event.INITIALIZED)
        self.receiver.log_mapping()
        self._update_status()
        self.parameters.on_change.append(self._parameter_changed)

    def receive_imu(
        self,
        time_us: int,
        accel: Sequence[float] | NDArray[np.float64],
        gyro: Sequence[float] | NDArray[np.float64],
        temperature_k: float,
    ) -> None:
        """Take an IMU sample in sensor axes (m/s^2, rad/s); one that is not finite is refused and counted."""
        sample = self._sample
        # Reading an array element by element costs twice the rest of this method.
        ax, ay, az = accel.tolist() if isinstance(accel, np.ndarray) else accel
        p, q, r = gyro.tolist() if isinstance(gyro, np.ndarray) else gyro
        if not math.isfinite(ax + ay + az + p + q + r + temperature_k):
            self.status.num_errors += 1
            return
        sample[0], sample[1], sample[2] = ax, ay, az
        sample[3], sample[4], sample[5] = p, q, r
        sample[6] = temperature_k
        self.imu_temperature = temperature_k
        self._imu_time_us = time_us
        self._new_imu = True

    def receive_mag(self, flux: Sequence[float]) -> None:
        """Take a magnetometer sample (T, sensor axes)."""
        self._magnetometer.receive(flux)

    def receive_baro(self, pressure_pa: float, temperature_k: float) -> None:
        """Take a barometer sample; air density and altitude follow. A pressure that is not positive is dropped."""
        if not 0.0 < pressure_pa < math.inf:
            return
        self.baro_pressure = pressure_pa
        self.baro_temperature = temperature_k
        self.altitude = sensors.pressure_altitude(pressure_pa)
        self.air_density = sensors.density_from_pressure(pressure_pa)

    def receive_diff_pressure(self, pressure_pa: float, temperature_k: float) -> None:
        """Take a differential pressure; the airspeed follows. One that is not finite is dropped."""
        if not math.isfinite(pressure_pa):
            return
        self.diff_pressure = pressure_pa - float(self.parameters["DIFF_PRESS_BIAS"])
        self.diff_pressure_temperature = temperature_k
        self.airspeed = sensors.indicated_airspeed(self.diff_pressure)

    def receive_range(self, distance_m: float) -> None:
        """Take a distance of the range finder."""
        self.range = distance_m

    def receive_battery(self, voltage: float, current: float) -> None:
        """Take voltage (V) and current (A); a pair that is not finite is dropped."""
        if not math.isfinite(voltage + current):
            return
        self.battery.receive(voltage, current)

    def receive_rc(self, time_us: int, channels_us: Sequence[int]) -> None:
        """Take an RC frame: eight pulse widths (us).

        Raises:
            ValueError: not eight channels.
        """
        self.receiver.receive(time_us, channels_us)

    def set_command(self, time_us: int, mode: int, ignore: int, values: Sequence[float]) -> None:
        """Take a command of the companion computer: `CommandMode`, bits of values to ignore, ten values.

        A command with an unknown mode or values that are not finite is dropped and logged; the old one goes stale.
        """
        try:
            self.command.set_offboard(time_us, mode, ignore, values)
        except ValueError as error:
            self.log(Severity.WARNING, f"command dropped: {error}")
            return
        self.command.due_us = -math.inf

    def set_aux_command(self, types: Sequence[int], values: Sequence[float]) -> None:
        """Take fourteen auxiliary outputs: types 0 off, 1 servo (-1..1), 2 motor (0..1), and values.

        They reach the outputs that the mixer leaves free. A wrong one is dropped and logged.
        """
        kinds = np.array(types, dtype=np.float64)
        settings = np.array(values, dtype=np.float64)
        if kinds.shape != (OUTPUTS,) or settings.shape != (OUTPUTS,):
            self.log(Severity.WARNING, f"auxiliary command dropped: {OUTPUTS} types and values are wanted")
            return
        if not np.isin(kinds, (0, 1, 2)).all() or not np.isfinite(settings).all():
            self.log(Severity.WARNING, "auxiliary command dropped: types are 0, 1 or 2, values finite")
            return
        self._channels[1] = kinds
        self._channels[2] = np.where(kinds == 0, 0.0, settings)

    def set_external_attitude(self, quaternion_wxyz: Sequence[float]) -> None:
        """Take an attitude (body to inertial) from outside, which the next pass corrects the estimate with.

        One that is not finite or zero is dropped and logged; others are normalised.
        """
        quaternion = np.array(quaternion_wxyz, dtype=np.float64)
        norm = float(np.linalg.norm(quaternion))
        if quaternion.shape != (4,) or not math.isfinite(norm) or norm < 1e-6:
            self.log(Severity.WARNING, f"external attitude dropped: {quaternion_wxyz} is no rotation")
            return
        self._estimate[estimator.EXTERNAL : estimator.EXTERNAL + 4] = quaternion / norm
        self._estimate[estimator.EXTERNAL_GIVEN] = 1.0

    @property
    def calibrating(self) -> bool:
        """Whether a calibration of gyros or accelerometer is running."""
        return self._calibration.running

    def calibrate_imu(self) -> bool:
        """Start to average gyros and accelerometer, which must be at rest and level; False, with a log, while armed."""
        if self.state_machine.armed:
            self.log(Severity.ERROR, "cannot calibrate the IMU while armed")
            return False
        self._calibration.start()
        return True

    def calibrate_gyro(self) -> bool:
        """Start to average the gyros, which must be at rest; False, with a log, while armed."""
        if self.state_machine.armed:
            self.log(Severity.ERROR, "cannot calibrate the gyros while armed")
            return False
        self._calibration.start_gyro()
        return True

    def step(self, time_us: int) -> NDArray[np.float64]:
        """One pass of the main loop.

        Returns:
            (14,) pulse widths (us), motors 1000 + 1000 * setting, servos 1500 + 500 * deflection; not rounded, and
            changed by the next step.
        """
        if self._start_us is None:
            self._start_us = time_us
            self._rc_due_us = time_us + rc.RC_TIMEOUT_US + 1
        elif time_us < self._surroundings.time_us:
            self._clock_went_back(time_us)
        self._surroundings.time_us = time_us
        machine = self.state_machine
        if self._new_imu:
            self._new_imu = False
            self._control()
        elif time_us - (self._start_us if self._last_imu_us is None else self._last_imu_us) > IMU_TIMEOUT_US:
            machine.raise_error(ErrorFlag.IMU_NOT_RESPONDING)

        if self.receiver.new_frame or time_us >= self._rc_due_us or time_us >= self.command.due_us:
            self._choose_command(time_us)
        if machine.changed:
            self._update_status()
        return self._pwm

    def _control(self) -> None:
        """Sensors, estimator, controller and mixer on the sample that was received."""
        machine = self.state_machine
        now, last = self._imu_time_us, self._last_imu_us
        self._last_imu_us = now
        if machine.errors:
            machine.clear_error(ErrorFlag.IMU_NOT_RESPONDING)
        if self._calibration.running:
            self._calibration.take(self._settings[:9].reshape(3, 3), self._sample)
        if last is None or now == last:
            return
        if now < last:
            self.status.num_errors += 1
            machine.raise_error(ErrorFlag.TIME_GOING_BACKWARDS)
            return
        if machine.errors:
            machine.clear_error(ErrorFlag.TIME_GOING_BACKWARDS)
        assert self._start_us is not None
        time_s = (now - self._start_us) * 1e-6
        findings = control_step(
            self._settings,
            self._sample,
            self._imu,
            self._estimate,
            self._memory,
            self.command.combined,
            self._mixers.matrix,
            self._channels,
            self.outputs,
            self._pwm,
            time_s,
            (now - last) * 1e-6,
            machine.armed,
            not self._mixers.fault,
            self.air_density,
            self.battery.voltage,
        )
        if findings != self._findings:
            self._follow_findings(findings)

    def _follow_findings(self, findings: int) -> None:
        new = findings & ~self._findings
        self._findings = findings
        if findings & UNHEALTHY_ESTIMATE:
            self.state_machine.raise_error(ErrorFlag.UNHEALTHY_ESTIMATOR)
        else:
            self.state_machine.clear_error(ErrorFlag.UNHEALTHY_ESTIMATOR)
        if new & SUSPICIOUS_MIXER:
            self.log(Severity.WARNING, f"the mixer asks more than {SUSPICIOUS_OUTPUT:g} of a motor; check the mixer")

    def _choose_command(self, time_us: int) -> None:
        """Read the receiver and put the combined command in force."""
        receiver, machine = self.receiver, self.state_machine
        assert self._start_us is not None
        receiver.new_frame = False
        self.command.due_us = math.inf
        self._rc_due_us = math.inf
        if receiver.run(time_us, self._start_us):
            last = receiver.last_frame_us
            assert last is not None
            self._rc_due_us = last + rc.RC_TIMEOUT_US + 1
        if machine.failsafe:
            self.command.fail_safe()
        elif self._rc_due_us < math.inf:
            self.command.run(time_us)
        self._mixers.select(self.command.rc_override)
        self._update_status()

    def _clock_went_back(self, time_us: int) -> None:
        """Nothing that was timed by the later clock may stay in force until that time comes again."""
        assert self._start_us is not None
        self._start_us = min(self._start_us, time_us)
        self._rc_due_us = -math.inf
        self.receiver.clock_went_back(time_us)
        self.command.clock_went_back()
        self._estimate[[estimator.LAST_ACCEL, estimator.LAST_EXTERNAL]] = (time_us - self._start_us) * 1e-6

    def _parameter_changed(self, name: str) -> None:
        if name in KERNEL_PARAMETERS:
            self._settings = control_settings(self.parameters)
        if name in sensors.IMU_BIASES and self.parameters[name] != 0.0:
            self.state_machine.clear_error(ErrorFlag.UNCALIBRATED_IMU)
        if name in rc.MAPPING_PARAMETERS:
            self.receiver.configure()
        if name in commands.PARAMETERS_USED:
            self.command.configure()
            self._check_failsafe()
        if name in sensors.MAG_PARAMETERS:
            self._magnetometer.configure()
        if name in CHOICE_PARAMETERS:
            self._mixers.install()
            self.outputs[:] = 0.0
            self._check_mixer()
        elif name.startswith(ELEMENT_PREFIXES):
            self._mixers.element_changed()
            self._check_mixer()
        self._update_status()

    def _check_failsafe(self) -> None:
        if self.command.failsafe_is_valid:
            self.state_machine.clear_error(ErrorFlag.INVALID_FAILSAFE)
        else:
            self.state_machine.raise_error(ErrorFlag.INVALID_FAILSAFE)

    def _check_mixer(self) -> None:
        machine, fault = self.state_machine, self._mixers.fault
        if not fault:
            machine.clear_error(ErrorFlag.INVALID_MIXER)
        elif not machine.errors & ErrorFlag.INVALID_MIXER:
            self.log(Severity.ERROR, f"invalid mixer: {fault}")
            machine.raise_error(ErrorFlag.INVALID_MIXER)

    def _forget_gyro_bias(self) -> None:
        self._estimate[estimator.BIAS : estimator.BIAS + 3] = 0.0

    def _accel_calibrated(self) -> None:
        estimator.reset_estimator(self._estimate)
        self.state_machine.clear_error(ErrorFlag.UNCALIBRATED_IMU)

    def _update_status(self) -> None:
        status, machine = self.status, self.state_machine
        armed, failsafe, errors = machine.armed, machine.failsafe, int(machine.errors)
        override, offboard = self.command.rc_override, self.command.offboard_active
        mode = self.command.control_mode
        machine.changed = False
        if (
            status.armed is not armed
            or status.failsafe is not failsafe
            or status.error_code != errors
            or status.rc_override != override
            or status.offboard is not offboard
            or status.control_mode != mode
        ):
            status.armed, status.failsafe, status.error_code = armed, failsafe, errors
            status.rc_override, status.offboard, status.control_mode = override, offboard, mode
            self.status_changed = True

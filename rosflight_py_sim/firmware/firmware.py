"""Flight controller: one pass of the main loop per IMU sample.

A pass follows rosflight_firmware's order: sensors, estimator, controller, mixer; then the state machine, the receiver
and command arbitration, whose result takes effect in the next pass. The numeric part is one kernel call on arrays that
are refilled only when a parameter changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import isfinite
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware import command as commands
from rosflight_py_sim.firmware import controller, estimator, rc, sensors
from rosflight_py_sim.firmware.calibrations import Calibrations
from rosflight_py_sim.firmware.control_step import (
    ORDINARY,
    SUSPICIOUS_MIXER,
    SUSPICIOUS_OUTPUT,
    UNHEALTHY_ESTIMATE,
    control_settings,
    control_step,
    firmware_pass,
    setting_at_full_throttle,
)
from rosflight_py_sim.firmware.control_step import PARAMETERS_USED as KERNEL_PARAMETERS
from rosflight_py_sim.firmware.error_log import ErrorLog
from rosflight_py_sim.firmware.inputs import Inputs
from rosflight_py_sim.firmware.mixer import mixer_step
from rosflight_py_sim.firmware.mixer_selection import CHOICE_PARAMETERS, ELEMENT_PREFIXES, MixerSelection
from rosflight_py_sim.firmware.offboard_commands import ChainedCommands, is_rest_due
from rosflight_py_sim.firmware.parameter_table import MIXER_ROWS
from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.firmware.quirks import REPAIRED, Quirks
from rosflight_py_sim.firmware.state_machine import ErrorFlag, Event, Log, Severity, StateMachine
from rosflight_py_sim.firmware.status import Status
from rosflight_py_sim.firmware.surroundings import FirmwareSurroundings
from rosflight_py_sim.ground.pulse_width import LOW_US, MOTOR, OUTPUTS, pulse_of
from rosflight_py_sim.kernels.chain import NEVER_NS, ChainLink, Due, StepTime
from rosflight_py_sim.kernels.jit import bound
from rosflight_py_sim.kernels.record import assign

IMU_TIMEOUT_US = 1_000_000
"""Time without an IMU sample after which the IMU counts as not responding."""


_RC_LOST = int(ErrorFlag.RC_LOST)

_write_sample: Callable[..., None] = Struct("7d").pack_into


def _silent(severity: Severity, text: str) -> None:
    """Log function that discards every line."""


# Errors that the next IMU sample ends.
_ENDED_BY_SAMPLE = int(ErrorFlag.IMU_NOT_RESPONDING | ErrorFlag.TIME_GOING_BACKWARDS)


class Firmware(Inputs):
    """The flight controller.

    Time is given in whole microseconds of any epoch; the first time given counts as the start. `status_changed` is set
    by a status change that is to be reported at once; the caller clears it after reporting.

    Attributes (besides those of Inputs):
        attitude: (4,) quaternion w x y z, body to inertial.
        euler: (3,) roll, pitch, yaw (rad).
        angular_velocity: (3,) filtered, bias taken out, body axes (rad/s).
        imu_accel, imu_gyro: (3,) corrected sample, body axes (m/s^2, rad/s).
        imu_temperature: K.
        mixer_matrix: (10, 10) mixing matrix in force, see `mixer`; changed in place.
        mixer_input: (10,) what the last step mixed: Fx, Fy, Fz, Qx, Qy, Qz (N and N m, or shares), four spare ones.
        outputs: (14,) raw outputs 0..1.
        whole_pulse_widths: (14,) pulse widths of the last step in whole microseconds.
    The arrays are views; the next `step` overwrites them.
    """

    def __init__(
        self,
        parameters: FirmwareParameters | None = None,
        log: Callable[[Severity, str], None] | None = None,
        quirks: Quirks = REPAIRED,
        offboard_without_rc: bool = False,
        link_latency_us: int = 0,
        in_flight: bool = False,
    ) -> None:
        """Start; with `quirks` AS_ROSFLIGHT the behaviour is that of rosflight_firmware in its simulator.

        With `offboard_without_rc`, commands of the companion computer stay in force in failsafe. Commands, auxiliary
        commands and external attitudes arrive `link_latency_us` (us) after they were sent. With `in_flight`, the IMU
        counts as calibrated, and the vehicle is armed from the first pass on.
        """
        self.quirks = quirks
        self._offboard_without_rc = offboard_without_rc
        self._link_latency_us = link_latency_us
        self.parameters = (
            FirmwareParameters(unlimited_numbers=quirks.unlimited_numbers) if parameters is None else parameters
        )
        self.log: Log = _silent if log is None else log
        self.status = Status()
        self.status_changed = True

        self.state_machine = StateMachine(FirmwareSurroundings(self))
        self._error_log = ErrorLog(self.log, self._detail)
        self.receiver = rc.Receiver(self.parameters, self.state_machine, self.log, quirks)
        self.command = commands.CommandMux(self.parameters, self.receiver, quirks)
        self.calibrations = Calibrations(
            self.parameters,
            self.state_machine,
            self.receiver,
            self.command,
            self.log,
            self._forget_gyro_bias,
            self._accel_calibrated,
            quirks,
        )
        super().__init__()

        self._start_us: int | None = None
        self._imu_time_us = 0
        self._last_imu_us: int | None = None
        self._rc_due_us: float = math.inf
        self._frames = rc.RepeatedFrames(is_settled=False, until_us=0, sent_ns=-1, held_ns=-1, time_us=-1, pass_us=0)
        self._received_us: NDArray[np.int64] = np.zeros(rc.RC_CHANNELS, dtype=np.int64)
        self._commands = ChainedCommands(link_latency_us)
        self._new_imu = False
        self._findings = 0

        self._sample: NDArray[np.float64] = np.zeros(7)
        self._imu: NDArray[np.float64] = np.zeros((2, 3))
        self._estimate = estimator.new_estimator_state()
        self._memory = controller.new_controller_memory()
        self._channels: NDArray[np.float64] = np.zeros((4, OUTPUTS))
        self._mixers = MixerSelection(self.parameters, self.log, self._channels[0], quirks)
        self.mixer_matrix = self._mixers.matrix
        self.mixer_input = self._channels[3, :MIXER_ROWS]
        self.outputs: NDArray[np.float64] = np.zeros(OUTPUTS)
        self._pwm: NDArray[np.float64] = np.full(OUTPUTS, float(LOW_US))
        self.whole_pulse_widths: NDArray[np.int64] = self._pwm.astype(np.int64)

        self.attitude = self._estimate[estimator.ATTITUDE : estimator.ATTITUDE + 4]
        self.euler = self._estimate[estimator.EULER : estimator.EULER + 3]
        self.angular_velocity = self._estimate[estimator.RATE : estimator.RATE + 3]
        self.imu_accel = self._imu[0]
        self.imu_gyro = self._imu[1]
        self.imu_temperature = 0.0

        self._corrections = sensors.imu_settings(self.parameters)
        self._settings = control_settings(self.parameters, self.quirks)
        self._memory_of_pass = (
            self._corrections,
            self._settings,
            self._sample,
            self._imu,
            self._estimate,
            self._memory,
            self.command.combined,
            self.mixer_matrix,
            self._channels,
            self.outputs,
            self._pwm,
            self.whole_pulse_widths,
        )
        self._control_step = bound(control_step, *self._memory_of_pass)
        self._thrust_density = self.air.density
        self._check_mixer()
        self._check_failsafe()
        if not in_flight and not any(self.parameters[name] for name in sensors.IMU_BIASES):
            self.state_machine.raise_error(ErrorFlag.UNCALIBRATED_IMU)
        self.state_machine.handle(Event.STARTED_IN_FLIGHT if in_flight else Event.INITIALIZED)
        self.receiver.log_mapping()
        self._update_status()
        self.parameters.on_change.append(self._parameter_changed)

    def uptime_us(self, time_us: int) -> int:
        """Time from the first pass until a time; 0 before the first pass, us."""
        return 0 if self._start_us is None else max(0, time_us - self._start_us)

    def receive_imu(
        self,
        time_us: int,
        gyro: Sequence[float] | NDArray[np.float64],
        accel: Sequence[float] | NDArray[np.float64],
        temperature_k: float,
    ) -> None:
        """Receive an IMU sample in sensor axes (rad/s, m/s^2); one that is not finite is dropped and counted."""
        ax, ay, az = accel
        p, q, r = gyro
        if not isfinite(ax + ay + az + p + q + r + temperature_k):
            self.status.num_errors += 1
            return
        _write_sample(self._sample, 0, ax, ay, az, p, q, r, temperature_k)
        self.imu_temperature = temperature_k
        self._imu_time_us = time_us
        self._new_imu = True

    def step(self, time_us: int) -> NDArray[np.float64]:
        """Run one pass of the main loop.

        Returns:
            (14,) pulse widths (us), see `pulse_width`; not rounded; the next step overwrites the array.
        """
        if self._start_us is None:
            self._start_us = time_us
            self._rc_due_us = time_us + rc.RC_TIMEOUT_US + 1
            if self.quirks.sticks_moved_at_start:
                self.command.count_sticks_as_moved(time_us)
        elif time_us < self.time_us:
            self._clock_went_back(time_us)
        self.time_us = time_us
        machine = self.state_machine
        if self._new_imu:
            self._new_imu = False
            self._control()
        elif self._imu_is_missed(time_us):
            machine.raise_error(ErrorFlag.IMU_NOT_RESPONDING)
        self.finish_pass(time_us)
        return self._pwm

    def finish_pass(self, time_us: int) -> None:
        """Do what follows the mixer in a pass: inputs that arrive, the receiver, the choice of the command, errors."""
        machine = self.state_machine
        if time_us >= self._link.due:
            self._link.advance(time_us)
        if (
            self.receiver.new_frame
            or time_us >= self._rc_due_us
            or time_us >= self.command.due_us
            or self.quirks.command_chosen_every_pass
        ):
            self._choose_command(time_us)
        if machine.changed:
            self._update_status()
        elif time_us >= self._error_log.due_us:
            self._error_log.update(time_us, machine.errors, machine.armed)

    # Compiled passes.

    @property
    def due_us(self) -> float:
        """Time from which on `finish_pass` has something to do if there is no further input, us.

        The kernel `is_rest_due` determines when the RC signal and the command expire.
        """
        # A calibration reads the time of the last pass, which `finish_pass` sets.
        if self.receiver.new_frame or self.state_machine.changed or self.calibrations.are_timed:
            return 0.0
        return min(self._link.due, self._error_log.due_us)

    def link(self, time: StepTime, measured: NDArray[np.float64], temperature_k: float) -> ChainLink | None:
        """Link of a chain that runs the first part of a pass, up to the mixer, on an IMU sample.

        `measured` (6,) is the memory of the samples: specific force (m/s^2) and angular rate (rad/s), sensor axes.
        `prepare_pass` must be called after every call of `finish_pass`. None before the second sample.
        """
        if self._start_us is None or self._last_imu_us is None or self.quirks.command_chosen_every_pass:
            return None
        now = self._now
        now.start_us, now.imu_time_us, now.findings = self._start_us, self._last_imu_us, self._findings
        now.holds_thrust_density, now.temperature = self.quirks.held_greatest_thrust, temperature_k
        self.prepare_pass()

        def attend(time_ns: int, status: int) -> None:
            if status != ORDINARY:
                self._follow_findings(status - 1)
                return
            ax, ay, az, p, q, r = measured.tolist()
            leave(0)
            self.take_frames()
            self.receive_imu(time_ns // 1000, (p, q, r), (ax, ay, az), now.temperature)
            self.step(time_ns // 1000)
            now.imu_time_us, now.findings = self._last_imu_us or 0, self._findings

        def leave(answered_ns: int) -> None:
            self._last_imu_us = self._imu_time_us = self.time_us = now.imu_time_us
            self._findings, self.imu_temperature = now.findings, now.temperature

        passed = bound(
            firmware_pass,
            time,
            now,
            self.air,
            self.battery,
            *self.calibrations.imu.memory,
            measured,
            *self._memory_of_pass,
        )
        return ChainLink(passed, attend, leave)

    def frame_links(
        self,
        time: StepTime,
        sent: NDArray[np.int64],
        receive: Callable[[int], None],
        hold: Callable[[int], None],
    ) -> tuple[ChainLink, ChainLink]:
        """Links of a chain that send and, in the next step, receive an RC frame, the pulse widths in an array (8,), us.

        `receive` receives, given the stamp (ns), a frame that does not just repeat the last one. `hold` keeps for
        Python one that has not been received when the chain is left.
        """
        frames, received = self._frames, self._received_us
        frames.sent_ns = frames.held_ns = frames.time_us = -1

        def attend(time_ns: int, status: int) -> None:
            stamp_ns = rc.due_frame(frames, time_ns)
            rc.remove_frame(frames)
            receive(stamp_ns)
            received[:] = sent

        def leave(answered_ns: int) -> None:
            self.take_frames()
            for stamp_ns in (frames.held_ns, frames.sent_ns):
                if stamp_ns >= 0:
                    hold(stamp_ns)
            frames.held_ns = frames.sent_ns = -1

        taken = bound(rc.take_frame, time, frames, sent, received)
        return ChainLink(bound(rc.send_frame, time, frames)), ChainLink(taken, attend, leave)

    def command_link(
        self, time: StepTime, numbers: NDArray[np.float64], by_python: Due, hold: Callable[[int, int], None]
    ) -> ChainLink:
        """Link of a chain that sends a command with the stamp `time`: mode, bits of values to ignore, ten values.

        `by_python` is the time at which Python delivers the next message that it holds. `hold` lets Python send the
        command.
        """
        self._commands = ChainedCommands(self._link_latency_us)
        return self._commands.sent(time, numbers, by_python, hold)

    def command_pass(self, time: StepTime) -> Callable[[], bool]:
        """Function that takes over a command of `command_link` that has arrived, or returns that Python must."""
        return self._commands.taken(time, self._frames, self.command)

    def rest_pass(self, time: StepTime, rest: Due) -> Callable[[], bool]:
        """Function that returns whether `finish_pass` has something to do, at the time of `rest` or before."""
        return bound(is_rest_due, time, rest, self._frames, self._commands.record)

    def drained_commands(self) -> list[tuple[int, int, list[float]]]:
        """Remove the commands of `command_link` that have not arrived: stamp (ns), mode and values of each."""
        return list(self._commands.drain())

    def close_commands(self) -> None:
        """Let Python send further commands of `command_link`."""
        self._commands.record.is_open = False

    def take_frames(self) -> None:
        """Note what a chain has received: the time of the RC frames, and the last command."""
        self._commands.store(self.command, self.receiver)
        frames = self._frames
        if frames.time_us >= 0:
            self.receiver.repeat_frame(frames.time_us, frames.pass_us)
            self._rc_due_us = frames.time_us + rc.RC_TIMEOUT_US + 1
            frames.time_us = -1

    def prepare_pass(self) -> None:
        """Set what may have changed since the last pass for the passes of `link` and `frame_links`."""
        frames, machine, now = self._frames, self.state_machine, self._now
        has_signal = not (machine.errors & _RC_LOST or machine.failsafe)
        frames.is_settled = has_signal and self.receiver.is_settled and self.command.is_settled
        self._received_us[: len(self.receiver.pulse_us)] = self.receiver.pulse_us
        frames.until_us = int(min(max(0.0, self.command.due_us), NEVER_NS))
        now.is_quiet = not self.calibrations.are_running
        now.ends_error = bool(machine.errors & _ENDED_BY_SAMPLE)
        now.armed, now.mixer_is_valid = machine.armed, not self._mixers.fault
        now.thrust_density = self._thrust_density
        self.command.prepare_pass()
        self._commands.prepare_pass(self._rc_due_us, has_others=self._link.due < math.inf)

    def _read_control_parameters(self) -> None:
        self._corrections[:] = sensors.imu_settings(self.parameters)
        assign(self._settings, control_settings(self.parameters, self.quirks))

    def _imu_is_missed(self, time_us: int) -> bool:
        since = self._start_us if self._last_imu_us is None else self._last_imu_us
        assert since is not None
        return time_us - since > IMU_TIMEOUT_US and not self.quirks.imu_is_never_missed

    def _control(self) -> None:
        """Run sensors, estimator, controller and mixer on the received sample."""
        machine = self.state_machine
        now, last = self._imu_time_us, self._last_imu_us
        self._last_imu_us = now
        if machine.errors:
            machine.clear_error(ErrorFlag.IMU_NOT_RESPONDING)
        if self.calibrations.imu.running:
            self.calibrations.imu.take(self._corrections[:9].reshape(3, 3), self._sample)
        if last is None:
            self._mix_nothing()
            return
        if now == last:
            return
        if now < last:
            self.status.num_errors += 1
            machine.raise_error(ErrorFlag.TIME_GOING_BACKWARDS)
            return
        if machine.errors:
            machine.clear_error(ErrorFlag.TIME_GOING_BACKWARDS)
        assert self._start_us is not None
        time_s = (now - self._start_us) * 1e-6
        findings = self._control_step(
            time_s,
            (now - last) * 1e-6,
            machine.armed,
            not self._mixers.fault,
            self.air.density,
            self._thrust_density if self.quirks.held_greatest_thrust else self.air.density,
            self.battery.voltage,
        )
        if findings != self._findings:
            self._follow_findings(findings)

    def _mix_nothing(self) -> None:
        """Centre the servos: the controller needs two samples, but an actuator follows the outputs of the first."""
        if self._mixers.fault:
            return
        types, aux_types, aux_values, _ = self._channels
        settings, nothing = self._settings.mixer, np.zeros(MIXER_ROWS)
        mixer_step(
            settings,
            self.mixer_matrix,
            types,
            aux_types,
            aux_values,
            nothing,
            self.outputs,
            False,
            self.air.density,
            self.battery.voltage,
        )
        self._pwm[:] = pulse_of(self.outputs, MOTOR)
        self.whole_pulse_widths[:] = (np.trunc if self.quirks.truncated_pwm else np.rint)(self._pwm)

    def _follow_findings(self, findings: int) -> None:
        new = findings & ~self._findings
        self._findings = findings
        if findings & UNHEALTHY_ESTIMATE:
            self.state_machine.raise_error(ErrorFlag.UNHEALTHY_ESTIMATOR)
        else:
            self.state_machine.clear_error(ErrorFlag.UNHEALTHY_ESTIMATOR)
        if new & SUSPICIOUS_MIXER:
            self._warn_of_excessive_mixer()

    def _warn_of_excessive_mixer(self) -> None:
        """Warn if the mixer, and not a command beyond full thrust, commands a motor far above its range."""
        setting = setting_at_full_throttle(
            self._settings,
            self.mixer_matrix,
            self._channels[0],
            self.air.density,
            self.parameters["BATT_VOLT_MAX"],
        )
        if setting > SUSPICIOUS_OUTPUT:
            self.log(
                Severity.WARNING,
                f"the mixer commands a motor to {setting:.1f} at full throttle; allowed: up to 1; check the mixer",
            )

    def _choose_command(self, time_us: int) -> None:
        """Read the receiver and apply the combined command."""
        receiver, machine = self.receiver, self.state_machine
        assert self._start_us is not None
        receiver.new_frame = False
        self.command.due_us = math.inf
        self._rc_due_us = math.inf
        if receiver.run(time_us, self._start_us):
            last = receiver.last_frame_us
            assert last is not None
            self._rc_due_us = last + rc.RC_TIMEOUT_US + 1
        if machine.failsafe and self._offboard_without_rc:
            self.command.run_without_rc(time_us)
        elif machine.failsafe:
            self.command.fail_safe()
        elif self._rc_due_us < math.inf:
            self.command.run(time_us)
        self._mixers.select(self.command.rc_override)
        self._update_status()

    def _clock_went_back(self, time_us: int) -> None:
        """Drop all deadlines set before the clock went backwards."""
        assert self._start_us is not None
        self._start_us = min(self._start_us, time_us)
        self._rc_due_us = -math.inf
        self.receiver.clock_went_back(time_us)
        self.command.clock_went_back()
        self._error_log.clock_went_back()
        self._link.clear()
        self._estimate[[estimator.LAST_ACCEL, estimator.LAST_EXTERNAL]] = (time_us - self._start_us) * 1e-6

    def _parameter_changed(self, name: str) -> None:
        if name in KERNEL_PARAMETERS:
            self._read_control_parameters()
        if name in controller.THRUST_PARAMETERS:
            self._thrust_density = self.air.density
        if name in sensors.BATTERY_PARAMETERS:
            sensors.configure_battery(self.battery, self.parameters, name)
        if name == sensors.DIFFERENTIAL_BIAS:
            self.air.differential_bias = float(self.parameters[name])
        is_bias = name in sensors.ACCEL_BIASES and self.parameters[name] != 0.0
        if is_bias and not self.quirks.calibration_alone_ends_its_error:
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

    def _detail(self, flag: ErrorFlag) -> str:
        if flag is not ErrorFlag.UNHEALTHY_ESTIMATOR:
            return ""
        measured = float(np.linalg.norm(self._estimate[estimator.ACCEL : estimator.ACCEL + 3]))
        margin = float(self.parameters["FILT_ACC_MARGIN"])
        return (
            f": the accelerometer reads {measured / estimator.STANDARD_GRAVITY:.2f} g and has been more than "
            f"{margin:.0%} (FILT_ACC_MARGIN) off 1 g for {estimator.UNHEALTHY_AFTER_S:g} s"
        )

    def _update_status(self) -> None:
        machine = self.state_machine
        machine.changed = False
        if machine.errors != self.status.error_code:
            self._error_log.update(self.time_us, machine.errors, machine.armed)
        if self.status.follow(self.state_machine, self.command):
            self.status_changed = True

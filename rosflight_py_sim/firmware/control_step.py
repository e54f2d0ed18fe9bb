"""Numeric part of a control step, from IMU sample to pulse widths, as one kernel call."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware import controller, estimator, mixer, sensors
from rosflight_py_sim.firmware.command import FZ
from rosflight_py_sim.firmware.imu_calibration import CALIBRATION_SAMPLES, Collected, collect
from rosflight_py_sim.firmware.parameter_table import MIXER_ROWS
from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.firmware.quirks import REPAIRED, Quirks
from rosflight_py_sim.ground import pulse_width
from rosflight_py_sim.ground.pulse_width import MOTOR, OUTPUTS
from rosflight_py_sim.kernels.chain import StepTime
from rosflight_py_sim.kernels.jit import kernel, kernel_part
from rosflight_py_sim.kernels.record import kernel_record

pulse_of = kernel_part(pulse_width.pulse_of)

UNHEALTHY_ESTIMATE = 1
"""Result bit: the accelerometer has been unusable for too long."""

SUSPICIOUS_MIXER = 2
"""Result bit: a motor setting above SUSPICIOUS_OUTPUT before scaling, by the mixer or a command beyond full thrust."""

SUSPICIOUS_OUTPUT = 2.0

ORDINARY = 16
"""Result of `firmware_pass`: the sample needs an ordinary pass of the firmware."""

PARAMETERS_USED = (
    sensors.IMU_PARAMETERS | estimator.PARAMETERS_USED | controller.PARAMETERS_USED | mixer.PARAMETERS_USED
)


@kernel_record
class ControlSettings:
    """Settings of each part, whether the accelerometer is checked (`watch`), and how pulse widths become whole."""

    estimator: estimator.EstimatorSettings
    controller: controller.ControllerSettings
    mixer: mixer.MixerSettings
    watch: bool
    truncated_pwm: bool


def control_settings(parameters: FirmwareParameters, quirks: Quirks = REPAIRED) -> ControlSettings:
    """Kernel settings from parameters and quirks, part by part."""
    return ControlSettings(
        estimator=estimator.estimator_settings(parameters, quirks),
        controller=controller.controller_settings(parameters),
        mixer=mixer.mixer_settings(parameters),
        # The load factor of a fixed wing in a turn differs from 1 for minutes.
        watch=bool(parameters["FILT_USE_ACC"]) and not parameters["FIXED_WING"],
        truncated_pwm=quirks.truncated_pwm,
    )


@kernel
def control_step(
    corrections: NDArray[np.float64],
    settings: ControlSettings,
    sample: NDArray[np.float64],
    imu: NDArray[np.float64],
    estimate: NDArray[np.float64],
    memory: NDArray[np.float64],
    command: NDArray[np.float64],
    matrix: NDArray[np.float64],
    channels: NDArray[np.float64],
    raw: NDArray[np.float64],
    pwm: NDArray[np.float64],
    whole_pwm: NDArray[np.int64],
    time_s: float,
    dt: float,
    armed: bool,
    mixer_is_valid: bool,
    air_density: float,
    thrust_density: float,
    voltage: float,
) -> int:
    """Compute PWM from an IMU sample; return the bits UNHEALTHY_ESTIMATE and SUSPICIOUS_MIXER.

    Args:
        corrections: of the IMU, as `sensors.imu_settings` makes them.
        settings: as `control_settings` makes them.
        sample: (7,) accelerometer (m/s^2), gyro (rad/s), temperature (K), sensor axes.
        imu: (2, 3) output: corrected accelerometer and gyro, body axes.
        estimate: state of the estimator, updated.
        memory: state of the control loops, updated.
        command: (2, 10) values and types.
        matrix: (10, 10) mixing matrix in force.
        channels: (4, 14) output types, auxiliary types, auxiliary values; row 3 is output: mixed forces and torques.
        raw: (14,) output: 0 to 1.
        pwm: (14,) output: 1000 to 2000 us.
        whole_pwm: (14,) output: the same in whole microseconds.
        time_s: time since the start (s).
        dt: time since the previous sample (s).
        armed: motors and integrators only run while armed.
        mixer_is_valid: without a valid mixer the outputs stay as they are.
        air_density: kg/m^3.
        thrust_density: air density for the maximum thrust, kg/m^3.
        voltage: V.
    """
    sensors.correct_imu(corrections, sample, imu[0], imu[1])
    estimator.estimator_step(settings.estimator, estimate, imu[0], imu[1], time_s, dt)
    output = channels[3]
    controller.controller_step(settings.controller, memory, estimate, command, output, armed, thrust_density, dt)
    greatest = 0.0
    if mixer_is_valid:
        greatest = mixer.mixer_step(
            settings.mixer,
            matrix,
            channels[0],
            channels[1],
            channels[2],
            output,
            raw,
            armed,
            air_density,
            voltage,
        )
    for i in range(OUTPUTS):
        pwm[i] = pulse_of(min(1.0, max(0.0, raw[i])), MOTOR)
        whole_pwm[i] = int(pwm[i]) if settings.truncated_pwm else int(np.rint(pwm[i]))
    findings = 0
    if settings.watch and time_s - estimate[estimator.LAST_ACCEL] > estimator.UNHEALTHY_AFTER_S:
        findings |= UNHEALTHY_ESTIMATE
    if greatest > SUSPICIOUS_OUTPUT:
        findings |= SUSPICIOUS_MIXER
    return findings


@kernel_record
class PassState:
    """What a pass of the firmware without Python needs besides the arguments of `control_step`.

    Attributes:
        is_quiet: whether samples of the other sensors change nothing but air data and magnetic field: no calibration is
            running.
        ends_error: whether an IMU sample ends an error.
        start_us: time of the first pass, us.
        imu_time_us: time of the last sample, us.
        findings: result of `control_step` in the last pass.
        armed: whether motors and integrators run.
        mixer_is_valid: whether the outputs are mixed.
        holds_thrust_density: whether `thrust_density` stays as it is, in place of the present air density.
        thrust_density: air density for the maximum thrust (kg/m^3).
        temperature: of the IMU (K).
    """

    is_quiet: bool
    ends_error: bool
    start_us: int
    imu_time_us: int
    findings: int
    armed: bool
    mixer_is_valid: bool
    holds_thrust_density: bool
    thrust_density: float
    temperature: float


def new_pass_state() -> PassState:
    """A state without calibrations, before the first pass."""
    return PassState(
        is_quiet=False,
        ends_error=False,
        start_us=0,
        imu_time_us=0,
        findings=0,
        armed=False,
        mixer_is_valid=False,
        holds_thrust_density=False,
        thrust_density=0.0,
        temperature=0.0,
    )


@kernel
def firmware_pass(
    time: StepTime,
    now: PassState,
    air: sensors.AirData,
    battery: sensors.BatteryFilter,
    collected: Collected,
    of_accel: NDArray[np.float64],
    of_gyro: NDArray[np.float64],
    measured: NDArray[np.float64],
    corrections: NDArray[np.float64],
    settings: ControlSettings,
    sample: NDArray[np.float64],
    imu: NDArray[np.float64],
    estimate: NDArray[np.float64],
    memory: NDArray[np.float64],
    command: NDArray[np.float64],
    matrix: NDArray[np.float64],
    channels: NDArray[np.float64],
    raw: NDArray[np.float64],
    pwm: NDArray[np.float64],
    whole_pwm: NDArray[np.int64],
) -> int:
    """Take the sample `measured` (6,), accelerometer and gyro, also for a calibration, and run `control_step`.

    Return ORDINARY, with nothing changed, if the pass needs more than that; 0; or, if the findings of `control_step`
    differ from those of the last pass, 1 more than the new ones.
    """
    time_us = time.time_ns // 1000
    total = now.temperature
    for i in range(6):
        total += measured[i]
    if now.ends_error or not math.isfinite(total) or time_us <= now.imu_time_us:
        return ORDINARY
    # Python takes the last sample of a calibration.
    if max(collected.accel, collected.gyro) + 1 >= CALIBRATION_SAMPLES:
        return ORDINARY
    for i in range(6):
        sample[i] = measured[i]
    sample[6] = now.temperature
    collect(collected, of_accel, of_gyro, sample)
    dt = (time_us - now.imu_time_us) * 1e-6
    now.imu_time_us = time_us
    findings = control_step(
        corrections,
        settings,
        sample,
        imu,
        estimate,
        memory,
        command,
        matrix,
        channels,
        raw,
        pwm,
        whole_pwm,
        (time_us - now.start_us) * 1e-6,
        dt,
        now.armed,
        now.mixer_is_valid,
        air.density,
        now.thrust_density if now.holds_thrust_density else air.density,
        battery.voltage,
    )
    if findings == now.findings:
        return 0
    now.findings = findings
    return findings + 1


def setting_at_full_throttle(
    settings: ControlSettings,
    matrix: NDArray[np.float64],
    types: NDArray[np.float64],
    air_density: float,
    voltage: float,
) -> float:
    """Largest motor setting, before scaling, for a throttle of 1 without torques: about 1 with a mixer that fits.

    `matrix` (10, 10) and `types` (14,) as in `control_step`; `air_density` in kg/m^3, `voltage` in V.
    """
    axis = settings.mixer.throttle_axis
    thrust = controller.thrust_at_full_throttle(settings.controller, air_density)
    command = np.zeros(MIXER_ROWS)
    # Throttle means up, the z axis points down.
    command[axis] = -thrust if axis == FZ else thrust
    unused, raw = np.zeros(OUTPUTS), np.zeros(OUTPUTS)
    return mixer.mixer_step(settings.mixer, matrix, types, unused, unused, command, raw, True, air_density, voltage)

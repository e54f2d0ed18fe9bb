"""Quirks of rosflight_firmware that this flight controller repairs, and switches that bring them back.

The functions named here are those of rosflight_firmware, and SILBoard is the board of its simulator.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Quirks:
    """Behaviour of rosflight_firmware; a quirk that is False is repaired.

    Attributes:
        correction_depends_on_heading: the accelerometer's correction compares the estimate with an attitude of heading
            zero (Estimator::accel_correction).
        aliased_matrix_exponential: elements of the quaternion are overwritten while others still depend on them
            (Estimator::integrate_angular_rate).
        held_greatest_thrust: the maximum thrust uses the air density at start-up or at the last change of a controller
            parameter (Controller::calculate_max_thrust).
        reversed_esc_calibration: throttle gives no output with the ESC calibration mixer.
        inverted_secondary_mixer: a fixed-wing secondary mixer is inverted as well (Mixer::init_mixing).
        any_custom_mixer: a custom mixer that cannot command its axes independently is accepted.
        unlimited_numbers: numbers are accepted outside their parameters' ranges, integers are not.
        initial_battery_filter: BATT_VOLT_LPF and BATT_CURR_LPF take effect only when they are changed; values loaded
            at the start have no effect (Sensors::init).
        calibrations_forget: a calibration sets its result to zero when it begins; those of barometer and airspeed
            begin at each start, and again after a failure.
        calibration_alone_ends_its_error: the IMU stays uncalibrated even if its biases are set as parameters.
        imu_is_never_missed: missing IMU samples are not an error.
        rc_is_never_missed: missing frames do not count as loss of RC (SILBoard::rc_read).
        sticks_moved_at_start: sticks count as moved for RC_OVRD_LAG_T after the start.
        command_chosen_every_pass: sticks, switches and commands are read at every pass, not when a frame or a command
            arrives or becomes stale (SILBoard::rc_read).
        millisecond_clock: lags and time-outs of sticks and commands count milliseconds of a truncated clock
            (CommandManager::stick_deviated, RC::look_for_arm_disarm_signal).
        truncated_pwm: pulse widths are truncated to whole microseconds, not rounded (SILBoard::pwm_write).
    """

    correction_depends_on_heading: bool = False
    aliased_matrix_exponential: bool = False
    held_greatest_thrust: bool = False
    reversed_esc_calibration: bool = False
    inverted_secondary_mixer: bool = False
    any_custom_mixer: bool = False
    unlimited_numbers: bool = False
    initial_battery_filter: bool = False
    calibrations_forget: bool = False
    calibration_alone_ends_its_error: bool = False
    imu_is_never_missed: bool = False
    rc_is_never_missed: bool = False
    sticks_moved_at_start: bool = False
    command_chosen_every_pass: bool = False
    millisecond_clock: bool = False
    truncated_pwm: bool = False

    @property
    def clock_tick_us(self) -> int:
        """Resolution of the clock that counts lags and time-outs of sticks and commands, us."""
        return 1000 if self.millisecond_clock else 1


REPAIRED = Quirks()
"""No quirk."""

AS_ROSFLIGHT = Quirks(
    correction_depends_on_heading=True,
    aliased_matrix_exponential=True,
    held_greatest_thrust=True,
    reversed_esc_calibration=True,
    inverted_secondary_mixer=True,
    any_custom_mixer=True,
    unlimited_numbers=True,
    initial_battery_filter=True,
    calibrations_forget=True,
    calibration_alone_ends_its_error=True,
    imu_is_never_missed=True,
    rc_is_never_missed=True,
    sticks_moved_at_start=True,
    command_chosen_every_pass=True,
    millisecond_clock=True,
    truncated_pwm=True,
)
"""All quirks."""

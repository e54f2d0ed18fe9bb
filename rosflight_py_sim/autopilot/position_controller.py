"""Cascaded position controller for multirotors: position to velocity to attitude and thrust."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, cast

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.loops import within, wrap_angle
from rosflight_py_sim.autopilot.setpoint import Setpoint, Vector3
from rosflight_py_sim.autopilot.velocity_loops import (
    LoopMemory,
    LoopSettings,
    approach_velocity,
    attitude_and_throttle,
    follow_setpoint,
    turn_rate,
)
from rosflight_py_sim.firmware import CommandMode
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values
from rosflight_py_sim.ground.shared_parameters import GRAVITY, MASS, MAX_YAW_RATE, SPOOL_UP_TIME
from rosflight_py_sim.kernels.record import assign

_gain = partial(Parameter, minimum=0.0, maximum=1e3)

POSITION_CONTROLLER_PARAMETERS = ParameterTable(
    MASS.overridden("the default is that of the multirotor", required=False),
    GRAVITY.overridden("must not be 0, because the controller divides by it", above_minimum=True),
    Parameter(
        "max_thrust",
        76.4,
        "Thrust at throttle 1: the firmware's RC_MAX_THR times the thrust of all motors at BATT_VOLT_MAX",
        "N",
        minimum=1e-3,
        maximum=1e6,
    ),
    Parameter("min_throttle", 0.12, "Smallest throttle in flight, to keep attitude control", minimum=0.0, maximum=1.0),
    SPOOL_UP_TIME,
    Parameter("max_tilt", 0.7, "Largest angle between thrust and the vertical", "rad", minimum=0.01, maximum=1.4),
    Parameter("max_speed", 8.0, "Largest commanded horizontal speed", "m/s", minimum=0.01, maximum=200.0),
    Parameter("max_climb_speed", 3.0, "Largest commanded climb speed", "m/s", minimum=0.01, maximum=200.0),
    Parameter("max_descent_speed", 2.0, "Largest commanded descent speed", "m/s", minimum=0.01, maximum=200.0),
    Parameter(
        "max_acceleration", 7.0, "Largest commanded horizontal acceleration", "m/s^2", minimum=0.01, maximum=200.0
    ),
    MAX_YAW_RATE,
    _gain("horizontal_position_gain", 1.1, "Speed per position error, north and east", "1/s"),
    _gain("horizontal_velocity_gain", 3.0, "Acceleration per speed error, north and east", "1/s"),
    _gain("horizontal_integral_gain", 1.5, "Acceleration per integrated speed error, north and east", "1/s^2"),
    _gain("vertical_position_gain", 1.5, "Speed per position error, down", "1/s"),
    _gain("vertical_velocity_gain", 4.0, "Acceleration per speed error, down", "1/s"),
    _gain("vertical_integral_gain", 2.5, "Acceleration per integrated speed error, down", "1/s^2"),
    Parameter("max_integral", 6.0, "Largest acceleration from each integrator", "m/s^2", minimum=0.0, maximum=200.0),
    _gain("yaw_gain", 1.5, "Yaw rate per yaw error", "1/s"),
)


class AttitudeCommand(NamedTuple):
    """Roll and pitch angle (rad), yaw rate (rad/s) and throttle (0 to 1), as ROSflight's
    MODE_ROLL_PITCH_YAWRATE_THROTTLE takes them (u[3], u[4], u[5] and u[2]).
    """

    roll_rad: float
    pitch_rad: float
    yaw_rate_rps: float
    throttle: float

    def autopilot_command(self, position_ned: Vector3, yaw_rad: float) -> AutopilotCommand:
        """Command to the flight controller, with the target position and yaw."""
        u = (0.0, 0.0, self.throttle, self.roll_rad, self.pitch_rad, self.yaw_rate_rps, 0.0, 0.0, 0.0, 0.0)
        return AutopilotCommand(CommandMode.ROLL_PITCH_YAWRATE_THROTTLE, u, position_ned, yaw_rad)


class DirectCommands(NamedTuple):
    """Parts of an attitude command given from outside; None leaves the part to the loops."""

    roll_rad: float | None = None
    pitch_rad: float | None = None
    yaw_rate_rps: float | None = None
    throttle: float | None = None


NO_DIRECT_COMMANDS = DirectCommands()

IDLE = AttitudeCommand(0.0, 0.0, 0.0, 0.0)
"""Command level attitude without thrust, for a vehicle waiting on the ground."""


class PositionController:
    """Position control of a multirotor whose firmware holds roll, pitch, yaw rate and throttle.

    With the reference r, v_r, a_r and the state p, v (NED):

        v_c = v_r + k_p (r - p)                                   limited in speed, climb and descent
        a_c = a_r + k_v (v_c - v) + i,    di/dt = k_i (v_c - v)    limited in tilt, thrust and acceleration
        T b_3 = m (g e_3 - a_c)

    The last line, Newton's law for a thrust T along -b_3 (b_3 is the body's down axis), gives the thrust and the target
    direction of b_3. The construction is that of D. Mellinger and V. Kumar, "Minimum snap trajectory generation and
    control for quadrotors", ICRA 2011, sec. IV, and of T. Lee, M. Leok and N. McClamroch, "Geometric tracking control
    of a quadrotor UAV on SE(3)", CDC 2010, sec. III, with a cascade instead of their sum of position and velocity
    terms, so that speed can be limited. With n = b_3 in axes turned by the yaw angle, n = (sin(theta) cos(phi),
    -sin(phi), cos(theta) cos(phi)), so phi = -asin(n_y) and theta = atan2(n_x, n_z) (rotation by yaw, pitch, roll:
    Beard and McLain, Small Unmanned Aircraft, ch. 2).

    Far from the reference, the k_p law is replaced by the speed that half of max_acceleration can brake in time, sqrt(2
    a (d - a / (2 k_p^2))), which meets the line k_p d smoothly at d = a / k_p^2.

    The integrators compensate wind, drag and errors of mass or thrust. Back-calculation with the tracking time k_v /
    k_i prevents wind-up (K. Astrom and T. Hagglund, Advanced PID Control, 2006, sec. 3.5). Vertical control has
    priority: the thrust left after holding the height is used for the horizontal acceleration.

    If roll, pitch or throttle are given from outside, the loops compute the others, and their integrators track the
    resulting acceleration by the same back-calculation.

    Valid while the attitude loop is several times faster than k_v, and tilt stays below 90 degrees. With ROSflight's
    multirotor (attitude poles at 9.7 rad/s, rotor lag 0.03 s, 10 ms of delay) the default horizontal gains leave a
    damping ratio above 0.4 and a greatest sensitivity of about 2.2.
    """

    def __init__(self, values: Values) -> None:
        """`values` contains the checked values of POSITION_CONTROLLER_PARAMETERS; others are ignored.

        Raises:
            ParameterError: the thrust at throttle 1 cannot lift the mass, or that at min_throttle can.
        """
        number = {p.name: float(cast(float, values[p.name])) for p in POSITION_CONTROLLER_PARAMETERS}
        gravity, throttle_per_acceleration = number["gravity"], number["mass"] / number["max_thrust"]
        least, most = number["min_throttle"] / throttle_per_acceleration, 1.0 / throttle_per_acceleration
        if most <= gravity:
            raise ParameterError(
                f"parameter 'max_thrust': {number['max_thrust']:g} given; "
                f"allowed: greater than the weight, {number['mass'] * gravity:g} N"
            )
        if least >= gravity:
            raise ParameterError(
                f"parameter 'min_throttle': {number['min_throttle']:g} given; "
                f"allowed: less than the throttle in hover, {gravity * throttle_per_acceleration:.3g}"
            )
        self._settings = LoopSettings(
            gravity=gravity,
            throttle_per_acceleration=throttle_per_acceleration,
            least=least,
            most=most,
            max_tilt=number["max_tilt"],
            max_speed=number["max_speed"],
            max_climb_speed=number["max_climb_speed"],
            max_descent_speed=number["max_descent_speed"],
            max_acceleration=number["max_acceleration"],
            max_integral=number["max_integral"],
            spool_up_time=number["spool_up_time"],
            position_gain=number["horizontal_position_gain"],
            velocity_gain=number["horizontal_velocity_gain"],
            integral_gain=number["horizontal_integral_gain"],
            position_gain_down=number["vertical_position_gain"],
            velocity_gain_down=number["vertical_velocity_gain"],
            integral_gain_down=number["vertical_integral_gain"],
            max_yaw_rate=number["max_yaw_rate"],
            yaw_gain=number["yaw_gain"],
        )
        self._memory = LoopMemory(north=0.0, east=0.0, down=0.0, age_s=0.0)

    @property
    def disturbance_ned(self) -> tuple[float, float, float]:
        """Acceleration (m/s^2) from the integrators: the negative of the estimated disturbance."""
        return self._memory.north, self._memory.east, self._memory.down

    def reset(self, rotors_turn: bool = False) -> None:
        """Reset the integrators, and the throttle limit unless the rotors already turn, before a take-off."""
        age_s = self._settings.spool_up_time if rotors_turn else 0.0
        assign(self._memory, LoopMemory(north=0.0, east=0.0, down=0.0, age_s=age_s))

    @property
    def loops(self) -> tuple[LoopSettings, LoopMemory]:
        """Parameters and state of the loops, for kernels."""
        return self._settings, self._memory

    def adopt(self, other: PositionController) -> None:
        """Copy the state of `other`, after a change of parameters."""
        north, east, down = (within(one, self._settings.max_integral) for one in other.disturbance_ned)
        self._memory = LoopMemory(north=north, east=east, down=down, age_s=other._memory.age_s)

    def update(
        self,
        position_ned: Sequence[float],
        velocity_ned: Sequence[float],
        yaw_rad: float,
        setpoint: Setpoint,
        dt: float,
    ) -> AttitudeCommand:
        """Command for the next `dt` seconds, from position (m), velocity over ground (m/s) and yaw (rad).

        Raises:
            ValueError: position, velocity or yaw is not finite; the controller is unchanged.
        """
        north, east, down = position_ned
        u, v, w = velocity_ned
        if not math.isfinite(north + east + down + u + v + w + yaw_rad):
            state = f"position {tuple(position_ned)}, velocity {tuple(velocity_ned)}, yaw {yaw_rad}"
            raise ValueError(f"state is not finite: {state}")

        position, velocity, wanted_yaw_rad, acceleration = setpoint
        return AttitudeCommand(
            *follow_setpoint(
                self._settings,
                self._memory,
                north,
                east,
                down,
                u,
                v,
                w,
                yaw_rad,
                *position,
                *velocity,
                *acceleration,
                wanted_yaw_rad,
                dt,
            )
        )

    def approach(self, position_ned: Sequence[float], setpoint: Setpoint) -> Vector3:
        """Velocity (NED, m/s) towards a setpoint, including the setpoint's own velocity."""
        (north, east, down), (reference_north, reference_east, reference_down), _, _ = setpoint
        x, y, z = position_ned
        return approach_velocity(
            self._settings, north - x, east - y, down - z, reference_north, reference_east, reference_down
        )

    def yaw_rate(self, error_rad: float) -> float:
        """Yaw rate (rad/s) that reduces a yaw error."""
        return turn_rate(self._settings, error_rad)

    def hold_velocity(
        self,
        velocity_ned: Sequence[float],
        yaw_rad: float,
        target_ned: Vector3,
        wanted_yaw_rad: float,
        dt: float,
        feedforward_ned: Vector3 = (0.0, 0.0, 0.0),
        given: DirectCommands = NO_DIRECT_COMMANDS,
    ) -> AttitudeCommand:
        """Command for the next `dt` seconds towards a velocity (m/s), with a feed-forward acceleration (m/s^2)."""
        given_roll, given_pitch, given_yaw_rate, given_throttle = given
        turn = self.yaw_rate(wrap_angle(wanted_yaw_rad - yaw_rad)) if given_yaw_rate is None else given_yaw_rate
        north, east, down = velocity_ned
        roll, pitch, throttle = attitude_and_throttle(
            self._settings,
            self._memory,
            north,
            east,
            down,
            yaw_rad,
            *target_ned,
            *feedforward_ned,
            math.nan if given_roll is None else given_roll,
            math.nan if given_pitch is None else given_pitch,
            math.nan if given_throttle is None else given_throttle,
            dt,
        )
        return AttitudeCommand(roll, pitch, within(turn, self._settings.max_yaw_rate), throttle)

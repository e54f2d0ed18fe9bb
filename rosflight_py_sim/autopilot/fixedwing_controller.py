"""Successive loop closure for fixed wings: course, height and airspeed to surfaces and throttle."""

from __future__ import annotations

import enum
import math
from typing import NamedTuple, cast

from rosflight_py_sim.autopilot.flight_state import FlightState
from rosflight_py_sim.autopilot.loops import PiLoop, within, wrap_angle
from rosflight_py_sim.parameters import Parameter, ParameterTable, Values

ROTATION_AIRSPEED = Parameter("rotation_airspeed", 13.0, "airspeed at which the nose is lifted", "m/s", minimum=0.0)

FIXEDWING_CONTROLLER_PARAMETERS = ParameterTable(
    Parameter(
        "design_airspeed",
        18.0,
        "airspeed that the gains are for",
        "m/s",
        minimum=0.0,
        above_minimum=True,
    ),
    Parameter("trim_throttle", 0.603, "throttle of level flight at design_airspeed", minimum=0.0, maximum=1.0),
    Parameter("trim_elevator", 0.154, "elevator of level flight at design_airspeed", "rad"),
    Parameter("trim_pitch", -0.00641, "pitch angle of level flight at design_airspeed", "rad"),
    Parameter("max_aileron", 0.7, "deflection at full command", "rad", minimum=0.0, above_minimum=True),
    Parameter("max_elevator", 0.7, "deflection at full command", "rad", minimum=0.0, above_minimum=True),
    Parameter("max_rudder", 0.7, "deflection at full command", "rad", minimum=0.0, above_minimum=True),
    Parameter("max_roll", 0.8, "largest commanded roll angle", "rad", minimum=0.05, maximum=1.4),
    Parameter("max_pitch", 0.44, "largest commanded pitch angle, up and down", "rad", minimum=0.05, maximum=1.2),
    Parameter("roll_gain", 1.17, "aileron per roll error", minimum=0.0),
    Parameter("roll_rate_gain", 0.0, "aileron per roll rate", "s", minimum=0.0),
    Parameter("course_gain", 2.2, "roll angle per course error", minimum=0.0),
    Parameter("course_integral_gain", 0.459, "roll angle per integrated course error", "1/s", minimum=0.0),
    Parameter("yaw_damper_gain", 0.0925, "rudder per yaw rate, washed out", "s", minimum=0.0),
    Parameter("yaw_damper_washout", 0.5, "corner of the yaw damper's high-pass filter", "rad/s", minimum=0.01),
    Parameter("pitch_gain", 1.0, "elevator per pitch error", minimum=0.0),
    Parameter("pitch_rate_gain", 0.217, "elevator per pitch rate", "s", minimum=0.0),
    Parameter("height_gain", 0.126, "pitch angle per height error", "rad/m", minimum=0.0),
    Parameter("height_integral_gain", 0.0188, "pitch angle per integrated height error", "rad/m/s", minimum=0.0),
    Parameter("throttle_gain", 0.0546, "throttle per airspeed error", "s/m", minimum=0.0),
    Parameter("throttle_integral_gain", 0.0185, "throttle per integrated airspeed error", "1/m", minimum=0.0),
    Parameter(
        "climb_speed_gain", 0.206, "pitch angle per airspeed error, in climb and descent", "rad s/m", minimum=0.0
    ),
    Parameter(
        "climb_speed_integral_gain",
        0.096,
        "pitch angle per integrated airspeed error, in climb and descent",
        "rad/m",
        minimum=0.0,
    ),
    Parameter(
        "hold_zone",
        12.0,
        "height error beyond which it climbs with full throttle, or descends without, and holds its airspeed by pitch",
        "m",
        minimum=0.5,
    ),
    Parameter("spool_up_time", 1.0, "time in which the throttle rises to 1 before the roll", "s", minimum=0.01),
    Parameter("take_off_pitch", 0.2, "pitch angle after rotation", "rad", minimum=0.0, maximum=0.8),
    ROTATION_AIRSPEED,
    Parameter("steering_gain", 2.0, "rudder per heading error on the ground", minimum=0.0),
    Parameter("aileron_sign", 1.0, "1 where a positive command gives a positive deflection, else -1", minimum=-1.0),
    Parameter("elevator_sign", -1.0, "the same of the elevator: REV_ELEVATOR turns it round", minimum=-1.0),
    Parameter("rudder_sign", 1.0, "the same of the rudder", minimum=-1.0),
)

GRAVITY = 9.81
"""m/s^2; only the feed-forward of turns knows it."""

# Surfaces work with the square of the airspeed; what that does to the gains is undone within these bounds.
_LEAST_SCALE, _GREATEST_SCALE = 0.3, 2.5


class Zone(enum.Enum):
    """Where the vehicle is in height, relative to the one commanded (sec. 6.4.5)."""

    CLIMB = "climb"
    HOLD = "hold"
    DESCENT = "descent"


class SurfaceCommand(NamedTuple):
    """What the mixer is given: surfaces -1 to 1 on u[Qx], u[Qy], u[Qz], and throttle 0 to 1 on u[Fx]."""

    aileron: float
    elevator: float
    rudder: float
    throttle: float


STANDING = SurfaceCommand(0.0, 0.0, 0.0, 0.0)
"""Everything neutral, without thrust: for a vehicle that waits on the ground."""


class FixedwingController:
    """Successive loop closure of Beard and McLain, Small Unmanned Aircraft (2012), chapter 6.

    Lateral (sec. 6.3), with phi_ff the roll angle of a coordinated turn along the path's curvature kappa, which saves
    the integrator from finding it anew at each turn (sec. 10.2 with the ground speed V_g):

        phi_c   = phi_ff + k_p (chi_c - chi) + k_i int(chi_c - chi),   tan(phi_ff) = V_g^2 kappa / g
        delta_a = k_p (phi_c - phi) - k_d p
        delta_r = damper of the yaw rate, washed out below the frequency p_wo:  delta_r = k_r s / (s + p_wo) r

    Longitudinal (sec. 6.4), in the zone where height is held:

        theta_c = k_p (h_c - h) + k_i int(h_c - h),      delta_e = trim + k_p (theta_c - theta) - k_d theta'
        delta_t = trim + k_p (V_c - V) + k_i int(V_c - V)

    Further below it climbs at full throttle, further above it sinks without, and the pitch angle holds the airspeed
    (sec. 6.4.3 and 6.4.5). Deflections are positive as in the book: left aileron down, elevator down, rudder to the
    left; the gains are given positive and the signs of the surfaces' effects put in here.

    The gains of the surfaces' loops hold for `design_airspeed`; at others they are scaled by the inverse of the dynamic
    pressure. Valid below the stall, with the inner loops (roll, pitch) several times faster than the outer ones.
    """

    def __init__(self, values: Values) -> None:
        """`values` holds every parameter of FIXEDWING_CONTROLLER_PARAMETERS, checked; it may hold others."""
        self._number = {p.name: float(cast(float, values[p.name])) for p in FIXEDWING_CONTROLLER_PARAMETERS}
        n = self._number
        roll, pitch = n["max_roll"], n["max_pitch"]
        self._course = PiLoop(n["course_gain"], n["course_integral_gain"], -roll, roll)
        self._height = PiLoop(n["height_gain"], n["height_integral_gain"], -pitch, pitch)
        self._throttle = PiLoop(n["throttle_gain"], n["throttle_integral_gain"], 0.0, 1.0)
        self._climb_speed = PiLoop(n["climb_speed_gain"], n["climb_speed_integral_gain"], -pitch, pitch)
        self._slow_yaw_rate = 0.0
        self._spool = 0.0
        self._zone = Zone.HOLD
        self.reset()

    @property
    def zone(self) -> Zone:
        """The zone of the last call of `fly`."""
        return self._zone

    def reset(self) -> None:
        """Forget what the integrators and the filter have gathered: before a take-off."""
        self._course.reset()
        self._enter(Zone.HOLD, self._number["trim_pitch"], self._number["trim_throttle"])
        self._slow_yaw_rate = self._spool = 0.0

    def adopt(self, other: FixedwingController) -> None:
        """Carry on from `other`, after a change of parameters."""
        self._zone = other._zone
        self._slow_yaw_rate, self._spool = other._slow_yaw_rate, other._spool
        for name in ("_course", "_height", "_throttle", "_climb_speed"):
            getattr(self, name).reset(getattr(other, name).integrated)

    def take_off(self, state: FlightState, heading: float, dt: float) -> SurfaceCommand:
        """Full throttle, wings level, along `heading` (rad) by rudder; the nose comes up at `rotation_airspeed`."""
        n = self._number
        rotating = state.airspeed >= n["rotation_airspeed"]
        pitch = n["take_off_pitch"] if rotating else state.pitch
        # A deflection to the left is positive, a heading error to the right too.
        steering = -n["steering_gain"] * wrap_angle(heading - state.yaw)
        self._damper(state, dt)
        self._enter(Zone.CLIMB, pitch, 1.0)
        self._spool = min(1.0, self._spool + dt / n["spool_up_time"])
        return self._command(state, 0.0, pitch, self._spool, steering + n["yaw_damper_gain"] * state.yaw_rate)

    def fly(
        self, state: FlightState, course: float, height: float, airspeed: float, curvature: float, dt: float
    ) -> SurfaceCommand:
        """The command for the next `dt` seconds, towards a course (rad), a height (m) and an airspeed (m/s).

        `curvature` (1/m) is that of the path, positive to the right.

        Raises:
            ValueError: a number that is not finite; the controller is left as it was.
        """
        if not state.is_finite or not math.isfinite(course + height + airspeed + curvature):
            raise ValueError(f"not finite: {state}, course {course}, height {height}, airspeed {airspeed}")
        turn = math.atan(state.ground_speed * state.ground_speed * curvature / GRAVITY)
        limit = self._number["max_roll"]
        roll = self._course.update(wrap_angle(course - state.course), dt, feed_forward=within(turn, limit))
        pitch, throttle = self._longitudinal(state, height, airspeed, dt)
        return self._command(state, roll, pitch, throttle, self._damper(state, dt))

    def _longitudinal(self, state: FlightState, height: float, airspeed: float, dt: float) -> tuple[float, float]:
        error, reach = height - state.height, self._number["hold_zone"]
        # Half the zone of hysteresis: the change of throttle itself moves the vehicle.
        if error > reach or (self._zone is Zone.CLIMB and error > 0.5 * reach):
            zone = Zone.CLIMB
        elif error < -reach or (self._zone is Zone.DESCENT and error < -0.5 * reach):
            zone = Zone.DESCENT
        else:
            zone = Zone.HOLD
        if zone is not self._zone:
            # Level flight is what holding a height begins from; a climb goes on from the present pitch angle.
            pitch = self._number["trim_pitch"] if zone is Zone.HOLD else state.pitch
            self._enter(zone, pitch, self._number["trim_throttle"])
        speed_error = airspeed - state.airspeed
        if zone is Zone.HOLD:
            return self._height.update(error, dt), self._throttle.update(speed_error, dt)
        return self._climb_speed.update(-speed_error, dt), 1.0 if zone is Zone.CLIMB else 0.0

    def _enter(self, zone: Zone, pitch: float, throttle: float) -> None:
        """Begin a zone with the integrators at these."""
        self._zone = zone
        self._height.reset(pitch)
        self._climb_speed.reset(pitch)
        self._throttle.reset(throttle)

    def _damper(self, state: FlightState, dt: float) -> float:
        """Rudder (rad) against the quick part of the yaw rate: the slow part is the turn that is flown."""
        washout = self._number["yaw_damper_washout"]
        self._slow_yaw_rate += (1.0 - math.exp(-washout * dt)) * (state.yaw_rate - self._slow_yaw_rate)
        return self._number["yaw_damper_gain"] * (state.yaw_rate - self._slow_yaw_rate)

    def _command(self, state: FlightState, roll: float, pitch: float, throttle: float, rudder: float) -> SurfaceCommand:
        n = self._number
        speed = max(state.airspeed, 1.0)
        scale = min(max((n["design_airspeed"] / speed) ** 2, _LEAST_SCALE), _GREATEST_SCALE)
        aileron = scale * (n["roll_gain"] * (roll - state.roll) - n["roll_rate_gain"] * state.roll_rate)
        # The elevator's positive deflection turns the nose down.
        # The pitch angle's own rate (eq. 3.3): in a turn q holds the turn's rate too, which is not to be damped.
        rate = state.pitch_rate * math.cos(state.roll) - state.yaw_rate * math.sin(state.roll)
        up = n["pitch_gain"] * (within(pitch, n["max_pitch"]) - state.pitch) - n["pitch_rate_gain"] * rate
        elevator = n["trim_elevator"] - scale * up
        return SurfaceCommand(
            n["aileron_sign"] * within(aileron / n["max_aileron"], 1.0),
            n["elevator_sign"] * within(elevator / n["max_elevator"], 1.0),
            n["rudder_sign"] * within(scale * rudder / n["max_rudder"], 1.0),
            throttle,
        )

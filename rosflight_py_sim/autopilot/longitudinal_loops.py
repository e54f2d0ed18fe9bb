"""Longitudinal loops of a fixed wing: from height, climb rate and airspeed to pitch angle and throttle."""

from __future__ import annotations

import enum
import math

from rosflight_py_sim.autopilot.flight_state import FlightState
from rosflight_py_sim.autopilot.fly_target import (
    AltitudeTarget,
    PitchTarget,
    Speed,
    ThrottleTarget,
    Vertical,
)
from rosflight_py_sim.autopilot.loops import PiLoop, PiMemory, gain, pi_output, settling_error
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record

MAX_PITCH = Parameter(
    "max_pitch",
    0.44,
    "Largest pitch angle, up and down, commanded to hold height, climb or airspeed",
    "rad",
    minimum=0.05,
    maximum=1.2,
)

ROTATION_AIRSPEED = Parameter(
    "rotation_airspeed",
    13.0,
    "Airspeed at which the nose is raised at take-off; also the smallest commanded airspeed",
    "m/s",
    minimum=0.0,
    maximum=300.0,
)

LONGITUDINAL_LOOP_PARAMETERS = ParameterTable(
    Parameter("trim_throttle", 0.603, "Throttle of level flight at design_airspeed", minimum=0.0, maximum=1.0),
    Parameter(
        "trim_pitch", -0.00641, "Pitch angle of level flight at design_airspeed", "rad", minimum=-1.6, maximum=1.6
    ),
    MAX_PITCH,
    Parameter(
        "full_throttle_airspeed",
        0.0,
        "Airspeed of level flight at full throttle: the largest commanded airspeed; 0: unknown",
        "m/s",
        minimum=0.0,
        maximum=500.0,
    ),
    Parameter(
        "full_throttle_climb",
        0.0,
        "Climb rate at full throttle and design_airspeed, for the variable target_climb_max; 0: unknown",
        "m/s",
        minimum=-200.0,
        maximum=200.0,
    ),
    Parameter(
        "glide_climb",
        0.0,
        "Climb rate without throttle at design_airspeed, for the variable target_climb_min; 0: unknown",
        "m/s",
        minimum=-200.0,
        maximum=200.0,
    ),
    ROTATION_AIRSPEED,
    gain("height_gain", 0.126, "Pitch angle per height error", "rad/m"),
    gain("height_integral_gain", 0.0188, "Pitch angle per integrated height error", "rad/m/s"),
    gain("throttle_gain", 0.0546, "Throttle per airspeed error", "s/m"),
    gain("throttle_integral_gain", 0.0185, "Throttle per integrated airspeed error", "1/m"),
    gain("climb_speed_gain", 0.206, "Pitch angle per airspeed error while pitch holds the airspeed", "rad s/m"),
    gain(
        "climb_speed_integral_gain",
        0.096,
        "Pitch angle per integrated airspeed error while pitch holds the airspeed",
        "rad/m",
    ),
    gain("pitch_integral_gain", 3.0, "Commanded pitch angle per integrated pitch error for a given pitch angle", "1/s"),
    gain("throttle_height_gain", 0.07, "Throttle per height error at a given pitch angle", "1/m"),
    gain("throttle_climb_gain", 0.07, "Throttle reduction per climb rate at a given pitch angle", "s/m"),
    gain(
        "throttle_height_integral_gain", 0.005, "Throttle per integrated height error at a given pitch angle", "1/m/s"
    ),
    gain("flare_gain", 0.2, "Pitch angle per climb rate error in the flare", "rad s/m"),
    gain("flare_integral_gain", 0.1, "Pitch angle per integrated climb rate error in the flare", "rad/m"),
    Parameter(
        "hold_zone",
        12.0,
        "Height error beyond which the aircraft climbs at full throttle or descends at zero throttle, with airspeed "
        "held by pitch",
        "m",
        minimum=0.5,
        maximum=1e4,
    ),
)

STEEPEST_PITCH = 1.2
"""Largest pitch angle that a vehicle holds, rad; the limits of a cage (cage.py) are narrower."""

# Largest pitch command for a given pitch angle, rad. The pitch loop's gain decreases with the square of the airspeed:
# in a dive the command is far beyond the angle that the aircraft holds.
_FARTHEST_PITCH = 3.0

# Relative airspeed error at full or zero throttle above which holding airspeed takes precedence over the climb.
_SLACK = 0.1
# Slowest airspeed at a given pitch angle, as a share of rotation_airspeed.
_SLOWEST = 0.9
# Full throttle ends when the climb rate exceeds the target by this much, m/s; zero throttle, when it is this much less.
_RESUMED = 0.3


class Zone(enum.IntEnum):
    """Use of pitch and throttle.

    HOLD: pitch holds the height or the climb rate, throttle the airspeed (sec. 6.4.2 and 6.4.4). CLIMB and DESCENT:
    pitch holds the airspeed, at full or zero throttle (sec. 6.4.3 and 6.4.5). THROTTLE: pitch holds the airspeed, at a
    given throttle. PITCH: the pitch angle is given, and throttle holds the height. OPEN: pitch angle and throttle are
    given. FLARE: pitch holds the climb rate, at zero throttle.
    """

    CLIMB = 0
    HOLD = 1
    DESCENT = 2
    THROTTLE = 3
    PITCH = 4
    OPEN = 5
    FLARE = 6


_PITCH_IS_GIVEN = (Zone.PITCH, Zone.OPEN)

# Plain numbers for kernels.
_CLIMB, _HOLD, _DESCENT = int(Zone.CLIMB), int(Zone.HOLD), int(Zone.DESCENT)


@kernel_record
class HeightMemory:
    """State of `LongitudinalLoops` with height and airspeed targets.

    Attributes:
        slowest: smallest commanded airspeed, m/s.
        fastest: largest commanded airspeed, m/s.
        hold_zone: height error at which a climb or descent begins, m.
        zone: the present `Zone`, as a number.
    """

    slowest: float
    fastest: float
    hold_zone: float
    zone: int


@kernel
def flown_airspeed(memory: HeightMemory, wanted: float) -> float:
    """Commanded airspeed for a wanted one, within the limits, m/s."""
    return min(max(wanted, memory.slowest), memory.fastest)


@kernel
def zone_of_height(memory: HeightMemory, error: float) -> int:
    """Zone for a height error, m."""
    # Hysteresis of half the zone, because the change of throttle itself moves the vehicle.
    reach = memory.hold_zone
    if error > reach or (memory.zone == _CLIMB and error > 0.5 * reach):
        return _CLIMB
    if error < -reach or (memory.zone == _DESCENT and error < -0.5 * reach):
        return _DESCENT
    return _HOLD


@kernel
def hold_height(
    memory: HeightMemory,
    height: PiMemory,
    throttle: PiMemory,
    climb_speed: PiMemory,
    error: float,
    path_angle: float,
    speed_error: float,
    dt: float,
) -> tuple[float, float]:
    """Pitch angle (rad) and throttle in the present zone.

    Args:
        memory: state.
        height: loop of the pitch angle in the zone HOLD.
        throttle: loop of the throttle in the zone HOLD.
        climb_speed: loop of the pitch angle in a climb or descent.
        error: error of the height, m.
        path_angle: angle of the commanded path, rad.
        speed_error: error of the airspeed, m/s.
        dt: time since the last call, s.
    """
    if memory.zone == _HOLD:
        return pi_output(height, error, dt, path_angle), pi_output(throttle, speed_error, dt, 0.0)
    return pi_output(climb_speed, -speed_error, dt, 0.0), 1.0 if memory.zone == _CLIMB else 0.0


class LongitudinalLoops:
    """Outer loops of Beard and McLain, Small Unmanned Aircraft (2012), sec. 6.4.

    Commanded airspeed is at least `rotation_airspeed` and at most `full_throttle_airspeed`. With airspeed and height
    targets, within the hold zone:

        theta_c = k_p (h_c - h) + k_i int(h_c - h),      delta_t = trim + k_p (V_c - V) + k_i int(V_c - V)

    Below the zone, the aircraft climbs at full throttle; above the zone, it descends at zero throttle. The pitch angle
    then holds the airspeed with theta_c = -k_p (V_c - V) - k_i int(V_c - V), as it does at a given throttle.

    A commanded climb rate w_c moves the commanded height: h_c' = w_c from the current height on, with the pitch angle
    asin(w_c / V_c) fed forward; h_c is limited to half a hold zone above or below the aircraft. If the climb rate would
    need more than full throttle, or less than zero, airspeed takes precedence over the climb rate.

    At a given pitch angle, the climb rate depends on the speed, so throttle holds the height by delta_t = trim + k_p
    (h_c - h) - k_d h' + k_i int(h_c - h). An integrator removes the steady error of the pitch loop: theta_c =
    theta_given + k_i int(theta_given - theta). The aircraft follows the given pitch angle while the airspeed is at
    least nine tenths of `rotation_airspeed`; otherwise the pitch angle holds that airspeed.
    """

    def __init__(self, values: Values) -> None:
        """`values` contains the checked values of LONGITUDINAL_LOOP_PARAMETERS; others are ignored."""
        n = self._number = {p.name: number(values, p.name) for p in LONGITUDINAL_LOOP_PARAMETERS}
        pitch = n["max_pitch"]
        self._height = PiLoop(n["height_gain"], n["height_integral_gain"], -pitch, pitch)
        self._throttle = PiLoop(n["throttle_gain"], n["throttle_integral_gain"], 0.0, 1.0)
        self._climb_speed = PiLoop(n["climb_speed_gain"], n["climb_speed_integral_gain"], -pitch, pitch)
        self._throttle_height = PiLoop(n["throttle_height_gain"], n["throttle_height_integral_gain"], 0.0, 1.0)
        self._pitch = PiLoop(0.0, n["pitch_integral_gain"], -_FARTHEST_PITCH, _FARTHEST_PITCH)
        self._slowest = PiLoop(n["climb_speed_gain"], n["climb_speed_integral_gain"], -STEEPEST_PITCH, STEEPEST_PITCH)
        self._flare = PiLoop(n["flare_gain"], n["flare_integral_gain"], -pitch, pitch)
        self._lift = 0.0
        self._steepest = STEEPEST_PITCH
        self._memory = HeightMemory(
            slowest=n["rotation_airspeed"],
            fastest=n["full_throttle_airspeed"] or math.inf,
            hold_zone=n["hold_zone"],
            zone=_HOLD,
        )
        self._moving_height: float | None = None
        self.reset()

    @property
    def zone(self) -> Zone:
        """Zone of the last command."""
        return Zone(self._memory.zone)

    @property
    def height_memory(self) -> tuple[HeightMemory, PiMemory, PiMemory, PiMemory]:
        """State with height and airspeed targets, as the first arguments of `hold_height`."""
        return self._memory, self._height.memory, self._throttle.memory, self._climb_speed.memory

    @property
    def steepest(self) -> float:
        """Largest given pitch angle (rad) that the aircraft can hold at present; smaller at low airspeed."""
        return self._steepest

    def reset(self) -> None:
        """Reset the integrators."""
        self.enter(Zone.HOLD, self._number["trim_pitch"], self._number["trim_throttle"])
        self._moving_height = None

    def adopt(self, old: LongitudinalLoops) -> None:
        """Copy the state of `old`."""
        self._memory.zone = old._memory.zone
        self._moving_height, self._steepest = old._moving_height, old._steepest
        self._lift = old._lift
        for name in ("_height", "_throttle", "_climb_speed", "_throttle_height", "_pitch", "_slowest", "_flare"):
            getattr(self, name).reset(getattr(old, name).integrated)

    def enter(self, zone: Zone, pitch: float, throttle: float) -> None:
        """Begin a zone with these integrator values."""
        if zone not in _PITCH_IS_GIVEN or self._memory.zone not in _PITCH_IS_GIVEN:
            self._pitch.reset()
            self._slowest.reset(pitch)
            self._steepest = STEEPEST_PITCH
        self._memory.zone = int(zone)
        self._height.reset(pitch)
        self._climb_speed.reset(pitch)
        self._throttle.reset(throttle)
        self._throttle_height.reset(throttle)

    def update(self, state: FlightState, speed: Speed, vertical: Vertical, dt: float) -> tuple[float, float]:
        """Pitch angle (rad) and throttle (0 to 1) for the next `dt` seconds."""
        if isinstance(vertical, ThrottleTarget):
            self._moving_height = None
            if isinstance(speed, PitchTarget):
                self._change(Zone.OPEN, state)
                return self._pitch_command(state, speed, dt), vertical.throttle
            self._change(Zone.THROTTLE, state)
            missing = flown_airspeed(self._memory, speed.airspeed) - state.airspeed
            return self._climb_speed.update(-missing, dt), vertical.throttle
        if isinstance(speed, PitchTarget):
            self._change(Zone.PITCH, state)
            assert isinstance(vertical, AltitudeTarget)
            damping = -self._number["throttle_climb_gain"] * state.climb
            throttle = self._throttle_height.update(vertical.altitude_m - state.height, dt, feed_forward=damping)
            return self._pitch_command(state, speed, dt), throttle
        airspeed, climb = flown_airspeed(self._memory, speed.airspeed), 0.0
        if isinstance(vertical, AltitudeTarget):
            self._moving_height = None
            error = vertical.altitude_m - state.height
            zone = Zone(zone_of_height(self._memory, error))
        else:
            climb = vertical.climb
            error = self._moved(state, climb, dt)
            zone = self._zone_of_climb(state, airspeed, climb)
        self._change(zone, state)
        path_angle = _path_angle(climb, airspeed) if climb else 0.0
        return hold_height(*self.height_memory, error, path_angle, airspeed - state.airspeed, dt)

    def flare(self, state: FlightState, climb: float, command: float, dt: float) -> float:
        """Pitch command (rad) that holds a climb rate (m/s) at zero throttle; `command` is the last before the flare.

        The wanted pitch angle is never below level. It follows the flight path, and maintains the lift while the
        airspeed falls from V_0; alpha_0 = theta_0 - gamma_0 is the angle of attack at the beginning of the flare. An
        integrator holds the wanted pitch angle as it holds a given one:

            theta = asin(w_c / V) + alpha_0 (V_0 / V)^2 + k_p (w_c - w) + k_i int(w_c - w)
        """
        speed = max(state.airspeed, 1.0)
        if self.zone is not Zone.FLARE:
            self.enter(Zone.FLARE, command, 0.0)
            self._pitch.reset(command - state.pitch)
            self._flare.reset()
            self._lift = (state.pitch - _path_angle(state.climb, speed)) * speed * speed
        feed_forward = _path_angle(climb, speed) + self._lift / (speed * speed)
        wanted = max(self._flare.update(climb - state.climb, dt, feed_forward), 0.0)
        return self._pitch.update(wanted - state.pitch, dt, wanted)

    def _pitch_command(self, state: FlightState, speed: PitchTarget, dt: float) -> float:
        rate = state.pitch_rate * math.cos(state.roll) - state.yaw_rate * math.sin(state.roll)
        error = settling_error(speed.pitch_rad - state.pitch, rate)
        pitch = self._pitch.update(error, dt, feed_forward=speed.pitch_rad)
        steepest = self._slowest.update(state.airspeed - _SLOWEST * self._number["rotation_airspeed"], dt)
        if pitch <= steepest:
            # The limit applies at once when the airspeed falls below the slowest.
            self._slowest.reset(min(self._slowest.integrated, pitch))
        command = min(pitch, steepest)
        # The pitch loop settles at an angle that differs from its command.
        self._steepest = min(steepest - command + state.pitch, STEEPEST_PITCH)
        return command

    def _moved(self, state: FlightState, climb: float, dt: float) -> float:
        """Height of the moving reference above the vehicle, m."""
        reach = 0.5 * self._number["hold_zone"]
        before = state.height if self._moving_height is None else self._moving_height
        error = min(max(before + climb * dt - state.height, -reach), reach)
        self._moving_height = state.height + error
        return error

    def _zone_of_climb(self, state: FlightState, airspeed: float, climb: float) -> Zone:
        missing, slack, before = airspeed - state.airspeed, _SLACK * airspeed, self.zone
        if before is Zone.CLIMB and state.climb < climb + _RESUMED:
            return Zone.CLIMB
        if before is Zone.DESCENT and state.climb > climb - _RESUMED:
            return Zone.DESCENT
        if before is Zone.HOLD and missing > slack and self._throttle.at_limit > 0:
            return Zone.CLIMB
        if before is Zone.HOLD and missing < -slack and self._throttle.at_limit < 0:
            return Zone.DESCENT
        return Zone.HOLD

    def _change(self, zone: Zone, state: FlightState) -> None:
        if zone is self.zone:
            return
        # A height hold begins from level flight; a climb continues from the current pitch angle.
        n = self._number
        self.enter(zone, n["trim_pitch"] if zone is Zone.HOLD else state.pitch, n["trim_throttle"])


def _path_angle(climb: float, airspeed: float) -> float:
    """Angle of the flight path through still air, rad."""
    return math.asin(min(max(climb / airspeed, -1.0), 1.0))

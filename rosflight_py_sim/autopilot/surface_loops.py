"""Inner loops of a fixed wing: roll and pitch angle to surfaces."""

from __future__ import annotations

import math
from typing import NamedTuple

from rosflight_py_sim.autopilot.flight_state import FlightState
from rosflight_py_sim.autopilot.loops import gain, within
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number

DESIGN_AIRSPEED = Parameter(
    "design_airspeed", 18.0, "Airspeed for which the gains are designed", "m/s", minimum=0.1, maximum=300.0
)

SURFACE_LOOP_PARAMETERS = ParameterTable(
    DESIGN_AIRSPEED,
    Parameter("trim_elevator", 0.154, "Elevator of level flight at design_airspeed", "rad", minimum=-1.6, maximum=1.6),
    Parameter("max_aileron", 0.7, "Deflection at full command", "rad", minimum=0.01, maximum=1.6),
    Parameter("max_elevator", 0.7, "Deflection at full command", "rad", minimum=0.01, maximum=1.6),
    Parameter("max_rudder", 0.7, "Deflection at full command", "rad", minimum=0.01, maximum=1.6),
    gain("roll_gain", 1.17, "Aileron per roll error"),
    gain("roll_rate_gain", 0.0, "Aileron per roll rate", "s"),
    gain("yaw_damper_gain", 0.0925, "Rudder per washed-out yaw rate", "s"),
    Parameter(
        "yaw_damper_washout",
        0.5,
        "Corner frequency of the yaw damper's high-pass filter",
        "rad/s",
        minimum=0.01,
        maximum=1e3,
    ),
    gain("pitch_gain", 1.0, "Elevator per pitch error"),
    gain("pitch_rate_gain", 0.217, "Elevator per pitch rate", "s"),
    Parameter(
        "aileron_sign", 1.0, "Sign of the aileron deflection for a positive command: 1 or -1", minimum=-1.0, maximum=1.0
    ),
    Parameter(
        "elevator_sign",
        -1.0,
        "Sign of the elevator deflection for a positive command: 1 or -1; REV_ELEVATOR reverses it",
        minimum=-1.0,
        maximum=1.0,
    ),
    Parameter(
        "rudder_sign", 1.0, "Sign of the rudder deflection for a positive command: 1 or -1", minimum=-1.0, maximum=1.0
    ),
)

# Surface effectiveness grows with the square of the airspeed; the gains are scaled to compensate, within these limits.
_LEAST_SCALE, _GREATEST_SCALE = 0.3, 2.5


class SurfaceCommand(NamedTuple):
    """Mixer inputs u[Qx], u[Qy] and u[Qz], -1 to 1."""

    aileron: float
    elevator: float
    rudder: float


class SurfaceLoops:
    """Roll and pitch loops and yaw damper of Beard and McLain, Small Unmanned Aircraft (2012), sec. 6.3 and 6.4.

        delta_a = k_p (phi_c - phi) - k_d p
        delta_e = trim + k_p (theta_c - theta) - k_d theta'
        delta_r = damper of the yaw rate, washed out below the frequency p_wo:  delta_r = k_r s / (s + p_wo) r

    Deflections are positive as in the book: left aileron down, elevator down, rudder to the left; the gains are
    positive, and the signs of the surface effects are applied here. The gains hold for `design_airspeed`; at others
    they are scaled by the inverse of the dynamic pressure. Valid below the stall.
    """

    def __init__(self, values: Values) -> None:
        """`values` contains the checked values of SURFACE_LOOP_PARAMETERS; others are ignored."""
        self._number = {p.name: number(values, p.name) for p in SURFACE_LOOP_PARAMETERS}
        self._slow_yaw_rate = 0.0

    def reset(self) -> None:
        """Reset the washout filter of the yaw rate."""
        self._slow_yaw_rate = 0.0

    def adopt(self, old: SurfaceLoops) -> None:
        """Copy the state of `old`."""
        self._slow_yaw_rate = old._slow_yaw_rate

    def hold(self, state: FlightState, roll: float, pitch: float, dt: float) -> SurfaceCommand:
        """Surface commands for the next `dt` seconds, towards these angles (rad)."""
        washout = self._number["yaw_damper_washout"]
        self._slow_yaw_rate += (1.0 - math.exp(-washout * dt)) * (state.yaw_rate - self._slow_yaw_rate)
        damper = self._number["yaw_damper_gain"] * (state.yaw_rate - self._slow_yaw_rate)
        return self._surfaces(state, roll, pitch, damper)

    def steer(self, state: FlightState, pitch: float, rudder: float, dt: float) -> SurfaceCommand:
        """Surface commands on the ground: wings level, `rudder` (rad, to the left), yaw rate damping."""
        self.hold(state, 0.0, pitch, dt)
        return self._surfaces(state, 0.0, pitch, rudder + self._number["yaw_damper_gain"] * state.yaw_rate)

    def _surfaces(self, state: FlightState, roll: float, pitch: float, rudder: float) -> SurfaceCommand:
        n = self._number
        speed = max(state.airspeed, 1.0)
        scale = min(max((n["design_airspeed"] / speed) ** 2, _LEAST_SCALE), _GREATEST_SCALE)
        aileron = scale * (n["roll_gain"] * (roll - state.roll) - n["roll_rate_gain"] * state.roll_rate)
        # Positive elevator deflection turns the nose down. The rate is that of the pitch angle (eq. 3.3): in a turn q
        # includes the turn rate, which must not be damped.
        rate = state.pitch_rate * math.cos(state.roll) - state.yaw_rate * math.sin(state.roll)
        up = n["pitch_gain"] * (pitch - state.pitch) - n["pitch_rate_gain"] * rate
        elevator = n["trim_elevator"] - scale * up
        return SurfaceCommand(
            n["aileron_sign"] * within(aileron / n["max_aileron"], 1.0),
            n["elevator_sign"] * within(elevator / n["max_elevator"], 1.0),
            n["rudder_sign"] * within(scale * rudder / n["max_rudder"], 1.0),
        )

"""Inner loops of a fixed wing: from roll and pitch angles to control surfaces."""

from __future__ import annotations

import math
from typing import NamedTuple

from rosflight_py_sim.autopilot import loops
from rosflight_py_sim.autopilot.flight_state import FlightState
from rosflight_py_sim.autopilot.loops import gain
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.kernels.jit import kernel, kernel_part
from rosflight_py_sim.kernels.record import kernel_record

within = kernel_part(loops.within)

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


@kernel_record
class SurfaceMemory:
    """Parameters and state of `SurfaceLoops`.

    Attributes:
        design_airspeed: m/s; this and the other attributes up to `rudder_sign` are the parameters of the same names.
        slow_yaw_rate: part of the yaw rate below the washout frequency, rad/s.
    """

    design_airspeed: float
    trim_elevator: float
    max_aileron: float
    max_elevator: float
    max_rudder: float
    roll_gain: float
    roll_rate_gain: float
    yaw_damper_gain: float
    yaw_damper_washout: float
    pitch_gain: float
    pitch_rate_gain: float
    aileron_sign: float
    elevator_sign: float
    rudder_sign: float
    slow_yaw_rate: float


@kernel
def damp_yaw(memory: SurfaceMemory, yaw_rate: float, dt: float) -> float:
    """Rudder of the yaw damper, rad."""
    memory.slow_yaw_rate += (1.0 - math.exp(-memory.yaw_damper_washout * dt)) * (yaw_rate - memory.slow_yaw_rate)
    return memory.yaw_damper_gain * (yaw_rate - memory.slow_yaw_rate)


@kernel
def surfaces(
    memory: SurfaceMemory,
    airspeed: float,
    roll: float,
    pitch: float,
    roll_rate: float,
    pitch_rate: float,
    yaw_rate: float,
    to_roll: float,
    to_pitch: float,
    rudder: float,
) -> tuple[float, float, float]:
    """Aileron, elevator and rudder (-1 to 1) for wanted roll and pitch angles (rad) and rudder (rad, to the left)."""
    ratio = memory.design_airspeed / max(airspeed, 1.0)
    scale = min(max(ratio * ratio, _LEAST_SCALE), _GREATEST_SCALE)
    aileron = scale * (memory.roll_gain * (to_roll - roll) - memory.roll_rate_gain * roll_rate)
    # Positive elevator deflection turns the nose down. The damped rate is that of the pitch angle (eq. 3.3): in a
    # turn, q includes a component of the turn rate, which must not be damped.
    rate = pitch_rate * math.cos(roll) - yaw_rate * math.sin(roll)
    up = memory.pitch_gain * (to_pitch - pitch) - memory.pitch_rate_gain * rate
    elevator = memory.trim_elevator - scale * up
    return (
        memory.aileron_sign * within(aileron / memory.max_aileron, 1.0),
        memory.elevator_sign * within(elevator / memory.max_elevator, 1.0),
        memory.rudder_sign * within(scale * rudder / memory.max_rudder, 1.0),
    )


class SurfaceLoops:
    """Roll and pitch loops and yaw damper of Beard and McLain, Small Unmanned Aircraft (2012), sec. 6.3 and 6.4.

        delta_a = k_p (phi_c - phi) - k_d p
        delta_e = trim + k_p (theta_c - theta) - k_d theta'
        delta_r = damper of the yaw rate, washed out below the frequency p_wo:  delta_r = k_r s / (s + p_wo) r

    Deflections are positive as in the book: left aileron down, elevator down, rudder to the left; the gains are
    positive, and the signs of the surface effects are applied here. The gains hold for `design_airspeed`; at
    other airspeeds they are scaled by the inverse of the dynamic pressure. Valid below the stall.

    Attributes:
        memory: parameters and state, for kernels.
    """

    def __init__(self, values: Values) -> None:
        """`values` contains the checked values of SURFACE_LOOP_PARAMETERS; others are ignored."""
        self.memory = SurfaceMemory(
            **{one.name: number(values, one.name) for one in SURFACE_LOOP_PARAMETERS}, slow_yaw_rate=0.0
        )

    def reset(self) -> None:
        """Reset the washout filter of the yaw rate."""
        self.memory.slow_yaw_rate = 0.0

    def adopt(self, old: SurfaceLoops) -> None:
        """Copy the state of `old`."""
        self.memory.slow_yaw_rate = old.memory.slow_yaw_rate

    def hold(self, state: FlightState, roll: float, pitch: float, dt: float) -> SurfaceCommand:
        """Surface commands for the next `dt` seconds that hold a roll and a pitch angle (rad)."""
        return self._surfaces(state, roll, pitch, damp_yaw(self.memory, state.yaw_rate, dt))

    def steer(self, state: FlightState, pitch: float, rudder: float, dt: float) -> SurfaceCommand:
        """Surface commands on the ground: wings level, `rudder` (rad, to the left), yaw rate damping."""
        damp_yaw(self.memory, state.yaw_rate, dt)
        return self._surfaces(state, 0.0, pitch, rudder + self.memory.yaw_damper_gain * state.yaw_rate)

    def _surfaces(self, state: FlightState, roll: float, pitch: float, rudder: float) -> SurfaceCommand:
        return SurfaceCommand(
            *surfaces(
                self.memory,
                state.airspeed,
                state.roll,
                state.pitch,
                state.roll_rate,
                state.pitch_rate,
                state.yaw_rate,
                roll,
                pitch,
                rudder,
            )
        )

"""Guidance of an underwater vehicle that moves by surge and yaw alone, in a current."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rosflight_py_sim.autopilot.loops import gain
from rosflight_py_sim.autopilot.setpoint import Setpoint
from rosflight_py_sim.autopilot.thruster_allocation import SURGE
from rosflight_py_sim.autopilot.underwater_body import UnderwaterBody
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number

SURGE_GUIDANCE_PARAMETERS = ParameterTable(
    Parameter(
        "approach_gain",
        0.3,
        "Speed towards the set-point per distance from it, besides the speed of the set-point",
        "1/s",
        minimum=0.0,
        maximum=10.0,
    ),
    Parameter("approach_speed", 0.2, "Limit of that speed", "m/s", minimum=0.01, maximum=50.0),
    gain("surge_gain", 1.0, "Surge acceleration per error of the speed through the water", "1/s"),
)

# Speed through the water (m/s) below which the direction of a wanted velocity is not worth a turn.
_STEERS_MPS = 0.02


class SurgeGuidance:
    """Yaw and surge that lead to a moving set-point.

    The wanted velocity over ground, horizontal, is that of the set-point v plus k times the way to it, the latter
    within a limit. For a set-point that moves along a straight line, its course differs from the line's by
    arctan(-e k / v) at the cross-track error e: lookahead-based line-of-sight steering with the lookahead v / k
    (T. Fossen, Handbook of Marine Craft Hydrodynamics and Motion Control, 2011, sec. 10.3.2). Less the velocity of the
    current, it is the velocity through the water, whose direction is the yaw: the crab angle compensates the current.

    Surge pushes with the part u of that velocity that lies ahead, not at all while the vehicle faces away from it:

        tau = (d + d_n |u|) u + m k_u (u - u_r)

    with the damping d and d_n, mass with added mass m, and the speed through the water u_r.

    Valid near level attitude.
    """

    def __init__(self, values: Values, body: UnderwaterBody) -> None:
        """`values` contains the checked values of SURGE_GUIDANCE_PARAMETERS; others are ignored.

        Raises:
            ParameterError: the thrusters cannot produce pure surge.
        """
        self._limit = body.allocation.limits.surge
        if not body.allocation.reachable[SURGE]:
            raise ParameterError("thrusters given that cannot push ahead alone; allowed: thrusters that can")
        self._mass, (self._linear, self._quadratic) = body.surge_mass, body.surge_damping
        self._approach = number(values, "approach_gain")
        self._approach_speed = number(values, "approach_speed")
        self._surge_gain = number(values, "surge_gain")
        self.yaw = 0.0
        """Last yaw (rad); set it to the vehicle's when guidance begins."""

    def surge(
        self,
        setpoint: Setpoint,
        position_ned: Sequence[float],
        velocity_ahead: float,
        yaw: float,
        current: Sequence[float],
    ) -> float:
        """Share of the full surge force, -1 to 1, and in the attribute `yaw` the new yaw.

        Args:
            setpoint: position (m) and velocity (m/s), of which the horizontal parts matter.
            position_ned: of the vehicle, m.
            velocity_ahead: its velocity over ground along the body's x axis, m/s.
            yaw: its yaw, rad.
            current: velocity of the water, NED, m/s.
        """
        (to_north, to_east, _), (at_north, at_east, _) = setpoint.position_ned, position_ned
        north, east = self._approach * (to_north - at_north), self._approach * (to_east - at_east)
        slower = min(1.0, self._approach_speed / max(math.hypot(north, east), 1e-9))
        north = setpoint.velocity_ned[0] + slower * north - current[0]
        east = setpoint.velocity_ned[1] + slower * east - current[1]
        if math.hypot(north, east) > _STEERS_MPS:
            self.yaw = math.atan2(east, north)
        cosine, sine = math.cos(yaw), math.sin(yaw)
        wanted = max(north * cosine + east * sine, 0.0)
        through_water = velocity_ahead - current[0] * cosine - current[1] * sine
        force = (self._linear + self._quadratic * wanted) * wanted
        force += self._mass * self._surge_gain * (wanted - through_water)
        return min(max(force / self._limit, -1.0), 1.0)

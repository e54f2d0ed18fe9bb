"""Depth and heading hold for an underwater vehicle, with direct surge and sway commands."""

from __future__ import annotations

import math
from typing import NamedTuple

from rosflight_py_sim.autopilot.loops import PiLoop, within, wrap_angle
from rosflight_py_sim.autopilot.thruster_allocation import Array, Demand, ThrusterAllocation
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.ground.shared_parameters import MAX_YAW_RATE

HOLD_CONTROLLER_PARAMETERS = ParameterTable(
    Parameter("depth_frequency", 2.0, "Natural frequency of the depth loop", "rad/s", minimum=0.01, maximum=100.0),
    Parameter("depth_damping", 1.0, "Damping ratio of the depth loop", minimum=0.3, maximum=3.0),
    Parameter("yaw_frequency", 3.0, "Natural frequency of the yaw loop", "rad/s", minimum=0.01, maximum=100.0),
    Parameter("yaw_damping", 1.0, "Damping ratio of the yaw loop", minimum=0.3, maximum=3.0),
    Parameter(
        "max_depth_rate",
        0.25,
        "Rate at which the depth reference moves to a new set-point",
        "m/s",
        minimum=1e-3,
        maximum=50.0,
    ),
    MAX_YAW_RATE.overridden("also the rate at which the yaw reference moves to a new set-point", default=0.6),
)


class HeldBody(NamedTuple):
    """Vehicle properties for the loops.

    Attributes:
        heave_mass: mass and added mass of vertical motion, kg.
        heave_damping: linear and quadratic damping of vertical motion, N s/m and N s^2/m^2.
        yaw_inertia: moment of inertia plus added inertia about the vertical axis, kg m^2.
        yaw_damping: linear and quadratic damping of yaw motion, N m s and N m s^2.
    """

    heave_mass: float
    heave_damping: tuple[float, float]
    yaw_inertia: float
    yaw_damping: tuple[float, float]


class HoldSetpoint(NamedTuple):
    """Target depth (m) and yaw (rad from north); surge and sway as shares (-1 to 1) of full force."""

    depth: float
    yaw: float
    surge: float = 0.0
    sway: float = 0.0


class Motion(NamedTuple):
    """Depth (m), its rate (m/s, down), yaw (rad) and its rate (rad/s)."""

    depth: float
    depth_rate: float
    yaw: float
    yaw_rate: float


class _PidLoop:
    """PID loop designed by pole placement, with a rate-limited reference.

    For m x'' + d x' = tau (T. Fossen, Handbook of Marine Craft Hydrodynamics and Motion Control, 2011, sec. 12.2, PID
    pole placement, without a spring) at natural frequency w and damping ratio z:

        K_p = m w^2,    K_d = 2 z w m - d,    K_i = K_p w / 10

    and tau = K_p e + K_i int(e) + K_d e' + d r' + d_n |r'| r', e = r - x: the damping of the reference motion,
    including its quadratic part, is fed forward. K_d is 0 if the linear damping exceeds 2 z w m.

    A step would saturate the thrusters, so the reference r follows the set-point s by a reference model (sec. 12.1): r'
    = w (s - r) / 2, with limited rate. The integrator is frozen while the force is at its limit (`PiLoop`).
    """

    def __init__(
        self, mass: float, damping: tuple[float, float], frequency: float, ratio: float, rate: float, limit: float
    ) -> None:
        proportional = mass * frequency**2
        self._derivative = max(2.0 * ratio * frequency * mass - damping[0], 0.0)
        self._loop = PiLoop(proportional, proportional * frequency / 10.0, -limit, limit)
        self._linear, self._quadratic = damping
        self._approach, self._rate = 0.5 * frequency, rate
        self.reference = 0.0

    def begin(self, reference: float, integrated: float = 0.0) -> None:
        self.reference = reference
        self._loop.reset(integrated)

    @property
    def integrated(self) -> float:
        return self._loop.integrated

    def update(self, way_to_go: float, error: float, rate: float, dt: float) -> float:
        """Force for `error` from the reference, before its next move; `way_to_go` is from there to the set-point."""
        reference_rate = within(self._approach * way_to_go, self._rate) if dt > 0.0 else 0.0
        move = reference_rate * dt
        self.reference += move
        drag = (self._linear + self._quadratic * abs(reference_rate)) * reference_rate
        return self._loop.update(error + move, dt, self._derivative * (reference_rate - rate) + drag)


class HoldController:
    """PID control of depth and yaw; surge and sway are commanded directly and use the remaining thrust.

    Valid near level attitude: heave is treated as vertical, and the yaw rate as the body's. The integrators compensate
    buoyancy, current and thruster misalignment.
    """

    def __init__(self, values: Values, body: HeldBody, allocation: ThrusterAllocation) -> None:
        """`values` contains the checked values of HOLD_CONTROLLER_PARAMETERS; others are ignored."""
        self._allocate, self._limits = allocation, allocation.limits
        self._depth = _PidLoop(
            body.heave_mass,
            body.heave_damping,
            number(values, "depth_frequency"),
            number(values, "depth_damping"),
            number(values, "max_depth_rate"),
            self._limits.heave,
        )
        self._yaw = _PidLoop(
            body.yaw_inertia,
            body.yaw_damping,
            number(values, "yaw_frequency"),
            number(values, "yaw_damping"),
            number(values, "max_yaw_rate"),
            self._limits.yaw,
        )

    @property
    def integrated_heave(self) -> float:
        """Force of the depth loop's integrator (N, down)."""
        return self._depth.integrated

    def begin(self, motion: Motion) -> None:
        """Reset to the current state of the vehicle."""
        self._depth.begin(motion.depth)
        self._yaw.begin(motion.yaw)

    def adopt(self, other: HoldController) -> None:
        """Copy the state of `other`, after a change of parameters."""
        self._depth.begin(other._depth.reference, other._depth.integrated)
        self._yaw.begin(other._yaw.reference, other._yaw.integrated)

    def update(self, motion: Motion, setpoint: HoldSetpoint, dt: float) -> Array:
        """Thruster commands, -1 to 1, for the next `dt` seconds; 0, after a gap, leaves the integrators unchanged.

        Raises:
            ValueError: the motion is not finite; the controller is unchanged.
        """
        if not all(map(math.isfinite, motion)):
            raise ValueError(f"motion is not finite: {motion}")
        depth, yaw = self._depth, self._yaw
        heave = depth.update(setpoint.depth - depth.reference, depth.reference - motion.depth, motion.depth_rate, dt)
        turn = yaw.update(
            wrap_angle(setpoint.yaw - yaw.reference), wrap_angle(yaw.reference - motion.yaw), motion.yaw_rate, dt
        )
        surge, sway = setpoint.surge * self._limits.surge, setpoint.sway * self._limits.sway
        return self._allocate(Demand(surge, sway, heave, turn))

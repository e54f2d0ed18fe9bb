"""Depth and heading hold for an underwater vehicle, with direct surge and sway commands."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rosflight_py_sim.autopilot import loops
from rosflight_py_sim.autopilot.loops import PiLoop, PiMemory, pi_output, reset_pi
from rosflight_py_sim.autopilot.thruster_allocation import Array, ThrusterAllocation, allocate
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.ground.shared_parameters import MAX_YAW_RATE
from rosflight_py_sim.kernels.jit import kernel, kernel_part
from rosflight_py_sim.kernels.record import kernel_record

within, wrap_angle = kernel_part(loops.within), kernel_part(loops.wrap_angle)

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


@kernel_record
class PidLoop:
    """PID loop designed by pole placement, with a rate-limited reference; see `pid_loop`.

    Attributes:
        pi: proportional and integral part.
        derivative: force per rate.
        linear: linear damping.
        quadratic: quadratic damping.
        approach: rate of the reference per distance from the set-point, 1/s.
        rate: limit of the rate of the reference.
        reference: present reference.
    """

    pi: PiMemory
    derivative: float
    linear: float
    quadratic: float
    approach: float
    rate: float
    reference: float


@kernel_record
class Hold:
    """State of a hold controller.

    Attributes:
        depth: loop of the depth.
        yaw: loop of the yaw.
        is_held: whether the vehicle holds the set-points; otherwise the thrusters are stopped.
        target_depth: set-point, m.
        target_yaw: set-point, rad.
        surge: force ahead, N.
        sway: force to the right, N.
    """

    depth: PidLoop
    yaw: PidLoop
    is_held: bool
    target_depth: float
    target_yaw: float
    surge: float
    sway: float


def pid_loop(
    mass: float, damping: tuple[float, float], frequency: float, ratio: float, rate: float, limit: float
) -> PidLoop:
    """Loop for m x'' + d x' = tau at natural frequency w and damping ratio z, with forces up to `limit`.

    T. Fossen, Handbook of Marine Craft Hydrodynamics and Motion Control, 2011, sec. 12.2, PID pole placement, without a
    spring:

        K_p = m w^2,    K_d = 2 z w m - d,    K_i = K_p w / 10

    and tau = K_p e + K_i int(e) + K_d e' + d r' + d_n |r'| r', e = r - x: the damping of the reference motion,
    including its quadratic part, is fed forward. K_d is 0 if the linear damping exceeds 2 z w m.

    A step would saturate the thrusters, so the reference r follows the set-point s by a reference model (sec. 12.1): r'
    = w (s - r) / 2, with limited rate. The integrator is frozen while the force is at its limit (`PiLoop`).
    """
    proportional = mass * frequency**2
    linear, quadratic = damping
    return PidLoop(
        pi=PiLoop(proportional, proportional * frequency / 10.0, -limit, limit).memory,
        derivative=max(2.0 * ratio * frequency * mass - linear, 0.0),
        linear=linear,
        quadratic=quadratic,
        approach=0.5 * frequency,
        rate=rate,
        reference=0.0,
    )


def _begin(loop: PidLoop, reference: float, integrated: float = 0.0) -> None:
    loop.reference = reference
    reset_pi(loop.pi, integrated)


@kernel
def force_of(loop: PidLoop, way_to_go: float, error: float, rate: float, dt: float) -> float:
    """Force for `error` from the reference, before its next move; `way_to_go` is from there to the set-point."""
    reference_rate = within(loop.approach * way_to_go, loop.rate) if dt > 0.0 else 0.0
    move = reference_rate * dt
    loop.reference += move
    drag = (loop.linear + loop.quadratic * abs(reference_rate)) * reference_rate
    return pi_output(loop.pi, error + move, dt, loop.derivative * (reference_rate - rate) + drag)


@kernel
def hold_shares(
    hold: Hold,
    share: Array,
    depth: float,
    depth_rate: float,
    yaw: float,
    yaw_rate: float,
    dt: float,
    shares: Array,
) -> bool:
    """Write the thrusters' shares of full thrust (n,), -1 to 1, or return that the motion is not finite.

    Args:
        hold: state of the controller.
        share: pseudo-inverse of the allocation (n, 4).
        depth: m.
        depth_rate: m/s, down.
        yaw: rad.
        yaw_rate: rad/s.
        dt: time for which the shares are in force (s); 0, after a gap, leaves the integrators unchanged.
        shares: the shares.
    """
    if not math.isfinite(depth + depth_rate + yaw + yaw_rate):
        return True
    target, place = hold.target_depth, hold.depth.reference
    heave = force_of(hold.depth, target - place, place - depth, depth_rate, dt)
    heading = hold.yaw.reference
    turn = force_of(hold.yaw, wrap_angle(hold.target_yaw - heading), wrap_angle(heading - yaw), yaw_rate, dt)
    allocate(share, hold.surge, hold.sway, heave, turn, shares)
    return False


class HoldController:
    """PID control of depth and yaw; surge and sway are commanded directly and use the remaining thrust.

    Valid near level attitude: heave is treated as vertical, and the yaw rate as the body's. The integrators compensate
    buoyancy, current and thruster misalignment.

    Attributes:
        hold: state, for kernels.
        share: pseudo-inverse of the allocation (n, 4).
    """

    def __init__(self, values: Values, body: HeldBody, allocation: ThrusterAllocation) -> None:
        """`values` contains the checked values of HOLD_CONTROLLER_PARAMETERS; others are ignored."""
        self._limits, self.share = allocation.limits, allocation.share
        self.hold = Hold(
            depth=pid_loop(
                body.heave_mass,
                body.heave_damping,
                number(values, "depth_frequency"),
                number(values, "depth_damping"),
                number(values, "max_depth_rate"),
                self._limits.heave,
            ),
            yaw=pid_loop(
                body.yaw_inertia,
                body.yaw_damping,
                number(values, "yaw_frequency"),
                number(values, "yaw_damping"),
                number(values, "max_yaw_rate"),
                self._limits.yaw,
            ),
            is_held=False,
            target_depth=0.0,
            target_yaw=0.0,
            surge=0.0,
            sway=0.0,
        )

    @property
    def integrated_heave(self) -> float:
        """Force of the depth loop's integrator (N, down)."""
        return self.hold.depth.pi.integrated

    def begin(self, motion: Motion) -> None:
        """Reset to the current state of the vehicle."""
        _begin(self.hold.depth, motion.depth)
        _begin(self.hold.yaw, motion.yaw)

    def adopt(self, other: HoldController) -> None:
        """Copy the state of `other`, after a change of parameters."""
        for loop, before in ((self.hold.depth, other.hold.depth), (self.hold.yaw, other.hold.yaw)):
            _begin(loop, before.reference, before.pi.integrated)

    def set(self, setpoint: HoldSetpoint | None) -> None:
        """Hold set-points; None releases the vehicle."""
        hold = self.hold
        hold.is_held = setpoint is not None
        if setpoint is not None:
            hold.target_depth, hold.target_yaw = setpoint.depth, setpoint.yaw
            hold.surge, hold.sway = setpoint.surge * self._limits.surge, setpoint.sway * self._limits.sway

    def update(self, motion: Motion, setpoint: HoldSetpoint, dt: float) -> Array:
        """Thruster commands, -1 to 1, for the next `dt` seconds; see `hold_shares`.

        Raises:
            ValueError: the motion is not finite; the controller is unchanged.
        """
        self.set(setpoint)
        shares = np.empty(len(self.share))
        if hold_shares(self.hold, self.share, *motion, dt, shares):
            raise ValueError(f"motion is not finite: {motion}")
        return shares

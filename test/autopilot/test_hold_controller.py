"""The hold controller in closed loop with a body whose equations are written out here."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from rosflight_py_sim.autopilot.hold_controller import (
    HOLD_CONTROLLER_PARAMETERS,
    HeldBody,
    HoldController,
    HoldSetpoint,
    Motion,
)
from rosflight_py_sim.autopilot.loops import wrap_angle
from rosflight_py_sim.autopilot.thruster_allocation import Array, ThrusterAllocation
from rosflight_py_sim.ground.parameters import Value

BODY = HeldBody(heave_mass=3.0, heave_damping=(1.0, 4.0), yaw_inertia=0.04, yaw_damping=(0.02, 0.02))
DT = 0.01

# Left, right, side and vertical thruster: places (m) and directions of positive thrust, each of 1.1 N.
PLACES = np.array([[0.0, -0.1, 0.0], [0.0, 0.1, 0.0], [0.05, 0.0, 0.0], [0.0, 0.0, 0.0]])
WAYS = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]])
FULL = np.full(4, 1.1)


def pushed(commands: Array) -> Array:
    """Force (3) and moment (3) of commands."""
    forces = WAYS * (FULL * commands)[:, None]
    return np.concatenate([forces.sum(axis=0), np.cross(PLACES, forces).sum(axis=0)])


def drag(damping: tuple[float, float], rate: float) -> float:
    return (damping[0] + damping[1] * abs(rate)) * rate


def controller(**changed: Value) -> HoldController:
    return HoldController(
        {**HOLD_CONTROLLER_PARAMETERS.defaults(), **changed}, BODY, ThrusterAllocation(PLACES, WAYS, FULL)
    )


def held(
    one: HoldController,
    setpoint: Callable[[float], HoldSetpoint],
    seconds: float,
    start: Motion,
    buoyancy: float = -0.15,
) -> tuple[list[Motion], list[list[float]]]:
    """Motions and commands of m x'' + d x' + d_q |x'| x' = tau + b, in heave and in yaw, by small Euler steps."""
    depth, depth_rate, yaw, yaw_rate = start
    one.begin(start)
    motions, commands = [], []
    for k in range(round(seconds / DT)):
        command = one.update(Motion(depth, depth_rate, wrap_angle(yaw), yaw_rate), setpoint(k * DT), DT)
        push = pushed(command)
        heave = push[2] + buoyancy - drag(BODY.heave_damping, depth_rate)
        depth_rate += heave / BODY.heave_mass * DT
        depth += depth_rate * DT
        turn = push[5] + 0.01 - drag(BODY.yaw_damping, yaw_rate)
        yaw_rate += turn / BODY.yaw_inertia * DT
        yaw += yaw_rate * DT
        motions.append(Motion(depth, depth_rate, yaw, yaw_rate))
        commands.append(command.tolist())
    return motions, commands


REST = Motion(0.5, 0.0, 0.0, 0.0)


def test_depth_and_yaw_settle_despite_buoyancy_and_constant_moment() -> None:
    motions, _ = held(controller(), lambda t: HoldSetpoint(2.0, math.radians(100.0)), 60.0, REST)
    end = motions[-1]
    # The slowest pole is a tenth of the natural frequency: after 60 s e^-7 of the disturbance's effect is left.
    assert end.depth == pytest.approx(2.0, abs=1e-3)
    assert end.yaw == pytest.approx(math.radians(100.0), abs=1e-3)
    assert max(m.depth for m in motions) < 2.05
    assert max(m.yaw for m in motions) < math.radians(104.0)


def test_yaw_takes_shortest_turn_through_south() -> None:
    start = Motion(1.0, 0.0, math.radians(170.0), 0.0)
    motions, _ = held(controller(), lambda t: HoldSetpoint(1.0, math.radians(-170.0)), 30.0, start)
    yaws = [m.yaw for m in motions]
    assert min(yaws) > math.radians(165.0)
    assert yaws[-1] == pytest.approx(math.radians(190.0), abs=0.01)


def test_unreachable_setpoint_causes_no_integrator_windup() -> None:
    # More buoyancy (N) than the vertical thruster's 1.1 N can overcome, until a minute is over.
    one = controller()
    strong, _ = held(one, lambda t: HoldSetpoint(2.0, 0.0), 60.0, REST, buoyancy=-1.5)
    assert strong[-1].depth < REST.depth
    fresh, again = controller(), controller()
    usual, _ = held(fresh, lambda t: HoldSetpoint(1.0, 0.0), 20.0, REST)
    again.adopt(one)
    assert abs(one.integrated_heave) <= 1.1
    late = one.update(Motion(3.0, 0.0, 0.0, 0.0), HoldSetpoint(2.0, 0.0), DT)
    # A metre too deep, the vertical thruster pushes up at once.
    assert late[3] > 0.5
    assert max(m.depth for m in usual) < 1.05


def test_surge_and_sway_scale_with_maximum_force() -> None:
    one = controller()
    one.begin(Motion(1.0, 0.0, 0.0, 0.0))
    commands = one.update(Motion(1.0, 0.0, 0.0, 0.0), HoldSetpoint(1.0, 0.0, surge=0.5, sway=-0.25), DT)
    # The side thruster sits ahead of the centre: the outer ones carry its moment.
    assert pushed(commands)[[0, 1, 5]] == pytest.approx([0.5 * 2.2, -0.25 * 1.1, 0.0], abs=1e-12)


def test_setpoint_reference_is_rate_limited() -> None:
    motions, _ = held(controller(max_depth_rate=0.1), lambda t: HoldSetpoint(2.5, 0.0), 10.0, REST)
    assert motions[-1].depth == pytest.approx(0.5 + 10.0 * 0.1, abs=0.1)
    # 10 % over the reference's rate for the start, in which it catches up.
    assert max(m.depth_rate for m in motions) < 0.12


def test_commands_stay_in_range() -> None:
    rng = np.random.default_rng(5)
    one = controller()
    one.begin(REST)
    for _ in range(2000):
        motion = Motion(*rng.normal(0.0, [5.0, 2.0, 3.0, 5.0]))
        setpoint = HoldSetpoint(*rng.uniform([0.0, -9.0, -1.0, -1.0], [9.0, 9.0, 1.0, 1.0]))
        assert np.abs(one.update(motion, setpoint, DT)).max() <= 1.0


def test_parameter_change_preserves_controller_state() -> None:
    one = controller()
    held(one, lambda t: HoldSetpoint(2.0, 1.0), 60.0, REST)
    another = controller(depth_frequency=1.3)
    another.adopt(one)
    motion = Motion(2.0, 0.0, 1.0, 0.0)
    before, after = (c.update(motion, HoldSetpoint(2.0, 1.0), DT) for c in (one, another))
    # The remaining errors times the change of gains.
    assert after == pytest.approx(before, abs=0.01)


def test_non_finite_motion_is_rejected() -> None:
    with pytest.raises(ValueError, match="motion is not finite"):
        controller().update(Motion(math.nan, 0.0, 0.0, 0.0), HoldSetpoint(1.0, 0.0), DT)

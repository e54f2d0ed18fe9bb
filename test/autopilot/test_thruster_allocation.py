"""Allocation of forces to thrusters: the commands produce the requested forces."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rosflight_py_sim.autopilot.thruster_allocation import Array, Demand, ThrusterAllocation
from rosflight_py_sim.ground.parameters import ParameterError

C, S = math.cos(math.radians(45.0)), math.sin(math.radians(45.0))

# Left, right, side and vertical.
FOUR = (
    [[0.0, -0.1, 0.0], [0.0, 0.1, 0.0], [0.05, 0.0, 0.0], [0.0, 0.0, 0.0]],
    [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]],
    [1.1, 1.1, 1.1, 1.1],
)
# Four vectored and two vertical ones.
SIX = (
    [[0.15, 0.11, 0.0], [0.15, -0.11, 0.0], [-0.15, 0.11, 0.0], [-0.15, -0.11, 0.0], [0.0, 0.1, 0.0], [0.0, -0.1, 0.0]],
    [[C, -S, 0.0], [C, S, 0.0], [C, S, 0.0], [C, -S, 0.0], [0.0, 0.0, -1.0], [0.0, 0.0, -1.0]],
    [40.0] * 6,
)


def pushed(geometry: tuple[list[list[float]], list[list[float]], list[float]], commands: Array) -> Array:
    """Force (3) and moment (3) of commands."""
    places, ways, full = (np.asarray(part) for part in geometry)
    forces = ways * (full * commands)[:, None]
    return np.concatenate([forces.sum(axis=0), np.cross(places, forces).sum(axis=0)])


@pytest.mark.parametrize("geometry", [FOUR, SIX], ids=["four", "six"])
def test_commands_produce_exactly_the_demanded_wrench(
    geometry: tuple[list[list[float]], list[list[float]], list[float]],
) -> None:
    allocation = ThrusterAllocation(*geometry)
    share = Demand(*(0.2 * limit for limit in allocation.limits))
    push = pushed(geometry, allocation(share))
    # Linear algebra with numbers of order 10, in double precision; six thrusters also give no roll or pitch moment.
    assert push[[0, 1, 2, 5]] == pytest.approx(share, abs=1e-12)
    assert push[3] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("geometry", [FOUR, SIX], ids=["four", "six"])
def test_limits_equal_full_thrust_along_each_axis_alone(
    geometry: tuple[list[list[float]], list[list[float]], list[float]],
) -> None:
    allocation = ThrusterAllocation(*geometry)
    for axis in range(4):
        demand = [0.0] * 4
        demand[axis] = allocation.limits[axis]
        assert np.abs(allocation(Demand(*demand))).max() == pytest.approx(1.0, abs=1e-12)
    assert allocation.limits.heave == pytest.approx(geometry[2][0] * (1 if len(geometry[2]) == 4 else 2))


def test_yaw_takes_priority_over_surge_at_saturation() -> None:
    allocation = ThrusterAllocation(*FOUR)
    full = allocation.limits
    commands = allocation(Demand(surge=full.surge, sway=0.0, heave=0.0, yaw=0.6 * full.yaw))
    push = pushed(FOUR, commands)
    assert np.abs(commands).max() == pytest.approx(1.0)
    assert push[5] == pytest.approx(0.6 * full.yaw)
    assert push[0] == pytest.approx(0.4 * full.surge)


def test_saturated_heave_and_yaw_keep_their_ratio() -> None:
    allocation = ThrusterAllocation(*SIX)
    full = allocation.limits
    push = pushed(SIX, allocation(Demand(0.0, 0.0, heave=-4.0 * full.heave, yaw=2.0 * full.yaw)))
    assert push[2] == pytest.approx(-full.heave)
    assert push[5] == pytest.approx(0.5 * full.yaw)


def test_thrusters_that_cannot_control_depth_or_yaw_are_rejected() -> None:
    flat = (FOUR[0][:3], FOUR[1][:3], FOUR[2][:3])
    with pytest.raises(ParameterError, match="3 thrusters given that cannot push down alone"):
        ThrusterAllocation(*flat)
    with pytest.raises(ParameterError, match="1 thrusters given that cannot push about the vertical axis alone"):
        ThrusterAllocation([[0.0, 0.0, 0.0]], [[0.0, 0.0, -1.0]], [1.0])


def test_uncontrollable_axis_is_ignored() -> None:
    without_side = tuple([part[0], part[1], part[3]] for part in FOUR)
    allocation = ThrusterAllocation(*without_side)
    assert allocation.reachable == (True, False, True, True)
    assert allocation.limits.sway == 0.0

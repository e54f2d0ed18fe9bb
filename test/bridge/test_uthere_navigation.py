"""NavLost of a plane means that the navigation by which it is flown is lost."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from rosflight_py_sim.autopilot.cage import CageBit
from rosflight_py_sim.bridge.uthere_plane import UTHERE_PLANE_PARAMETERS, UtherePlane
from rosflight_py_sim.step.topics import GnssSample
from test.bridge.uthere_bench import FIX, flying_snapshot

# The firmware's vertical is off by as much in long turns of a fixed wing, in which gravity is not what it measures.
DRIFTED = (math.radians(34.0), 0.0, 0.0)
NO_FIX = FIX._replace(fix_type=0, satellites=3)


def is_nav_lost(controller: str, attitude: tuple[float, float, float] | None, gnss: GnssSample) -> bool:
    """Whether the bit is set after 10 s, twice the time that it takes by default."""
    plane = UtherePlane(UTHERE_PLANE_PARAMETERS.checked({"uthere.controller": controller}), {})
    snapshot = flying_snapshot()
    assert not snapshot.truth[4:7].any()
    for step in range(100):
        seen = snapshot if step == 0 else replace(snapshot, attitude=attitude, gnss=gnss)
        plane.update(replace(seen, time_ns=step * 100_000_000), 0.1)
    return bool(plane.pilot.cage_triggered >> CageBit.NAV_LOST & 1)


@pytest.mark.parametrize("controller", ["fixedwing", "multirotor"])
def test_lost_position_is_lost_navigation(controller: str) -> None:
    good = flying_snapshot()
    assert good.gnss is not None
    assert not is_nav_lost(controller, good.attitude, good.gnss)
    assert is_nav_lost(controller, good.attitude, NO_FIX)


@pytest.mark.parametrize("estimate", [DRIFTED, None], ids=["drifted", "none"])
def test_estimate_of_the_flight_controller_is_navigation_only_of_a_vehicle_that_it_flies(
    estimate: tuple[float, float, float] | None,
) -> None:
    gnss = flying_snapshot().gnss
    assert gnss is not None
    assert not is_nav_lost("fixedwing", estimate, gnss)
    assert is_nav_lost("multirotor", estimate, gnss)

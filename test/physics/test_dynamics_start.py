"""Initial position and heading of a vehicle."""

import math
from typing import Any

import numpy as np
import pytest

from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics

POOL_START = (-4.0, 0.0, 0.3)


def started(**given: Any) -> VehicleDynamics:
    inertia = {"mass": 2.0, "Jxx": 0.1, "Jyy": 0.1, "Jzz": 0.1}
    return VehicleDynamics(DYNAMICS_PARAMETERS.checked({**inertia, "starts_on_ground": False, **given}))


@pytest.mark.parametrize("degrees", [0.0, 90.0, -120.0])
def test_vehicle_points_along_its_initial_heading(degrees: float) -> None:
    w, _, _, z = started(initial_altitude=1.0, initial_heading=degrees).truth[3:7]
    assert math.degrees(2.0 * math.atan2(z, w)) == pytest.approx(degrees)


def test_start_is_relative_to_the_worlds_unless_that_is_turned_off() -> None:
    given = {"world": "pool", "initial_position": [1.0, 2.0], "initial_altitude": -1.5}
    assert started(**given).truth[:3] == pytest.approx([POOL_START[0] + 1.0, POOL_START[1] + 2.0, POOL_START[2]])
    assert np.array_equal(started(**given, use_world_start=False).truth[:3], [1.0, 2.0, 1.5])

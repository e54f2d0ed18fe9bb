"""Vehicles at rest and their cameras, for tests."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transforms3d.euler import euler2quat

from rosflight_py_sim.camera import CAMERA_PARAMETERS, Camera, cameras


def truth_at(
    position: tuple[float, float, float], roll_deg: float = 0.0, pitch_deg: float = 0.0, yaw_deg: float = 0.0
) -> NDArray[np.float64]:
    """Truth vector of a vehicle at rest."""
    truth = np.zeros(19)
    truth[:3] = position
    truth[3:7] = euler2quat(*(math.radians(angle) for angle in (roll_deg, pitch_deg, yaw_deg)))
    return truth


def camera_named(name: str, **given: Any) -> Camera:
    """A camera of the default pair."""
    return next(one for one in cameras(CAMERA_PARAMETERS.checked(given)) if one.name == name)

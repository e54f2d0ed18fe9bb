"""Range finder: one beam along the body's z axis (down), in the world that the parameter `world` names.

The beam reflects from the ground, the water surface (from either side), the pool's floor and walls, and every object
except paint. On dry land the reading is height / cos(tilt).

The reading follows REP 117: a distance beyond the maximum, or no ground in the beam, reads +inf; a distance below the
minimum reads -inf. Neither is a measurement.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.jit import kernel
from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.physics.rotations import rotate_to_inertial
from rosflight_py_sim.sensing.errors import ERROR, ErrorModel, ErrorSource, advance_errors
from rosflight_py_sim.sensing.site import RANGE_RATE
from rosflight_py_sim.world import WORLD, beam_boundary, beam_distance, part_array, world_of

_ERRORS = ErrorSource("range", "distance", "m", RANGE_RATE, stdev=0.03)

PARAMETERS = _ERRORS.parameters() + ParameterTable(
    Parameter("range_min_range", 0.25, "Shortest distance that the range finder can measure", "m", minimum=0.0),
    Parameter(
        "range_max_range",
        8.0,
        "Longest distance that the range finder can measure",
        "m",
        minimum=0.0,
        above_minimum=True,
    ),
    Parameter(
        "range_field_of_view",
        0.05,
        "Beam width given in the range messages; the distance is measured along the beam axis only",
        "rad",
        minimum=0.0,
        maximum=math.pi,
    ),
    WORLD,
)


class RangeFinder:
    """Downward range finder; `min_range`, `max_range` (m) and `field_of_view` (rad) are the values in its messages.

    Raises:
        ParameterError: range_min_range is not below range_max_range, or the world file is invalid.
    """

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        self._errors = ErrorModel([_ERRORS.terms(values)], rng)
        self.min_range = number(values, "range_min_range")
        self.max_range = number(values, "range_max_range")
        self.field_of_view = number(values, "range_field_of_view")
        if self.min_range >= self.max_range:
            raise ParameterError(
                f"parameter 'range_min_range': {self.min_range:g} given; "
                f"allowed: less than range_max_range, which is {self.max_range:g} m"
            )
        world = world_of(values)
        self._boundary = beam_boundary(world)
        self._parts = part_array(world.objects)

    def adopt(self, other: RangeFinder) -> None:
        """Copy another range finder's errors."""
        self._errors.adopt(other._errors)

    def sample(self, truth: NDArray[np.float64], dt: float) -> float:
        """Measured distance (m), +inf or -inf by REP 117, dt (s, > 0) after the last sample."""
        errors = self._errors
        limits = (self.min_range, self.max_range)
        return sample_range(truth, self._boundary, self._parts, *limits, dt, errors.channels, errors.normals.next())


@kernel
def sample_range(
    truth: NDArray[np.float64],
    boundary: NDArray[np.float64],
    parts: NDArray[np.float64],
    min_range: float,
    max_range: float,
    dt: float,
    channels: NDArray[np.float64],
    normals: NDArray[np.float64],
) -> float:
    """Distance along the beam (`beam_distance`) with error, or +-inf out of range (m)."""
    advance_errors(channels, normals, dt)
    along_n, along_e, along_d = rotate_to_inertial(truth[3], truth[4], truth[5], truth[6], 0.0, 0.0, 1.0)
    distance = beam_distance(boundary, parts, truth[0], truth[1], truth[2], along_n, along_e, along_d)
    distance += float(channels[0, ERROR])
    if distance > max_range:
        return math.inf
    if distance < min_range:
        return -math.inf
    return distance

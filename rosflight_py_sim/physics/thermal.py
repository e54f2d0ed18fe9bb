"""Thermals: columns of air that rise from ground heated by the sun.

M. J. Allen, Updraft Model for Development of Autonomous Soaring Uninhabited Air Vehicles, AIAA 2006-1510 (NASA Dryden,
2006). At the height z, in a convective layer of the depth z_i with the velocity scale w*, and with s = z / z_i:

    mean speed          w_m = w* s^(1/3) (1 - 1.1 s)
    outer radius        r_2 = max(10 m, 0.102 s^(1/3) (1 - 0.25 s) z_i)
    core                r_1 / r_2 = 0.0011 r_2 + 0.14 below r_2 = 600 m, else 0.8
    speed on the axis   w_p = 3 w_m (r_2^3 - r_2^2 r_1) / (r_2^3 - r_1^3)
    updraught           w_p max(0, 1 / (1 + (k_1 |r/r_2 + k_3|)^k_2) + k_4 r/r_2)
    downdraught         w_m 2.5 (s - 0.5) (pi / 6) sin(pi r/r_2) where that is negative, r_2 < r < 2 r_2, 0.5 < s < 0.9
    sink elsewhere      w_e = -A_t w_m (1 - 2.5 max(0, s - 0.5)) / (A - A_t), into which the updraught blends outside
                        its core; A_t is the area of all thermals, A that of the surroundings

The constants k depend on r_1 / r_2. The nearest thermal alone determines the speed. The mean speed is zero on the
ground and at s = 0.91; above, the air does not move. The columns are vertical and stand still. Height is measured from
the origin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.wind_model import Array, WindField

SHAPES = np.array(
    [
        [0.14, 1.5352, 2.5826, -0.0113, -0.1950],
        [0.25, 1.5265, 3.6054, -0.0176, -0.1265],
        [0.36, 1.4866, 4.8356, -0.0320, -0.0818],
        [0.47, 1.2042, 7.7904, 0.0848, -0.0445],
        [0.58, 0.8816, 13.9720, 0.3404, -0.0216],
        [0.69, 0.7067, 23.9940, 0.5689, -0.0099],
        [0.80, 0.6189, 42.7965, 0.7157, -0.0033],
    ]
)
"""The paper's constants (7, 5): r_1 / r_2, k_1, k_2, k_3, k_4. The row with the nearest r_1 / r_2 applies."""


@kernel_record
class Convection:
    """Air that rises in thermals.

    Attributes:
        velocity_scale: w* (m/s).
        depth: z_i, of the convective layer (m).
        radius: r_2 at every height (m); 0 for the paper's, which grows with height.
        area: A, of the surroundings in which the air sinks (m^2); 0 for air that is still outside the thermals.
    """

    velocity_scale: float
    depth: float
    radius: float
    area: float


@kernel
def mean_updraught(convection: Convection, height: float) -> float:
    """w_m (m/s), the mean over the area of a thermal at a height above the ground (m); 0 outside the layer."""
    share = height / convection.depth
    if share <= 0.0:
        return 0.0
    return max(0.0, convection.velocity_scale * math.pow(share, 1.0 / 3.0) * (1.0 - 1.1 * share))


@kernel
def outer_radius(convection: Convection, height: float) -> float:
    """r_2 (m) at a height above the ground (m), at least 0."""
    if convection.radius > 0.0:
        return convection.radius
    share = height / convection.depth
    return max(10.0, 0.102 * math.pow(share, 1.0 / 3.0) * (1.0 - 0.25 * share) * convection.depth)


@kernel
def rising_speed(
    convection: Convection,
    centres: NDArray[np.float64],
    shapes: NDArray[np.float64],
    north: float,
    east: float,
    height: float,
) -> float:
    """Speed of the air (m/s), positive upwards; `centres` (n, 2), n at least 1: north and east; `shapes`: SHAPES."""
    mean = mean_updraught(convection, height)
    if mean == 0.0:
        return 0.0
    distance = np.inf
    for i in range(centres.shape[0]):
        distance = min(distance, math.hypot(north - centres[i, 0], east - centres[i, 1]))
    outer = outer_radius(convection, height)
    core = 0.0011 * outer + 0.14 if outer < 600.0 else 0.8
    place = distance / outer
    row = 0
    for i in range(shapes.shape[0]):
        if abs(core - shapes[i, 0]) < abs(core - shapes[row, 0]):
            row = i
    k1, k2, k3, k4 = shapes[row, 1], shapes[row, 2], shapes[row, 3], shapes[row, 4]
    # Far outside, the power would overflow; the sum is negative there anyway.
    shape = max(0.0, 1.0 / (1.0 + math.pow(k1 * abs(place + k3), k2)) + k4 * place) if place < 2.0 else 0.0
    axis = 3.0 * mean * (1.0 - core) / (1.0 - core**3)
    speed = axis * shape
    share = height / convection.depth
    sinking = 2.5 * (share - 0.5) if 0.5 < share <= 0.9 else 0.0
    if 1.0 < place < 2.0:
        speed += mean * sinking * math.pi / 6.0 * math.sin(math.pi * place)
    if convection.area > 0.0 and place > core:
        covered = centres.shape[0] * math.pi * outer * outer
        sink = -covered * mean * (1.0 - sinking) / (convection.area - covered)
        speed = speed * (1.0 - sink / axis) + sink
    return speed


class Thermal(WindField):
    """Thermals at `thermal_positions`.

    Raises ParameterError for positions that are no pairs, none at all, and a `thermal_area` that the thermals would
    cover by more than half.
    """

    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        Parameter(
            "thermal_positions",
            [0.0, 0.0],
            "Axes of the thermals, north and east of the origin each",
            "m",
            minimum=-1e6,
            maximum=1e6,
        ),
        Parameter(
            "thermal_velocity_scale",
            2.5,
            "Convective velocity scale w*: about the speed on a thermal's axis at a third of the layer's depth",
            "m/s",
            minimum=0.0,
            maximum=20.0,
        ),
        Parameter(
            "thermal_depth",
            1400.0,
            "Depth of the layer in which thermals rise; they end at 0.91 of it",
            "m",
            minimum=10.0,
            maximum=20000.0,
        ),
        Parameter(
            "thermal_radius",
            0.0,
            "Outer radius of the thermals; 0: it grows with height",
            "m",
            minimum=1.0,
            maximum=1e5,
            also_allowed=(0.0,),
        ),
        Parameter(
            "thermal_area",
            0.0,
            "Area around the thermals in which the air sinks; 0: the air between the thermals is still",
            "m^2",
            minimum=1.0,
            maximum=1e12,
            also_allowed=(0.0,),
        ),
    )

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        """Place the thermals."""
        super().__init__(values, rng)
        self._convection, self._centres = _convection_of(values)

    @classmethod
    def check(cls, values: Values) -> None:
        """Check positions and area."""
        _convection_of(values)

    def velocity_ned(self, position_ned: Array, time_s: float) -> Sequence[float]:
        """Velocity of the air, m/s."""
        north, east, down = position_ned
        return 0.0, 0.0, -rising_speed(self._convection, self._centres, SHAPES, north, east, -down)


def _convection_of(values: Values) -> tuple[Convection, NDArray[np.float64]]:
    """Convection and axes (n, 2) of the thermals."""
    centres = np.array(values["thermal_positions"], dtype=np.float64)
    if len(centres) == 0 or len(centres) % 2:
        raise ParameterError(
            f"parameter 'thermal_positions': {len(centres)} numbers given; allowed: north and east for each thermal, "
            "at least one thermal"
        )
    convection = Convection(
        velocity_scale=number(values, "thermal_velocity_scale"),
        depth=number(values, "thermal_depth"),
        radius=number(values, "thermal_radius"),
        area=number(values, "thermal_area"),
    )
    widest = outer_radius(convection, 0.91 * convection.depth)
    least = 2.0 * len(centres) * math.pi * widest * widest
    if 0.0 < convection.area < least:
        raise ParameterError(
            f"parameter 'thermal_area': {convection.area:g} m^2 given; allowed: 0, or at least {least:.4g} m^2, twice "
            "the area of the thermals of thermal_positions"
        )
    return convection, centres.reshape(-1, 2)

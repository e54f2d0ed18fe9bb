"""Wind that changes with height as a table says, for instance the sounding of a weather balloon."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.physics.wind_model import Array, WindModel


@kernel
def add_profile(
    heights: NDArray[np.float64], velocities_ned: NDArray[np.float64], height: float, wind_ned: NDArray[np.float64]
) -> None:
    """Add the velocity at a height (m) to `wind_ned` (3,); `heights` (n,) rise, `velocities_ned` (n, 3), m/s."""
    last = heights.shape[0] - 1
    above = 0
    while above < last and heights[above] < height:
        above += 1
    below = max(0, above - 1)
    share = 1.0
    if above > below:
        share = min(1.0, max(0.0, (height - heights[below]) / (heights[above] - heights[below])))
    for i in range(3):
        wind_ned[i] += velocities_ned[below, i] + share * (velocities_ned[above, i] - velocities_ned[below, i])


class WindProfile(WindModel):
    """Mean wind by height above the origin, linear between the rows of a table and constant beyond its ends.

    Raises ParameterError for heights that do not rise, for velocities that do not match them, and for an empty table.
    """

    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        Parameter(
            "profile_heights",
            [],
            "Heights above the origin at which the profile gives the wind, in ascending order",
            "m",
            minimum=-1e5,
            maximum=1e5,
        ),
        Parameter(
            "profile_velocities",
            [],
            "Wind velocity at each of profile_heights: north, east, down",
            "m/s",
            minimum=-150.0,
            maximum=150.0,
        ),
    )
    IS_MEAN: ClassVar[bool] = True

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        """Set the table from the parameters."""
        self._heights, self._velocities_ned = _profile_of(values)
        if len(self._heights) == 0:
            raise ParameterError("parameter 'profile_heights': [] given; allowed: at least one height for `profile`")

    @classmethod
    def check(cls, values: Values) -> None:
        """Check heights and velocities."""
        _profile_of(values)

    def add(self, wind_ned: Array, mean_ned: Array, truth: Array, dt: float) -> None:
        """Add the wind at the vehicle's height."""
        add_profile(self._heights, self._velocities_ned, -float(truth[2]), wind_ned)


def _profile_of(values: Values) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Heights (n,), m, and velocities NED (n, 3), m/s."""
    heights = np.array(values["profile_heights"], dtype=np.float64)
    velocities = np.array(values["profile_velocities"], dtype=np.float64)
    if np.any(np.diff(heights) <= 0.0):
        raise ParameterError(f"parameter 'profile_heights': {heights.tolist()} m given; allowed: heights that rise")
    if len(velocities) != 3 * len(heights):
        raise ParameterError(
            f"parameter 'profile_velocities': {len(velocities)} numbers given; allowed: {3 * len(heights)}, three for "
            f"each of the {len(heights)} heights of profile_heights"
        )
    return heights, velocities.reshape(-1, 3)

"""Range and resolution of a sensor's analogue-to-digital converter."""

from __future__ import annotations

import math
from typing import NamedTuple

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.sensing.errors import LARGEST

# Finest resolution as a share of the largest reading: finer than any converter's, and coarser than a float's.
_FINEST = 1e-12


class Converter(NamedTuple):
    """Largest reading (infinite if the range is unlimited) and resolution (0: continuous), in the reading's unit."""

    limit: float
    resolution: float


def converter_parameters(sensor: str, quantity: str, unit: str, full_scale: float, resolution: float) -> ParameterTable:
    """Table of a converter's parameters."""
    return ParameterTable(
        Parameter(
            f"{sensor}_range",
            full_scale,
            f"Range of the {quantity}: readings saturate at plus or minus this value (0: unlimited)",
            unit,
            minimum=_FINEST * LARGEST[unit],
            maximum=10.0 * LARGEST[unit],
            also_allowed=(0.0,),
        ),
        Parameter(
            f"{sensor}_resolution",
            resolution,
            f"Resolution of the {quantity}: readings are multiples of this value (0: continuous)",
            unit,
            minimum=_FINEST * LARGEST[unit],
            maximum=LARGEST[unit],
            also_allowed=(0.0,),
        ),
    )


def converter_of(values: Values, sensor: str) -> Converter:
    """The converter that `converter_parameters` of the same sensor describe; its limit is a possible reading."""
    full_scale, resolution = number(values, f"{sensor}_range"), number(values, f"{sensor}_resolution")
    if full_scale == 0.0:
        return Converter(math.inf, resolution)
    # A range of a whole number of steps contains its last step despite rounding.
    steps = math.floor(full_scale / resolution * (1.0 + 1e-12)) if resolution > 0.0 else 0
    return Converter(steps * resolution if resolution > 0.0 else full_scale, resolution)


@kernel
def converted(value: float, limit: float, resolution: float) -> float:
    """Reading of a converter: the nearest multiple of `resolution` within plus or minus `limit`."""
    if resolution > 0.0:
        value = resolution * math.floor(value / resolution + 0.5)
    return max(-limit, min(limit, value))

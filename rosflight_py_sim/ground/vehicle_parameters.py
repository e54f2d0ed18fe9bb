"""Parameters of one vehicle, in a node that serves several.

The name of such a parameter begins with the vehicle's namespace and a dot: `copter.ardupilot.port`. It applies to that
vehicle instead of the general parameter, `ardupilot.port`, and exists only if it is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rosflight_py_sim.ground.parameters import ParameterTable, Value, Values


def vehicle_parameters(table: ParameterTable, vehicles: Sequence[str], given: Mapping[str, Any]) -> ParameterTable:
    """The parameters of `table` that are given for single vehicles.

    Args:
        table: parameters that may be given for a single vehicle, under their general names.
        vehicles: namespaces of the vehicles.
        given: values by name.
    """
    own = {f"{vehicle}.{one.name}": one for vehicle in vehicles if vehicle for one in table}
    return ParameterTable(*(replace(own[name], name=name) for name in sorted(own.keys() & given.keys())))


def values_of_vehicle(values: Values, vehicle: str) -> dict[str, Value]:
    """The values that apply to a vehicle, by general names: its own, and the general ones of all other parameters."""
    prefix = f"{vehicle}."
    own = {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
    return {**values, **own}

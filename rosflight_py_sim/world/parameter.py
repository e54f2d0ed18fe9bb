"""The parameter by which every node that needs the world names it."""

from __future__ import annotations

from rosflight_py_sim.parameters import Parameter, ParameterError, Values
from rosflight_py_sim.world.scene import DRY_LAND, World
from rosflight_py_sim.world.world_file import WorldError, load_world

WORLD = Parameter(
    "world",
    "",
    "World around the vehicle: a name in config/worlds/ (pool, open_water) or the path of a YAML file; if empty, "
    "dry, level ground",
    read_only=True,
)


def world_of(values: Values) -> World:
    """The world that the parameter names; dry land where it is empty.

    Raises:
        ParameterError: there is no such world, or its file is not right.
    """
    given = str(values[WORLD.name])
    if not given:
        return DRY_LAND
    try:
        return load_world(given)
    except WorldError as error:
        raise ParameterError(f"parameter '{WORLD.name}': {error}") from error

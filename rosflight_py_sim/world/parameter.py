"""The parameter `world`, shared by all nodes that use the world."""

from __future__ import annotations

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, Values
from rosflight_py_sim.world.scene import DRY_LAND, World
from rosflight_py_sim.world.world_file import WorldError, load_world

WORLD = Parameter(
    "world",
    "",
    "World around the vehicle: a name in config/worlds/ or the path of a YAML file; if empty, dry, level ground",
    read_only=True,
)


def world_of(values: Values) -> World:
    """World selected by the parameter; dry land if it is empty.

    Raises:
        ParameterError: the world does not exist or its file is invalid.
    """
    given = str(values[WORLD.name])
    if not given:
        return DRY_LAND
    try:
        return load_world(given)
    except WorldError as error:
        raise ParameterError(f"parameter '{WORLD.name}': {error}") from error

"""The world around the vehicles: pool or sea floor, water, and the objects in it, from one YAML file.

Physics (contact), cameras, range finder and viewers are built from the same `World`. docs/world.md describes the
format. The inertial frame is north, east, down; the water's surface is at down = 0.
"""

from rosflight_py_sim.world.beam import beam_boundary, beam_distance
from rosflight_py_sim.world.parameter import WORLD, world_of
from rosflight_py_sim.world.scene import DRY_LAND, Kind, Object, Pool, SeaFloor, Start, Water, World
from rosflight_py_sim.world.solids import Primitive, distance_to_part, distances_to_boundary, part_array, parts
from rosflight_py_sim.world.world_file import WorldError, known_worlds, load_world

__all__ = [
    "DRY_LAND",
    "WORLD",
    "Kind",
    "Object",
    "Pool",
    "Primitive",
    "SeaFloor",
    "Start",
    "Water",
    "World",
    "WorldError",
    "beam_boundary",
    "beam_distance",
    "distance_to_part",
    "distances_to_boundary",
    "known_worlds",
    "load_world",
    "part_array",
    "parts",
    "world_of",
]

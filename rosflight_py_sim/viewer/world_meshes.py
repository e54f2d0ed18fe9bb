"""The world as closed triangle meshes, for viewers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from transforms3d.euler import euler2mat

from rosflight_py_sim.shapes.meshes import Mesh, box, loft, merged, rod, torus
from rosflight_py_sim.world import Kind, Object, Pool, World, parts
from rosflight_py_sim.world.colours import Colour

PAINT = 0.004
"""Thickness of markings on the floor, m."""

SEA_SIZE = 60.0
"""Distance to which a sea floor is drawn on each side of the origin, m."""

_WALL = 0.05
_WALL_OPACITY = 0.25
_WATER_OPACITY = 0.25


@dataclass(frozen=True, eq=False)
class WorldPart:
    """A piece of the world of one colour.

    Attributes:
        name: unique within the world.
        mesh: NED, m.
        colour: red, green, blue, 0 to 255.
        opacity: from 0, invisible, to 1.
    """

    name: str
    mesh: Mesh
    colour: Colour
    opacity: float = 1.0


def world_parts(world: World, sea_size: float = SEA_SIZE) -> list[WorldPart]:
    """Floor, walls, water surface and every object; nothing for dry land.

    Args:
        world: what to draw.
        sea_size: distance to which a sea floor and its water are drawn on each side of the origin, m.
    """
    objects = (WorldPart(thing.name, object_mesh(thing), thing.colour) for thing in world.objects)
    return [*_basin(world, sea_size), *objects]


def object_mesh(thing: Object) -> Mesh:
    """Mesh of an object, NED."""
    if thing.kind is Kind.RING:
        tube = 0.5 * thing.size[1]
        return torus(thing.position_ned, (0.0, 0.0, 1.0), 0.5 * thing.size[0] - tube, tube)
    if not thing.kind.has_bulk:
        return _placed(_paint(thing), thing.yaw, thing.position_ned)
    pieces = []
    for part in parts(thing):
        height = (0.0, 0.0, part.half_size[2])
        if part.round:
            piece = rod(np.negative(height), height, part.half_size[0], sides=24)
        else:
            piece = box([2.0 * half for half in part.half_size])
        pieces.append(_placed(piece, part.yaw, part.centre_ned))
    return merged(pieces)


def _placed(mesh: Mesh, yaw: float, centre: tuple[float, float, float]) -> Mesh:
    turn = euler2mat(0.0, 0.0, yaw)
    return Mesh((mesh.vertices @ turn.T + np.array(centre)).astype(np.float32), mesh.triangles)


def _paint(thing: Object) -> Mesh:
    length, width = thing.size
    if thing.kind is Kind.LINE:
        return box((length, width, PAINT))
    tip, wing = 0.5 * length, 0.5 * width
    neck, shaft = tip - 0.4 * length, 0.4 * wing
    head = [(tip, 0.0), (neck, -wing), (neck, wing)]
    tail = [(neck, shaft), (neck, -shaft), (-tip, -shaft), (-tip, shaft)]
    return merged(
        loft([[(*corner, z) for corner in outline] for z in (-0.5 * PAINT, 0.5 * PAINT)]) for outline in (head, tail)
    )


def _basin(world: World, sea_size: float) -> Iterator[WorldPart]:
    basin = world.pool or world.sea_floor
    if basin is None:
        return
    length, width = (world.pool.length_north, world.pool.width_east) if world.pool else (2.0 * sea_size,) * 2
    yield WorldPart("floor", box((length, width, _WALL), (0.0, 0.0, basin.depth + 0.5 * _WALL)), basin.colour)
    if world.pool:
        yield WorldPart("walls", merged(_walls(world.pool)), basin.colour, _WALL_OPACITY)
    if world.water:
        surface = box((length, width, 0.1 * PAINT))
        yield WorldPart("water", surface, world.water.colour, _WATER_OPACITY)


def _walls(pool: Pool) -> Iterator[Mesh]:
    length, width, depth = pool.length_north, pool.width_east, pool.depth
    for side in (-1.0, 1.0):
        out = 0.5 * _WALL
        yield box((_WALL, width + 2.0 * _WALL, depth), (side * (0.5 * length + out), 0.0, 0.5 * depth))
        yield box((length, _WALL, depth), (0.0, side * (0.5 * width + out), 0.5 * depth))

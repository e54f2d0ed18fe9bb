"""World files: reading and validation."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from rosflight_py_sim.ground.confined_files import is_file
from rosflight_py_sim.ground.registry import not_searched, registered_files
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.ground.yaml_section import Item, Section, read_file
from rosflight_py_sim.world.colours import COLOURS, Colour
from rosflight_py_sim.world.scene import Kind, Object, Pool, SeaFloor, Start, Vector, Water, World
from rosflight_py_sim.world.solids import distance_to_part, distances_to_boundary, part_array, parts

__all__ = ["WorldError", "known_worlds", "load_world"]


class WorldError(ValueError):
    """Invalid world; the text names file, line and key, the value given and the values allowed."""


# Larger values count as typing errors.
_LARGEST_SIZE = 10_000.0
_LARGEST_VISIBILITY = 1000.0

# Tolerance for objects that touch the floor or a wall, m: their positions are rounded.
_TOUCHING = 1e-6

_NED = ("north", "east", "down")
_KINDS = {kind.label: kind for kind in Kind}
_SWITCH = {"true": True, "false": False}


WORLDS = share_directory() / "config" / "worlds"
"""Folder of this package's worlds."""


def known_worlds() -> list[str]:
    """Names of the worlds of all packages."""
    return sorted(registered_files("worlds"))


def load_world(name_or_path: str | Path) -> World:
    """World by name or file.

    Raises:
        WorldError: the world does not exist or is invalid.
    """
    given = str(name_or_path)
    file = world_file(given, Path())
    if file is None:
        raise WorldError(f"there is no world '{given}'; allowed: {_allowed_worlds()}")
    return _world(read_file(file, WorldError), file.stem)


def world_file(given: str, folder: Path) -> Path | None:
    """File of a world's name, or of a path that begins at the folder; None if there is none."""
    is_path = "/" in given or given.endswith((".yaml", ".yml"))
    file = folder / given if is_path else registered_files("worlds").get(given)
    return file if file is not None and is_file(file) else None


def _allowed_worlds() -> str:
    return f"a name ({', '.join(known_worlds())}) or the path of a YAML file{not_searched('worlds')}"


_KEYS = ("pool", "sea_floor", "water", "start", "objects")


def base_of(document: Item) -> Path | None:
    """File of the world on which a world is based; None if it is based on no other.

    Raises:
        WorldError: there is no such world, or the document has keys that a world does not have.
    """
    section = document.section(("based_on", *_KEYS))
    if "based_on" not in section:
        return None
    file = world_file(section["based_on"].text(), document.file.parent)
    if file is None:
        raise section["based_on"].refuse(_allowed_worlds())
    return file


def _sections(document: Item) -> Section:
    """The keys of a world, and those that it takes from the world on which it is based."""
    section, file = document.section(("based_on", *_KEYS)), base_of(document)
    if file is None:
        return section
    base = read_file(file, WorldError).section(("based_on", *_KEYS))
    if "based_on" in base:
        raise section["based_on"].refuse("a world that is based on no other")
    return section.over(base)


def _world(document: Item, name: str) -> World:
    section = _sections(document)
    if "pool" in section and "sea_floor" in section:
        raise section["sea_floor"].refuse("a pool or a sea floor", "both")
    basin = section.get("pool", section.get("sea_floor", None))
    if basin and "water" not in section:
        raise basin.refuse("only together with the key water", "no water")
    if "water" in section and not basin:
        raise section["water"].refuse("only together with the key pool or sea_floor", "neither")
    world = World(
        name,
        pool=section.read("pool", _pool, None),
        sea_floor=section.read("sea_floor", _sea_floor, None),
        water=section.read("water", _water, None),
    )
    objects: list[Object] = []
    for item in section["objects"].items() if "objects" in section else ():
        objects.append(_object(item, world, objects))
    world = replace(world, objects=tuple(objects))
    return replace(world, start=section.read("start", lambda start: _start(start, world), None))


def _size(item: Item) -> float:
    return item.number(least=0.0, most=_LARGEST_SIZE, above_least=True)


def _coordinate(item: Item) -> float:
    return item.number(least=-_LARGEST_SIZE, most=_LARGEST_SIZE)


def _position(item: Item) -> Vector:
    north, east, down = item.numbers(_NED, _coordinate)
    return north, east, down


def _yaw(item: Item) -> float:
    return math.radians(item.number(least=-360.0, most=360.0))


def _colour(item: Item) -> Colour:
    if item.is_list:
        names = ("red", "green", "blue")
        red, green, blue = (round(one) for one in item.numbers(names, lambda one: one.number(least=0, most=255)))
        return red, green, blue
    try:
        return item.choice(COLOURS)
    except WorldError:
        raise item.refuse(f"[red, green, blue] from 0 to 255, or {', '.join(COLOURS)}") from None


def _pool(item: Item) -> Pool:
    sizes = ("length_north", "width_east", "depth")
    section = item.section((*sizes, "colour"), sizes)
    length, width, depth = (_size(section[key]) for key in sizes)
    return Pool(length, width, depth, section.read("colour", _colour, COLOURS["tile"]))


def _sea_floor(item: Item) -> SeaFloor:
    section = item.section(("depth", "colour"), ("depth",))
    return SeaFloor(_size(section["depth"]), section.read("colour", _colour, COLOURS["sand"]))


def _water(item: Item) -> Water:
    section = item.section(("colour", "visibility"), ("colour", "visibility"))
    return Water(_colour(section["colour"]), _visibility(section["visibility"]))


def _visibility(item: Item) -> Vector:
    def distance(one: Item) -> float:
        return one.number(least=0.0, most=_LARGEST_VISIBILITY, above_least=True)

    if not item.is_list:
        same = distance(item)
        return same, same, same
    red, green, blue = item.numbers(("red", "green", "blue"), distance)
    return red, green, blue


def _object(item: Item, world: World, others: list[Object]) -> Object:
    keys = ("kind", "name", "position", "yaw_deg", "size", "colour", "solid")
    section = item.section(keys, ("kind", "position", "size", "colour"))
    kind: Kind = section["kind"].choice(_KINDS)
    size = section["size"].numbers(kind.sizes, _size)
    if kind is Kind.RING and size[1] >= 0.5 * size[0]:
        raise section["size"].refuse("a thickness less than half the diameter")
    name = section.read("name", Item.text, f"{kind.label} {len(others)}")
    if any(name == other.name for other in others):
        raise section.get("name", item).refuse("names that no other object has", f"'{name}'")
    solid = section.read("solid", lambda one: one.choice(_SWITCH), kind.has_bulk)
    if solid and not kind.has_bulk:
        raise section["solid"].refuse(f"false for a {kind.label}, because it is paint")
    yaw = section.read("yaw_deg", _yaw, 0.0)
    thing = Object(name, kind, _position(section["position"]), yaw, size, _colour(section["colour"]), solid)
    for corner in corners(thing):
        for boundary, distance in distances_to_boundary(world, corner).items():
            if distance < -_TOUCHING:
                beyond = f"a position {-distance:.3g} m beyond the {boundary}"
                raise section["position"].refuse("positions with the whole object inside the world", beyond)
    return thing


def corners(thing: Object) -> list[Vector]:
    """Corners (NED, m) of the boxes that enclose an object."""
    if thing.kind.has_bulk:
        boxes = [(part.centre_ned, part.half_size, part.yaw) for part in parts(thing)]
    else:
        boxes = [(thing.position_ned, (0.5 * thing.size[0], 0.5 * thing.size[1], 0.0), thing.yaw)]
    found = []
    for (north, east, down), (a, b, c), yaw in boxes:
        cosine, sine = math.cos(yaw), math.sin(yaw)
        for i, j, k in ((i, j, k) for i in (-a, a) for j in (-b, b) for k in (-c, c)):
            found.append((north + cosine * i - sine * j, east + sine * i + cosine * j, down + k))
    return found


def _start(item: Item, world: World) -> Start:
    section = item.section(("position", "yaw_deg", "clearance"), ("position",))
    clearance = section.read("clearance", _size, 0.3)
    start = Start(_position(section["position"]), section.read("yaw_deg", _yaw, 0.0), clearance)
    distances = distances_to_boundary(world, start.position_ned)
    if world.water is None:
        # On dry land vehicles start on the ground.
        del distances["ground"]
    for thing in world.objects:
        if thing.solid:
            rows = part_array([thing])
            distances[f"object '{thing.name}'"] = min(distance_to_part(row, *start.position_ned) for row in rows)
    nearest = min(distances, key=distances.__getitem__, default=None)
    if nearest is not None and distances[nearest] < clearance:
        where = "in or beyond" if distances[nearest] < 0.0 else f"{distances[nearest]:.3g} m from"
        allowed = f"{clearance:g} m (clearance) or more from floor, walls and solid objects"
        raise section["position"].refuse(allowed, f"a position {where} the {nearest}")
    return start

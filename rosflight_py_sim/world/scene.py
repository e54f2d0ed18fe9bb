"""Contents of a world, as data classes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from rosflight_py_sim.world.colours import Colour

Vector = tuple[float, float, float]


class Kind(Enum):
    """Kinds of objects: name in files, names of the sizes in order, whether the object has volume (paint has none).

    `yaw` turns an object about the vertical. At yaw 0 length is along north, width along east, height along down.
    """

    BOX = ("box", ("length", "width", "height"), True)
    CYLINDER = ("cylinder", ("diameter", "height"), True)
    BIN = ("bin", ("length", "width", "height"), True)
    GATE = ("gate", ("width", "height", "bar"), True)
    RING = ("ring", ("diameter", "thickness"), True)
    LINE = ("line", ("length", "width"), False)
    ARROW = ("arrow", ("length", "width"), False)

    def __init__(self, label: str, sizes: tuple[str, ...], has_bulk: bool) -> None:
        self.label = label
        self.sizes = sizes
        self.has_bulk = has_bulk


@dataclass(frozen=True)
class Object:
    """Object in the world.

    Attributes:
        name: unique in its world.
        kind: shape.
        position_ned: of the centre, for a gate of its opening, m.
        yaw: about the vertical, clockwise seen from above, rad.
        size: in the order of `kind.sizes`, m.
        colour: red, green, blue, 0 to 255.
        solid: whether vehicles collide with it. Cameras see every object; range finders every object except paint.
    """

    name: str
    kind: Kind
    position_ned: Vector
    yaw: float
    size: tuple[float, ...]
    colour: Colour
    solid: bool


@dataclass(frozen=True)
class Pool:
    """A basin with walls, centred on the origin: length along north, width along east, depth of its floor, m."""

    length_north: float
    width_east: float
    depth: float
    colour: Colour


@dataclass(frozen=True)
class SeaFloor:
    """A level floor without walls, at `depth` m."""

    depth: float
    colour: Colour


@dataclass(frozen=True)
class Water:
    """Water below down = 0.

    Attributes:
        colour: of infinitely deep water, red, green, blue, 0 to 255.
        visibility: distance at which 5 % of the contrast remains, for red, green and blue light, m.
    """

    colour: Colour
    visibility: Vector

    @property
    def attenuation(self) -> Vector:
        """Attenuation coefficients of red, green and blue, 1/m; the remaining light is exp(-attenuation distance)."""
        red, green, blue = (math.log(20.0) / distance for distance in self.visibility)
        return red, green, blue


@dataclass(frozen=True)
class Start:
    """Start of a vehicle: a position with `clearance` m of free water or air around it, and a heading (rad)."""

    position_ned: Vector
    yaw: float
    clearance: float


@dataclass(frozen=True)
class World:
    """World around the vehicles: a pool, a sea floor, or dry land at down = 0; only the first two have water.

    Attributes:
        name: the file's name without extension.
        pool, sea_floor, water: None if absent.
        start: None if the file gives none.
        objects: in the file's order.
    """

    name: str
    pool: Pool | None = None
    sea_floor: SeaFloor | None = None
    water: Water | None = None
    start: Start | None = None
    objects: tuple[Object, ...] = ()

    @property
    def floor_down(self) -> float:
        """Down coordinate of the floor or ground, m."""
        basin = self.pool or self.sea_floor
        return basin.depth if basin else 0.0


DRY_LAND = World("")
"""Default world: flat ground at the origin's level and nothing else."""

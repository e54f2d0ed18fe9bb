"""Contents of a world."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from rosflight_py_sim.world.colours import Colour

Vector = tuple[float, float, float]


class Kind(Enum):
    """Kinds of objects: name in files, names of their sizes in order, whether they have a bulk (paint has none).

    `yaw` turns an object about the vertical; at yaw 0 lengths are along north, widths along east, heights along down.
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
        kind: what it is.
        position_ned: of its centre, m; a gate's is the centre of its opening.
        yaw: about the vertical, clockwise seen from above, rad.
        size: as `kind.sizes` names them, m.
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
        colour: of water without end, red, green, blue, 0 to 255.
        visibility: distance at which a twentieth of the contrast is left, of red, green and blue light, m.
    """

    colour: Colour
    visibility: Vector

    @property
    def attenuation(self) -> Vector:
        """Attenuation coefficient of each colour, 1/m, by the law exp(-attenuation distance)."""
        red, green, blue = (math.log(20.0) / distance for distance in self.visibility)
        return red, green, blue


@dataclass(frozen=True)
class Start:
    """Start of a vehicle: a place with `clearance` m of free water or air around it, and a heading (rad)."""

    position_ned: Vector
    yaw: float
    clearance: float


@dataclass(frozen=True)
class World:
    """World around the vehicles: a pool, a sea floor, or dry land at down = 0; only the first two have water.

    Attributes:
        name: its file's name without ending.
        pool, sea_floor, water: None where there is none.
        start: None where the file names none.
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
        """Height of the floor or ground, down, m."""
        basin = self.pool or self.sea_floor
        return basin.depth if basin else 0.0


DRY_LAND = World("")
"""Default world: flat ground at the origin's level and nothing else."""

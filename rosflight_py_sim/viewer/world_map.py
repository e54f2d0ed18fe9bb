"""Maps of the world: its objects from above, in their colours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rosflight_py_sim.recording.state_log import Array
from rosflight_py_sim.viewer.picture_page import GREY
from rosflight_py_sim.world import Kind, Object, World

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Outline of an arrow in units of its size, along and across: tip, barbs, shaft.
_ARROW = np.array([[0.5, 0.0], [0.0, 0.5], [0.0, 0.18], [-0.5, 0.18], [-0.5, -0.18], [0.0, -0.18], [0.0, -0.5]])
_OBLONG = np.array([[0.5, 0.5], [0.5, -0.5], [-0.5, -0.5], [-0.5, 0.5]])

# Lightening of a map's colours, so that a path stands out.
_PALE = 0.25


def draw_world(axes: Axes, world: World) -> None:
    """Draw floor, walls and objects on axes of east (m) to the right and north (m) up."""
    from matplotlib.patches import Rectangle

    basin = world.pool or world.sea_floor
    if basin is not None:
        axes.set_facecolor(_rgb(basin.colour, pale=0.6))
    if world.pool is not None:
        length, width = world.pool.length_north, world.pool.width_east
        wall = Rectangle((-0.5 * width, -0.5 * length), width, length, fill=False, edgecolor=GREY, linewidth=3.0)
        axes.add_patch(wall)
    # Deepest first, so that higher objects cover lower ones.
    for one in sorted(world.objects, key=lambda one: -one.position_ned[2]):
        axes.add_patch(_patch(one))


def outline(one: Object) -> Array:
    """Corners (n, 2), north and east, of an object that is not round."""
    if one.kind is Kind.GATE:
        width, _, bar = one.size
        shape = _OBLONG * [bar, width + 2.0 * bar]
    else:
        shape = (_ARROW if one.kind is Kind.ARROW else _OBLONG) * one.size[:2]
    cosine, sine = math.cos(one.yaw), math.sin(one.yaw)
    return np.asarray(shape @ np.array([[cosine, sine], [-sine, cosine]]) + one.position_ned[:2])


def _patch(one: Object) -> Any:
    from matplotlib.patches import Annulus, Circle, Polygon

    north, east, _ = one.position_ned
    colour = _rgb(one.colour, pale=_PALE)
    if one.kind is Kind.RING:
        return Annulus((east, north), 0.5 * one.size[0], one.size[1], color=colour)
    if one.kind is Kind.CYLINDER:
        return Circle((east, north), 0.5 * one.size[0], color=colour)
    return Polygon(outline(one)[:, ::-1], color=colour)


def _rgb(colour: tuple[int, int, int], *, pale: float) -> tuple[float, ...]:
    return tuple(pale + (1.0 - pale) * part / 255.0 for part in colour)

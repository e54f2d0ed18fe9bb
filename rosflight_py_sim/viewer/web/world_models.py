"""The world in the scene: ground or basin, water, objects, and a sky."""

from __future__ import annotations

import numpy as np
import viser
from numpy.typing import NDArray

from rosflight_py_sim.viewer.web.ground import add_plain, add_tiles
from rosflight_py_sim.viewer.world_meshes import world_parts
from rosflight_py_sim.world import Pool, World
from rosflight_py_sim.world.colours import Colour

WIND_COLOUR = (70, 150, 255)

_GRASS = (118, 140, 104)
_HORIZON, _ZENITH = (214, 226, 238), (110, 160, 215)
_SEA = 1000.0


def floor_colour(world: World) -> Colour:
    """Colour of the ground or floor."""
    basin = world.pool or world.sea_floor
    return basin.colour if basin else _GRASS


def show_world(scene: viser.SceneApi, root: str, world: World, gap: float) -> None:
    """Add a world below the node `root`, whose axes are north, east, down; `gap` as of `ground.gap_of`."""
    scene.set_background_image(_sky())
    scene.configure_environment_map(None)
    scene.add_light_hemisphere(
        "/sky_light", sky_color=(235, 243, 255), ground_color=(150, 145, 125), intensity=1.2, position=(0.0, 0.0, -1.0)
    )
    scene.add_light_ambient("/day_light", intensity=0.7)
    # A map of shadows would cost software rendering a second pass; vehicles have shadows of their own.
    scene.configure_default_lights(cast_shadow=False)
    drawn = world_parts(world, sea_size=_SEA)
    if world.pool:
        add_tiles(scene, f"{root}/floor", world.pool)
        _add_rim(scene, root, world.pool)
    else:
        add_plain(scene, root, world.floor_down, floor_colour(world), gap)
    for part in drawn:
        if part.name == "floor":
            continue
        is_clear = part.opacity < 1.0
        scene.add_mesh_simple(
            f"{root}/{part.name}",
            part.mesh.vertices,
            part.mesh.triangles,
            color=part.colour,
            opacity=part.opacity if is_clear else None,
            flat_shading=True,
            cast_shadow=not is_clear,
            receive_shadow=not is_clear,
        )


def _add_rim(scene: viser.SceneApi, root: str, pool: Pool) -> None:
    """Add the rim of the basin."""
    north, east = 0.5 * pool.length_north, 0.5 * pool.width_east
    corners = [(north, east, 0.0), (north, -east, 0.0), (-north, -east, 0.0), (-north, east, 0.0)]
    scene.add_line_segments(
        f"{root}/rim",
        np.array([[corners[k - 1], corners[k]] for k in range(4)]),
        (90, 105, 112),
        thickness=3.0,
        thickness_units="screen",
    )


def _sky() -> NDArray[np.uint8]:
    """A gradient from zenith to horizon."""
    share = np.linspace(0.0, 1.0, 64)[:, None, None] ** 0.8
    colours = (1.0 - share) * np.array(_ZENITH) + share * np.array(_HORIZON)
    return np.repeat(colours, 8, axis=1).astype(np.uint8)

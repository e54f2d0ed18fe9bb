"""The world on the page: ground or basin, water, objects, and a sky."""

from __future__ import annotations

import numpy as np
import viser
from numpy.typing import NDArray

from rosflight_py_sim.viewer.world_meshes import object_mesh
from rosflight_py_sim.world import Pool, World
from rosflight_py_sim.world.colours import Colour

WIND_COLOUR = (70, 150, 255)

_GRASS = (118, 140, 104)
_LINES, _SECTIONS = (140, 160, 128), (92, 112, 82)
_HORIZON, _ZENITH = (214, 226, 238), (110, 160, 215)
_FAR = 2000.0

# What lies on a surface is lifted by so much, so that it does not flicker with it.
_LIFT = 0.004


def show_world(scene: viser.SceneApi, root: str, world: World) -> None:
    """Add all of a world below the node `root`, whose axes are north, east, down."""
    scene.set_background_image(_sky())
    scene.configure_environment_map(None)
    scene.add_light_hemisphere(
        "/sky_light", sky_color=(235, 243, 255), ground_color=(150, 145, 125), intensity=1.2, position=(0.0, 0.0, -1.0)
    )
    scene.add_light_ambient("/day_light", intensity=0.7)
    basin = world.pool or world.sea_floor
    colour = basin.colour if basin else _GRASS
    if world.pool:
        _add_basin(scene, root, world.pool)
    else:
        _add_ground(scene, root, world.floor_down, colour)
    if world.water:
        size = (world.pool.length_north, world.pool.width_east) if world.pool else (_FAR, _FAR)
        scene.add_box(
            f"{root}/water",
            color=world.water.colour,
            dimensions=(*size, 0.002),
            opacity=0.3,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
        )
    for thing in world.objects:
        mesh = object_mesh(thing)
        scene.add_mesh_simple(
            f"{root}/{thing.name}", mesh.vertices, mesh.triangles, color=thing.colour, flat_shading=True
        )


def _add_ground(scene: viser.SceneApi, root: str, down: float, colour: Colour) -> None:
    scene.add_grid(
        f"{root}/ground",
        width=_FAR,
        height=_FAR,
        cell_size=1.0,
        cell_color=_LINES,
        section_size=10.0,
        section_color=_SECTIONS,
        section_thickness=1.6,
        fade_distance=150.0,
        fade_strength=1.0,
        plane_color=colour,
        plane_opacity=1.0,
        shadow_opacity=0.25,
        position=(0.0, 0.0, down),
    )


def _add_basin(scene: viser.SceneApi, root: str, pool: Pool) -> None:
    """Floor and walls of tiles; a wall is seen from inside alone, so that one looks into the basin from anywhere."""
    north, east, depth = 0.5 * pool.length_north, 0.5 * pool.width_east, pool.depth
    corners = [(north, east), (north, -east), (-north, -east), (-north, east)]
    vertices = np.array([(n, e, d) for d in (0.0, depth) for n, e in corners], dtype=np.float32)
    sides = [(k, (k + 1) % 4) for k in range(4)]
    triangles = [t for a, b in sides for t in ((a, b, a + 4), (b, b + 4, a + 4))]
    scene.add_mesh_simple(
        f"{root}/basin",
        vertices,
        _facing_inside(vertices, np.array([*triangles, (4, 5, 6), (4, 6, 7)], dtype=np.int32)),
        color=pool.colour,
        flat_shading=True,
        side="front",
        cast_shadow=False,
    )
    scene.add_grid(
        f"{root}/tiles",
        width=pool.length_north,
        height=pool.width_east,
        cell_size=0.5,
        cell_color=(172, 184, 188),
        section_size=2.5,
        section_color=(140, 156, 162),
        fade_distance=400.0,
        position=(0.0, 0.0, depth - 2.0 * _LIFT),
        wxyz=(1.0, 0.0, 0.0, 0.0),
    )
    scene.add_line_segments(
        f"{root}/rim",
        np.array([[vertices[a], vertices[b]] for a, b in sides]),
        (90, 105, 112),
        thickness=3.0,
        thickness_units="screen",
    )


def _facing_inside(vertices: NDArray[np.float32], triangles: NDArray[np.int32]) -> NDArray[np.int32]:
    """The same triangles, each turned so that its normal points to the middle."""
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = vertices.mean(axis=0) - corners.mean(axis=1)
    wrong = np.einsum("ij,ij->i", normals, inward) < 0.0
    turned = triangles.copy()
    turned[wrong] = turned[wrong][:, ::-1]
    return turned


def _sky() -> NDArray[np.uint8]:
    """A gradient from zenith to horizon."""
    share = np.linspace(0.0, 1.0, 64)[:, None, None] ** 0.8
    colours = (1.0 - share) * np.array(_ZENITH) + share * np.array(_HORIZON)
    return np.repeat(colours, 8, axis=1).astype(np.uint8)

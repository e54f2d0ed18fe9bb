"""Ground of the scene: a textured plain up to hills at the horizon, and the pad or runway of a vehicle."""

from __future__ import annotations

import json
import struct

import numpy as np
import viser
from numpy.typing import NDArray

from rosflight_py_sim.shapes.meshes import Mesh
from rosflight_py_sim.viewer.appearance import Appearance
from rosflight_py_sim.viewer.on_ground import start_mark
from rosflight_py_sim.viewer.web.batches import linear_colour
from rosflight_py_sim.world import Pool
from rosflight_py_sim.world.colours import Colour

FAR = 15000.0
"""Distance to which the scene is drawn, m."""

_PLAIN, _HILLS = 9000.0, 8000.0

# Coordinates of the lines that divide the plain into rectangles, m. Browsers that render on the CPU compute the depth
# of a triangle from a vehicle to the horizon so inaccurately that the vehicle would appear to be sunk into the ground.
_FROM_START = 10.0 * 3.0 ** np.arange(7)
_LINES = np.array([-_PLAIN, *-_FROM_START[::-1], *_FROM_START, _PLAIN])

# The texture repeats after this length, m; lines are 10 m apart, and finer ones 2 m.
_TILE, _PIXELS = 40.0, 1024

# Floor of a pool: its texture has some tiles along each side; joints have a share of the floor's brightness.
_POOL_TILE, _POOL_TILES, _POOL_PIXELS = 0.5, 5, 320
_JOINT, _SECTION_JOINT = 0.80, 0.64

_HILL_COLOUR = (176, 198, 208)

# Brightness of the textures, which are drawn without the scene's lights: where the browser renders on the CPU, light on
# each of their many pixels would take half of the time.
_DAYLIGHT, _POOL_DAYLIGHT = 0.98, 1.2

# Depths of surfaces below the ground that the wheels touch, in gaps. Surfaces nearer to each other would flicker: the
# further away a vehicle is seen, the larger the gap must be.
_SHADOW, _PAINT, _STRIP, _GROUND = -0.3, 1.0, 2.0, 3.0
_GAP_PER_SIZE = 0.008

# A shadow seen from further away needs more distance from the ground.
_SHADOW_PER_HEIGHT = 0.004


def gap_of(size: float) -> float:
    """Distance of surfaces from each other, m, for vehicles of this size, m."""
    return _GAP_PER_SIZE * size


def add_plain(scene: viser.SceneApi, root: str, down: float, colour: Colour, gap: float) -> None:
    """Add the ground at a down coordinate, m; `gap` as of `gap_of`."""
    square = _textured_rectangles(_LINES, _LINES, _TILE, _jpeg(_texture(colour)))
    scene.add_glb(f"{root}/ground", square, position=(0.0, 0.0, down + _GROUND * gap))
    hills = _hills()
    scene.add_mesh_simple(
        f"{root}/hills",
        hills.vertices,
        hills.triangles,
        color=_HILL_COLOUR,
        flat_shading=True,
        side="double",
        position=(0.0, 0.0, down),
        cast_shadow=False,
        receive_shadow=False,
    )


def add_tiles(scene: viser.SceneApi, name: str, pool: Pool) -> None:
    """Add the tiled floor of a pool: joints 0.5 m apart, and darker ones 2.5 m apart."""
    image = np.full((_POOL_PIXELS, _POOL_PIXELS, 3), pool.colour, dtype=np.float64)
    tile = _POOL_PIXELS // _POOL_TILES
    for k in range(_POOL_TILES):
        joint = slice(k * tile, k * tile + 3)
        factor = _SECTION_JOINT if k == 0 else _JOINT
        image[joint] = np.minimum(image[joint], factor * np.array(pool.colour))
        image[:, joint] = np.minimum(image[:, joint], factor * np.array(pool.colour))
    half_north, half_east = 0.5 * pool.length_north, 0.5 * pool.width_east
    north, east = np.array([-half_north, half_north]), np.array([-half_east, half_east])
    floor = _textured_rectangles(north, east, _POOL_TILES * _POOL_TILE, _jpeg(_POOL_DAYLIGHT * image))
    scene.add_glb(name, floor, position=(0.0, 0.0, pool.depth))


def add_starts(scene: viser.SceneApi, root: str, appearance: Appearance, poses: NDArray[np.float64]) -> None:
    """Add the runways of vehicles with wheels, or the pads of others, all of one appearance.

    Args:
        scene: viser's scene.
        root: beginning of the names of the nodes, whose parent has the axes north, east, down.
        appearance: the vehicles'.
        poses: of each: north, east and down coordinate of the ground, m, and heading, rad (n, 4).
    """
    mark = start_mark(appearance)
    half = 0.5 * poses[:, 3]
    still = np.zeros(len(poses))
    for name, mesh, colour, depth in (
        ("surface", mark.surface, mark.surface_colour, _STRIP),
        ("paint", mark.paint, mark.paint_colour, _PAINT),
    ):
        scene.add_batched_meshes_simple(
            f"{root}_{name}",
            mesh.vertices,
            mesh.triangles,
            np.stack([np.cos(half), still, still, np.sin(half)], axis=1),
            poses[:, 0:3] + np.array([0.0, 0.0, depth * gap_of(appearance.size)]),
            batched_colors=linear_colour(colour),
            lod="off",
            flat_shading=True,
            cast_shadow=False,
            receive_shadow=False,
        )


def shadow_depth(sizes: NDArray[np.float64], heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Depths of shadows below the ground, m, for sizes and heights of the vehicles, m (n,)."""
    return np.asarray(_SHADOW * gap_of(1.0) * sizes - _SHADOW_PER_HEIGHT * heights)


def _hills() -> Mesh:
    """A ring of hills around the origin, whose outline is a sum of waves."""
    angles = np.linspace(0.0, 2.0 * np.pi, 145)
    heights = 170.0 + 60.0 * np.sin(5.0 * angles + 1.0) + 45.0 * np.sin(11.0 * angles) + 30.0 * np.sin(23.0 * angles)
    foot = np.stack([_HILLS * np.cos(angles), _HILLS * np.sin(angles), np.full_like(angles, 5.0)], axis=1)
    top = foot - np.stack([np.zeros_like(angles), np.zeros_like(angles), heights], axis=1)
    first = np.arange(len(angles) - 1)
    count = len(angles)
    triangles = np.concatenate(
        [
            np.stack([first, first + 1, first + count], axis=1),
            np.stack([first + 1, first + count + 1, first + count], 1),
        ]
    )
    return Mesh(np.concatenate([foot, top]).astype(np.float32), triangles.astype(np.int32))


def _texture(colour: Colour) -> NDArray[np.float64]:
    """Image of a tile of the plain: patches of several sizes, and lines 2 m and 10 m apart."""
    random = np.random.default_rng(0)
    shade = np.zeros((_PIXELS, _PIXELS))
    for cells, strength in ((5, 0.10), (20, 0.09), (80, 0.07), (_PIXELS, 0.05)):
        patches = random.uniform(-1.0, 1.0, (cells, cells))
        shade += strength * _enlarged(patches)
    image = _DAYLIGHT * np.array(colour) * (1.0 + shade[:, :, None])
    metre = _PIXELS / _TILE
    for spacing_m, width, factor in ((2.0, 1, 1.06), (10.0, 2, 1.18)):
        for k in range(round(_TILE / spacing_m)):
            # No line runs through the origin, from which most vehicles start.
            first = round((k + 0.5) * spacing_m * metre)
            line = slice(first, first + width)
            image[line] *= factor
            image[:, line] *= factor
    return image


def _jpeg(image: NDArray[np.float64]) -> bytes:
    import imageio.v3  # Imported here: viser brings it, and only the scene needs it

    return bytes(imageio.v3.imwrite("<bytes>", image.clip(0, 255).astype(np.uint8), extension=".jpeg", quality=80))


def _enlarged(patches: NDArray[np.float64]) -> NDArray[np.float64]:
    """Patches interpolated to the size of the texture, continued at its edges."""
    at = np.arange(_PIXELS) * len(patches) / _PIXELS
    low = at.astype(int)
    share = at - low
    high = (low + 1) % len(patches)
    rows = patches[low] * (1.0 - share[:, None]) + patches[high] * share[:, None]
    return np.asarray(rows[:, low] * (1.0 - share) + rows[:, high] * share)


def _textured_rectangles(north: NDArray[np.float64], east: NDArray[np.float64], tile: float, jpeg: bytes) -> bytes:
    """A binary glTF file of adjoining rectangles with a texture, facing up (-z).

    Args:
        north: north coordinates of their sides, ascending, m (n,).
        east: east coordinates of their sides, ascending, m (m,).
        tile: length after which the texture repeats, m.
        jpeg: the texture, a JPEG file.
    """
    corners = np.stack(np.meshgrid(north, east), axis=-1).reshape(-1, 2).astype(np.float32)
    count = len(corners)
    positions = np.column_stack([corners, np.zeros(count, dtype=np.float32)]).astype(np.float32)
    normals = np.tile(np.array([0.0, 0.0, -1.0], dtype=np.float32), (count, 1))
    texture = (corners / tile).astype(np.float32)
    row = len(north)
    first = (np.arange(len(east) - 1)[:, None] * row + np.arange(row - 1)).reshape(-1, 1)
    triangles = (first + np.array([0, row + 1, 1, 0, row, row + 1])).astype(np.uint16).reshape(-1)
    parts = [positions.tobytes(), normals.tobytes(), texture.tobytes(), triangles.tobytes(), jpeg]
    views, content = [], b""
    for part in parts:
        content += bytes(-len(content) % 4)
        views.append({"buffer": 0, "byteOffset": len(content), "byteLength": len(part)})
        content += part
    content += bytes(-len(content) % 4)
    bounds = {"min": positions.min(axis=0).tolist(), "max": positions.max(axis=0).tolist()}
    description = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [
            {"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2}, "indices": 3, "material": 0}]}
        ],
        "materials": [
            {
                "pbrMetallicRoughness": {
                    "baseColorTexture": {"index": 0},
                    "metallicFactor": 0.0,
                    "roughnessFactor": 1.0,
                },
                "doubleSided": True,
                "extensions": {"KHR_materials_unlit": {}},
            }
        ],
        "extensionsUsed": ["KHR_materials_unlit"],
        "textures": [{"source": 0, "sampler": 0}],
        "samplers": [{"magFilter": 9729, "minFilter": 9985, "wrapS": 10497, "wrapT": 10497}],
        "images": [{"bufferView": 4, "mimeType": "image/jpeg"}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": count, "type": "VEC3", **bounds},
            {"bufferView": 1, "componentType": 5126, "count": count, "type": "VEC3"},
            {"bufferView": 2, "componentType": 5126, "count": count, "type": "VEC2"},
            {"bufferView": 3, "componentType": 5123, "count": len(triangles), "type": "SCALAR"},
        ],
        "bufferViews": views,
        "buffers": [{"byteLength": len(content)}],
    }
    text = json.dumps(description).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(content), 0x004E4942) + content
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks

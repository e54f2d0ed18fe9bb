"""The colour of each pixel: what is seen there, through how much water.

A ray goes from the pinhole through each pixel. Where the face of an object is seen, the ray meets the face's plane;
else it meets floor, walls, ground or nothing. The surface of the water lies between where the ray crosses it. Along d
metres of water each colour fades into the water's own by

    seen = exp(-a d) colour + (1 - exp(-a d)) water,

the image formation of J. S. Jaffe, Computer modeling and the design of optimal underwater imaging systems, IEEE J.
Oceanic Engineering 15 (1990), without forward scattering; a is `Water.attenuation`. Light does not fade with depth, and
rays are not bent at the surface. From above, the surface mirrors the sky by Schlick's approximation of Fresnel's
equations; from below, the sky is seen within the critical angle of 48.6 degrees, and beyond it the floor's image.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.camera.backdrop import LAND, POOL, ground, ripples, sky, tiles
from rosflight_py_sim.jit import kernel, kernel_part

SCENE_SIZE = 11
"""Kind of backdrop; floor's depth; half length and width of the pool; colours of water and floor; rows a metre."""

FACE_SIZE = 9
"""A face as seen from one place: normal NED, distance of its plane, nearest and farthest depth, blue, green, red."""

_COS_CRITICAL = 0.661
_HAZE_M = 4000.0
_MOST_ROWS = 200_000

Array = NDArray[np.float64]


def remaining_light(attenuation: Sequence[float]) -> tuple[Array, float]:
    """Table of exp(-attenuation distance), a column a colour, and how many rows a metre has.

    Between two rows the straight line is within 1.3e-5 of the law; the last row stands for all beyond, within 5e-4.
    """
    strongest, weakest = max(attenuation), min(attenuation)
    step = 0.01 / strongest
    rows = min(math.ceil(-math.log(5e-4) / (weakest * step)), _MOST_ROWS) + 2
    return np.exp(-np.outer(step * np.arange(rows), attenuation)), 1.0 / step


@kernel
def shade(
    numbers: NDArray[np.uint32],
    faces: Array,
    position: Array,
    turned: Array,
    focal_length: float,
    scene: Array,
    remaining: Array,
    picture: NDArray[np.uint8],
) -> None:
    """Fill `picture` (height, width, 3), blue green red, top row first.

    `numbers` (samples height, samples width) holds face numbers, bottom row first, with one or two samples along each
    side of a pixel. Where the samples of a pixel see the same face its centre stands for all.
    """
    height, width = picture.shape[0], picture.shape[1]
    samples = numbers.shape[0] // height
    rows = numbers.shape[0]
    centre_u, centre_v = 0.5 * (width - 1), 0.5 * (height - 1)
    per_pixel = 1.0 / focal_length
    for v in range(height):
        for u in range(width):
            first = int(numbers[rows - 1 - samples * v, samples * u])
            same = True
            if samples == 2:
                row = rows - 1 - 2 * v
                same = (
                    first == numbers[row, 2 * u + 1]
                    and first == numbers[row - 1, 2 * u]
                    and first == numbers[row - 1, 2 * u + 1]
                )
            blue, green, red = 0.0, 0.0, 0.0
            if same:
                x, y = (u - centre_u) * per_pixel, (v - centre_v) * per_pixel
                blue, green, red = _seen(first, faces, position, turned, per_pixel, scene, remaining, x, y)
            else:
                for k in range(4):
                    down, right = k // 2, k % 2
                    x = (u - centre_u + 0.5 * right - 0.25) * per_pixel
                    y = (v - centre_v + 0.5 * down - 0.25) * per_pixel
                    number = int(numbers[rows - 1 - 2 * v - down, 2 * u + right])
                    b, g, r = _seen(number, faces, position, turned, per_pixel, scene, remaining, x, y)
                    blue, green, red = blue + 0.25 * b, green + 0.25 * g, red + 0.25 * r
            picture[v, u, 0] = int(min(max(blue, 0.0), 255.0) + 0.5)
            picture[v, u, 1] = int(min(max(green, 0.0), 255.0) + 0.5)
            picture[v, u, 2] = int(min(max(red, 0.0), 255.0) + 0.5)


@kernel_part
def _seen(
    number: int,
    faces: Array,
    position: Array,
    turned: Array,
    per_pixel: float,
    scene: Array,
    remaining: Array,
    x: float,
    y: float,
) -> tuple[float, float, float]:
    """Colour along the ray (x, y, 1) of the camera's axes, blue green red."""
    along_n = turned[0, 0] * x + turned[0, 1] * y + turned[0, 2]
    along_e = turned[1, 0] * x + turned[1, 1] * y + turned[1, 2]
    along_d = turned[2, 0] * x + turned[2, 1] * y + turned[2, 2]
    squared = x * x + y * y + 1.0
    length = math.sqrt(squared)
    kind = scene[0]
    down = position[2]
    in_water = kind != LAND and down > 0.0
    # All depths are along the line of sight; the ray's length is `length` times that.
    inverse = 1.0 / along_d if along_d != 0.0 else math.inf
    surface = math.inf
    if kind != LAND and ((in_water and along_d < 0.0) or (not in_water and along_d > 0.0)):
        surface = -down * inverse
    spread = squared * per_pixel
    depth, blue, green, red = _behind(position, along_n, along_e, along_d, inverse, spread, surface, scene)
    k = (number & 0xFFFFFF) - 1
    if k >= 0:
        slope = faces[k, 0] * along_n + faces[k, 1] * along_e + faces[k, 2] * along_d
        here = faces[k, 3] / slope if slope != 0.0 else faces[k, 5]
        here = min(max(here, faces[k, 4]), faces[k, 5])
        if here < depth:
            depth, blue, green, red = here, faces[k, 6], faces[k, 7], faces[k, 8]
    if in_water and surface < depth:
        depth = surface
        blue, green, red = _surface_from_below(position, along_n, along_e, along_d, length, surface, scene)
    wet = depth if in_water else max(depth - surface, 0.0) if surface < math.inf else 0.0
    if wet > 0.0:
        place = min(wet * length * scene[10], remaining.shape[0] - 2.0)
        row = int(place)
        after = place - row
        left = remaining[row, 0] + after * (remaining[row + 1, 0] - remaining[row, 0])
        blue = left * blue + (1.0 - left) * scene[4]
        left = remaining[row, 1] + after * (remaining[row + 1, 1] - remaining[row, 1])
        green = left * green + (1.0 - left) * scene[5]
        left = remaining[row, 2] + after * (remaining[row + 1, 2] - remaining[row, 2])
        red = left * red + (1.0 - left) * scene[6]
    if in_water:
        return blue, green, red
    sky_blue, sky_green, sky_red = sky(along_d / length)
    if wet > 0.0:
        grazing = 1.0 - along_d / length
        mirrored = 0.02 + 0.98 * grazing * grazing * grazing * grazing * grazing
        blue = (1.0 - mirrored) * blue + mirrored * sky_blue
        green = (1.0 - mirrored) * green + mirrored * sky_green
        red = (1.0 - mirrored) * red + mirrored * sky_red
    clear = math.exp(-(min(depth, surface) * length) / _HAZE_M)
    return (
        clear * blue + (1.0 - clear) * sky_blue,
        clear * green + (1.0 - clear) * sky_green,
        clear * red + (1.0 - clear) * sky_red,
    )


@kernel_part
def _behind(
    position: Array,
    along_n: float,
    along_e: float,
    along_d: float,
    inverse: float,
    spread: float,
    surface: float,
    scene: Array,
) -> tuple[float, float, float, float]:
    """Depth and colour of what is behind all objects: floor, walls, ground; infinitely far where there is nothing.

    `inverse` is 1 / along_d; a pixel covers `spread` times the depth, over the slope of the ray to the plane.
    """
    kind, floor, half_length, half_width = scene[0], scene[1], scene[2], scene[3]
    north, east, down = position[0], position[1], position[2]
    blue, green, red = scene[7], scene[8], scene[9]
    in_water = kind != LAND and down > 0.0
    if not in_water and along_d <= 0.0:
        return math.inf, 0.0, 0.0, 0.0
    if kind == POOL and not in_water:
        n, e = north + surface * along_n, east + surface * along_e
        if abs(n) > half_length or abs(e) > half_width:
            # Concrete beside the pool.
            tone = 0.8 * tiles(n, e, surface * spread * inverse)
            return surface, 200.0 * tone, 206.0 * tone, 208.0 * tone
    depth = math.inf
    if along_d > 0.0:
        depth = (floor - down) * inverse
    n, e = north + depth * along_n, east + depth * along_e
    # Written so that no floor, where n and e are no numbers, means the walls, too.
    if kind == POOL and not (abs(n) <= half_length and abs(e) <= half_width):
        to_north = (math.copysign(half_length, along_n) - north) / along_n if along_n != 0.0 else math.inf
        to_east = (math.copysign(half_width, along_e) - east) / along_e if along_e != 0.0 else math.inf
        if to_north < to_east:
            d = down + to_north * along_d
            tone = 0.86 * tiles(east + to_north * along_e, d, to_north * spread / abs(along_n))
            return to_north, tone * blue, tone * green, tone * red
        d = down + to_east * along_d
        tone = 0.8 * tiles(north + to_east * along_n, d, to_east * spread / abs(along_e))
        return to_east, tone * blue, tone * green, tone * red
    if depth == math.inf:
        return depth, 0.0, 0.0, 0.0
    width = depth * spread * inverse
    tone = tiles(n, e, width) if kind == POOL else ground(n, e, width)
    return depth, tone * blue, tone * green, tone * red


@kernel
def _surface_from_below(
    position: Array, along_n: float, along_e: float, along_d: float, length: float, depth: float, scene: Array
) -> tuple[float, float, float]:
    wave = ripples(position[0] + depth * along_n, position[1] + depth * along_e, depth * length)
    steep = (-along_d / length + 0.25 * wave - _COS_CRITICAL) / 0.06
    through = min(max(0.5 + steep, 0.0), 1.0)
    tone = 0.9 + 0.8 * wave
    sky_blue, sky_green, sky_red = sky(-1.0)
    inner = 0.8 + 0.5 * wave
    return (
        tone * (through * (60.0 + 0.75 * sky_blue) + (1.0 - through) * inner * (0.5 * scene[7] + 0.5 * scene[4])),
        tone * (through * (60.0 + 0.75 * sky_green) + (1.0 - through) * inner * (0.5 * scene[8] + 0.5 * scene[5])),
        tone * (through * (60.0 + 0.75 * sky_red) + (1.0 - through) * inner * (0.5 * scene[9] + 0.5 * scene[6])),
    )

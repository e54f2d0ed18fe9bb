"""Colour of each pixel, by ray casting through air and water.

A ray goes from the pinhole through each pixel. It ends on the face of an object that is visible there, else on floor,
walls or ground, or goes to infinity, and may cross the water's surface on the way. Along d metres of water each colour
fades into the colour of the water by

    seen = exp(-a d) colour + (1 - exp(-a d)) water,

the image formation of J. S. Jaffe, Computer modeling and the design of optimal underwater imaging systems, IEEE J.
Oceanic Engineering 15 (1990), without forward scattering; a is `Water.attenuation`. Light does not fade with depth, and
rays are not refracted at the surface. From above, the surface reflects the sky by Schlick's approximation of Fresnel's
equations. From below, it shows the sky within the critical angle of 48.6 degrees and reflects the floor beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.camera.backdrop import LAND, POOL, ground, ripples, sky, tiles
from rosflight_py_sim.kernels.jit import kernel, kernel_part

SCENE_SIZE = 11
"""Length of the scene array: kind of backdrop; floor's down, half length and half width of the pool (m); colours of
water and floor (blue, green, red); rows per metre of the table `remaining_light`."""

FACE_SIZE = 9
"""Length of a face's row: normal NED; distance of its plane from the camera, nearest and farthest depth (m); blue,
green, red."""

_COS_CRITICAL = 0.661
_HAZE_M = 4000.0
_MOST_ROWS = 200_000

Array = NDArray[np.float64]
Triple = tuple[float, float, float]


def remaining_light(attenuation: Sequence[float]) -> tuple[Array, float]:
    """Table of exp(-attenuation distance), one column per colour, and its number of rows per metre.

    Linear interpolation between rows is accurate to 1.3e-5, and the last row, for all greater distances, to 5e-4.
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
    side of a pixel. If all samples of a pixel show the same face, only the pixel's centre is evaluated.
    """
    height, width = picture.shape[0], picture.shape[1]
    rows = numbers.shape[0]
    samples = rows // height
    centre_u, centre_v = 0.5 * (width - 1), 0.5 * (height - 1)
    per_pixel = 1.0 / focal_length
    # Tuples, because passing arrays on would cost a reference count per pixel.
    place = (position[0], position[1], position[2])
    n_x, n_y, n_z = turned[0, 0], turned[0, 1], turned[0, 2]
    e_x, e_y, e_z = turned[1, 0], turned[1, 1], turned[1, 2]
    d_x, d_y, d_z = turned[2, 0], turned[2, 1], turned[2, 2]
    around = (scene[0], scene[1], scene[2], scene[3], scene[4], scene[5], scene[6], scene[7], scene[8], scene[9])
    in_water = scene[0] != LAND and position[2] > 0.0
    last = remaining.shape[0] - 2.0
    face = (0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0)
    for v in range(height):
        for u in range(width):
            row, column = rows - 1 - samples * v, samples * u
            number = int(numbers[row, column])
            count = 1
            if samples == 2 and not (
                number == numbers[row, column + 1]
                and number == numbers[row - 1, column]
                and number == numbers[row - 1, column + 1]
            ):
                count = 4
            blue, green, red = 0.0, 0.0, 0.0
            for sample in range(count):
                x, y = u - centre_u, v - centre_v
                if count == 4:
                    below, right = sample // 2, sample % 2
                    number = int(numbers[row - below, column + right])
                    x, y = x + 0.5 * right - 0.25, y + 0.5 * below - 0.25
                x, y = x * per_pixel, y * per_pixel
                k = (number & 0xFFFFFF) - 1
                if k >= 0:
                    face = (
                        faces[k, 0],
                        faces[k, 1],
                        faces[k, 2],
                        faces[k, 3],
                        faces[k, 4],
                        faces[k, 5],
                        faces[k, 6],
                        faces[k, 7],
                        faces[k, 8],
                    )
                along = (n_x * x + n_y * y + n_z, e_x * x + e_y * y + e_z, d_x * x + d_y * y + d_z)
                squared = x * x + y * y + 1.0
                length = math.sqrt(squared)
                depth, wet, b, g, r = _seen(k >= 0, face, place, along, length, squared * per_pixel, in_water, around)
                if wet > 0.0:
                    where = min(wet * length * scene[10], last)
                    first = int(where)
                    after = where - first
                    left = remaining[first, 0] + after * (remaining[first + 1, 0] - remaining[first, 0])
                    b = left * b + (1.0 - left) * around[4]
                    left = remaining[first, 1] + after * (remaining[first + 1, 1] - remaining[first, 1])
                    g = left * g + (1.0 - left) * around[5]
                    left = remaining[first, 2] + after * (remaining[first + 1, 2] - remaining[first, 2])
                    r = left * r + (1.0 - left) * around[6]
                if not in_water:
                    b, g, r = _through_air(b, g, r, (depth - wet) * length, along[2] / length, wet > 0.0)
                blue, green, red = blue + b, green + g, red + r
            share = 1.0 / count
            picture[v, u, 0] = int(min(max(share * blue, 0.0), 255.0) + 0.5)
            picture[v, u, 1] = int(min(max(share * green, 0.0), 255.0) + 0.5)
            picture[v, u, 2] = int(min(max(share * red, 0.0), 255.0) + 0.5)


@kernel_part
def _seen(
    on_face: bool,
    face: tuple[float, ...],
    place: Triple,
    along: Triple,
    length: float,
    spread: float,
    in_water: bool,
    scene: tuple[float, ...],
) -> tuple[float, float, float, float, float]:
    """End of a ray: its depth, the part of that depth in water, and the colour there (blue, green, red).

    All depths are along the optical axis (m); distances along the ray are `length` times as long.
    """
    along_n, along_e, along_d = along
    inverse = 1.0 / along_d if along_d != 0.0 else math.inf
    surface = math.inf
    if scene[0] != LAND and ((in_water and along_d < 0.0) or (not in_water and along_d > 0.0)):
        surface = -place[2] * inverse
    depth, blue, green, red = _behind(place, along, inverse, spread, surface, in_water, scene)
    if on_face:
        slope = face[0] * along_n + face[1] * along_e + face[2] * along_d
        here = face[3] / slope if slope != 0.0 else face[5]
        here = min(max(here, face[4]), face[5])
        if here < depth:
            depth, blue, green, red = here, face[6], face[7], face[8]
    if in_water:
        if surface < depth:
            depth = surface
            blue, green, red = _surface_from_below(place, along, length, surface, scene)
        return depth, depth, blue, green, red
    # No subtraction unless the surface is nearer: both may be infinite.
    wet = depth - surface if surface < depth else 0.0
    return depth, wet, blue, green, red


@kernel
def _through_air(
    blue: float, green: float, red: float, way: float, fall: float, mirrors: bool
) -> tuple[float, float, float]:
    """Colour after `way` m of air along a unit vector with down component `fall`, after reflection if `mirrors`."""
    sky_blue, sky_green, sky_red = sky(fall)
    kept = math.exp(-way / _HAZE_M)
    if mirrors:
        grazing = 1.0 - fall
        kept *= 0.98 - 0.98 * grazing * grazing * grazing * grazing * grazing
    return (
        kept * blue + (1.0 - kept) * sky_blue,
        kept * green + (1.0 - kept) * sky_green,
        kept * red + (1.0 - kept) * sky_red,
    )


@kernel_part
def _behind(
    place: Triple,
    along: Triple,
    inverse: float,
    spread: float,
    surface: float,
    in_water: bool,
    scene: tuple[float, ...],
) -> tuple[float, float, float, float]:
    """Depth (m) and colour of the backdrop: floor, walls or ground; infinite depth where there is none.

    `inverse` is 1 / the down component of `along`. A pixel covers `spread` times the depth, divided by the component of
    `along` normal to the plane.
    """
    kind, floor, half_length, half_width = scene[0], scene[1], scene[2], scene[3]
    north, east, down = place
    along_n, along_e, along_d = along
    blue, green, red = scene[7], scene[8], scene[9]
    if not in_water and along_d <= 0.0:
        return math.inf, 0.0, 0.0, 0.0
    if kind == POOL and not in_water:
        n, e = north + surface * along_n, east + surface * along_e
        if abs(n) > half_length or abs(e) > half_width:
            # Concrete around the pool.
            tone = 0.8 * tiles(n, e, surface * spread * inverse)
            return surface, 200.0 * tone, 206.0 * tone, 208.0 * tone
    depth = math.inf
    if along_d > 0.0:
        depth = (floor - down) * inverse
    n, e = north + depth * along_n, east + depth * along_e
    # Negated, so that a ray without floor ahead, where n and e are NaN, also takes the walls.
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


@kernel_part
def _surface_from_below(
    place: Triple, along: Triple, length: float, depth: float, scene: tuple[float, ...]
) -> tuple[float, float, float]:
    wave = ripples(place[0] + depth * along[0], place[1] + depth * along[1], depth * length)
    steep = (-along[2] / length + 0.25 * wave - _COS_CRITICAL) / 0.06
    through = min(max(0.5 + steep, 0.0), 1.0)
    tone = 0.9 + 0.8 * wave
    sky_blue, sky_green, sky_red = sky(-1.0)
    inner = 0.8 + 0.5 * wave
    return (
        tone * (through * (60.0 + 0.75 * sky_blue) + (1.0 - through) * inner * (0.5 * scene[7] + 0.5 * scene[4])),
        tone * (through * (60.0 + 0.75 * sky_green) + (1.0 - through) * inner * (0.5 * scene[8] + 0.5 * scene[5])),
        tone * (through * (60.0 + 0.75 * sky_red) + (1.0 - through) * inner * (0.5 * scene[9] + 0.5 * scene[6])),
    )

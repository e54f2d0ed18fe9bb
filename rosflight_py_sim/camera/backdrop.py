"""Backdrop behind all objects: tiles, natural ground, sky, and waves seen from below.

Patterns are functions of position, so an image depends only on the camera's pose. Each pattern takes the width (m) of
a pixel at that point, and fades to its mean where it is finer than a pixel.
"""

from __future__ import annotations

import math

from rosflight_py_sim.kernels.jit import kernel

LAND, POOL, SEA = 0.0, 1.0, 2.0
"""Kinds of backdrop."""

_TILE = 0.5
_TILES_PER_METRE = 2.0
_JOINT = 0.015
_DARKER = 0.3

# Width (m) of a pixel from which tiles have their mean brightness.
_UNSEEN = 4.0
_MEAN = 1.0 - _DARKER * (1.0 - (1.0 - _JOINT / _TILE) ** 2)


@kernel
def sky(down: float) -> tuple[float, float, float]:
    """Colour of the sky (blue, green, red) along a unit vector with this down component; constant below the horizon."""
    up = min(max(-down, 0.0), 1.0)
    pale = (1.0 - up) * (1.0 - up)
    return 235.0 - 5.0 * pale, 165.0 + 60.0 * pale, 105.0 + 105.0 * pale


@kernel
def tiles(a: float, b: float, width: float) -> float:
    """Brightness of a tiled plane, with darker joints and a random tone for each tile."""
    if width > _UNSEEN:
        return _MEAN
    joints = 1.0 - (1.0 - _joints(a, width)) * (1.0 - _joints(b, width))
    plain = min(width * _TILES_PER_METRE, 1.0)
    tone = _noise(math.floor(a * _TILES_PER_METRE), math.floor(b * _TILES_PER_METRE)) - 0.5
    return 1.0 - _DARKER * joints + 0.06 * (1.0 - plain) * tone


@kernel
def _joints(place: float, width: float) -> float:
    """Share of joints within `width` about `place`: the mean of a pulse train over that width."""
    wide = max(width, 1e-4)
    return (_joints_up_to(place + 0.5 * wide) - _joints_up_to(place - 0.5 * wide)) / wide


@kernel
def _joints_up_to(place: float) -> float:
    """Integral of the pulse train from 0."""
    whole = math.floor(place * _TILES_PER_METRE)
    return whole * _JOINT + min(place - whole * _TILE, _JOINT)


@kernel
def ground(north: float, east: float, width: float) -> float:
    """Brightness of natural ground: smooth noise at four scales."""
    return (
        1.0
        + 0.25 * _smooth(north, east, 0.05, width)
        + 0.25 * _smooth(north, east, 0.35, width)
        + 0.25 * _smooth(north, east, 2.3, width)
        + 0.25 * _smooth(north, east, 17.0, width)
    )


@kernel
def ripples(north: float, east: float, distance: float) -> float:
    """Small waves seen from below, -0.3 to 0.3."""
    return 0.6 * _smooth(north + 0.7 * east, east - 0.4 * north, 0.6, 0.02 * distance)


@kernel
def _smooth(a: float, b: float, scale: float, width: float) -> float:
    """Value noise, -0.5 to 0.5: smooth interpolation of random numbers on a grid of spacing `scale`, m."""
    seen = 1.0 - min(width / scale, 1.0)
    if seen <= 0.0:
        return 0.0
    x, y = a / scale, b / scale
    i, j = math.floor(x), math.floor(y)
    p, q = x - i, y - j
    p, q = p * p * (3.0 - 2.0 * p), q * q * (3.0 - 2.0 * q)
    near = (1.0 - p) * _noise(i, j) + p * _noise(i + 1, j)
    far = (1.0 - p) * _noise(i, j + 1) + p * _noise(i + 1, j + 1)
    return seen * ((1.0 - q) * near + q * far - 0.5)


@kernel
def _noise(i: float, j: float) -> float:
    """Hash of a pair of integers, 0 to 1."""
    mixed = (int(i) * 374761393 + int(j) * 668265263) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 13)) * 1274126177) & 0xFFFFFFFF
    return ((mixed ^ (mixed >> 16)) & 0xFFFF) / 65535.0

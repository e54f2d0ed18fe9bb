"""Colours by name, as red, green and blue from 0 to 255.

Through the water of the world `pool`, the marker colours (blue, green, yellow, orange, purple, black) stay within the
HSV ranges of the camera missions. Tiles and `pool_water` have a saturation below 50 (of 255), the missions' threshold;
`blue_water` is more saturated, and shifts the hues.
"""

from __future__ import annotations

from typing import TypeAlias

Colour: TypeAlias = tuple[int, int, int]

COLOURS: dict[str, Colour] = {
    "white": (240, 240, 240),
    "grey": (128, 128, 128),
    "black": (12, 12, 12),
    "red": (215, 20, 20),
    "orange": (255, 95, 0),
    "yellow": (250, 210, 0),
    "green": (20, 180, 30),
    "blue": (10, 40, 220),
    "purple": (190, 0, 190),
    "brown": (120, 80, 45),
    "sand": (200, 180, 135),
    "tile": (196, 206, 208),
    "pool_water": (98, 112, 115),
    "blue_water": (20, 120, 145),
    "sea_water": (16, 78, 86),
}

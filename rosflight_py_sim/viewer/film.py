"""Film of a flight: an animated GIF, drawn without a display and without a browser."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rosflight_py_sim.viewer.film_scene import PAINTS, FilmedVehicle, FilmScene
from rosflight_py_sim.world import World

if TYPE_CHECKING:
    from PIL.Image import Image

WIDTH, HEIGHT = 480, 270

IMAGES_HZ = 10.0
"""Images per second of the film."""

LONGEST_S = 10.0
"""Duration of the film, s: longer flights are shown faster."""

_LAST_IMAGE_MS = 1500.0

# Colours of the surroundings in the palette, which has further ones for vehicles. More colours make larger files.
_SURROUNDINGS = 12
_BRIGHTNESSES = (1.0, 0.8, 0.6)

# Images, and pixels along each side of an image, of which one is sampled for the palette.
_EACH_IMAGE, _EACH_PIXEL = 6, 4

_NEEDED = {"PIL": "pillow", "panda3d": "panda3d"}


class NoFilmError(ValueError):
    """No film can be made: file name not allowed, folder not writable, package missing, or no flight."""


def check_film(path: Path) -> None:
    """Check that a film can be made.

    Raises:
        NoFilmError: it cannot.
    """
    if path.suffix.lower() != ".gif":
        raise NoFilmError(f"'{path}' given; allowed: a file name that ends in .gif")
    missing = [package for module, package in _NEEDED.items() if find_spec(module) is None]
    if missing:
        raise NoFilmError(
            f"'{path}' given; a film needs {' and '.join(missing)} (not installed here): "
            "pip install 'rosflight_py_sim[auv,plot]'"
        )
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise NoFilmError(f"'{path}' given, which cannot be written; allowed: a file in a folder that you can write to")


def write_film(path: Path, vehicles: Sequence[FilmedVehicle], world: World) -> None:
    """Write a film of flights, from the begin to the end of the first vehicle's; an existing file is replaced.

    Args:
        path: file to write.
        vehicles: those without motion, with fewer than two rows, are left out.
        world: the world around them.

    Raises:
        NoFilmError: no vehicle moved.
        NoPandaError: Panda3D cannot draw.
        OSError: the file cannot be written.
    """
    from PIL.Image import Dither

    vehicles = [one for one in vehicles if len(one.log) > 1]
    if not vehicles:
        raise NoFilmError("no flight was logged")
    first_s, last_s = vehicles[0].log.time_s[[0, -1]].tolist()
    speed = max(1.0, (last_s - first_s) / LONGEST_S)
    times_s = np.append(np.arange(first_s, last_s, speed / IMAGES_HZ), last_s)
    scene = FilmScene(vehicles, world, WIDTH, HEIGHT)
    try:
        images = [_captioned(scene.draw(time_s), f"{time_s:.1f} s, {speed:.2g}x") for time_s in times_s.tolist()]
    finally:
        scene.close()
    palette = _palette(images, vehicles, world)
    first, *others = [image.quantize(palette=palette, dither=Dither.NONE) for image in images]
    shown_ms = [1000.0 / IMAGES_HZ] * len(others) + [_LAST_IMAGE_MS]
    first.save(path, "GIF", save_all=True, append_images=others, duration=shown_ms, loop=0)


def _captioned(pixels: np.typing.NDArray[np.uint8], text: str) -> Image:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.fromarray(np.ascontiguousarray(pixels))
    place = (10, HEIGHT - 10)
    ImageDraw.Draw(image).text(place, text, (255, 255, 255), ImageFont.load_default(14), anchor="ls")
    return image


def _palette(images: Sequence[Image], vehicles: Sequence[FilmedVehicle], world: World) -> Image:
    """Image with the palette of the film: colours of the surroundings, and those of vehicles and objects."""
    from PIL import Image
    from PIL.Image import Quantize

    sampled = [np.asarray(image)[::_EACH_PIXEL, ::_EACH_PIXEL].reshape(-1, 3) for image in images[::_EACH_IMAGE]]
    common = Image.fromarray(np.concatenate(sampled)[None]).quantize(_SURROUNDINGS, Quantize.MEDIANCUT)
    colours = np.concatenate([np.array(common.getpalette()).reshape(-1, 3), list(_own_colours(vehicles, world))])
    palette = Image.new("P", (1, 1))
    palette.putpalette(np.unique(colours.astype(np.uint8), axis=0)[:256].ravel().tolist())
    return palette


def _own_colours(vehicles: Sequence[FilmedVehicle], world: World) -> Iterator[np.typing.NDArray[np.float64]]:
    """Colours lit and shaded, and under water also as they are seen from some distance."""
    own = {part.colour for one in vehicles for part in one.shape.parts} | {thing.colour for thing in world.objects}
    for colour in (*PAINTS, *sorted(own)):
        for brightness in _BRIGHTNESSES:
            yield brightness * np.array(colour)
        if world.water is not None:
            yield 0.5 * (_BRIGHTNESSES[-1] * np.array(colour) + np.array(world.water.colour))

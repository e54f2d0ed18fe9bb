"""Fixtures for camera tests: renderers that live as long as a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rosflight_py_sim.camera import Camera, Renderer
from rosflight_py_sim.world import World


@pytest.fixture(scope="module")
def picture() -> Iterator[Callable[..., NDArray[np.uint8]]]:
    """A function (world, camera, truth) that renders a picture; a module's tests share renderers of equal worlds."""
    made: dict[Any, Renderer] = {}

    def render(world: World, camera: Camera, truth: NDArray[np.float64], **options: Any) -> NDArray[np.uint8]:
        key = (world, camera.width, camera.height, *options.items())
        if key not in made:
            made[key] = Renderer(world, camera.width, camera.height, **options)
        return made[key].render(camera, truth).copy()

    yield render
    for renderer in made.values():
        renderer.close()

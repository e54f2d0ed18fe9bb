"""Other vehicles in an image: correct positions, with the light and haze of the world's objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from camera_views import camera_named, truth_at
from numpy.typing import NDArray

from rosflight_py_sim.camera import Faces, Renderer, faces_of_triangles
from rosflight_py_sim.camera.faces import faces_of
from rosflight_py_sim.world import DRY_LAND, Kind, Object, World, load_world

PINK, SIZE = (250, 60, 180), (0.5, 0.3, 0.2)


def boxed(place: tuple[float, float, float], yaw: float = 0.0) -> tuple[Object, ...]:
    """A box with its centre at a place."""
    return (Object("box", Kind.BOX, place, yaw, SIZE, PINK, solid=True),)


def box_of_vehicle() -> Faces:
    """The same box as the triangles of a vehicle's mesh."""
    quads = faces_of(World("", objects=boxed((0.0, 0.0, 0.0)))).corners
    triangles = [quad[[0, k, k + 1]] for quad in quads for k in (1, 2)]
    return faces_of_triangles(np.array(triangles), [PINK] * len(triangles))


class View:
    """Renders a world with boxes as vehicles."""

    def __init__(self, world: World, count: int = 1) -> None:
        self.camera = camera_named("front", image_width=160, image_height=120)
        self._renderer = Renderer(world, 160, 120, vehicles=[box_of_vehicle()] * count)
        self.close = self._renderer.close

    def __call__(self, own: NDArray[np.float64], *others: NDArray[np.float64]) -> NDArray[np.uint8]:
        return self._renderer.render(self.camera, own, others).copy()


@pytest.fixture
def views() -> Iterator[list[View]]:
    made: list[View] = []
    yield made
    for view in made:
        view.close()


@pytest.mark.parametrize(
    ("world", "own", "other"),
    [
        (DRY_LAND, (0.0, 0.0, -20.0), (2.0, 0.4, -20.1)),
        (load_world("pool"), (-6.0, 1.0, 2.0), (-3.0, 0.5, 1.8)),
        (load_world("pool"), (-11.0, 0.0, -3.0), (-7.0, 0.5, 0.5)),
        (load_world("open_water"), (2.0, 0.0, 5.0), (4.2, -0.4, 4.8)),
    ],
    ids=["land", "pool", "through the surface", "open water"],
)
def test_vehicle_looks_like_an_object_of_the_world(views, world, own, other):
    views += [View(world), View(replace(world, objects=world.objects + boxed(other, 0.6)), 0)]
    truth = truth_at(own, pitch_deg=-20.0 if own[2] == -3.0 else 0.0)
    seen, expected = views[0](truth, truth_at(other, yaw_deg=np.degrees(0.6))), views[1](truth)
    difference = np.abs(seen.astype(int) - expected).max(axis=2)
    empty = np.abs(views[0](truth, truth_at((-900.0, 0.0, 0.0))).astype(int) - expected).max(axis=2)
    assert (empty > 30).sum() > 60
    # Corners are rounded to single precision in other axes: samples on an outline may differ.
    assert (difference > 1).sum() < 0.02 * (empty > 30).sum() + 4


def test_vehicle_is_drawn_turned_at_its_position(views):
    views.append(View(DRY_LAND))
    own, place = truth_at((0.0, 0.0, -30.0), 10.0, 5.0, 20.0), (2.0, 1.1, -30.3)
    bare = views[0](own, truth_at((-50.0, 0.0, -30.0)))
    for turn in ((0.0, 0.0, 0.0), (90.0, 0.0, 0.0), (0.0, 90.0, 0.0)):
        rows, columns = np.nonzero((views[0](own, truth_at(place, *turn)) != bare).any(axis=2))
        u, v = views[0].camera.pixel(own, place)
        # Perspective enlarges the nearer half of the box.
        assert (columns.mean(), rows.mean()) == pytest.approx((u, v), abs=1.5)
        extent = np.array([np.ptp(columns), np.ptp(rows)])
        assert np.argmax(extent) == (1 if turn[1] else 0)


@pytest.mark.parametrize("place", [(-3.0, 0.0, -20.0), (0.0, 8.0, -20.0), (2.0, 0.0, -30.0), (300.0, 0.0, -20.0)])
def test_vehicle_out_of_view_or_below_a_pixel_leaves_the_image_as_it_is(views, place):
    views += [View(DRY_LAND), View(DRY_LAND, 0)]
    own = truth_at((0.0, 0.0, -20.0), 3.0, -4.0, 5.0)
    np.testing.assert_array_equal(views[0](own, truth_at(place)), views[1](own))


def test_sphere_with_a_point_in_the_image_counts_as_shown():
    camera, draws = camera_named("front"), np.random.default_rng(4)
    own = truth_at((0.0, 0.0, 0.0))
    position, turned = camera.pose(own)
    shown = 0
    for _ in range(2000):
        centre, radius = draws.uniform(-6.0, 6.0, 3), draws.uniform(0.05, 2.0)
        point = centre + radius * (lambda v: v / np.linalg.norm(v))(draws.normal(size=3))
        u, v = camera.pixel(own, tuple(position + turned @ point))
        if 0.0 <= u < camera.width and 0.0 <= v < camera.height:
            shown += 1
            assert camera.shows_sphere(centre, radius)
    assert shown > 100


def test_order_of_vehicles_does_not_change_the_image(views):
    views.append(View(load_world("pool"), 2))
    own, one, two = truth_at((-6.0, 1.0, 2.0)), truth_at((-4.0, 0.9, 1.9)), truth_at((-3.0, 1.0, 1.8), yaw_deg=30.0)
    np.testing.assert_array_equal(views[0](own, one, two), views[0](own, two, one))

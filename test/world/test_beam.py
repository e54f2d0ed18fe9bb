"""Beams through the world, against geometry; parts of objects."""

import math

import numpy as np
import pytest

from rosflight_py_sim.sensing import SENSOR_PARAMETERS, RangeFinder
from rosflight_py_sim.world import (
    DRY_LAND,
    Kind,
    Object,
    Pool,
    Water,
    World,
    beam_boundary,
    beam_distance,
    distance_to_part,
    part_array,
)

BASIN = Pool(20.0, 10.0, 4.0, (0, 0, 0))
WATER = Water((0, 0, 0), (20.0, 20.0, 20.0))


def thing(kind, position, size, yaw=0.0):
    return Object("it", kind, position, yaw, size, (0, 0, 0), solid=True)


def distance(world, place, along):
    unit = np.array(along) / np.linalg.norm(along)
    return beam_distance(beam_boundary(world), part_array(world.objects), *place, *unit)


def pool(*objects):
    return World("basin", pool=BASIN, water=WATER, objects=objects)


@pytest.mark.parametrize(
    ("place", "along", "expected"),
    [
        ((0.0, 0.0, 1.0), (0, 0, 1), 3.0),  # floor
        ((0.0, 0.0, 1.0), (0, 0, -1), 1.0),  # surface, from below
        ((0.0, 0.0, -2.0), (0, 0, 1), 2.0),  # surface, from above
        ((0.0, 0.0, 1.0), (1, 0, 0), 10.0),
        ((0.0, 0.0, 1.0), (0, -1, 0), 5.0),
        ((0.0, 0.0, 1.0), (0, 1, 1), 3.0 * math.sqrt(2)),
        ((0.0, 0.0, -2.0), (1, 0, 0), math.inf),
        ((0.0, 0.0, -2.0), (0, 0, -1), math.inf),
        ((0.0, 0.0, 4.1), (0, 0, 1), 0.0),  # under the floor
    ],
)
def test_beam_in_empty_pool_hits_floor_surface_and_walls(place, along, expected):
    assert distance(pool(), place, along) == pytest.approx(expected, rel=1e-12)


def test_beam_over_dry_land_hits_only_the_ground():
    assert distance(DRY_LAND, (0.0, 0.0, -3.0), (1, 0, 1)) == pytest.approx(3.0 * math.sqrt(2), rel=1e-12)
    assert distance(DRY_LAND, (0.0, 0.0, -3.0), (1, 0, 0)) == math.inf


@pytest.mark.parametrize("yaw", [0.0, 0.4, -2.0])
def test_beam_hits_rotated_box_at_its_face(yaw):
    world = pool(thing(Kind.BOX, (3.0, 1.0, 3.0), (2.0, 0.6, 1.0), yaw))
    forward = (math.cos(yaw), math.sin(yaw), 0.0)
    place = (3.0 - 2.5 * forward[0], 1.0 - 2.5 * forward[1], 2.8)
    assert distance(world, place, forward) == pytest.approx(1.5, rel=1e-12)
    assert distance(world, (3.0, 1.0, 0.5), (0, 0, 1)) == pytest.approx(2.0, rel=1e-12)
    assert distance(world, (3.0, 1.0, 3.0), (0, 0, 1)) == 0.0


def test_beam_hits_cylinder_side_and_top_and_misses_beside_it():
    world = pool(thing(Kind.CYLINDER, (4.0, 0.0, 3.0), (1.0, 2.0)))
    assert distance(world, (0.0, 0.3, 3.0), (1, 0, 0)) == pytest.approx(4.0 - 0.4, rel=1e-12)
    assert distance(world, (4.2, 0.1, 1.0), (0, 0, 1)) == pytest.approx(1.0, rel=1e-12)
    assert distance(world, (0.0, 0.6, 3.0), (1, 0, 0)) == pytest.approx(10.0, rel=1e-12)


def test_beam_passes_through_gate_and_hits_its_posts():
    world = pool(thing(Kind.GATE, (5.0, 0.0, 2.5), (2.0, 3.0, 0.1)))
    assert distance(world, (0.0, 0.9, 2.0), (1, 0, 0)) == pytest.approx(10.0, rel=1e-12)
    assert distance(world, (0.0, 1.05, 2.0), (1, 0, 0)) == pytest.approx(4.95, rel=1e-12)
    assert distance(world, (0.0, 0.0, 0.95), (1, 0, 0)) == pytest.approx(4.95, rel=1e-12)


def test_beam_passes_through_ring_opening_and_into_bin():
    ring = thing(Kind.RING, (0.0, 0.0, 2.0), (2.0, 0.2))
    basket = thing(Kind.BIN, (0.0, 0.0, 3.75), (0.8, 0.6, 0.5))
    world = pool(ring, basket)
    assert distance(world, (0.0, 0.0, 1.0), (0, 0, 1)) == pytest.approx(3.0 - 0.02, rel=1e-12)
    assert distance(world, (0.9, 0.0, 1.0), (0, 0, 1)) == pytest.approx(0.9, rel=1e-12)
    assert distance(world, (0.395, 0.0, 3.0), (0, 0, 1)) == pytest.approx(0.5, rel=1e-12)


def test_paint_has_no_collision_parts():
    assert part_array([thing(Kind.LINE, (0, 0, 4.0), (3.0, 0.1)), thing(Kind.ARROW, (0, 0, 4.0), (1, 1))]).shape == (
        0,
        9,
    )


@pytest.mark.parametrize("kind", [Kind.BOX, Kind.CYLINDER])
def test_distance_to_part_is_to_nearest_point_and_negative_inside(kind):
    size = (2.0, 1.0, 1.0) if kind is Kind.BOX else (2.0, 1.0)
    (row,) = part_array([thing(kind, (1.0, 2.0, 3.0), size, yaw=0.5)])
    ahead = (1.0 + 3.0 * math.cos(0.5), 2.0 + 3.0 * math.sin(0.5))
    assert distance_to_part(row, *ahead, 3.0) == pytest.approx(2.0, rel=1e-12)
    assert distance_to_part(row, *ahead, 0.5) == pytest.approx(math.hypot(2.0, 2.0), rel=1e-12)
    assert distance_to_part(row, 1.0, 2.0, 2.9) == pytest.approx(-0.4, rel=1e-12)


def sonar(position, world="pool"):
    quiet = {"range_stdev": 0.0, "range_resolution": 0.0, "range_signal_noise": 0.0, "range_field_of_view": 0.0}
    values = SENSOR_PARAMETERS.checked({**quiet, "world": world})
    truth = np.zeros(19)
    truth[:3], truth[3] = position, 1.0
    return RangeFinder(values, np.random.default_rng(0)).sample(truth, 0.05)


def test_submerged_range_finder_measures_to_floor_and_objects():
    assert sonar((0.0, 0.0, 2.0)) == pytest.approx(1.9, rel=1e-12)
    # The platform's top is at 3.5 m, and a box of 0.1 m stands in its middle.
    assert sonar((-5.3, 4.5, 2.0)) == pytest.approx(1.5, rel=1e-12)
    assert sonar((-5.0, 4.5, 2.0)) == pytest.approx(1.4, rel=1e-12)


def test_range_finder_above_water_measures_to_the_surface():
    assert sonar((0.0, 0.0, -2.0)) == pytest.approx(2.0, rel=1e-12)

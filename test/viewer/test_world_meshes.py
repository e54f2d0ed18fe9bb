"""Meshes of the world: closed surfaces at the positions of the world's objects."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from rosflight_py_sim.viewer.world_meshes import PAINT, world_parts
from rosflight_py_sim.world import DRY_LAND, Kind, distance_to_part, known_worlds, load_world, part_array

# Corners are float32, in a basin of 60 m.
ROUNDING = 1e-5


@pytest.mark.parametrize("name", known_worlds())
def test_every_object_is_drawn_as_a_closed_outward_facing_surface(name: str) -> None:
    world = load_world(name)
    drawn = {part.name: part for part in world_parts(world)}
    assert {thing.name for thing in world.objects} | {"floor", "water"} <= set(drawn)
    for part in drawn.values():
        edges = Counter((t[k], t[(k + 1) % 3]) for t in part.mesh.triangles.tolist() for k in range(3))
        assert set(edges.values()) == {1} and all((b, a) in edges for a, b in edges)
        assert part.mesh.moved(-part.mesh.vertices.mean(axis=0)).volume > 0.0
        assert 0.0 < part.opacity <= 1.0


@pytest.mark.parametrize("name", known_worlds())
def test_mesh_corners_lie_on_the_collision_geometry(name: str) -> None:
    world = load_world(name)
    drawn = {part.name: part for part in world_parts(world)}
    for thing in world.objects:
        corners = drawn[thing.name].mesh.vertices.astype(np.float64)
        if thing.kind is Kind.RING or not thing.kind.has_bulk:
            # A ring is round here but consists of straight bars in the world; paint has no volume.
            middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
            assert middle[:2] == pytest.approx(thing.position_ned[:2], abs=max(thing.size))
            continue
        rows = part_array([thing])
        for corner in corners:
            assert min(abs(distance_to_part(row, *corner.tolist())) for row in rows) < ROUNDING


def test_paint_lies_on_the_floor_with_its_size() -> None:
    world = load_world("pool")
    drawn = {part.name: part for part in world_parts(world)}
    lines = [thing for thing in world.objects if thing.kind is Kind.LINE]
    assert lines
    for thing in lines:
        size = np.ptp(drawn[thing.name].mesh.vertices, axis=0)
        assert size[2] == pytest.approx(PAINT, abs=ROUNDING)
        assert np.hypot(*size[:2]) >= max(thing.size) - ROUNDING


def test_dry_land_has_no_meshes() -> None:
    assert world_parts(DRY_LAND) == []

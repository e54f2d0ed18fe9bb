"""Filters of the standard services: names, categories, tags, and overlap with a volume of the world."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np
from simulation_interfaces.msg import Bounds, EntityFilters, TagsFilter

from rosflight_py_sim.ground.coordinate_frames import swap_ned_enu
from rosflight_py_sim.nodes.entity import Array, Entity
from rosflight_py_sim.nodes.posix_pattern import PatternError, PosixPattern
from rosflight_py_sim.nodes.refusals import Code, RefusedError

_NORMAL = 1e-12


def filtered(entities: Iterable[Entity], filters: EntityFilters) -> list[Entity]:
    """The entities that meet all filters, in their order.

    Raises:
        RefusedError: a filter is invalid or not supported.
    """
    conditions: list[Callable[[Entity], bool]] = []
    if filters.filter:
        try:
            pattern = PosixPattern(filters.filter)
        except PatternError as error:
            raise RefusedError(Code.OPERATION_FAILED, f"filter {error}") from error
        conditions.append(lambda one: pattern.is_in(one.name))
    if filters.categories:
        categories = {one.category for one in filters.categories}
        conditions.append(lambda one: one.description.category in categories)
    has_tags = tags_condition(filters.tags)
    conditions.append(lambda one: has_tags(one.description.tags))
    if filters.bounds.type != Bounds.TYPE_EMPTY or filters.bounds.points:
        overlaps = _overlap(filters.bounds)
        conditions.append(lambda one: one.state is not None and overlaps(one))
    return [one for one in entities if all(condition(one) for condition in conditions)]


def tags_condition(given: TagsFilter) -> Callable[[Collection[str]], bool]:
    """Function that returns whether tags meet a filter.

    Raises:
        RefusedError: there is no such filter mode.
    """
    wanted = list(given.tags)
    modes = {TagsFilter.FILTER_MODE_ANY: any, TagsFilter.FILTER_MODE_ALL: all}
    if given.filter_mode not in modes:
        raise RefusedError(
            Code.OPERATION_FAILED,
            f"filter_mode {given.filter_mode} given; allowed: {TagsFilter.FILTER_MODE_ANY} (any of the tags), "
            f"{TagsFilter.FILTER_MODE_ALL} (all of them)",
        )
    mode = modes[given.filter_mode]
    return lambda tags: not wanted or mode(tag in tags for tag in wanted)


def _overlap(bounds: Bounds) -> Callable[[Entity], bool]:
    """Function that returns whether the box of an entity overlaps with a sphere or box of the world."""
    if bounds.type == Bounds.TYPE_CONVEX_HULL:
        raise RefusedError(
            Code.FEATURE_UNSUPPORTED,
            f"bounds of the type {bounds.type} (convex hull) given; allowed: {Bounds.TYPE_EMPTY} (none), "
            f"{Bounds.TYPE_BOX} (box), {Bounds.TYPE_SPHERE} (sphere)",
        )
    points = np.array([[p.x, p.y, p.z] for p in bounds.points])
    if bounds.type not in (Bounds.TYPE_BOX, Bounds.TYPE_SPHERE) or points.shape != (2, 3) or not _is_finite(points):
        raise RefusedError(
            Code.OPERATION_FAILED,
            f"bounds of the type {bounds.type} with the points {points.tolist()} given; allowed: type "
            f"{Bounds.TYPE_EMPTY} without points, type {Bounds.TYPE_BOX} with two corners, type {Bounds.TYPE_SPHERE} "
            "with a centre and a radius in x of the second point, all finite",
        )
    if bounds.type == Bounds.TYPE_SPHERE:
        centre, radius = swap_ned_enu(points[0]), float(points[1, 0])
        if radius < 0.0:
            raise RefusedError(Code.OPERATION_FAILED, f"radius {radius:g} m given; allowed: 0 or more")
        return lambda one: _distance(one, centre) <= radius
    ends = swap_ned_enu(points)
    middle, half = ends.mean(axis=0), np.abs(np.ptp(ends, axis=0)) / 2.0
    return lambda one: _boxes_overlap(one.box_ned, (middle, half, np.eye(3)))


def _is_finite(values: Any) -> bool:
    return bool(np.all(np.isfinite(values)))


def _distance(entity: Entity, point_ned: Array) -> float:
    """Distance of a point from an entity's box, m; 0 inside."""
    centre, half, axes = entity.box_ned
    beyond = np.maximum(np.abs(axes @ (point_ned - centre)) - half, 0.0)
    return float(np.linalg.norm(beyond))


def _boxes_overlap(first: tuple[Array, Array, Array], second: tuple[Array, Array, Array]) -> bool:
    """Whether two boxes (centre, half sizes, axes as rows) overlap or touch.

    Convex bodies are disjoint if their projections on one axis are. For boxes, the normals of the faces and the
    products of the edges suffice (Ericson, "Real-Time Collision Detection", 4.4.1).
    """
    (centre, half, axes), (other_centre, other_half, other_axes) = first, second
    products = np.cross(axes[:, None], other_axes[None]).reshape(-1, 3)
    directions = np.concatenate([axes, other_axes, products[np.linalg.norm(products, axis=1) > _NORMAL]])
    reach = np.abs(directions @ axes.T) @ half + np.abs(directions @ other_axes.T) @ other_half
    return bool(np.all(np.abs(directions @ (other_centre - centre)) <= reach))

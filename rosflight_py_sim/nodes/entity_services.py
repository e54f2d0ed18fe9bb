"""The standard services on entities: names, states, descriptions and volumes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from geometry_msgs.msg import Vector3
from simulation_interfaces.msg import Bounds, EntityCategory, EntityInfo, EntityState
from simulation_interfaces.srv import SetEntityState

from rosflight_py_sim.ground.coordinate_frames import MAP
from rosflight_py_sim.ground.stamps import set_time
from rosflight_py_sim.nodes.entity import (
    ARRIVES_S,
    WORLD_FRAMES,
    Array,
    Description,
    Entity,
    StateRefusedError,
    enu_of_state,
    truth_of_enu,
)
from rosflight_py_sim.nodes.entity_filters import filtered
from rosflight_py_sim.nodes.refusals import Code, RefusedError
from rosflight_py_sim.nodes.scripts import Script, Until

CATEGORIES = {
    value: name
    for name in ("OBJECT", "ROBOT", "HUMAN", "DYNAMIC_OBJECT", "STATIC_OBJECT")
    for value in [getattr(EntityCategory, f"CATEGORY_{name}")]
}
"""Names of the categories."""


class EntityServices:
    """Scripts of the services for entities; each public method serves one of them."""

    def __init__(self, entities: Mapping[str, Entity]) -> None:
        """Serve the entities, by name."""
        self._entities = entities

    def get_entities(self, request: Any, response: Any) -> Script:
        """Names of the entities that meet the filters."""
        yield from self._states()
        response.entities = [one.name for one in filtered(self._entities.values(), request.filters)]

    def get_entities_states(self, request: Any, response: Any) -> Script:
        """Names and states of the entities that meet the filters."""
        yield from self._states()
        found = [one for one in filtered(self._entities.values(), request.filters) if one.state is not None]
        response.entities, response.states = [one.name for one in found], [message_of_state(one) for one in found]

    def get_entity_state(self, request: Any, response: Any) -> Script:
        """State of an entity."""
        entity = named(self._entities, request.entity)
        yield from self._state(entity)
        response.state = message_of_state(entity)

    def get_entity_info(self, request: Any, response: Any) -> Script:
        """Description of an entity."""
        given = named(self._entities, request.entity).description
        response.info = EntityInfo(
            category=EntityCategory(category=given.category), description=given.text, tags=given.tags
        )
        yield from ()

    def get_entity_bounds(self, request: Any, response: Any) -> Script:
        """Box around an entity, in its own axes."""
        entity = named(self._entities, request.entity)
        response.bounds = box(entity.least_flu, entity.greatest_flu)
        yield from ()

    def set_entity_info(self, request: Any, response: Any) -> Script:
        """Replace the description of an entity."""
        entity, info = named(self._entities, request.entity), request.info
        if info.category.category not in CATEGORIES:
            allowed = ", ".join(f"{value} ({name.lower()})" for value, name in CATEGORIES.items())
            raise RefusedError(Code.OPERATION_FAILED, f"category {info.category.category} given; allowed: {allowed}")
        entity.description = Description(info.category.category, info.description, list(info.tags))
        yield from ()

    def set_entity_state(self, request: Any, response: Any) -> Script:
        """Set pose and velocities of an entity."""
        entity, given = named(self._entities, request.entity), request.state
        if given.header.frame_id not in WORLD_FRAMES:
            raise RefusedError(
                Code.OPERATION_FAILED,
                f"frame_id '{given.header.frame_id}' given; allowed: {', '.join(map(repr, WORLD_FRAMES))}",
            )
        # Releases before 2 have no such fields: pose and velocities are always set.
        sets_pose, sets_twist = getattr(request, "set_pose", True), getattr(request, "set_twist", True)
        if not sets_pose and not sets_twist:
            raise RefusedError(
                Code.FEATURE_UNSUPPORTED,
                "neither set_pose nor set_twist given; allowed: at least one of them, as forces alone determine the "
                "acceleration",
            )
        if sets_pose:
            check_pose(given.pose, SetEntityState.Response.INVALID_POSE)
        yield from self._state(entity)
        before = entity.state
        assert before is not None
        truth = truth_of_enu(before.truth, given.pose if sets_pose else None, given.twist if sets_twist else None)
        try:
            yield from entity.set_truth(truth)
        except StateRefusedError as error:
            if not sets_pose:
                raise
            raise RefusedError(SetEntityState.Response.INVALID_POSE, error.text) from error

    def _states(self) -> Script:
        """Wait for the first truth states, for a short time."""
        yield Until(lambda: all(one.state is not None for one in self._entities.values()), ARRIVES_S)

    def _state(self, entity: Entity) -> Script:
        if not (yield Until(lambda: entity.state is not None, ARRIVES_S)):
            raise RefusedError(
                Code.INCORRECT_STATE,
                f"entity '{entity.name}' given, whose truth state has not arrived yet; is its dynamics node running?",
            )


def named(entities: Mapping[str, Entity], name: str) -> Entity:
    """The entity with a name.

    Raises:
        RefusedError: there is none.
    """
    entity = entities.get(name)
    if entity is None:
        raise RefusedError(Code.NOT_FOUND, f"entity '{name}' given; allowed: {', '.join(entities) or 'none'}")
    return entity


def message_of_state(entity: Entity) -> EntityState:
    """Newest state of an entity, which has one, in the world."""
    state = entity.state
    assert state is not None
    message = EntityState()
    message.header.frame_id = MAP
    set_time(message.header.stamp, state.time_ns)
    message.pose, message.twist, message.acceleration = enu_of_state(state)
    return message


def box(least: Array, greatest: Array) -> Bounds:
    """Box between two corners: upper right, then lower left."""
    corners = [Vector3(x=x, y=y, z=z) for x, y, z in (greatest.tolist(), least.tolist())]
    return Bounds(type=Bounds.TYPE_BOX, points=corners)


def check_pose(pose: Any, code: int) -> None:
    """Check a pose.

    Raises:
        RefusedError: with this code, if a number is not finite or the orientation is not a quaternion of length 1.
    """
    p, q = pose.position, pose.orientation
    place, turn = [p.x, p.y, p.z], [q.x, q.y, q.z, q.w]
    length = float(np.linalg.norm(turn))
    # The dynamics node would say the same of the pose in NED, which was not given.
    if not np.all(np.isfinite(place)) or not abs(length - 1.0) < 0.01:
        raise RefusedError(
            code,
            f"position {place} and orientation x y z w {turn} given; allowed: finite positions, and quaternions of "
            "length 1, at most 1 % off",
        )

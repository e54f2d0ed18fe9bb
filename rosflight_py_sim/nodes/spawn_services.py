"""The standard services that spawn and delete entities."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from simulation_interfaces.msg import SpawnResult
from simulation_interfaces.srv import SpawnEntities, SpawnEntity

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.interfaces.process_control import PoseError
from rosflight_py_sim.nodes.entities import Entities
from rosflight_py_sim.nodes.entity import ARRIVES_S, WORLD_FRAMES, Array, Entity, truth_in_frame
from rosflight_py_sim.nodes.entity_services import check_pose, named
from rosflight_py_sim.nodes.refusals import Code, RefusedError, set_result
from rosflight_py_sim.nodes.resources import Resources, VehicleCode
from rosflight_py_sim.nodes.scripts import Script, Until
from rosflight_py_sim.nodes.simulation_changes import SimulationChanges
from rosflight_py_sim.vehicles import Vehicle

_Codes = SpawnEntity.Response

# Names of topics and services of ROS must not contain two underscores in a row.
_NAME = re.compile(r"[A-Za-z](?:_?[A-Za-z0-9])*_?(?:/[A-Za-z](?:_?[A-Za-z0-9])*_?)*")
_LONGEST_NAME = 100
_ALLOWED_NAMES = (
    f"up to {_LONGEST_NAME} letters, digits, single underscores and slashes, with a letter first and after each slash"
)


class SpawnServices:
    """Scripts of the services that spawn and delete entities; each public method serves one of them."""

    def __init__(
        self,
        entities: Entities,
        changes: SimulationChanges,
        resources: Resources,
        entity_of: Callable[[Vehicle, str, str], Entity],
        around: str,
        world: Callable[[], str | None],
    ) -> None:
        """Serve a simulation.

        Args:
            entities: its entities.
            changes: its changes.
            resources: vehicle files.
            entity_of: creates the entity of a vehicle, with a name and a namespace.
            around: namespace of the simulation.
            world: returns the value of the parameter `world`, or None if no world is loaded.
        """
        self._entities, self._changes, self._resources = entities, changes, resources
        self._entity_of, self._around, self._world = entity_of, around.strip("/"), world

    def spawn_entity(self, request: Any, response: Any) -> Script:
        """Add a vehicle."""
        self._check_offered("spawn_entity")
        with self._changes.alone("spawn_entity"):
            response.entity_name = yield from self._spawn(request)

    def spawn_entities(self, request: Any, response: Any) -> Script:
        """Add vehicles one after the other; if one is refused, continue with the next."""
        self._check_offered("spawn_entities")
        failed = []
        with self._changes.alone("spawn_entities"):
            for index, one in enumerate(request.spawn_requests):
                outcome = SpawnResult()
                try:
                    outcome.entity_name = yield from self._spawn(one)
                    set_result(outcome)
                except RefusedError as error:
                    set_result(outcome, error)
                    failed.append(f"spawn_requests[{index}]: {error.text}")
                response.results.append(outcome)
        if failed:
            raise RefusedError(SpawnEntities.Response.ENTITIES_SPAWN_FAILED, "; ".join(failed))

    def delete_entity(self, request: Any, response: Any) -> Script:
        """Remove a vehicle."""
        self._check_offered("delete_entity")
        with self._changes.alone("delete_entity"):
            yield from self.delete(named(self._entities, request.entity))

    def delete(self, entity: Entity) -> Script:
        """Remove a vehicle; a change must be under way.

        Raises:
            RefusedError: a node that serves several vehicles serves it.
        """
        error = yield from self._changes.carry_out(lambda simulation: simulation.delete(entity.namespace))
        if error is not None:
            raise RefusedError(Code.OPERATION_FAILED, str(error)) from error
        self._entities.remove(entity)

    def _check_offered(self, what: str) -> None:
        if not self._changes.can_spawn:
            raise RefusedError(
                Code.FEATURE_UNSUPPORTED,
                f"{what} requested; allowed: in a simulation in one process that is not recorded",
            )

    def _spawn(self, request: Any) -> Script:
        """Add a vehicle, and return its name."""
        world = self._world()
        if world is None:
            raise RefusedError(
                Code.INCORRECT_STATE, "spawning requested while the simulation is without a world; allowed: load_world"
            )
        vehicle = self._resources.vehicle_of(request)
        name = self._name(request.name, request.allow_renaming, vehicle.name)
        namespace = self._namespace(request.entity_namespace) or name
        truth = self._truth(request.initial_pose)
        with _refusing(VehicleCode.UNSUPPORTED_ASSETS):
            entity = self._entity_of(vehicle, name, namespace)
        error = yield from self._changes.carry_out(
            lambda simulation: simulation.spawn(vehicle, namespace, truth, world)
        )
        if error is not None:
            code = _Codes.INVALID_POSE if isinstance(error, PoseError) else VehicleCode.UNSUPPORTED_ASSETS
            raise RefusedError(code, str(error)) from error
        self._entities.add(entity)
        yield Until(lambda: entity.state is not None, ARRIVES_S)
        return name

    def _name(self, given: str, may_rename: bool, kind: str) -> str:
        """Unique name, based on the name in the request, or on the vehicle's if renaming is allowed.

        Raises:
            RefusedError: the name is invalid or taken.
        """
        if (not given and not may_rename) or (given and not _is_name(given)):
            raise RefusedError(
                _Codes.NAME_INVALID,
                f"name '{given}' given; allowed: {_ALLOWED_NAMES}; with allow_renaming also an empty name",
            )
        taken = {*self._entities, *(one.namespace for one in self._entities.values())}
        if given and given not in taken:
            return given
        if not may_rename:
            raise RefusedError(
                _Codes.NAME_NOT_UNIQUE,
                f"name '{given}' given, which is taken; allowed: other names than {', '.join(sorted(taken - {''}))}, "
                "or allow_renaming",
            )
        base, number = given or kind, 1
        while f"{base}_{number}" in taken:
            number += 1
        return f"{base}_{number}"

    def _namespace(self, given: str) -> str:
        """Namespace relative to the simulation's; empty if none is given.

        Raises:
            RefusedError: the namespace is invalid, taken, or outside the simulation's.
        """
        if not given:
            return ""
        namespace = given
        if given.startswith("/"):
            around = f"/{self._around}/" if self._around else "/"
            namespace = given.removeprefix(around)
        if not _is_name(namespace):
            inside = f", after / or /{self._around}/" if self._around else ", also after /"
            raise RefusedError(
                _Codes.NAMESPACE_INVALID, f"entity_namespace '{given}' given; allowed: {_ALLOWED_NAMES}{inside}"
            )
        if any(namespace == one.namespace for one in self._entities.values()):
            raise RefusedError(
                _Codes.NAMESPACE_INVALID,
                f"entity_namespace '{given}' given, which another entity has; allowed: one of its own",
            )
        return namespace

    def _truth(self, given: PoseStamped) -> Array:
        """Truth vector (19,) at rest in a pose that is given in the axes of the world or of an entity.

        Raises:
            RefusedError: the pose or its frame is invalid.
        """
        frame = given.header.frame_id
        check_pose(given.pose, _Codes.INVALID_POSE)
        if frame in WORLD_FRAMES:
            return truth_in_frame(given.pose, None)
        entity = self._entities.get(frame)
        if entity is None or entity.state is None:
            allowed = ", ".join(map(repr, (*WORLD_FRAMES, *self._entities)))
            raise RefusedError(_Codes.INVALID_POSE, f"frame_id '{frame}' given; allowed: {allowed}")
        return truth_in_frame(given.pose, np.array(entity.state.truth))


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None


@contextmanager
def _refusing(code: int) -> Any:
    """Convert a parameter error into a refusal by the service."""
    try:
        yield
    except ParameterError as error:
        raise RefusedError(code, str(error)) from error

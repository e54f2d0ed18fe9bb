"""The standard services on what can be simulated: spawnable vehicles, worlds and their named poses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from geometry_msgs.msg import Pose, Vector3
from simulation_interfaces.msg import Bounds, NamedPose, Resource, Spawnable, WorldResource
from simulation_interfaces.srv import GetAvailableWorlds, GetCurrentWorld, UnloadWorld

from rosflight_py_sim.ground.coordinate_frames import swap_frd_flu
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.nodes.entity import box_of, enu_of_state
from rosflight_py_sim.nodes.entity_filters import tags_condition
from rosflight_py_sim.nodes.entity_services import box
from rosflight_py_sim.nodes.refusals import Code, RefusedError
from rosflight_py_sim.nodes.resources import DRY_LAND_NAME, Resources
from rosflight_py_sim.nodes.scripts import Script
from rosflight_py_sim.nodes.simulation_changes import SimulationChanges
from rosflight_py_sim.nodes.vehicle_shape import shape_of
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import STANDALONE, Vehicle
from rosflight_py_sim.vehicles.catalogue import vehicles_and_errors
from rosflight_py_sim.world import DRY_LAND, World, WorldError, known_worlds, load_world
from rosflight_py_sim.world.scene import Object, Vector
from rosflight_py_sim.world.world_file import corners

START = "start"
"""Name of the pose at which vehicles start."""

_UNBOUNDED = Bounds(type=Bounds.TYPE_EMPTY)


@dataclass(frozen=True)
class _Place:
    """A named pose, with the free or occupied volume around it, in the axes of the pose."""

    name: str
    description: str
    tags: tuple[str, ...]
    pose: Pose
    bounds: Bounds


class WorldServices:
    """Scripts of the services for worlds; each public method serves one of them.

    Attributes:
        given: value of the parameter that selects the world; None: no world is loaded.
    """

    def __init__(
        self,
        world: World,
        given: str,
        resources: Resources,
        changes: SimulationChanges,
        start_over: Callable[[str], Script],
    ) -> None:
        """Serve a simulation.

        Args:
            world: its world.
            given: value of the parameter that selects it.
            resources: world files.
            changes: changes of the simulation.
            start_over: script that starts again without vehicles, in the world that its argument selects.
        """
        self._resources, self._changes, self._start_over = resources, changes, start_over
        self._use(world, given)

    def _use(self, world: World, given: str | None) -> None:
        self._world, self.given = world, given
        self._places = {} if given is None else {one.name: one for one in _places(world)}

    def load_world(self, request: Any, response: Any) -> Script:
        """Replace the world, and remove all vehicles; an invalid world changes nothing."""
        self._check_offered("load_world")
        with self._changes.alone("load_world"):
            world, given = self._resources.world_of(request)
            yield from self._start_over(given)
            self._use(world, given)
            response.world = _resource(world, given)

    def unload_world(self, request: Any, response: Any) -> Script:
        """Remove the world and all vehicles."""
        self._check_offered("unload_world")
        with self._changes.alone("unload_world"):
            self._check_loaded(UnloadWorld.Response.NO_WORLD_LOADED)
            yield from self._start_over("")
            self._use(DRY_LAND, None)

    def _check_offered(self, what: str) -> None:
        if not self._changes.can_restart:
            raise RefusedError(
                Code.FEATURE_UNSUPPORTED,
                f"{what} requested; allowed: in a simulation in one process that is not recorded, except in the time "
                "mode wall",
            )

    def _check_loaded(self, code: int) -> None:
        if self.given is None:
            raise RefusedError(code, "no world is loaded; allowed: load_world")

    def get_spawnables(self, request: Any, response: Any) -> Script:
        """List the vehicles of the catalogue, with their sizes; those of invalid files are named in the text."""
        found, errors = vehicles_and_errors()
        vehicles = [one for (_, dynamics), one in found.items() if dynamics == STANDALONE]
        response.spawnables = [_spawnable(one) for one in sorted(vehicles, key=lambda one: one.name)]
        notes = [f"source '{one}' given; allowed: none beside the catalogue of vehicles" for one in request.sources]
        yield from ()
        return "; ".join([*notes, *map(str, errors)])

    def get_available_worlds(self, request: Any, response: Any) -> Script:
        """List the worlds of all packages that meet the filter."""
        has_tags = tags_condition(request.filter)
        notes = [f"additional source '{one}' given; allowed: none" for one in request.additional_sources]
        if notes and not request.continue_on_error:
            raise RefusedError(Code.OPERATION_FAILED, "; ".join(notes))
        worlds = [_resource(DRY_LAND, "")]
        for name in known_worlds():
            try:
                worlds.append(_resource(load_world(name), name))
            except WorldError as error:
                if not request.continue_on_error:
                    code = GetAvailableWorlds.Response.DEFAULT_SOURCES_FAILED
                    raise RefusedError(code, f"world '{name}': {error}") from error
                notes.append(f"world '{name}': {error}")
        response.worlds = [one for one in worlds if has_tags(one.tags)]
        yield from ()
        return "; ".join(notes)

    def get_current_world(self, request: Any, response: Any) -> Script:
        """Describe the world of the simulation."""
        self._check_loaded(GetCurrentWorld.Response.NO_WORLD_LOADED)
        response.world = _resource(self._world, self.given or "")
        yield from ()

    def get_named_poses(self, request: Any, response: Any) -> Script:
        """List the start and the objects of the world that meet the filter."""
        has_tags = tags_condition(request.tags)
        response.poses = [
            NamedPose(name=one.name, description=one.description, tags=one.tags, pose=one.pose)
            for one in self._places.values()
            if has_tags(one.tags)
        ]
        yield from ()

    def get_named_pose_bounds(self, request: Any, response: Any) -> Script:
        """Volume around a named pose."""
        place = self._places.get(request.name)
        if place is None:
            allowed = ", ".join(self._places) or "none"
            raise RefusedError(Code.NOT_FOUND, f"named pose '{request.name}' given; allowed: {allowed}")
        response.bounds = place.bounds
        yield from ()


def _spawnable(vehicle: Vehicle) -> Spawnable:
    message = Spawnable(description=vehicle.description)
    # Releases before 2 have the address itself instead of the resource.
    if hasattr(message, "entity_resource"):
        message.entity_resource = Resource(uri=vehicle.name)
    else:
        message.uri = vehicle.name
    try:
        message.spawn_bounds = box(*box_of(shape_of(vehicle)))
    except ParameterError:
        # A parameter that the shape needs is given at the start of a simulation only.
        message.spawn_bounds = _UNBOUNDED
    return message


def _resource(world: World, given: str) -> WorldResource:
    basin = "pool" if world.pool else "sea_floor" if world.sea_floor else "land"
    count = len(world.objects)
    text = {"pool": "pool", "sea_floor": "sea floor without walls", "land": "level ground without water"}[basin]
    return WorldResource(
        name=world.name or DRY_LAND_NAME,
        world_resource=Resource(uri=given or DRY_LAND_NAME),
        description=f"{text}, {count} object{'' if count == 1 else 's'}",
        tags=["water", basin] if world.water else [basin],
    )


def _places(world: World) -> Iterator[_Place]:
    start = world.start
    if start is None:
        yield _Place(START, "launch point", ("spawn",), _pose((0.0, 0.0, 0.0), 0.0), _UNBOUNDED)
    else:
        sphere = Bounds(type=Bounds.TYPE_SPHERE, points=[Vector3(), Vector3(x=start.clearance)])
        yield _Place(START, "start of the world", ("spawn",), _pose(start.position_ned, start.yaw), sphere)
    for thing in world.objects:
        name = f"{thing.name} (object)" if thing.name == START else thing.name
        solid = "solid" if thing.solid else "not solid"
        tags = ("object", thing.kind.label)
        yield _Place(name, f"{thing.kind.label}, {solid}", tags, _pose(thing.position_ned, thing.yaw), _extent(thing))


def _pose(position_ned: Vector, yaw: float) -> Pose:
    """Pose in the world of a level thing at a heading (rad, clockwise from north)."""
    state = VehicleState()
    state.truth[0:3] = position_ned
    state.truth[3], state.truth[6] = math.cos(yaw / 2.0), math.sin(yaw / 2.0)
    return enu_of_state(state)[0]


def _extent(thing: Object) -> Bounds:
    """Box around an object, in its own axes."""
    ends = swap_frd_flu(np.array(corners(replace(thing, position_ned=(0.0, 0.0, 0.0), yaw=0.0))))
    return box(ends.min(axis=0), ends.max(axis=0))

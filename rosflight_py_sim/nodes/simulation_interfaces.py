"""The standard services of simulators, package simulation_interfaces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable
from rosflight_py_sim.ground.shared_parameters import TIME_MODE
from rosflight_py_sim.ground.vehicle_parameters import values_of_vehicle
from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.interfaces.time_manager_interface import VEHICLES, vehicle_namespaces
from rosflight_py_sim.nodes.entities import Entities
from rosflight_py_sim.nodes.entity import Description, Entity
from rosflight_py_sim.nodes.resources import RESOURCE_FOLDER, Resources
from rosflight_py_sim.nodes.scripts import Scripts
from rosflight_py_sim.nodes.simulation_changes import SimulationChanges
from rosflight_py_sim.nodes.time_control import TimeControl
from rosflight_py_sim.nodes.vehicle_shape import SHAPE_PARAMETERS, VEHICLE_SHAPE_PARAMETERS, shape_of, vehicle_shapes
from rosflight_py_sim.step.diagnosis import Diagnosis
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.vehicles import Vehicle, vehicle
from rosflight_py_sim.viewer.appearance import Appearance
from rosflight_py_sim.world import WORLD, world_of

VEHICLE_TYPE = Parameter(
    "vehicle_type", "", "Name of the vehicle type, or path of its vehicle file; a tag of the entity", read_only=True
)

_ROBOT = 1

SERVICES = (
    "DeleteEntity",
    "GetAvailableWorlds",
    "GetCurrentWorld",
    "GetEntities",
    "GetEntitiesStates",
    "GetEntityBounds",
    "GetEntityInfo",
    "GetEntityState",
    "GetNamedPoseBounds",
    "GetNamedPoses",
    "GetSimulationState",
    "GetSimulatorFeatures",
    "GetSpawnables",
    "LoadWorld",
    "ResetSimulation",
    "SetEntityInfo",
    "SetEntityState",
    "SetSimulationState",
    "SpawnEntities",
    "SpawnEntity",
    "StepSimulation",
    "UnloadWorld",
)
"""Names of the services' types; those of the services are the same in lower case: get_entities."""


class SimulationInterfaces(PartNode):
    """Offers the standard services of simulators (get_entities and others) and the action simulate_steps.

    They act through the services of the other nodes, such as time_manager/step, and receive the vehicles' truth states.
    Every vehicle is an entity, named by its namespace, or without one by its type. States are in the axes of the world:
    east, north, up. docs/simulation_interfaces.md lists the features.
    """

    DEFAULT_NAME: ClassVar[str] = "simulation_interfaces"
    PARAMETERS: ClassVar[ParameterTable] = (
        ParameterTable(TIME_MODE, VEHICLES, VEHICLE_TYPE, WORLD, RESOURCE_FOLDER) + SHAPE_PARAMETERS
    )
    VEHICLE_PARAMETERS: ClassVar[ParameterTable] = VEHICLE_SHAPE_PARAMETERS + ParameterTable(VEHICLE_TYPE)
    HOSTS: ClassVar[tuple[type[Part], ...]] = (Entity, TimeControl)

    # A class attribute, because a node that fails during construction is also destroyed.
    _resources: Resources | None = None

    def __init__(self, **arguments: Any) -> None:
        """Offer the services.

        Raises:
            ParameterError: simulation_interfaces is not installed.
        """
        super().__init__(**arguments)
        try:
            from simulation_interfaces import srv
        except ImportError as error:
            self.destroy_node()
            raise ParameterError(
                f"simulation_interfaces, the package of the standard services, is not installed ({error}); with a "
                "ROS 2 distribution it is the package ros-DISTRO-simulation-interfaces, without one `make setup` or "
                "`pip install ./simulation_interfaces` in this project's folder builds it"
            ) from error
        from rosflight_py_sim.nodes.entity_services import EntityServices
        from rosflight_py_sim.nodes.spawn_services import SpawnServices
        from rosflight_py_sim.nodes.state_services import StateServices
        from rosflight_py_sim.nodes.steps_action import StepsAction
        from rosflight_py_sim.nodes.world_services import WorldServices

        shapes = vehicle_shapes(self, vehicle_namespaces(self.values["vehicles"]))
        start = [self._entity_of_start(namespace, shape) for namespace, shape in shapes.items()]
        self._entities = Entities(self.host, self.unhost, start)
        time = self.host(TimeControl(self, self._entities), "")
        scripts, changes = Scripts(self), SimulationChanges(self.control)
        resources = self._resources = Resources(str(self.values[RESOURCE_FOLDER.name]))
        around = self.get_namespace()
        spawning = SpawnServices(self._entities, changes, resources, _entity, around, lambda: worlds.given)
        state = StateServices(
            self, scripts, time, self._entities, changes, spawning.delete, lambda: worlds.given is not None
        )
        world, given = world_of(self.values), str(self.values[WORLD.name])
        worlds = WorldServices(world, given, resources, changes, state.start_over)
        served = (state, EntityServices(self._entities), worlds, spawning)
        self.served = 0

        def offer(type_name: str) -> None:
            name = _snake_case(type_name)
            serve = next(getattr(one, name) for one in served if hasattr(one, name))

            def answer(request: Any, response: Any) -> Any:
                self.served += 1
                script = serve(request, response)
                return response if script is None else scripts.reply(script, response)

            self.create_service(getattr(srv, type_name), name, answer)

        for type_name in SERVICES:
            offer(type_name)
        self._action = StepsAction(self, scripts, state.simulate_steps)

    def _entity_of_start(self, namespace: str, shape: Appearance) -> Entity:
        """Entity of an initial vehicle."""
        kind = str(values_of_vehicle(self.values, namespace)[VEHICLE_TYPE.name])
        if not kind:
            return Entity(namespace or "vehicle", namespace, Description(_ROBOT), shape)
        try:
            text = vehicle(kind).description
        except ParameterError as error:
            self.get_logger().warning(f"the vehicle '{namespace}' has no description: {error}")
            text = ""
        tag = Path(kind).stem
        return Entity(namespace or tag, namespace, Description(_ROBOT, text, [tag]), shape)

    def destroy_node(self) -> None:
        """Also remove the files of worlds that were given by content."""
        if self._resources is not None:
            self._resources.close()
        super().destroy_node()

    def diagnose(self, period: Period) -> Iterator[Diagnosis]:
        """Number of requests."""
        yield Diagnosis("", "serving", values={"requests": self.served})


def _entity(chosen: Vehicle, name: str, namespace: str) -> Entity:
    """Entity of a spawned vehicle.

    Raises:
        ParameterError: a physics parameter that its shape needs is missing or invalid.
    """
    description = Description(_ROBOT, chosen.description, [chosen.name])
    return Entity(name, namespace, description, shape_of(chosen))


def _snake_case(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)[1:]

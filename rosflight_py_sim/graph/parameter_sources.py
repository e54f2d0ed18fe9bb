"""Where the parameters of nodes come from, in order: those of one vehicle, and those that serve all."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rosflight_py_sim.graph.bridge_settings import bridge_settings, settings_of_front_ends
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import flight_controller_of
from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.interfaces.given_values import GivenValue, Source, checked_values, given_by, merged_values
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.vehicle_physics import PHYSICS, physics_of_sources
from rosflight_py_sim.vehicles import reference
from rosflight_py_sim.vehicles.physics_model import physics_models
from rosflight_py_sim.viewer.appearance import APPEARANCE


@dataclass(frozen=True)
class ParameterSources:
    """Sources of the parameters of all nodes, each list in order: later sources override earlier ones.

    Attributes:
        members: the vehicles.
        own: sources of each vehicle's nodes, by its namespace.
        shared: sources of nodes that serve all vehicles: those of the first vehicle, without the settings and files of
            a member with a namespace.
    """

    members: Sequence[Member]
    own: Mapping[str, Sequence[Source]]
    shared: Sequence[Source]

    def of(self, member: Member | None) -> Sequence[Source]:
        """Sources of a node of one vehicle; without a vehicle, of a node that serves all."""
        return self.own[member.namespace] if member else self.shared

    def with_vehicle(
        self, member: Member, sources_of: Callable[[Sequence[Member]], ParameterSources]
    ) -> ParameterSources:
        """These sources, and those that `sources_of` returns for a further vehicle; unchanged if they include it."""
        if any(member is one for one in self.members):
            return self
        own = {**self.own, **sources_of([member]).own}
        return ParameterSources((*self.members, member), own, self.shared)

    def values_of(self, node: type[SimulationNode], member: Member | None, namespace: str = "") -> dict[str, Value]:
        """Checked values of all parameters of a vehicle's node; without a vehicle, of a node that serves all.

        Raises:
            ParameterError: a parameter file cannot be read, or a value is missing or not allowed.
        """
        found = self._given_to(node, member, namespace)
        return checked_values(node.table_for({one.name: one.value for one in found}), found)

    def given_to(self, node: type[SimulationNode], member: Member, namespace: str = "") -> dict[str, Any]:
        """Values, not checked, that the sources of a vehicle give for its node, and for others.

        Raises:
            ParameterError: a parameter file cannot be read.
        """
        return {one.name: one.value for one in self._given_to(node, member, namespace)}

    def _given_to(self, node: type[SimulationNode], member: Member | None, namespace: str) -> list[GivenValue]:
        at = absolute_name(namespace, member.namespace if member else "")
        return given_by(self.of(member), (node.DEFAULT_NAME, *node.ALIASES), at)

    def of_vehicles(
        self,
        node: type[SimulationNode],
        member: Member | None = None,
        strongest: Sequence[Source] = (),
        namespace: str = "",
    ) -> dict[str, Value]:
        """Parameters of a node for single vehicles, whose values differ from the node's own.

        Args:
            node: class of the node.
            member: vehicle of the node; None if the node serves all.
            strongest: further sources for all nodes, which override the others.
            namespace: namespace of the node.

        Raises:
            ParameterError: a parameter file cannot be read or is invalid.
        """
        names = {one.name for one in node.VEHICLE_PARAMETERS}
        if PHYSICS.name in names:
            names |= {one.name for _, model in physics_models() for one in model.SHAPE_PARAMETERS}

        def relevant(sources: Sequence[Source]) -> list[Source]:
            return [*_restricted(sources, names)]

        given = {vehicle: relevant(sources) for vehicle, sources in self.own.items()}
        common = relevant(self.of(member))
        if not names or all(one == common for one in given.values()):
            return {}
        general = _values(node, [*common, *strongest], namespace, member.namespace if member else "")
        own = {vehicle: _values(node, [*one, *strongest], namespace, vehicle) for vehicle, one in given.items()}
        return {
            f"{vehicle}.{name}": value
            for vehicle, values in own.items()
            for name, value in values.items()
            if vehicle and value != general.get(name)
        }


def parameter_sources(
    members: Sequence[Member],
    *,
    observers: Sequence[str] = (),
    files: Sequence[str] = (),
    weakest: Mapping[str, Value],
    settings: Mapping[str, Value],
) -> ParameterSources:
    """Sources of the parameters of a simulation's nodes.

    Args:
        members: the vehicles.
        observers: front-ends of the bridge that observe the vehicles.
        files: parameter files for all vehicles.
        weakest: parameters for all vehicles, which every file overrides.
        settings: parameters for all vehicles, which override the files.

    Raises:
        ParameterError: an observer is not allowed, or a flight controller lacks a parameter file for its vehicle.
    """
    bridge = bridge_settings(members, observers)

    def sources(member: Member) -> list[Source]:
        vehicle, controller = member.vehicle, flight_controller_of(member)
        observed = settings_of_front_ends(member, bridge.get("front_ends", ()))
        named = dict.fromkeys(("record.vehicle", "vehicle_type"), reference(vehicle))
        first = {**vehicle.settings, **named, **bridge, **observed, **controller.settings, **weakest}
        own_files = [vehicle.parameter_file, *controller.files_for(vehicle), *map(Path, files), *member.files]
        return [first, *own_files, {**settings, **member.settings}]

    own, first = {member.namespace: sources(member) for member in members}, members[0]
    shared = sources(replace(first, settings={}, files=())) if first.namespace else own[first.namespace]
    return ParameterSources(members, own, shared)


def _restricted(sources: Iterable[Source], names: Collection[str]) -> Iterator[Source]:
    for one in sources:
        yield (
            {name: value for name, value in one.items() if name.rpartition(":")[2] in names}
            if isinstance(one, Mapping)
            else one
        )


def _values(node: type[SimulationNode], sources: Sequence[Source], namespace: str, vehicle: str) -> dict[str, Value]:
    """Values of one vehicle: those given, and defaults; PHYSICS has those of the vehicle's physics."""
    given = merged_values(sources, (node.DEFAULT_NAME, *node.ALIASES), absolute_name(namespace))
    values: dict[str, Value] = {
        one.name: given.get(one.name, one.default)
        for one in node.VEHICLE_PARAMETERS
        if one.name in given or not one.required
    }
    if PHYSICS.name in values:
        physics = physics_of_sources(sources, str(values[APPEARANCE.name]), namespace, vehicle)
        values[PHYSICS.name] = json.dumps(physics)
    return values


def ros_arguments(sources: Iterable[Source]) -> list[str]:
    """The sources as ROS arguments of a node in another process, without --ros-args."""
    arguments: list[str] = []
    for source in sources:
        if isinstance(source, Mapping):
            for name, value in source.items():
                # Quoted, so that a text stays one, even if it is empty.
                arguments += ["-p", f"{name}:={json.dumps(value) if isinstance(value, str) else value}"]
        else:
            arguments += ["--params-file", str(source)]
    return arguments

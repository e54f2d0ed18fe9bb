"""Vehicles of a simulation that collide, or move each other's air, for which the node `encounters` is started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.parameter_sources import ParameterSources
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Value
from rosflight_py_sim.ground.shared_parameters import DOWNWASH
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.interfaces.given_values import Source, checked_values, given_by
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.physics.collision import COLLISION_RADIUS

ENCOUNTERS = "encounters"
"""Executable of the node."""


def encounter_settings(
    members: Sequence[Member], sources: ParameterSources, strongest: Sequence[Source] = (), namespace: str = ""
) -> dict[str, Value]:
    """Parameters of the node `encounters` that list vehicles; empty if no vehicle needs the node.

    A vehicle counts only if its nodes have the parameter: `dynamics` of another kind may not.

    Args:
        members: the vehicles.
        sources: sources of the parameters of their nodes.
        strongest: further sources for all nodes, which override the others.
        namespace: namespace of the simulation.

    Raises:
        ParameterError: a parameter file cannot be read, or a value is not allowed.
    """

    def asking(executable_of: str, parameter: Parameter) -> list[str]:
        found = []
        for member in members:
            cls = node_class(getattr(member.vehicle, executable_of))
            if parameter.name not in cls.PARAMETERS:
                continue
            at = absolute_name(namespace, member.namespace)
            given = given_by([*sources.of(member), *strongest], (cls.DEFAULT_NAME, *cls.ALIASES), at)
            if checked_values(ParameterTable(parameter), given)[parameter.name]:
                found.append(member.namespace)
        return found

    receivers = asking("dynamics", DOWNWASH)
    lists: Mapping[str, list[str]] = {
        "colliding": asking("dynamics", COLLISION_RADIUS),
        "downwash_sources": [one for one in asking("forces_and_moments", DOWNWASH) if one in receivers],
        "downwash_receivers": receivers,
    }
    return {name: vehicles for name, vehicles in lists.items() if vehicles}

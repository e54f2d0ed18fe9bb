"""Physics parameters of a vehicle, for nodes that draw or record it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, Value, Values
from rosflight_py_sim.ground.registry import node_names
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.interfaces.given_values import Source, merged_values
from rosflight_py_sim.vehicles.physics_model import model_with_appearance

PHYSICS = Parameter(
    "physics",
    "{}",
    "Physics parameters on which the shape of the vehicle depends, as a JSON object; they override those of the "
    "parameter files",
    read_only=True,
)
"""Parameter that a node which draws or records all vehicles may be given for one of them."""


def physics_of_sources(sources: Sequence[Source], appearance: str, *namespaces: str) -> dict[str, Value]:
    """Parameters on which a vehicle's shape depends, from the sources of its nodes' parameters.

    Args:
        sources: in increasing order of precedence.
        appearance: name of the shape.
        namespaces: parts of the namespace of the vehicle's nodes.

    Raises:
        ParameterError: there is no such shape, or a parameter file cannot be read or is invalid.
    """
    table = model_with_appearance(appearance).SHAPE_PARAMETERS
    values: dict[str, Value] = {}
    if len(table):
        for place, kind in (("dynamics", NodeKind.DYNAMICS), ("forces_and_moments", NodeKind.FORCES_AND_MOMENTS)):
            values |= merged_values(sources, (place, *node_names(kind)), absolute_name(*namespaces))
    return {name: value for name, value in values.items() if name in table}


def physics_of_vehicle(
    values: Values, sources: Sequence[Source], appearance: str, namespace: str, vehicle: str
) -> dict[str, Value]:
    """Parameters on which the shape of one vehicle depends, for a node that serves all of them.

    Args:
        values: parameter values of the node, among them those given for the vehicle alone.
        sources: of the node's parameters, in increasing order of precedence.
        appearance: name of the shape.
        namespace: namespace of the node.
        vehicle: namespace of the vehicle, relative to it.

    Raises:
        ParameterError: there is no such shape, a parameter file cannot be read or is invalid, or the parameter
            `physics` is not a JSON object.
    """
    own = str(values.get(f"{vehicle}.{PHYSICS.name}", PHYSICS.default))
    try:
        given = dict(json.loads(own))
    except ValueError as error:
        raise ParameterError(f"parameter '{PHYSICS.name}': {own} given; allowed: a JSON object ({error})") from error
    return physics_of_sources(sources, appearance, namespace, vehicle) | given

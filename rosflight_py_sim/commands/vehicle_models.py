"""Physics of a vehicle, for tools without a node graph: the model and its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from rosflight_py_sim.ground.parameters import ParameterError, ParameterTable, Value
from rosflight_py_sim.ground.registry import registered_node
from rosflight_py_sim.interfaces.given_values import Source, checked_values, given_by, refuse_misspelt
from rosflight_py_sim.nodes.running import SharedNames
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS
from rosflight_py_sim.physics.steady_model import SteadyVehicle
from rosflight_py_sim.vehicles import Vehicle
from rosflight_py_sim.vehicles.physics_model import physics_models, physics_node

Given: TypeAlias = dict[str, Value]


def steady_vehicle(vehicle: Vehicle, sources: Sequence[Source], namespace: str = "") -> SteadyVehicle:
    """Vehicle with the parameters that sources, in increasing order of precedence, give to its nodes.

    Raises:
        ParameterError: a file is unreadable, or a parameter is missing or not allowed.
    """
    executable = physics_node(vehicle)
    model = registered_node(executable)
    if not model.is_steady():
        names = [name for name, one in physics_models() if one.is_steady()]
        raise ParameterError(
            f"vehicle '{vehicle.name}' given, whose forces come from {executable}; trim supports vehicles "
            f"with {' or '.join(names)}"
        )
    forces = given_values(model.PARAMETERS, sources, model.DEFAULT_NAME, namespace, *model.ALIASES)
    aliases = registered_node(vehicle.dynamics).ALIASES
    dynamics = given_values(DYNAMICS_PARAMETERS, sources, "dynamics", namespace, *aliases)
    steady: SteadyVehicle = model.steady(forces, dynamics, vehicle.firmware_file)
    return steady


def given_values(table: ParameterTable, sources: Iterable[Source], node: str, namespace: str, *aliases: str) -> Given:
    """Values of `table` that sources give to a node, whose other names are `aliases`."""
    found = given_by(sources, (node, *aliases), namespace)
    refuse_misspelt([one.name for one in found], table, (), SharedNames())
    # A node has parameters that its model lacks, and a file has sections for other nodes.
    return checked_values(table, found)

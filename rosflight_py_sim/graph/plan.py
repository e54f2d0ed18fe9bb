"""The nodes of a simulation, for one process or one process per node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import flight_controller_of
from rosflight_py_sim.graph.named_parameters import NamedParameters
from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.interfaces.given_values import merged_values
from rosflight_py_sim.nodes.node_names import SHORT, node_name
from rosflight_py_sim.nodes.running import chosen_nodes, node_class


@dataclass(frozen=True)
class PlannedNode:
    """A node to start.

    Attributes:
        name: its name without namespaces.
        executable: its executable.
        namespace: relative to the simulation's; empty for a node that serves all vehicles.
        member: its vehicle; None for a node that serves all.
    """

    name: str
    executable: str
    namespace: str
    member: Member | None

    @property
    def full_name(self) -> str:
        """Name relative to the simulation's namespace."""
        return absolute_name(self.namespace, self.name)[1:]

    @property
    def accepted_names(self) -> set[str]:
        """Names accepted for the node: its own and its short name, with and without the vehicle's namespace."""
        short = node_class(self.executable).DEFAULT_NAME
        return {self.name, self.full_name, short, absolute_name(self.namespace, short)[1:]}

    def own(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """The given parameters that the node has."""
        cls = node_class(self.executable)
        given = merged_values([values], (cls.DEFAULT_NAME,))
        return {name: value for name, value in given.items() if name in cls.PARAMETERS}


def planned_nodes(
    members: Sequence[Member],
    shared: Iterable[str] = (),
    *,
    observers: Sequence[str] = (),
    names: str = SHORT,
) -> list[PlannedNode]:
    """The nodes of a simulation.

    A node with the parameter `vehicles` serves all of them, unless its class says otherwise (`SERVES_ALL`).

    Args:
        members: the vehicles.
        shared: further nodes that serve all vehicles, such as the time manager.
        observers: front-ends of the bridge that observe the vehicles.
        names: choice of node names, one of node_names.NAMES.

    Raises:
        ParameterError: `names` is not one of node_names.NAMES.
    """
    planned: dict[str, PlannedNode] = {}
    for member in members:
        vehicle, controller = member.vehicle, flight_controller_of(member)
        places = [
            vehicle.transmitter,
            vehicle.sensors,
            vehicle.forces_and_moments,
            vehicle.dynamics,
            *controller.executables,
        ]
        places += ["bridge"] if observers else []
        for short, executable in chosen_nodes([*places, *vehicle.extra_nodes, *member.executables]).items():
            cls = node_class(executable)
            of = None if cls.SERVES_ALL and "vehicles" in cls.PARAMETERS else member
            node = PlannedNode(node_name(short, executable, names), executable, of.namespace if of else "", of)
            planned.setdefault(node.full_name, node)
    for executable in shared:
        name = node_name(node_class(executable).DEFAULT_NAME, executable, names)
        planned[name] = PlannedNode(name, executable, "", None)
    return list(planned.values())


def named_arguments(planned: Iterable[PlannedNode], arguments: Sequence[str]) -> list[str]:
    """ROS arguments with `-p NODE:NAME:=VALUE` in place of `-p NODE.NAME:=VALUE`, for the parameters of the nodes.

    Raises:
        ParameterError: a short name is given that the nodes declare differently.
    """
    classes = [node_class(one.executable) for one in planned]
    return NamedParameters((cls.DEFAULT_NAME, cls.PARAMETERS) for cls in classes).ros_arguments(arguments)

"""The vehicles of a composed graph, which can be restarted, added and removed while the graph runs."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node

from rosflight_py_sim.graph.fleet import Member, seed_of
from rosflight_py_sim.graph.flight_controllers import (
    chosen_flight_controller,
    flight_controller_of,
    step_size_settings,
)
from rosflight_py_sim.graph.meetings import ENCOUNTERS
from rosflight_py_sim.graph.plan import PlannedNode, planned_nodes
from rosflight_py_sim.ground.parameters import ParameterError, Value
from rosflight_py_sim.interfaces.process_control import PoseError
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.truth_interface import TruthInterface
from rosflight_py_sim.vehicles import Vehicle
from rosflight_py_sim.world import WORLD, world_of
from rosflight_py_sim.world.world_file import corners

if TYPE_CHECKING:
    from rosflight_py_sim.graph.composition import ComposedGraph

# Events that the executor handles between two garbage collections: a collection takes much longer than an event.
_EVENTS = 100

# Larger than any vehicle, m.
_CLEARANCE_M = 100.0


@dataclass
class _Present:
    """A vehicle that is part of the graph.

    Attributes:
        member: the vehicle.
        nodes: its nodes, without those that serve several vehicles.
        start: (19,) truth vector of its start; None: the start that its parameters give.
    """

    member: Member
    nodes: list[SimulationNode] = field(default_factory=list)
    start: NDArray[np.float64] | None = None


class ChangeableFleet:
    """The vehicles of a composed graph, and the nodes that a restart creates again, except the time manager.

    Attributes:
        can_restart: whether time can be set back.
    """

    def __init__(
        self,
        graph: ComposedGraph,
        members: Sequence[Member],
        observers: Sequence[str],
        *,
        meetings: Mapping[str, Value],
        can_restart: bool,
        seed: int,
    ) -> None:
        """Prepare the vehicles; `create` creates their nodes.

        Args:
            graph: the graph.
            members: initial vehicles.
            observers: front-ends of the bridge that observe them.
            meetings: parameters of the node `encounters`; empty without this node.
            can_restart: whether time can be set back.
            seed: seed of the simulation.
        """
        self.can_restart = can_restart
        self._graph, self._seed, self._meetings = graph, seed, meetings
        self._members: tuple[Member, ...] = tuple(members)
        self._planned = planned_nodes(members, [ENCOUNTERS] if meetings else [], observers=observers)
        self._is_observed = bool(observers)
        self._present = {one.namespace: _Present(one) for one in members}
        self._shared: list[SimulationNode] = []
        self._loaded_world: str | None = None

    @property
    def namespaces(self) -> list[str]:
        """Namespaces of the present vehicles."""
        return list(self._present)

    def parameters(self, member: Member | None, *, advances_time: bool) -> dict[str, Value]:
        """Parameters of a node that depend on the vehicles. Nodes that serve all vehicles serve the initial ones.

        Args:
            member: vehicle of the node; None: all vehicles.
            advances_time: whether the node is the time manager, which serves the present vehicles.
        """
        served = [one.namespace for one in self._members]
        if member is not None and member.namespace not in served:
            # A node that serves several vehicles has parameters of a single vehicle only if that has a namespace.
            served = [*filter(None, served), member.namespace]
        if not advances_time:
            world = {} if self._loaded_world is None else {WORLD.name: self._loaded_world}
            return {"vehicles": list[str](served), **world, **self._meetings}
        present = [one.member for one in self._present.values()]
        # A time manager starts with at least one vehicle.
        return {"vehicles": self.namespaces or [""], **step_size_settings(present)}

    def create(self) -> list[SimulationNode]:
        """Create the nodes of the present vehicles, and return them."""
        for planned in self._planned:
            if planned.member is None:
                self._shared.append(self._add(planned))
            elif planned.namespace in self._present and self._present[planned.namespace].start is None:
                self._present[planned.namespace].nodes.append(self._add(planned))
        for one in self._present.values():
            if one.start is not None:
                self._create_spawned(one)
        return self._nodes

    @property
    def _nodes(self) -> list[SimulationNode]:
        return [*self._shared, *(node for one in self._present.values() for node in one.nodes)]

    def _add(self, planned: PlannedNode) -> SimulationNode:
        return self._graph.add_planned(planned)

    def _create_spawned(self, spawned: _Present) -> None:
        """Create the nodes of a spawned vehicle, and place it at its start."""
        assert spawned.start is not None
        for planned in planned_nodes([spawned.member]):
            spawned.nodes.append(self._add(replace(planned, namespace=spawned.member.namespace, member=spawned.member)))
        for node in spawned.nodes:
            if isinstance(node, TruthInterface):
                try:
                    node.start_from(spawned.start)
                except ValueError as error:
                    raise PoseError(str(error)) from error

    def restart(self, *, paused: bool, entirely: bool) -> None:
        """End the nodes of the vehicles and the time manager, and create them again at time 0.

        Other nodes remain: those of services and viewers, and those that have joined.

        Args:
            paused: whether the simulation is paused at time 0.
            entirely: whether to restore the initial vehicles; otherwise the present vehicles remain.
        """
        graph = self._graph
        # Calls between the nodes must not lose their replies.
        graph.turn_until_ready(lambda: not graph.hand_off.awaits_replies)
        ended: list[Node] = [*filter(None, [graph.time_node]), *self._nodes]
        graph.time_node = None
        self._shared = []
        for one in self._present.values():
            one.nodes = []
        if entirely:
            self._present = {one.namespace: _Present(one) for one in self._members}
        gone = [weakref.ref(node) for node in ended]
        while ended:
            graph.end_node(ended.pop())
        graph.hand_off.start_over()
        self._wait_until_gone(gone)
        for node in self.create():
            graph.executor.add_node(node)
        graph.turn_until_ready()
        graph.start_time(paused=paused)
        gc.freeze()

    def load_world(self, world: str) -> None:
        """Start again in another world, without vehicles and paused; later restarts return to this world.

        Args:
            world: value of the parameter `world`.
        """
        self._members, self._planned, self._is_observed, self._loaded_world = (), [], False, world
        self._meetings = {}
        self.restart(paused=True, entirely=True)

    def spawn(self, vehicle: Vehicle, namespace: str, truth: NDArray[np.float64], world: str) -> None:
        """Add a vehicle between two steps, without an effect on the flights of the other vehicles.

        Args:
            vehicle: the vehicle.
            namespace: namespace of its nodes, relative to the graph's; no other vehicle has it.
            truth: (19,) truth vector of its start.
            world: value of the parameter `world`.

        Raises:
            PoseError: its dynamics refuse the start.
            ParameterError: a node refuses its parameters, or the vehicle would meet others.
        """
        graph = self._graph
        settings = {"seed": seed_of(self._seed, namespace), WORLD.name: world, **_free_start(world)}
        spawned = _Present(Member(vehicle, namespace, settings, spawned_controller(vehicle)), start=truth)
        if graph.would_meet(spawned.member):
            raise ParameterError(
                f"vehicle '{vehicle.name}' given, whose collision_radius or downwash has an effect on others; allowed: "
                f"vehicles without, because the node {ENCOUNTERS} serves only the initial vehicles"
            )
        with self._between_steps():
            self._present[namespace] = spawned
            refusal: ParameterError | None = None
            graph.control.is_spawning = True
            try:
                self._create_spawned(spawned)
            except ParameterError as error:
                # A new error, because the traceback of this one refers to nodes.
                refusal = type(error)(str(error))
            finally:
                graph.control.is_spawning = False
            if refusal is not None:
                self._end(namespace)
                raise refusal
            for node in spawned.nodes:
                graph.executor.add_node(node)
            graph.turn_until_ready()
            manager = graph.time_node
            if manager is not None:
                manager.add_vehicle(namespace)
            for node in spawned.nodes:
                if isinstance(node, TruthInterface):
                    node.join_at(node.now_ns if manager is None else manager.joining_ns)

    def delete(self, namespace: str) -> None:
        """Remove a vehicle between two steps.

        Raises:
            ParameterError: a node that serves several vehicles serves it.
        """
        one = self._present[namespace]
        if any(namespace in cast("list[str]", served) for served in self._meetings.values()):
            raise ParameterError(
                f"vehicle '{namespace or one.member.vehicle.name}' given, for which the node {ENCOUNTERS} waits; "
                "allowed: vehicles without collision_radius and downwash"
            )
        controller = flight_controller_of(one.member)
        if one.start is None and (controller.front_end or self._is_observed):
            raise ParameterError(
                f"vehicle '{namespace or one.member.vehicle.name}' given, whose client is connected by the bridge; "
                "allowed: vehicles without a front-end"
            )
        with self._between_steps():
            if self._graph.time_node is not None:
                self._graph.time_node.remove_vehicle(namespace)
            self._end(namespace)

    def _end(self, namespace: str) -> None:
        """End the nodes of a vehicle."""
        nodes = self._present.pop(namespace).nodes
        gone = [weakref.ref(node) for node in nodes]
        while nodes:
            self._graph.end_node(nodes.pop())
        self._wait_until_gone(gone)
        gc.freeze()

    @contextmanager
    def _between_steps(self) -> Iterator[None]:
        """Context in which no step is under way."""
        graph, manager = self._graph, self._graph.time_node

        def is_complete() -> bool:
            return manager is None or manager.step_is_complete or manager.is_stalled

        if manager is not None:
            manager.stay_between_steps(True)
        graph.turn_until_ready(lambda: is_complete() and graph.hand_off.is_idle and not graph.hand_off.awaits_replies)
        try:
            yield
            # A state that arrives during the next step would be taken for a repetition.
            graph.turn_until(lambda: graph.hand_off.is_idle)
        finally:
            if manager is not None:
                manager.stay_between_steps(False)

    def _wait_until_gone(self, nodes: Sequence[weakref.ref[Node]]) -> None:
        """Wait until the garbage collector has removed ended nodes.

        Until then, their publishers exist, and new nodes would receive the latched messages of the ended run. The
        executor refers to the nodes until it has run, and the nodes refer to each other in cycles.
        """
        gc.unfreeze()
        if not self._graph.turn_until(lambda: self._are_gone(nodes)):
            self._graph.nodes[0].get_logger().warning("ended nodes still exist: the program refers to them")

    def _are_gone(self, nodes: Iterable[weakref.ref[Node]]) -> bool:
        """Handle some of the executor's events; then return whether the ended nodes have been collected."""
        for _ in range(_EVENTS):
            self._graph.executor.spin_once(timeout_sec=0.0)
        gc.collect()
        return all(node() is None for node in nodes)


def _free_start(world: str) -> dict[str, Value]:
    """Parameters of dynamics for a start in free air, until the vehicle is placed at its own start."""
    objects = world_of({WORLD.name: world}).objects
    top_m = max((-down for one in objects for _, _, down in corners(one)), default=0.0)
    return {
        "initial_position": [0.0, 0.0],
        "initial_altitude": max(top_m, 0.0) + _CLEARANCE_M,
        "starts_on_ground": False,
        "use_world_start": False,
    }


def spawned_controller(vehicle: Vehicle) -> str:
    """Flight controller of a spawned vehicle: one that its file names and that needs no front-end, or `sil_board`.

    The front-ends serve only the initial vehicles.
    """
    own = [name for name in (vehicle.flight_controller, vehicle.autopilot_flight_controller) if name]
    return next((name for name in own if not chosen_flight_controller(name).front_end), "sil_board")

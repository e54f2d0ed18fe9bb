"""Refusal to start a simulation in a ROS domain and namespace that already has one."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Sequence
from types import TracebackType

import rclpy
from rclpy.context import Context
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.plan import planned_nodes
from rosflight_py_sim.graph.rosflight_io import leaves_interface
from rosflight_py_sim.graph.time_modes import TIME_MANAGERS
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.interfaces.publishers import (
    REMEDY,
    Hosts,
    local_participants,
    other_publishers,
    participant_of,
    participants_known_to,
)
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.running import check_namespace, node_class, refusals_of_ros, shutdown_watchdog
from rosflight_py_sim.step.topic_ends import published
from rosflight_py_sim.step.topics import STATUS, STEP_TOPICS

# Time from the creation of a node until it has usually discovered the publishers of a running simulation, s of system
# time, and limit of this time while the machine has more participants than the node has discovered.
_DISCOVERY_S, _LONGEST_DISCOVERY_S = 1.0, 10.0

# Time without a further publisher after which the discovery of publishers counts as complete, s of system time.
_SETTLING_S = 0.5

# Time limit for the reports that name the other host, s: nodes report once a second. On a busy machine, the publisher
# of the first topic may be discovered seconds later than others.
_REPORTS_S = 5.0

# Time limit for leaving the domain, in which Fast DDS may lock up, s.
_LEAVING_S = 8.0


class OtherSimulation:
    """Search for another simulation in the ROS domain; it runs in the background until `refuse` completes it.

    Create it early, and call `refuse` before the first node of the graph is created.
    """

    def __init__(self, *, allowed: bool) -> None:
        """Join the domain, unless another simulation is `allowed`.

        Raises:
            ParameterError: ROS does not allow the domain.
        """
        self._node: Node | None = None
        if allowed:
            return
        self._context = Context()
        with refusals_of_ros():
            rclpy.init(context=self._context, args=[], signal_handler_options=SignalHandlerOptions.NO)
            # ROS tools hide nodes whose name begins with an underscore.
            self._node = Node(
                f"_rosflight_py_sim_{os.getpid()}",
                context=self._context,
                use_global_arguments=False,
                enable_rosout=False,
                start_parameter_services=False,
            )
        self._began_s = time.monotonic()

    def __enter__(self) -> OtherSimulation:
        """Begin the search."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Leave the domain."""
        self._leave()

    def refuse(
        self,
        members: Sequence[Member],
        time_mode: str,
        *,
        observers: Sequence[str] = (),
        namespace: str = "",
        left_out: Collection[str] = (),
    ) -> None:
        """Complete the search for the publishers of a graph's exclusive topics, and leave the domain.

        Args:
            members: vehicles of the graph.
            time_mode: time mode of the graph.
            observers: front-ends of the bridge that observe the vehicles.
            namespace: namespace of the graph.
            left_out: names of the graph's nodes that are not started.

        Raises:
            ParameterError: another simulation publishes one of the topics, or ROS does not allow the namespace.
        """
        check_namespace(namespace)
        if self._node is None:
            return
        manager = TIME_MANAGERS.get(time_mode)
        planned = planned_nodes(members, [manager] if manager else [], observers=observers)
        classes = [node_class(one.executable) for one in planned if not one.accepted_names & set(left_out)]
        left = {absolute_name(namespace, one.namespace, STATUS.name) for one in members if leaves_interface(one)}
        topics = exclusive_topics(classes, namespace, [member.namespace for member in members])
        topics = [topic for topic in topics if topic not in left]
        self._wait_for_discovery(self._node)
        executor = SingleThreadedExecutor(context=self._context)
        executor.add_node(self._node)
        try:
            refuse_others(self._node, topics, executor)
        finally:
            executor.shutdown()
            self._leave()

    def _wait_for_discovery(self, node: Node) -> None:
        """Wait until the node has discovered all participants of this machine, and no further publishers appear."""
        time.sleep(max(0.0, self._began_s + _DISCOVERY_S - time.monotonic()))
        expected = local_participants(self._context.get_domain_id())
        known, since_s = 0, time.monotonic()
        while expected > 1 and time.monotonic() < self._began_s + _LONGEST_DISCOVERY_S:
            publishers = sum(node.count_publishers(name) for name, _ in node.get_topic_names_and_types())
            if publishers != known or len(participants_known_to(node)) < expected:
                known, since_s = publishers, time.monotonic()
            elif time.monotonic() > since_s + _SETTLING_S:
                return
            time.sleep(0.05)

    def _leave(self) -> None:
        node, self._node = self._node, None
        if node is not None:
            with shutdown_watchdog(_LEAVING_S):
                node.destroy_node()
                rclpy.try_shutdown(context=self._context)


def refuse_others(node: Node, topics: Sequence[str], executor: Executor) -> None:
    """Refuse other processes' publishers of topics (full names); `executor` runs the node.

    Raises:
        ParameterError: another process publishes one of the topics.
    """
    own = participant_of(node)
    others = other_publishers(node, topics, own)
    if not others:
        return
    hosts = Hosts(node, own)
    end_s = time.monotonic() + _REPORTS_S
    while True:
        first = min(others, key=lambda one: topics.index(one.topics[0]))
        if time.monotonic() > end_s or (first.topics[0] == topics[0] and hosts.knows(first)):
            break
        executor.spin_once(timeout_sec=0.05)
        # The names of nodes arrive after their publishers.
        others = other_publishers(node, topics, own) or others
    hosts.close()
    domain = f"ROS domain {os.environ.get('ROS_DOMAIN_ID', '0')}"
    raise ParameterError(
        f"{domain} already has a simulation: {hosts.text(first)} publishes {first.topics[0]}; {REMEDY}; "
        "--share-domain (in launch files share_domain:=true) starts this one nevertheless"
    )


def exclusive_topics(classes: Iterable[type[SimulationNode]], namespace: str, vehicles: Iterable[str]) -> list[str]:
    """Full names of the exclusive topics that nodes publish.

    Args:
        classes: classes of the nodes.
        namespace: namespace of the graph.
        vehicles: namespaces of the vehicles, relative to that of the graph.
    """
    rows = {row for cls in classes for row in published(cls) if row.is_exclusive}
    found: dict[str, None] = {}
    for vehicle in vehicles:
        # The order is that of the table, because the error names the first topic.
        for row in filter(rows.__contains__, STEP_TOPICS):
            found[row.name if row.name.startswith("/") else absolute_name(namespace, vehicle, row.name)] = None
    return list(found)

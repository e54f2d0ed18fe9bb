"""The ports that nodes declare are their publishers and subscriptions in the graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import pytest
from free_ports import free_ports
from rosgraph_msgs.msg import Clock

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.rosflight_io import INSIDE, OURS, with_rosflight_io
from rosflight_py_sim.ground.node_kinds import NODE_CLASSES
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.step.topic_ends import nodes_at
from rosflight_py_sim.step.topics import CLOCK, PWM_OUTPUT, STEP_TOPICS, TRUTH_ROTOR_SPEEDS
from rosflight_py_sim.vehicles import all_vehicles, vehicle


class Composition(NamedTuple):
    """Arguments of a composed graph."""

    vehicle: str
    dynamics: str = "standalone"
    time_mode: str = "lockstep"
    flight_controller: str = ""
    executables: tuple[str, ...] = ()
    rosflight_io: str = INSIDE
    parameters: tuple[str, ...] = ()


POLICY = "policy:=rosflight_py_sim.parts.policy:neutral"
VIEWERS = ("view_relay", "visualizer", "web_viewer", "simulation_interfaces")
SENSORS = tuple(sorted({node for one in all_vehicles().values() for node in one.extra_nodes}))

# Together they contain every node at either end of a row.
COMPOSITIONS = (
    Composition("multirotor", executables=("autopilot", *VIEWERS, *SENSORS)),
    Composition("fixedwing", executables=("fixedwing_autopilot",)),
    Composition("fixedwing", dynamics="jsbsim"),
    Composition("multirotor", time_mode="gated"),
    Composition("multirotor", rosflight_io=OURS),
    Composition("auv"),
    Composition("auv", flight_controller="auv_controller", executables=("underwater_autopilot",)),
    Composition("fixedwing", flight_controller="ardupilot"),
    Composition("multirotor", flight_controller="px4"),
    Composition("uthere"),
    Composition("multirotor", executables=("policy_autopilot",), parameters=(POLICY, "observations:=sensors")),
    Composition("multirotor", flight_controller="policy_controller", parameters=(POLICY,)),
    Composition("auv", flight_controller="policy_controller", parameters=(POLICY, "observations:=sensors")),
)

# Length of the identifier of a participant (DDSI-RTPS 2.5, section 9.3.1.2).
PREFIX = 12

Ends = dict[tuple[str, str], set[str]]
"""Node names by topic and end ("from" or "to")."""

# Inputs of a front-end that requires rotor speeds, and of a camera with a gimbal: none of these graphs has one.
UNUSED: Ends = {(TRUTH_ROTOR_SPEEDS.name, "to"): {"bridge"}, (PWM_OUTPUT.name, "to"): {"camera"}}


@contextmanager
def composed(one: Composition, arguments: list[str]) -> Iterator[ComposedGraph]:
    member = Member(
        vehicle(one.vehicle, one.dynamics), flight_controller=one.flight_controller, executables=one.executables
    )
    graph = ComposedGraph(
        with_rosflight_io([member], one.rosflight_io),
        arguments=arguments,
        time_mode=one.time_mode,
    )
    try:
        yield graph
    finally:
        graph.close()


def ends_of(graph: ComposedGraph) -> Ends:
    """Nodes at both ends of each step topic in the ROS graph."""
    assert all(node.get_name() == node.DEFAULT_NAME for node in graph.nodes if isinstance(node, SimulationNode))
    requested = graph.nodes[0]
    own = {node.get_name() for node in graph.nodes}
    # Nodes of another test that has just released the domain may still be visible; those of this graph share a
    # participant, whose identifier is the beginning of those of its publishers and subscriptions.
    marker = requested.create_publisher(Clock, "marker", 1)
    (mark,) = requested.get_publishers_info_by_topic(requested.resolve_topic_name("marker"))
    participant = mark.endpoint_gid[:PREFIX]
    requested.destroy_publisher(marker)

    def names(found: Sequence[Any]) -> set[str]:
        return own & {end.node_name for end in found if end.endpoint_gid[:PREFIX] == participant}

    ends: Ends = {}
    for row in STEP_TOPICS:
        ends[row.name, "from"] = names(requested.get_publishers_info_by_topic(row.name))
        ends[row.name, "to"] = names(requested.get_subscriptions_info_by_topic(row.name))
    return ends


@pytest.fixture
def found(
    claim_domain: Callable[[], AbstractContextManager[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> Ends:
    """The ends of all compositions combined."""
    found: Ends = defaultdict(set)
    parameters = ("auv_zeromq.image_port", "auv_zeromq.thruster_port", "auv_zeromq.telemetry_port", "web_viewer.port")
    parameters += ("ardupilot.port", "px4.port", "uthere.udp_port_in", "uthere.udp_port_out")
    ports = zip(parameters, free_ports(len(parameters)), strict=True)
    arguments = [word for name, port in ports for word in ("-p", f"{name}:={port}")]
    # Nodes with a failure publish their active failures.
    failures = [
        "motor 1 off at 1e8",
        "wind front 0 0 0 at 1e8",
        "gyro off at 1e8",
        "rc lost at 1e8",
        "camera off at 1e8",
    ]
    for composition in COMPOSITIONS:
        # The topic `command` fails only at a flight controller that has it.
        has_command = composition.rosflight_io == INSIDE and composition.flight_controller != "policy_controller"
        more = ["command lost at 1e8"] if has_command else []
        # The link fails only where programs command the vehicle over one.
        more += ["link lost at 1e8"] if composition.vehicle == "uthere" else []
        given = [*arguments, "-p", f"failures:={[*failures, *more]}", "-p", "rotational_gusts:=true"]
        given += ["-p", "collision_radius:=0.1", "-p", "downwash:=true"]
        given += [word for one in composition.parameters for word in ("-p", one)]
        # One domain each: the nodes of a composition remain visible for a while after their end.
        with claim_domain() as domain:
            monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
            with composed(composition, given) as graph:
                for key, names in ends_of(graph).items():
                    found[key] |= names
    return found


def test_nodes_publish_and_receive_the_topics_of_their_ports(found: Ends) -> None:
    classes = [node_class(name) for name in NODE_CLASSES]
    rows: Ends = {}
    for row in STEP_TOPICS:
        publishers, subscribers = nodes_at(row, classes)
        assert publishers or subscribers
        rows[row.name, "from"], rows[row.name, "to"] = set(publishers), set(subscribers)
    # Nodes that receive a step's stamps from another topic unsubscribe from /clock.
    del rows[CLOCK.name, "to"], found[CLOCK.name, "to"]
    assert {key: names - found[key] for key, names in rows.items() if names - found[key]} == UNUSED
    assert {key: names - rows[key] for key, names in found.items() if names - rows[key]} == {}

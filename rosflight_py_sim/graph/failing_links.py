"""Check of failures of links to programs: the vehicle must have such a link, and the link must be able to fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rosflight_py_sim.bridge.commanded_vehicle import link_refusal
from rosflight_py_sim.failures.failure import FAILURES, LINK, LINKS, parse_failure
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import (
    FlightController,
    flight_controller_of,
    front_end_class,
    usable_flight_controllers,
)
from rosflight_py_sim.graph.parameter_sources import ParameterSources
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.interfaces.given_values import GivenValue, Source, given_by
from rosflight_py_sim.nodes.running import node_class


def link_obstacle(
    member: Member,
    sources: ParameterSources,
    strongest: Sequence[Source] = (),
    namespace: str = "",
    *,
    has_programs: bool = True,
) -> str:
    """Reason why the link of a vehicle cannot fail; empty if it can.

    Args:
        member: the vehicle.
        sources: sources of the parameters of its nodes.
        strongest: further sources for all nodes, which override the others.
        namespace: namespace of the simulation.
        has_programs: whether programs can use the MAVLink link of the flight controller.

    Raises:
        ParameterError: a parameter file cannot be read.
    """
    controller = flight_controller_of(member)
    given = {one.name: one.value for one in _given(member, sources, strongest, namespace)}
    boards = [node_class(one) for one in controller.executables] if has_programs else []
    if any(LINK in board.fallible(given) for board in boards):
        return ""
    if controller.front_end:
        return _obstacle_of(controller, given)
    able = [name for name, one in usable_flight_controllers().items() if one.front_end and not _obstacle_of(one, {})]
    also = ", and sil_board with the parameter mavlink.port" if has_programs else ""
    return f"no program commands it over a link (flight controllers with such a link: {', '.join(able)}{also})"


def _obstacle_of(controller: FlightController, given: Mapping[str, Any]) -> str:
    front_end = front_end_class(controller.front_end)
    return front_end.link_obstacle({**front_end.PARAMETERS.defaults(), **given})


def check_link_failures(
    members: Sequence[Member], sources: ParameterSources, strongest: Sequence[Source] = (), namespace: str = ""
) -> None:
    """Check that, for each failure of a link, at least one of the vehicles with this failure has a link that can fail.

    Raises:
        ParameterError: no vehicle has one; the text names file and line if the failure is from a parameter file.
    """
    refusals: dict[str, str] = {}
    able: set[str] = set()
    for member in members:
        found = [one for one in _given(member, sources, strongest, namespace) if one.name == FAILURES.name]
        texts = found[-1].value if found and isinstance(found[-1].value, list) else ()
        for text in filter(concerns_link, map(str, texts)):
            obstacle = link_obstacle(member, sources, strongest, namespace)
            if obstacle:
                place = f"{found[-1].place}: " if found[-1].place else ""
                refusals.setdefault(text, place + link_refusal(text, member.namespace, obstacle))
            else:
                able.add(text)
    for text, refusal in refusals.items():
        if text not in able:
            raise ParameterError(refusal)


def concerns_link(text: str) -> bool:
    """Whether a failure in words concerns a link.

    Raises:
        ParameterError: the text is invalid.
    """
    return parse_failure(text).target in LINKS


def _given(member: Member, sources: ParameterSources, strongest: Sequence[Source], namespace: str) -> list[GivenValue]:
    """Values given for the nodes that have links."""
    nodes = [node_class(one) for one in flight_controller_of(member).executables]
    names = [name for node in nodes for name in (node.DEFAULT_NAME, *node.ALIASES)]
    return given_by([*sources.of(member), *strongest], names, absolute_name(namespace, member.namespace))

"""Command `rosflight_py_sim inject`: makes parts of the vehicles of a running simulation fail."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rosflight_py_sim.failures.failure import FAILURES, Failure, all_targets, parse_failure, parts_in
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.topic_names import absolute_name

if TYPE_CHECKING:
    from rclpy.node import Node

    from rosflight_py_sim.commands.service_client import ServiceClient

# System times, s: for the discovery of the first node, without a further node until discovery ends, and for a reply.
DISCOVERY_S = 5.0
_SETTLING_S = 3.0
_REPLY_S = 5.0

_SERVICE = "/get_parameters"


_PARTS = "PARTS"


class _Place(NamedTuple):
    """A node and one of its parameters for failures."""

    node: str
    parameter: str


class _ListingParts(argparse.HelpFormatter):
    """Help with the parts that can fail, whose declarations are imported only when the help is printed."""

    def add_text(self, text: str | None) -> None:
        if text is not None and _PARTS in text:
            text = text.replace(_PARTS, ", ".join(all_targets()))
        super().add_text(text)


def add_inject_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command's parser."""
    parser = commands.add_parser(
        "inject",
        help="make parts of the vehicles of a running simulation fail",
        description="Add failures to the parameter `failures` of every node that has it. A failure is one argument: "
        "'motor 2 off', 'gyro drift 0.01 for 20', 'gnss jammed at 60'. Without `at`, it begins at once; without `for`, "
        f"it does not end. Parts: {_PARTS}.",
        formatter_class=_ListingParts,
        epilog="Arguments after --ros-args are passed to ROS.",
    )
    parser.add_argument("failures", nargs="*", metavar="FAILURE", help="failure in words, see docs/failures.md")
    parser.add_argument("--clear", action="store_true", help="end all present failures")
    parser.add_argument(
        "--namespace", default="", metavar="NS", help="namespace of the vehicle (default: all vehicles)"
    )
    parser.set_defaults(command=_inject)


def _inject(options: argparse.Namespace) -> int:
    """Set the failures of all nodes, or of none.

    Raises:
        ParameterError: a text is invalid, no node was found, or a node rejects the failure.
    """
    failures = [parse_failure(text) for text in options.failures]
    texts = [one.text for one in failures]
    if not texts and not options.clear:
        raise ParameterError("no failure given; allowed: one or more failures, or --clear")
    import rclpy

    from rosflight_py_sim.commands.service_client import service_client
    from rosflight_py_sim.nodes.running import initialise

    initialise(["rosflight_py_sim", *options.ros_arguments])
    root = absolute_name(options.namespace).rstrip("/") + "/"
    try:
        with service_client("inject") as client:
            before: dict[_Place, Sequence[str]] = {}
            for name in _nodes_found(client.node, root):
                before |= _failures_of(client, name)
            if not before:
                raise ParameterError(
                    f"no node with the parameter '{FAILURES.name}' found below {root} within {DISCOVERY_S:g} s (is the "
                    "simulation running, in this ROS_DOMAIN_ID?)"
                )
            nodes = list(dict.fromkeys(place.node for place in before))
            _check_parts(client, nodes, failures)
            kept = {place: [] if options.clear else given for place, given in before.items()}
            _set_all(client, before, {place: [*given, *texts] for place, given in kept.items()})
    finally:
        rclpy.try_shutdown()
    print(f"{', '.join(texts) or 'no failures'}: {', '.join(nodes)}", flush=True)
    return 0


def _nodes_found(node: Node, root: str) -> list[str]:
    """Full names of the nodes below a namespace, in alphabetical order; returns when discovery has settled."""
    found: set[str] = set()
    end_s = time.monotonic() + DISCOVERY_S
    while time.monotonic() < end_s:
        time.sleep(0.1)
        services = [name for name, _ in node.get_service_names_and_types() if name.endswith(_SERVICE)]
        now = {name.removesuffix(_SERVICE) for name in services if name.startswith(root)}
        now.discard(node.get_fully_qualified_name())
        if now - found:
            end_s = time.monotonic() + _SETTLING_S
            found |= now
    return sorted(found)


def _check_parts(client: ServiceClient, nodes: Sequence[str], failures: Sequence[Failure]) -> None:
    """Check that at least one of the nodes has the part of each failure.

    Raises:
        ParameterError: no node has it.
    """
    from rcl_interfaces.srv import DescribeParameters

    request = DescribeParameters.Request(names=[FAILURES.name])
    known: set[str] = set()
    for name in nodes if failures else ():
        (descriptor,) = _reply(client, DescribeParameters, f"{name}/describe_parameters", request).descriptors
        parts = parts_in(descriptor.additional_constraints)
        if parts is None:
            return  # a node of another package, which does not list its parts
        known.update(parts)
    for one in failures:
        if one.target not in known:
            allowed = ", ".join(sorted(known))
            raise ParameterError(
                f"failure '{one.text}': no running node has the part '{one.target}'; allowed: {allowed}"
            )


def _set_all(
    client: ServiceClient, before: Mapping[_Place, Sequence[str]], after: Mapping[_Place, Sequence[str]]
) -> None:
    done: list[_Place] = []
    for place, texts in after.items():
        reason = _set(client, place, texts)
        if reason:
            for other in done:
                _set(client, other, before[other])
            raise ParameterError(f"{place.node}: {reason}")
        done.append(place)


def _failures_of(client: ServiceClient, name: str) -> dict[_Place, Sequence[str]]:
    """Failures of a node, and its failures for single vehicles; empty if it has no such parameter."""
    from rcl_interfaces.srv import GetParameters, ListParameters

    listed = _reply(client, ListParameters, f"{name}/list_parameters", ListParameters.Request()).result.names
    names = [one for one in listed if one.rpartition(".")[2] == FAILURES.name]
    if not names:
        return {}
    values = _reply(client, GetParameters, f"{name}/get_parameters", GetParameters.Request(names=names)).values
    return {
        _Place(name, one): list(value.string_array_value)
        for one, value in zip(names, values, strict=True)
        if value.type
    }


def _set(client: ServiceClient, place: _Place, texts: Sequence[str]) -> str:
    """Set the failures of a node; return the reason if it rejects them, otherwise an empty text."""
    from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
    from rcl_interfaces.srv import SetParameters

    value = ParameterValue(type=ParameterType.PARAMETER_STRING_ARRAY, string_array_value=texts)
    request = SetParameters.Request(parameters=[Parameter(name=place.parameter, value=value)])
    (result,) = _reply(client, SetParameters, f"{place.node}/set_parameters", request).results
    return "" if result.successful else result.reason


def _reply(client: ServiceClient, kind: Any, service: str, request: Any) -> Any:
    missing = f"no reply from {service} within {_REPLY_S:g} s"
    return client.call(service, kind, request, missing=missing, missing_s=_REPLY_S, reply_s=_REPLY_S)

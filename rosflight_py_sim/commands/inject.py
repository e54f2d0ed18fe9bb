"""Command `rosflight_py_sim inject`: makes parts of the vehicles of a running simulation fail."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rosflight_py_sim.failures.failure import FAILURES, all_targets, parse_failure
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
    texts = [parse_failure(text).text for text in options.failures]
    if not texts and not options.clear:
        raise ParameterError("no failure given; allowed: one or more failures, or --clear")
    import rclpy

    from rosflight_py_sim.commands.service_client import service_client
    from rosflight_py_sim.nodes.running import initialise

    initialise(["rosflight_py_sim", *options.ros_arguments])
    root = absolute_name(options.namespace).rstrip("/") + "/"
    try:
        with service_client("inject") as client:
            found = {name: _failures_of(client, name) for name in _nodes_found(client.node, root)}
            before = {name: given for name, given in found.items() if given is not None}
            if not before:
                raise ParameterError(
                    f"no node with the parameter '{FAILURES.name}' found below {root} within {DISCOVERY_S:g} s (is the "
                    "simulation running, in this ROS_DOMAIN_ID?)"
                )
            kept = {name: [] if options.clear else given for name, given in before.items()}
            _set_all(client, before, {name: [*given, *texts] for name, given in kept.items()})
    finally:
        rclpy.try_shutdown()
    print(f"{', '.join(texts) or 'no failures'}: {', '.join(before)}", flush=True)
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


def _set_all(client: ServiceClient, before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]]) -> None:
    done: list[str] = []
    for name, texts in after.items():
        reason = _set(client, name, texts)
        if reason:
            for other in done:
                _set(client, other, before[other])
            raise ParameterError(f"{name}: {reason}")
        done.append(name)


def _failures_of(client: ServiceClient, name: str) -> list[str] | None:
    """Failures of a node; None if it has no parameter `failures`."""
    from rcl_interfaces.srv import GetParameters

    reply = _reply(client, GetParameters, f"{name}/get_parameters", GetParameters.Request(names=[FAILURES.name]))
    values = [value for value in reply.values if value.type]
    return list(values[0].string_array_value) if values else None


def _set(client: ServiceClient, name: str, texts: Sequence[str]) -> str:
    """Set the failures of a node; return the reason if it rejects them, otherwise an empty text."""
    from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
    from rcl_interfaces.srv import SetParameters

    value = ParameterValue(type=ParameterType.PARAMETER_STRING_ARRAY, string_array_value=texts)
    request = SetParameters.Request(parameters=[Parameter(name=FAILURES.name, value=value)])
    (result,) = _reply(client, SetParameters, f"{name}/set_parameters", request).results
    return "" if result.successful else result.reason


def _reply(client: ServiceClient, kind: Any, service: str, request: Any) -> Any:
    missing = f"no reply from {service} within {_REPLY_S:g} s"
    return client.call(service, kind, request, missing=missing, missing_s=_REPLY_S, reply_s=_REPLY_S)

"""Asynchronous calls of a simulation's services, with readable reports of their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.client import Client
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.task import Future
from rosflight_msgs.srv import SetSimState
from std_srvs.srv import Trigger

from rosflight_py_sim.failures.failure import FAILURES

_REPLY_TIMEOUT_S = 20.0

_TYPES = {
    f"{message.__module__.partition('.')[0]}/srv/{message.__name__}": message
    for message in (Trigger, SetSimState, SetParameters, GetParameters)
}

Report = Callable[[str, str, bool], None]
"""Function of the result of a call: name of the action, text of the reply, and whether it succeeded."""


class ServiceCalls:
    """Asynchronous service calls; a sequence of calls continues when the previous call has succeeded.

    Results are reported under the `label` of the action, or without one under the name of the service.

    All methods and callbacks run in the thread of the node's executor.
    """

    def __init__(self, node: Node, report: Report, aliases: Mapping[str, str] | None = None) -> None:
        """Start without calls; `aliases` maps node names to the names used for their services here."""
        self._node = node
        self._report = report
        self._aliases = aliases or {}
        self._clients: dict[str, Client] = {}
        self._pending: list[tuple[float, str, str, Client, Future[Any]]] = []
        self._reading: dict[tuple[str, str], tuple[float, Future[Any]]] = {}

    def discover(self, wanted: Callable[[str], bool]) -> set[str]:
        """Names of the available services, relative to the node's namespace; creates clients for those `wanted`."""
        root = self._node.get_namespace().rstrip("/") + "/"
        offered = {
            name.removeprefix(root): types[0]
            for name, types in self._node.get_service_names_and_types()
            if name.startswith(root)
        }
        there = {self._aliased(name): name for name in offered}
        for name, real in there.items():
            if name not in self._clients and offered[real] in _TYPES and wanted(name):
                self._clients[name] = self._node.create_client(_TYPES[offered[real]], real)
        # A client alone keeps the name of a service in the graph, even if no node offers the service any more.
        return {name for name in there if name not in self._clients or self._clients[name].service_is_ready()}

    def _aliased(self, service: str) -> str:
        # The node of a vehicle follows the vehicle's namespace.
        return "/".join(self._aliases.get(part, part) for part in service.split("/"))

    def trigger(self, services: Sequence[str], label: str = "") -> None:
        """Call services, one after the other."""
        self._run(label, ((name, Trigger.Request()) for name in services))

    def set_parameter(self, node: str, name: str, value: object, then: Sequence[str] = (), label: str = "") -> None:
        """Set a parameter of a node, and then call services."""
        self._set(label, node, [Parameter(name, value=value)], then=then)

    def set_parameters(self, node: str, values: Mapping[str, object], label: str = "", done: str = "") -> None:
        """Set parameters of a node; `done` is the text that reports success."""
        self._set(label, node, [Parameter(name, value=value) for name, value in values.items()], done)

    def set_failures(self, node: str, texts: Sequence[str], label: str, done: str) -> None:
        """Set the failures of a node, in words; an empty list ends them."""
        # The type of an empty list is not known from its values.
        self._set(label, node, [Parameter(FAILURES.name, Parameter.Type.STRING_ARRAY, list(texts))], done)

    def add_failure(self, node: str, text: str, label: str) -> None:
        """Append a failure in words to those of a node; refuse while an earlier one is being appended."""

        def append(given: object) -> None:
            texts = [str(one) for one in given] if isinstance(given, Sequence) else []
            self.set_failures(node, [*texts, text], label, text)

        if not self.read_parameter(node, FAILURES.name, append):
            self._report(label, f"the failures of {node} cannot be read now; try again", False)

    def read_parameter(self, node: str, name: str, take: Callable[[object], None]) -> bool:
        """Read a parameter of a node and pass its value to `take`, or None if the node has no such parameter.

        Does nothing if there is no such node or an earlier read of the parameter is in progress; returns whether it
        reads. A read without a reply is not reported.
        """
        service = f"{node}/get_parameters"
        client, now_s = self._clients.get(service), time.monotonic()
        if client is None or not client.service_is_ready():
            return False
        read = service, name
        if read in self._reading:
            until_s, unanswered = self._reading[read]
            if now_s < until_s:
                return False
            client.remove_pending_request(unanswered)

        def answered(done: Future[Any]) -> None:
            del self._reading[read]
            take(next(iter(map(parameter_value_to_python, done.result().values)), None))

        future = client.call_async(GetParameters.Request(names=[name]))
        self._reading[read] = now_s + _REPLY_TIMEOUT_S, future
        future.add_done_callback(answered)
        return True

    def set_state(self, service: str, request: SetSimState.Request, label: str = "") -> None:
        """Call dynamics/set_sim_state of a vehicle."""
        self._run(label, iter([(service, request)]))

    def give_up_old(self) -> None:
        """Report calls without a reply as failed after the time limit."""
        now_s = time.monotonic()
        for entry in [entry for entry in self._pending if entry[0] < now_s]:
            self._pending.remove(entry)
            _, label, name, client, future = entry
            client.remove_pending_request(future)
            self._report(label or name, f"no reply from {name} within {_REPLY_TIMEOUT_S:g} s", False)

    def _set(
        self, label: str, node: str, values: Iterable[Parameter], done: str = "", then: Sequence[str] = ()
    ) -> None:
        changes = [value.to_parameter_msg() for value in values]
        first = (f"{node}/set_parameters", SetParameters.Request(parameters=changes))
        self._run(label, iter([first, *((service, Trigger.Request()) for service in then)]), done)

    def _run(self, label: str, script: Iterator[tuple[str, Any]], done_text: str = "") -> None:
        step = next(script, None)
        if step is None:
            return
        name, request = step
        client = self._clients.get(name)
        if client is None or not client.service_is_ready():
            self._report(label or name, f"the service {name} is not available", False)
            return
        future = client.call_async(request)
        entry = (time.monotonic() + _REPLY_TIMEOUT_S, label, name, client, future)
        self._pending.append(entry)

        def answered(done: Future[Any]) -> None:
            if entry in self._pending:
                self._pending.remove(entry)
                good, text = _verdict(done.result())
                text = text or (done_text if good else "")
                if text or not good:
                    self._report(label or name, text, good)
                if good:
                    self._run(label, script)

        future.add_done_callback(answered)


def _verdict(response: Any) -> tuple[bool, str]:
    if isinstance(response, SetParameters.Response):
        refused = [result.reason for result in response.results if not result.successful]
        return not refused, "; ".join(refused)
    return response.success, response.message

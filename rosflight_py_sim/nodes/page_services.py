"""Services of a simulation for the page: discovered in the graph and called by scripts, with readable reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.client import Client
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.task import Future
from rosflight_msgs.srv import SetSimState
from std_srvs.srv import Trigger

from rosflight_py_sim.failures.failure import FAILURES
from rosflight_py_sim.nodes.refusals import Code, RefusedError
from rosflight_py_sim.nodes.scripts import Asked, Script, Scripts
from rosflight_py_sim.step.ports import Call

# Time limit for the reply of a service, s of system time: time_manager/step replies when all steps have been taken.
_REPLY_LIMIT_S = 20.0

_TYPES = {
    f"{message.__module__.partition('.')[0]}/srv/{message.__name__}": message
    for message in (Trigger, SetSimState, SetParameters, GetParameters)
}

Report = Callable[[str, str, bool], None]
"""Function that receives the result of a call: name of the action, text of the reply, and whether it succeeded."""


class PageServices:
    """Calls of services. Each action of the page is a script, which ends at the first call that fails.

    All methods, scripts and callbacks run in the thread of the node's executor.
    """

    def __init__(self, node: Node, report: Report, aliases: Mapping[str, str] | None = None) -> None:
        """Start without calls; `aliases` maps node names to the names used for their services here."""
        self._node = node
        self._report = report
        self._aliases = aliases or {}
        self._clients: dict[str, Client] = {}
        self._scripts = Scripts(node)
        self._reading: set[tuple[str, str]] = set()

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
        # The name of a vehicle's node comes after the vehicle's namespace.
        return "/".join(self._aliases.get(part, part) for part in service.split("/"))

    def run(self, label: str, *scripts: Script) -> None:
        """Run scripts one after the other, and report their results under the label."""
        self._scripts.run(self._reported(label, scripts), lambda: None)

    def _reported(self, label: str, scripts: Sequence[Script]) -> Script:
        try:
            for script in scripts:
                text = yield from script
                if text:
                    self._report(label, text, True)
        except RefusedError as error:
            self._report(label, error.text, False)

    def call(self, service: str, request: Any = None, done: str = "") -> Script:
        """Call a service (without a request: a Trigger); return the text of the reply, or `done` if it has none.

        Raises:
            RefusedError: the service is not available, refuses the request or does not reply.
        """
        response = yield from self._ask(service, Trigger.Request() if request is None else request)
        good, text = _verdict(response)
        if not good:
            raise RefusedError(Code.OPERATION_FAILED, text)
        return text or done

    def set_parameters(self, node: str, values: Mapping[str, object], done: str = "") -> Script:
        """Set parameters of a node; otherwise as `call`."""
        return self._set(node, [Parameter(name, value=value) for name, value in values.items()], done)

    def set_failures(self, node: str, texts: Sequence[str], done: str) -> Script:
        """Set the failures of a node, in words; an empty list ends them. Otherwise as `call`."""
        # The type of an empty list is not known from its values.
        return self._set(node, [Parameter(FAILURES.name, Parameter.Type.STRING_ARRAY, list(texts))], done)

    def add_failure(self, node: str, text: str) -> Script:
        """Append a failure in words to those of a node; otherwise as `call`."""
        try:
            given = yield from self._value(node, FAILURES.name)
        except RefusedError:
            text = f"the failures of {node} cannot be read now; try again"
            raise RefusedError(Code.OPERATION_FAILED, text) from None
        texts = [str(one) for one in given] if isinstance(given, Sequence) else []
        return (yield from self.set_failures(node, [*texts, text], text))

    def read_parameter(self, node: str, name: str, take: Callable[[object], None]) -> None:
        """Read a parameter of a node and pass its value to `take`, or None if the node has no such parameter.

        Without a reply, nothing is reported.
        """

        def read() -> Script:
            try:
                take((yield from self._value(node, name)))
            except RefusedError:
                return

        self._scripts.run(read(), lambda: None)

    def _value(self, node: str, name: str) -> Script:
        """Read a parameter that is not being read; None if the node has no such parameter."""
        if (node, name) in self._reading:
            raise RefusedError(Code.INCORRECT_STATE, f"{name} of {node} is being read")
        self._reading.add((node, name))
        try:
            response = yield from self._ask(f"{node}/get_parameters", GetParameters.Request(names=[name]))
        finally:
            self._reading.remove((node, name))
        return next(iter(map(parameter_value_to_python, response.values)), None)

    def _set(self, node: str, values: Sequence[Parameter], done: str) -> Script:
        changes = [value.to_parameter_msg() for value in values]
        return self.call(f"{node}/set_parameters", SetParameters.Request(parameters=changes), done)

    def _ask(self, service: str, request: Any) -> Script:
        client = self._clients.get(service)
        if client is None or not client.service_is_ready():
            raise RefusedError(Code.NOT_FOUND, f"the service {service} is not available")
        future: Future[Any] = client.call_async(request)

        def send(_: Any, take: Callable[[Any], None]) -> None:
            future.add_done_callback(lambda done: take(done.result()))

        try:
            return (yield Asked(service, Call(lambda: True, lambda: False, send), request, _REPLY_LIMIT_S))
        finally:
            client.remove_pending_request(future)


def _verdict(response: Any) -> tuple[bool, str]:
    if isinstance(response, SetParameters.Response):
        refused = [result.reason for result in response.results if not result.successful]
        return not refused, "; ".join(refused)
    return response.success, response.message

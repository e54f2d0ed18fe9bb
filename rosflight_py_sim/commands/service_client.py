"""Service calls of a command to a running simulation, with time limits."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.nodes.running import refusals_of_ros

# Interval at which a request is repeated, and at which a condition is checked, s of system time.
_REPEAT_S, _POLL_S = 2.0, 0.1


class InterruptedCallError(Exception):
    """A signal has arrived during a wait."""


class ServiceClient:
    """Client that calls services, one at a time.

    Attributes:
        node: node of the client.
    """

    def __init__(self, node: Node, spin: Callable[[float], None], signals: Sequence[int], note_after_s: float) -> None:
        """Store the arguments, which are those of `service_client`."""
        self.node = node
        self._spin, self._signals, self._note_after_s = spin, signals, note_after_s
        self._clients: dict[str, Any] = {}

    def call(self, service: str, kind: Any, request: Any, *, missing: str, missing_s: float, reply_s: float) -> Any:
        """Response of a service that may be called twice with the same effect.

        The call is repeated: a server that has not discovered the client yet drops its first response.

        Args:
            service: name of the service.
            kind: type of the service.
            request: request of that type.
            missing: text of the error if the service is not available within `missing_s` seconds.
            missing_s: time limit for the service, s of system time.
            reply_s: time limit for the reply, s of system time.

        Raises:
            ParameterError: the service is missing, or does not reply.
            InterruptedCallError: a signal has arrived.
        """
        client = self._clients.get(service)
        if client is None:
            client = self._clients[service] = self.node.create_client(kind, service)
            # Discovery needs no executor.
            self.wait(client.service_is_ready, missing_s, missing, time.sleep)
        futures: list[Future[Any]] = []
        repeat_s = 0.0

        def has_reply() -> bool:
            nonlocal repeat_s
            if time.monotonic() >= repeat_s:
                repeat_s = time.monotonic() + _REPEAT_S
                futures.append(client.call_async(request))
            return any(future.done() for future in futures)

        self.wait(has_reply, reply_s, f"no reply from {self.node.resolve_service_name(service)} within {reply_s:g} s")
        for future in futures:
            if not future.done():
                client.remove_pending_request(future)
        return next(future.result() for future in futures if future.done())

    def wait(
        self,
        condition: Callable[[], bool],
        limit_s: float,
        failure: str | Callable[[], str],
        pause: Callable[[float], None] | None = None,
    ) -> None:
        """Wait for a condition; between its checks, spin, or call `pause` with a time, s.

        Raises:
            ParameterError: the condition does not hold within the limit; the text is `failure`.
            InterruptedCallError: a signal has arrived.
        """
        start_s, has_noted = time.monotonic(), False
        while not condition():
            if self._signals:
                raise InterruptedCallError
            elapsed_s = time.monotonic() - start_s
            if elapsed_s > limit_s:
                raise ParameterError(failure if isinstance(failure, str) else failure())
            if elapsed_s > self._note_after_s and not has_noted and isinstance(failure, str):
                has_noted = True
                print(f"waiting up to {limit_s:g} s: {failure}", file=sys.stderr, flush=True)
            (pause or self._spin)(_POLL_S)


@contextmanager
def service_client(
    name: str, namespace: str = "", *, signals: Sequence[int] = (), note_after_s: float = math.inf
) -> Iterator[ServiceClient]:
    """Client with a node of its own; rclpy must be initialised.

    Args:
        name: name of the node.
        namespace: namespace of the node.
        signals: signals received so far (`deferred_signals`); the first ends a wait.
        note_after_s: system time after which a note is printed with what the call waits for, s.

    Raises:
        ParameterError: ROS does not allow the name or namespace.
    """
    executor = SingleThreadedExecutor()
    try:
        with refusals_of_ros():
            node = Node(name, namespace=namespace)
        executor.add_node(node)
        try:
            yield ServiceClient(node, executor.spin_once, signals, note_after_s)
        finally:
            node.destroy_node()
    finally:
        executor.shutdown()

"""Asynchronous reading of parameters from the flight controller."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from rclpy.task import Future
from rosflight_msgs.srv import ParamGet
from std_srvs.srv import Trigger

from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.step.topics import topic_of

# A call without a reply for this long is lost (the flight controller was restarted), and reading restarts.
_REPLY_TIMEOUT_S = 1.0


class FirmwareParameterReader:
    """Reads a list of firmware parameters through all_params_received and param_get, one call at a time.

    `on_read` is called with the values by name once all replies have arrived. Parameters that the firmware lacks are
    left out, with a warning. Calling `read` while reading is under way restarts it.
    """

    def __init__(
        self, node: SimulationNode, names: Sequence[str], on_read: Callable[[dict[str, float]], None], at: str = ""
    ) -> None:
        """Start reading as soon as the services of the flight controller, in the namespace `at`, are available."""
        self._node = node
        self._names = names
        self._on_read = on_read
        self._values: dict[str, float] = {}
        self._run = 0
        self._reading = self._requested = False
        self._progress = False
        self._check = node.create_client(Trigger, topic_of(at, "all_params_received"))
        self._get = node.create_client(ParamGet, topic_of(at, "param_get"))
        self._services = (self._check.service_name, self._get.service_name)
        self._timer = node.create_system_timer(_REPLY_TIMEOUT_S, self._on_timer, autostart=False)
        self.read()

    def read(self) -> None:
        """Read all parameters (again)."""
        self._run += 1
        self._values = {}
        self._reading = True
        self._progress = True
        self._requested = False
        self._timer.reset()
        self._read_if_possible()

    def close(self) -> None:
        """Stop reading, before the node is destroyed: replies that are still under way have no effect."""
        self._run += 1
        self._reading = False

    def awaited_services(self) -> Collection[str]:
        """Full names of the services, until the parameters have been read; reads if they have become available."""
        self._read_if_possible()
        return self._services if self._reading else ()

    def _read_if_possible(self) -> None:
        if self._reading and not self._requested and self._check.service_is_ready() and self._get.service_is_ready():
            self._requested = True
            self._request(self._check, Trigger.Request(), self._on_checked)

    def _on_timer(self) -> None:
        if not self._reading:
            self._timer.cancel()
        elif self._progress:
            self._progress = False
        else:
            self.read()

    def _request(self, client: Any, request: Any, on_answer: Callable[[Any], None]) -> None:
        run = self._run

        def done(future: Future[Any]) -> None:
            if run == self._run:
                self._progress = True
                on_answer(future.result())

        client.call_async(request).add_done_callback(done)

    def _on_checked(self, answer: Trigger.Response) -> None:
        # If the firmware does not have all parameters yet, the timer starts again.
        if answer.success:
            self._request_next(0)

    def _request_next(self, index: int) -> None:
        if index == len(self._names):
            self._reading = False
            self._on_read(self._values)
            return
        name = self._names[index]

        def on_value(answer: ParamGet.Response) -> None:
            if answer.exists:
                self._values[name] = answer.value
            else:
                self._node.get_logger().warning(f"the flight controller has no parameter '{name}'")
            self._request_next(index + 1)

        self._request(self._get, ParamGet.Request(name=name), on_value)

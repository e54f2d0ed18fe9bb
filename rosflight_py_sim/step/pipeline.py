"""Parts that run in one thread without ROS, connected by their ports.

The pipeline is a lockstep graph: its trajectory is that of the parts' nodes, bit for bit. Within a step, the time goes
to the parts that it triggers. A message goes at once to each input that it does not trigger; the parts that it triggers
answer in the order of sending, once the part that sent it has answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from rosflight_msgs.srv import ParamGet
from std_msgs.msg import Bool

from rosflight_py_sim.parameters import number
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import FirmwareReading, Input, Kind, Output, Service
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import CLOCK, PARAMS_CHANGED, SIM_STEP_SIZE, StepSize, StepTopic

Take = Callable[[Any], None]
"""Function that takes a topic's messages."""


class UnconnectedError(ValueError):
    """No part sends what triggers a part, or offers a service that is called; the text names both."""


class Pipeline:
    """Steps of parts, from time 0.

    Attributes:
        parts: the parts.
        time_ns: time of the next step, ns.
    """

    def __init__(
        self, parts: Sequence[Part], step_ns: int, receivers: Iterable[tuple[StepTopic[Any], Take]] = ()
    ) -> None:
        """Connect the parts, and let them begin.

        Args:
            parts: the parts, in the order in which time triggers them.
            step_ns: length of a step, ns.
            receivers: topics and functions that take their messages besides the parts.

        Raises:
            UnconnectedError: no part sends what triggers one of the parts.
        """
        self.parts = tuple(parts)
        self.time_ns, self._step_ns = 0, step_ns
        self._queue: deque[tuple[Callable[[int, Any], None], Any]] = deque()
        self._on_time: list[Callable[[int], None]] = []
        self._takes: dict[str, list[Take]] = {}
        self._services = {one.topic: (part, one) for part in parts for one in part.ports(Service)}
        for part in parts:
            for port in part.ports(Input):
                self._receive(part, port)
        self._takes.setdefault(PARAMS_CHANGED.name, []).append(self._on_params_changed)
        for topic, take in receivers:
            self._takes.setdefault(topic.name, []).append(take)
        self._require_triggers()
        for part in parts:
            for out in part.ports(Output):
                setattr(part, out.name, self._sender(out))
        self.give(SIM_STEP_SIZE, StepSize(0, step_ns, is_requested=False))
        for part in parts:
            part.begin()
        self._read_firmware()

    def step(self) -> None:
        """Take one step, with all answers to its time."""
        time_ns, queue = self.time_ns, self._queue
        for act in self._on_time:
            act(time_ns)
        while queue:
            run, message = queue.popleft()
            run(message.time_ns, message)
        self.time_ns = time_ns + self._step_ns

    def give(self, topic: StepTopic[Any], message: Any) -> None:
        """Give a message to all that receive the topic."""
        for take in self._takes.get(topic.name, ()):
            take(message)

    def call(self, service: str, request: Any = None) -> Any:
        """Response of a service, by name; without a request, an empty one is made.

        Raises:
            UnconnectedError: no part offers the service.
        """
        if service not in self._services:
            raise UnconnectedError(
                f"no part offers the service {service}; offered: {', '.join(sorted(self._services))}"
            )
        part, port = self._services[service]
        answer: Callable[[Any, Any], Any] = getattr(part, port.name)
        return answer(request or port.service_type.Request(), port.service_type.Response())

    def _receive(self, part: Part, port: Input[Any]) -> None:
        kind, take = port.kind, port.taker(part)
        if kind is Kind.TICKS:
            self._on_time.append(partial(_tick, Schedule(number(part.values, port.rate)), part.run))
        elif kind is Kind.TRIGGER and port.topic is CLOCK:
            self._on_time.append(part.run)
        elif kind is not Kind.REPEATED:
            if kind is Kind.TRIGGER:
                take = partial(self._trigger, part.run)
            elif kind in (Kind.LATER, Kind.EXPECTED):
                take = partial(_hold, part, take)
            self._takes.setdefault(port.topic.name, []).append(take)

    def _trigger(self, run: Callable[[int, Any], None], message: Any) -> None:
        self._queue.append((run, message))

    def _require_triggers(self) -> None:
        sent = {out.topic.name for part in self.parts for out in part.ports(Output)}
        for part in self.parts:
            for port in part.ports(Input):
                if port.kind is Kind.TRIGGER and port.topic is not CLOCK and port.topic.name not in sent:
                    raise UnconnectedError(
                        f"no part sends {port.topic.name}, which triggers {part.DEFAULT_NAME}; "
                        f"parts: {', '.join(one.DEFAULT_NAME for one in self.parts)}"
                    )

    def _sender(self, out: Output[Any]) -> Callable[[Any], None]:
        takes, rounded = self._takes.get(out.topic.name, []), out.topic.as_received
        if not takes:
            return _drop
        send = takes[0] if len(takes) == 1 and rounded is None else partial(_send, takes, rounded)
        return partial(_send_made, send) if out.lazy else send

    # Parameters of the flight controller.

    def _on_params_changed(self, message: Bool) -> None:
        if message.data:
            self._read_firmware()

    def _read_firmware(self) -> None:
        if "param_get" not in self._services:
            return
        for part in self.parts:
            for reading in part.ports(FirmwareReading):
                getattr(part, reading.name)(self._firmware_values(part, reading.names))

    def _firmware_values(self, part: Part, names: Iterable[str]) -> Mapping[str, float]:
        values = {}
        for name in names:
            answer = self.call("param_get", ParamGet.Request(name=name))
            if answer.exists:
                values[name] = answer.value
            else:
                part.log.warning(f"the flight controller has no parameter '{name}'")
        return values


def _tick(schedule: Schedule, run: Callable[[int], None], time_ns: int) -> None:
    if schedule.due(time_ns):
        run(time_ns)


def _hold(part: Part, take: Take, message: Any) -> None:
    part.held.take(message.time_ns, part.answered_ns, partial(take, message))


def _send(takes: Sequence[Take], rounded: Callable[[Any], Any] | None, message: Any) -> None:
    received = message if rounded is None else rounded(message)
    for take in takes:
        take(received)


def _send_made(send: Take, make: Callable[[], Any]) -> None:
    send(make())


def _drop(message: object) -> None:
    """Send nothing: no part receives the topic."""

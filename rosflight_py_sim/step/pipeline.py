"""Pipeline: parts that run in one thread without ROS, connected by their ports.

The trajectory equals that of the node graph in lockstep, bit for bit. In each step, the parts that are triggered by the
time answer first. Inputs receive a message within the sender's call, except triggers and queued inputs: these
receive it after the sender's call has returned, in the order of sending.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from rosflight_msgs.srv import ParamGet
from std_msgs.msg import Bool

from rosflight_py_sim.ground.parameters import number
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import Call, Calls, FirmwareReading, Input, Kind, Output, Polled, Service, drop
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import CLOCK, PARAMS_CHANGED, SIM_STEP_SIZE, StepSize, StepTopic

Take = Callable[[Any], None]
"""Function that takes a topic's messages."""


class UnconnectedError(ValueError):
    """The parts cannot be connected; the text names them.

    The sender of a trigger or a service is missing, two parts send an exclusive topic, or a part receives a topic of
    another vehicle.
    """


class Pipeline:
    """Runs connected parts step by step, from time 0.

    Attributes:
        parts: the parts, in the order in which time triggers them.
        time_ns: time of the next step, ns.
    """

    def __init__(
        self, parts: Sequence[Part], step_ns: int, receivers: Iterable[tuple[StepTopic[Any], Take]] = ()
    ) -> None:
        """Connect the parts, and begin each of them.

        Args:
            parts: the parts, in the order in which time triggers them.
            step_ns: length of a step, ns.
            receivers: further receivers, each as a topic and the function that takes its messages.

        Raises:
            UnconnectedError: the parts cannot be connected.
        """
        self.parts = tuple(parts)
        self.time_ns, self._step_ns = 0, step_ns
        self._queue: deque[tuple[Callable[[int, Any], None], int, Any]] = deque()
        self._on_time: list[Callable[[int], None]] = []
        self._triggers: set[Take] = set()
        self._takes: dict[str, list[Take]] = {}
        self._inputs: dict[tuple[Part, str, str], tuple[str, Take]] = {}
        self._shortened: list[list[Take]] = []
        self._services = {one.topic: (part, one) for part in parts for one in part.ports(Service)}
        for part in parts:
            for port in part.ports(Input):
                self._receive(part, port)
            for read in part.ports(Polled):
                newest = _Newest()
                self._takes.setdefault(read.topic.name, []).append(newest.take)
                read.bind(part, newest.pop)
        self._takes.setdefault(PARAMS_CHANGED.name, []).append(self._on_params_changed)
        for topic, take in receivers:
            self._takes.setdefault(topic.name, []).append(take)
        self._check_senders()
        for part in parts:
            self._connect(part)
        self.give(SIM_STEP_SIZE, StepSize(0, step_ns, is_requested=False))
        for part in parts:
            part.begin()
        self._read_firmware()
        self._run_triggered()

    def step(self) -> None:
        """Take one step, with all answers to its time; an exception in a part ends the step."""
        time_ns = self.time_ns
        for act in self._on_time:
            act(time_ns)
        self._run_triggered()
        if self._shortened:
            for takes in self._shortened:
                takes.remove(drop)
            self._shortened.clear()
        self.time_ns = time_ns + self._step_ns

    def _run_triggered(self) -> None:
        queue = self._queue
        while queue:
            run, time_ns, message = queue.popleft()
            run(time_ns, message)

    def give(self, topic: StepTopic[Any], message: Any) -> None:
        """Send a message to all receivers of a topic."""
        for take in self._takes.get(topic.name, ()):
            take(message)

    def call(self, service: str, request: Any = None) -> Any:
        """Call a service by name, and return the response; None sends an empty request.

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
        if port.at:
            raise UnconnectedError(f"{part.DEFAULT_NAME} receives {port.topic.name} of another vehicle")
        if kind is Kind.TICKS:
            self._on_time.append(_ticking(Schedule(number(part.values, port.rate)), part.run))
        elif kind is Kind.TRIGGER and port.topic is CLOCK:
            self._on_time.append(part.run)
        elif kind is not Kind.REPEATED:
            if kind is Kind.TRIGGER:
                take = self._trigger(part)
                self._triggers.add(take)
            elif kind is Kind.QUEUED:
                take = self._queued(take)
            elif kind in (Kind.LATER, Kind.EXPECTED):
                take = _holding(part, take)
            self._takes.setdefault(port.topic.name, []).append(take)
            self._inputs[part, port.family, port.name] = port.topic.name, take

    def _connect(self, part: Part) -> None:
        for out in part.ports(Output):
            out.bind(part, self._sender(out))
        for called in part.ports(Calls):
            called.bind(part, {name: self._call_of(name) for name in called.topics})
        part.end_port = partial(self._end_port, part)  # type: ignore[method-assign]

    def _call_of(self, service: str) -> Call:
        if service not in self._services:
            return _UNAVAILABLE
        part, port = self._services[service]
        return Call.answered_by(port.service_type, getattr(part, port.name))

    def _end_port(self, part: Part, name: str) -> None:
        topic, take = self._inputs.pop((part, "", name), ("", None))
        if take is not None:
            # The list may be delivering a message, so it gets shorter only at the end of the step.
            takes = self._takes[topic]
            takes[takes.index(take)] = drop
            self._shortened.append(takes)

    def _trigger(self, part: Part) -> Take:
        append, run = self._queue.append, part.run

        def trigger(message: Any) -> None:
            time_ns = message.time_ns
            if time_ns >= part.idle_until_ns:
                append((run, time_ns, message))

        return trigger

    def _queued(self, take: Take) -> Take:
        append = self._queue.append

        def run(_: int, message: Any) -> None:
            take(message)

        return lambda message: append((run, 0, message))

    def _check_senders(self) -> None:
        senders: dict[str, Part] = {}
        for part in self.parts:
            for topic in (out.topic for out in part.ports(Output)):
                other = senders.setdefault(topic.name, part)
                if topic.is_exclusive and other is not part:
                    names = f"{other.DEFAULT_NAME} and {part.DEFAULT_NAME}"
                    raise UnconnectedError(f"{names} both send {topic.name}, which one part may send")
        for part in self.parts:
            for port in part.ports(Input):
                if port.kind is Kind.TRIGGER and port.topic is not CLOCK and port.topic.name not in senders:
                    raise UnconnectedError(
                        f"no part sends {port.topic.name}, which triggers {part.DEFAULT_NAME}; "
                        f"parts: {', '.join(one.DEFAULT_NAME for one in self.parts)}"
                    )

    def _sender(self, out: Output[Any]) -> Callable[[Any], None]:
        takes, rounded = self._takes.get(out.topic.name, []), out.topic.as_received
        if not takes:
            return drop
        # A trigger never ends, so a sender to one trigger alone needs no list of receivers.
        is_one_trigger = len(takes) == 1 and takes[0] in self._triggers and rounded is None
        send = takes[0] if is_one_trigger else _sending(takes, rounded)
        return _making(send) if out.lazy else send

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


class _Newest:
    """The newest message of a topic until it is read; `take` stores a message."""

    def __init__(self) -> None:
        self._message: deque[Any] = deque(maxlen=1)
        self.take = self._message.append

    def pop(self) -> Any:
        return self._message.pop() if self._message else None


_UNAVAILABLE = Call(lambda: False, lambda: True, lambda request, take: None)


def _ticking(schedule: Schedule, run: Callable[[int], None]) -> Callable[[int], None]:
    def tick(time_ns: int) -> None:
        if time_ns >= schedule.next_ns and schedule.due(time_ns):
            run(time_ns)

    return tick


def _holding(part: Part, take: Take) -> Take:
    def hold(message: Any) -> None:
        part.held.take(message.time_ns, part.answered_ns, take, message)

    return hold


def _sending(takes: Sequence[Take], rounded: Callable[[Any], Any] | None) -> Take:
    def send(message: Any) -> None:
        if rounded is not None:
            message = rounded(message)
        for take in takes:
            take(message)

    return send


def _making(send: Take) -> Callable[[Callable[[], Any]], None]:
    return lambda make: send(make())

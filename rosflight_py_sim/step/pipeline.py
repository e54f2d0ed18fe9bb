"""Pipeline: parts that run in one thread without ROS, connected by their ports.

The trajectory equals that of the node graph in lockstep, bit for bit. In each step, the parts that are triggered by the
time answer first. Inputs receive a message within the sender's call, except triggers and queued inputs: these
receive it after the sender's call has returned, in the order of sending.

Where the answers of all parts are kernels, the steps are compiled (`compiled_steps.py`), and messages are sent only
when a part needs them. The trajectory is the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from rosflight_msgs.srv import ParamGet
from std_msgs.msg import Bool

from rosflight_py_sim.ground.parameters import number
from rosflight_py_sim.kernels.chain import StepTime
from rosflight_py_sim.step.compiled_steps import Act, Answering, CompiledSteps, Newest, Receiver, Take, compiled_steps
from rosflight_py_sim.step.numbers import has_numbers
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import Call, Calls, FirmwareReading, Input, Kind, Output, Polled, Port, Service, drop
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import CLOCK, PARAMS_CHANGED, SIM_STEP_SIZE, StepSize, StepTopic

P = TypeVar("P", bound=Port)

# Number of steps after which a pipeline that cannot compile its steps tries again; twice as many after each time.
_FEWEST_STEPS_OF_FAILURE, _MOST_STEPS_OF_FAILURE = 100, 6400


class UnconnectedError(ValueError):
    """The parts cannot be connected; the text names them.

    The sender of a trigger or a service is missing, two parts send an exclusive topic, or a part receives or sends a
    topic of another vehicle.
    """


class Pipeline:
    """Runs connected parts step by step, from time 0.

    Attributes:
        parts: the parts, in the order in which time triggers them.
        time_ns: time of the next step, ns.
        compiles: whether steps are compiled as soon as possible.
    """

    def __init__(
        self, parts: Sequence[Part], step_ns: int, receivers: Iterable[Receiver | tuple[StepTopic[Any], Take]] = ()
    ) -> None:
        """Connect the parts, and begin each of them.

        Args:
            parts: the parts, in the order in which time triggers them.
            step_ns: length of a step, ns.
            receivers: further receivers, each as a `Receiver`, or as a topic and the function that takes all of its
                messages.

        Raises:
            UnconnectedError: the parts cannot be connected.
        """
        self.parts = tuple(parts)
        self.time_ns, self._step_ns = 0, step_ns
        self.compiles = True
        self._queue: deque[tuple[Callable[[int, Any], None], int, Any]] = deque()
        self._acts: list[Act] = []
        self._triggers: set[Take] = set()
        self._receivers: list[Receiver] = []
        self._compiled: CompiledSteps | None = None
        # Receivers of the topics of parts that answer by Python in the chain.
        self._bypassed: dict[str, list[Take]] = {}
        self._is_advancing = False
        # Time from which on it is worth trying to compile the steps, ns.
        self._compile_ns, self._steps_of_failure = 2 * step_ns, _FEWEST_STEPS_OF_FAILURE
        self._takes: dict[str, list[Take]] = {}
        self._inputs: dict[tuple[Part, str, str], tuple[str, Take]] = {}
        self._shortened: list[list[Take]] = []
        self._ports = {part: tuple(part.ports(Port)) for part in parts}
        self._services = {one.topic: (part, one) for part in parts for one in self._ports_of(part, Service)}
        for part in parts:
            for port in self._ports_of(part, Input):
                self._receive(part, port)
            for read in self._ports_of(part, Polled):
                newest = Newest()
                self._add_receiver(Receiver(read.topic, newest.take, part=part, newest=newest))
                read.bind(part, newest.pop)
        for one in ((PARAMS_CHANGED, self._on_params_changed), *receivers):
            self._add_receiver(Receiver(*one))
        self._check_senders()
        for part in parts:
            self._connect(part)
        self.give(SIM_STEP_SIZE, StepSize(0, step_ns, is_requested=False))
        for part in parts:
            part.begin()
        self._read_firmware()
        self.go_on()

    def step(self) -> None:
        """Take one step, with all answers to its time; an exception in a part ends the step."""
        self.advance(self.time_ns + self._step_ns)

    def advance(self, until_ns: int) -> None:
        """Take steps until `until_ns`, or until the end of a step in which a part has sent a message that was needed.

        Where a part has suspended a compiled step, the call ends within that step, and the next call continues it.
        A step that is not compiled always ends the call. An exception in a part ends the step.
        """
        compiled = self._compiled
        if compiled is not None and compiled.is_suspended:
            is_valid = self.compiles and not self._is_out_of_date
            self._run(partial(compiled.resume, until_ns if is_valid else 0))
            return
        if compiled is not None and (self._is_out_of_date or not self.compiles):
            self._leave()
        if self._compiled is None and self.compiles and self.time_ns >= self._compile_ns:
            self._compile()
        if self._compiled is None:
            self._step()
        else:
            self._run(partial(self._compiled.advance, until_ns))

    def arrive(self, index: int, status: int, suspended_ns: int) -> None:
        """Go on where the chain, which has been run from outside, has stopped; arguments as of `CompiledSteps.arrive`.

        The chain must have been suspended. An exception in a part ends the step.
        """
        assert self._compiled is not None
        self._run(partial(self._compiled.arrive, index, status, suspended_ns))

    def _run(self, advance: Callable[[], None]) -> None:
        """Let the chain advance."""
        self._is_advancing = True
        try:
            advance()
        finally:
            self._is_advancing = False
            self.time_ns = self._time.time_ns
            self._end_step()
        if self._compiled is not None and self._compiled.is_awaiting:
            # A part has sent no answer, so the parts that follow it have no part in the step.
            self._leave()
            self.time_ns += self._step_ns

    def run_until(self, time_ns: int) -> None:
        """Take all steps up to a time, ns."""
        while self.time_ns < time_ns:
            self.advance(time_ns)

    def _step(self) -> None:
        time_ns = self.time_ns
        for act in self._acts:
            act.run(time_ns)
        self.go_on()
        self._end_step()
        self.time_ns = time_ns + self._step_ns

    def _end_step(self) -> None:
        if self._shortened:
            for takes in self._shortened:
                takes.remove(drop)
            self._shortened.clear()

    @property
    def now_ns(self) -> int:
        """Time of the step under way, such as for a receiver; between two steps, time of the next one, ns."""
        return self.time_ns if self._compiled is None else self._time.time_ns

    # Compiled steps.

    @property
    def is_compiled(self) -> bool:
        """Whether the last step was compiled, and the next one will be."""
        return self._compiled is not None

    @property
    def compiled(self) -> CompiledSteps | None:
        """The chain of the compiled steps; None if the last step was not compiled."""
        return self._compiled

    def _compile(self) -> None:
        self._time = StepTime(time_ns=self.time_ns, step_ns=self._step_ns, until_ns=0)
        compiled = self._chain()
        self._compiled = compiled
        if compiled is None:
            self._compile_ns = self.time_ns + self._steps_of_failure * self._step_ns
            self._steps_of_failure = min(2 * self._steps_of_failure, _MOST_STEPS_OF_FAILURE)
        else:
            self._steps_of_failure = _FEWEST_STEPS_OF_FAILURE
            for one in self._receivers:
                if one.newest is not None and compiled.sends(one.topic.name):
                    one.newest.follow(compiled, one.topic.name)
        self._is_out_of_date, self._stored = False, (-1, 0)

    def _chain(self) -> CompiledSteps | None:
        """The chain for the next step; None if no part of it has kernels."""
        answering = {
            part: Answering(part, part.run) for part in self.parts if not part.cells() and _sends_numbers(part)
        }
        while True:
            made = compiled_steps(
                self.parts, self._time, self._acts, self._receivers, self._queue, self.go_on, answering
            )
            if not isinstance(made, Part):
                break
            answering[made] = Answering(made, made.run)
        by_python = [] if made is None else [part for part in made.parts if part in answering]
        if made is None or len(by_python) == len(made.parts) or not all(part.answers_at_once for part in by_python):
            return None
        for part in by_python:
            for name, take in answering[part].take.items():
                if name in self._takes:
                    takes = self._takes[name]
                    # The chain sends the messages to the receivers.
                    self._bypassed[name] = list(takes)
                    takes[:] = [take]
        last = made.parts[-1]
        if last in answering:
            # The state before the next step.
            last.answer_again(last.answered_ns)
        return made

    def _store(self) -> None:
        """Let the parts have by Python what their kernels have changed, before something else changes the parts."""
        compiled = self._compiled
        if compiled is None or self._stored == (self._time.time_ns, compiled.at):
            return
        self._stored, self._is_out_of_date = (self._time.time_ns, compiled.at), True
        for name, message in compiled.store().items():
            for one in self._receivers:
                if one.topic.name == name and (one.part in compiled.parts or one.is_kept):
                    one.take(message)
        if not self._is_advancing and not compiled.is_suspended:
            self._end_bypass()

    def relink(self) -> None:
        """Make the links of compiled steps out of date, as `Part.relink`."""
        self._store()

    def _leave(self) -> None:
        self._store()
        for one in self._receivers:
            if one.newest is not None:
                one.newest.end()
        self._end_bypass()
        self._compiled, self._compile_ns = None, self.time_ns

    def _end_bypass(self) -> None:
        """Send all messages to their receivers again."""
        for name, takes in self._bypassed.items():
            self._takes[name][:] = takes
        self._bypassed.clear()

    def go_on(self) -> None:
        """Run the answers that are triggered, such as those to a message that a part has sent between two steps."""
        queue = self._queue
        while queue:
            run, time_ns, message = queue.popleft()
            run(time_ns, message)

    def give(self, topic: StepTopic[Any], message: Any) -> None:
        """Send a message to all receivers of a topic."""
        for take in self._bypassed.get(topic.name, self._takes.get(topic.name, [])):
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
        return self._serving(part, port)(request or port.service_type.Request(), port.service_type.Response())

    def _serving(self, part: Part, port: Service) -> Callable[[Any, Any], Any]:
        """Function that answers a service, which may change the part."""
        answer: Callable[[Any, Any], Any] = getattr(part, port.name)

        def serve(request: Any, response: Any) -> Any:
            self._store()
            return answer(request, response)

        return serve

    def _ports_of(self, part: Part, kind: type[P]) -> Iterator[P]:
        """A part's ports of one kind, in the order of declaration."""
        return (port for port in self._ports[part] if isinstance(port, kind))

    def _is_triggered(self, part: Part) -> bool:
        """Whether messages of a topic trigger a part's answers, and nothing else does."""
        inputs = [*self._ports_of(part, Input)]
        return all(port.kind is not Kind.TICKS for port in inputs) and any(
            port.kind is Kind.TRIGGER and port.topic is not CLOCK for port in inputs
        )

    def _add_receiver(self, receiver: Receiver) -> None:
        self._receivers.append(receiver)
        self._takes.setdefault(receiver.topic.name, []).append(receiver.take)

    def _receive(self, part: Part, port: Input[Any]) -> None:
        kind, take = port.kind, port.taker(part)
        if port.at:
            raise UnconnectedError(f"{part.DEFAULT_NAME} receives {port.topic.name} of another vehicle")
        if kind is Kind.TICKS:
            schedule = Schedule(number(part.values, port.rate))
            self._acts.append(Act(part, _ticking(schedule, part.run), schedule))
        elif kind is Kind.TRIGGER and port.topic is CLOCK:
            self._acts.append(Act(part, part.run, None))
        elif kind is not Kind.REPEATED:
            if kind is Kind.TRIGGER:
                take = self._trigger(part)
                self._triggers.add(take)
            elif kind is Kind.QUEUED:
                take = self._queued(take)
            elif kind in (Kind.LATER, Kind.EXPECTED):
                take = partial(part.hold, take)
            # A part that is triggered by messages reads the newest of another topic only then, and in its services.
            is_kept = kind is Kind.NEWEST and port.function is None and self._is_triggered(part)
            idle_until = partial(getattr, part, "idle_until_ns") if kind is Kind.TRIGGER or is_kept else None
            is_triggered = kind in (Kind.TRIGGER, Kind.QUEUED)
            self._add_receiver(Receiver(port.topic, take, idle_until, part, is_triggered, is_kept))
            self._inputs[part, port.family, port.name] = port.topic.name, take

    def _connect(self, part: Part) -> None:
        for out in self._ports_of(part, Output):
            if out.at:
                raise UnconnectedError(f"{part.DEFAULT_NAME} sends {out.topic.name} of another vehicle")
            out.bind(part, self._sender(out))
        for called in self._ports_of(part, Calls):
            called.bind(part, {name: self._call_of(name) for name in called.topics})
        part.end_port = partial(self._end_port, part)  # type: ignore[method-assign]
        part.relink = self._store  # type: ignore[method-assign]

    def _call_of(self, service: str) -> Call:
        if service not in self._services:
            return _UNAVAILABLE
        part, port = self._services[service]
        return Call.answered_by(port.service_type, self._serving(part, port))

    def _end_port(self, part: Part, name: str) -> None:
        topic, take = self._inputs.pop((part, "", name), ("", None))
        if take is not None:
            self._store()
            self._receivers = [one for one in self._receivers if one.take is not take]
            # The list may be delivering a message, so it gets shorter only at the end of the step.
            takes = self._bypassed.get(topic, self._takes[topic])
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
            for topic in (out.topic for out in self._ports_of(part, Output)):
                other = senders.setdefault(topic.name, part)
                if topic.is_exclusive and other is not part:
                    names = f"{other.DEFAULT_NAME} and {part.DEFAULT_NAME}"
                    raise UnconnectedError(f"{names} both send {topic.name}, which one part may send")
        for part in self.parts:
            for port in self._ports_of(part, Input):
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
        may_change = has_numbers(out.topic.name)
        is_one_trigger = len(takes) == 1 and takes[0] in self._triggers and rounded is None and not may_change
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
            for reading in self._ports_of(part, FirmwareReading):
                getattr(part, reading.name)(self._firmware_values(part, reading.names))

    def _firmware_values(self, part: Part, names: Iterable[str]) -> Mapping[str, float]:
        self._store()
        board, port = self._services["param_get"]
        values, get = {}, getattr(board, port.name)
        request, response = ParamGet.Request(), ParamGet.Response()
        for name in names:
            request.name = name
            answer = get(request, response)
            if answer.exists:
                values[name] = answer.value
            else:
                part.log.warning(f"the flight controller has no parameter '{name}'")
        return values


def _sends_numbers(part: Part) -> bool:
    """Whether a part sends a topic that kernels can read."""
    return any(has_numbers(out.topic.name) for out in part.ports(Output))


_UNAVAILABLE = Call(lambda: False, lambda: True, lambda request, take: None)


def _ticking(schedule: Schedule, run: Callable[[int], None]) -> Callable[[int], None]:
    def tick(time_ns: int) -> None:
        if time_ns >= schedule.next_ns and schedule.due(time_ns):
            run(time_ns)

    return tick


def _sending(takes: Sequence[Take], rounded: Callable[[Any], Any] | None) -> Take:
    def send(message: Any) -> None:
        if rounded is not None:
            message = rounded(message)
        for take in takes:
            take(message)

    return send


def _making(send: Take) -> Callable[[Callable[[], Any]], None]:
    return lambda make: send(make())

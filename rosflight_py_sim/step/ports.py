"""Ports of a part: inputs, outputs and services, declared in the body of its class.

An input or a service decorates the method that receives its messages or requests. An input that decorates no method
keeps its newest message as an attribute. Nodes and pipelines connect the ports in the order of declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, partial
from typing import Any, Generic, NamedTuple, TypeVar

from rclpy.qos import QoSProfile

from rosflight_py_sim.step.topics import CLOCK, REPEATED_CLOCK, StepSize, StepTopic

M = TypeVar("M")
P = TypeVar("P", bound="Port")


class Kind(Enum):
    """Effect of an input's messages.

    - TRIGGER: each message requests an answer.
    - SYNCHRONIZED: in lockstep the answer waits for the message with the trigger's stamp.
    - NEWEST: each message takes effect at once.
    - QUEUED: each message takes effect after the sender's call has returned, so the part may send messages.
    - LATER: in lockstep each message takes effect in the step after its stamp, regardless of the order of arrival.
    - EXPECTED: as LATER; in lockstep the answer also waits while the next message of a regular input is late.
    - ADMITTING: as NEWEST; in lockstep the answer waits until a message admits it.
    - REPEATED: in lockstep each message repeats the trigger with its stamp.
    - TICKS: answers are requested at a rate, in every time mode, without a message.
    """

    TRIGGER = "trigger"
    SYNCHRONIZED = "synchronized"
    NEWEST = "newest"
    QUEUED = "queued"
    LATER = "later"
    EXPECTED = "expected"
    ADMITTING = "admitting"
    REPEATED = "repeated"
    TICKS = "ticks"


class Port:
    """A declaration in the body of a part's class.

    Attributes:
        name: name of the attribute or method.
        when: name of the part's method that returns whether the port exists; empty if it always does. The method is
            called after the part's first `configure`, possibly several times.
        family: for a port that `Each` declares, the name of the part's attribute that maps names to ports; otherwise
            empty.
    """

    name = ""
    family = ""

    def __init__(self, when: str = "") -> None:
        self.when = when

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def exists(self, part: Any) -> bool:
        """Whether a part has the port."""
        return not self.when or bool(getattr(part, self.when)())

    def of(self, part: Any) -> Iterator[Port]:
        """The part's ports of this declaration: the port itself, if it exists."""
        if self.exists(part):
            yield self

    def bind(self, part: Any, value: Any) -> None:
        """Set the part's attribute of this port."""
        self._place(part)[self.name] = value

    def _place(self, part: Any) -> dict[str, Any]:
        """Dictionary that holds the part's attribute of this port."""
        held: dict[str, Any] = vars(part)
        return held.setdefault(self.family, {}) if self.family else held


class _Method(Port):
    """A port that decorates the method that receives its messages."""

    function: Callable[..., Any] | None = None

    def __call__(self: P, function: Callable[..., Any]) -> P:
        """Use as a decorator."""
        self.function = function  # type: ignore[attr-defined]
        self.__doc__ = function.__doc__
        return self

    def __get__(self, part: Any, owner: type | None = None) -> Any:
        """The port itself on the class, the bound method on a part."""
        if part is None or self.function is None:
            return self
        return self.function.__get__(part, owner)


class Input(_Method, Generic[M]):
    """A topic that the part receives.

    Attributes:
        topic: row of the table in `step/topics.py`.
        kind: effect of the messages.
        needed: whether diagnostics report missing messages.
        required: whether the first answer waits for a message, with any stamp.
        renews: whether a message with the stamp of the last answer makes that answer stale.
        rate: for a trigger, the parameter that gives the rate (Hz) of answers outside of lockstep; the messages then
            only go to the port's method, if it has one. Empty if messages trigger answers in every time mode. For
            ticks, the parameter that gives their rate (Hz).
        initial: value of the attribute before the first message.
        at: vehicle whose topic is received: an absolute namespace, or the name of the part's attribute that names the
            vehicle (`namespace_of`); empty for the part's own vehicle.
        qos: requested QoS; None: that of the topic for the time mode.
        ages_from_arrival: for an expected input, whether lateness counts from the arrival of the last message instead
            of its stamp, which may be from another clock.
        is_stamp: whether the port's method takes the stamp of each message, ns, instead of the message.
    """

    def __init__(
        self,
        topic: StepTopic[M],
        kind: Kind,
        *,
        needed: bool = False,
        required: bool = False,
        renews: bool = False,
        rate: str = "",
        initial: Any = None,
        ages_from_arrival: bool = False,
        is_stamp: bool = False,
        when: str = "",
        at: str = "",
        qos: QoSProfile | None = None,
    ) -> None:
        super().__init__(when)
        self.topic, self.kind, self.needed, self.required, self.renews = topic, kind, needed, required, renews
        self.rate, self.initial, self.at = rate, initial, at
        self.ages_from_arrival, self.is_stamp, self.qos = ages_from_arrival, is_stamp, qos

    def __get__(self, part: Any, owner: type | None = None) -> Any:
        """The port on the class; on a part, the bound method or, before the first message, `initial`."""
        if part is None:
            return self
        # A message is kept in the part's dictionary, which takes precedence over this method.
        return self.initial if self.function is None else self.function.__get__(part, owner)

    @property
    def key(self) -> str:
        """Name of the input in the join rule: its topic, preceded by the vehicle if that is another one."""
        return f"{self.at}/{self.topic.name}" if self.at else self.topic.name

    def taker(self, part: Any) -> Callable[[M], None]:
        """Function that passes a message to the part."""
        if self.function is not None:
            take: Callable[[Any], None] = self.function.__get__(part)
            return _stamp_of(take) if self.is_stamp else take
        kept = self._place(part)
        kept.setdefault(self.name, self.initial)
        # Setting an attribute takes half the time of setting the item of its dictionary.
        return partial(kept.__setitem__, self.name) if self.family else partial(setattr, part, self.name)


def trigger(
    topic: StepTopic[M], *, rate: str = "", needed: bool = False, when: str = "", qos: QoSProfile | None = None
) -> Input[M]:
    """Input whose messages request the answers; see `Input` for `rate`."""
    return Input(topic, Kind.TRIGGER, rate=rate, needed=needed, when=when, qos=qos)


def synchronized(
    topic: StepTopic[M],
    *,
    needed: bool = True,
    required: bool = False,
    renews: bool = False,
    initial: Any = None,
    when: str = "",
    at: str = "",
    qos: QoSProfile | None = None,
) -> Input[M]:
    """Input whose message with the trigger's stamp the answer waits for in lockstep."""
    options: dict[str, Any] = {"initial": initial, "when": when, "at": at, "qos": qos}
    return Input(topic, Kind.SYNCHRONIZED, needed=needed, required=required, renews=renews, **options)


def newest(topic: StepTopic[M], *, needed: bool = False, initial: Any = None, when: str = "", at: str = "") -> Input[M]:
    """Input whose messages take effect at once."""
    return Input(topic, Kind.NEWEST, needed=needed, initial=initial, when=when, at=at)


def queued(topic: StepTopic[M], *, is_stamp: bool = False, when: str = "") -> Input[M]:
    """Input whose messages, or their stamps, go to its method after the sender's call; the method may send messages."""
    return Input(topic, Kind.QUEUED, is_stamp=is_stamp, when=when)


def later(topic: StepTopic[M], *, initial: Any = None, when: str = "") -> Input[M]:
    """Input whose messages, in lockstep, take effect in the step after their stamp."""
    return Input(topic, Kind.LATER, initial=initial, when=when)


def expected(topic: StepTopic[M], *, ages_from_arrival: bool = False, when: str = "") -> Input[M]:
    """Input like `later`; in lockstep the answer also waits while the next of regular messages is late."""
    return Input(topic, Kind.EXPECTED, ages_from_arrival=ages_from_arrival, when=when)


def admitting(topic: StepTopic[StepSize]) -> Input[StepSize]:
    """Input of step sizes; in lockstep a requested size admits the answer of its step, and any other all answers."""
    return Input(topic, Kind.ADMITTING)


def repeated(*, when: str = "") -> Input[int]:
    """Input that in lockstep repeats the trigger with the stamp on sim/repeated_clock; for triggers sent only once."""
    return Input(REPEATED_CLOCK, Kind.REPEATED, when=when)


def ticks(rate: str) -> Input[int]:
    """Input that requests answers at the rate (Hz) of a parameter, in every time mode, without a message."""
    return Input(CLOCK, Kind.TICKS, rate=rate)


class Polled(Port, Generic[M]):
    """A topic that the part reads on demand: on a part, a function that returns the newest message.

    The function returns None if no message has arrived since its last call. Unread messages cost nothing.

    Attributes:
        topic: row of the table in `step/topics.py`.
        wanted: name of the part's method that returns whether the part needs messages at present; while it returns
            false, a node does not subscribe to the topic. Empty if the part always needs them.
    """

    def __init__(self, topic: StepTopic[M], *, wanted: str = "", when: str = "") -> None:
        super().__init__(when)
        self.topic, self.wanted = topic, wanted

    def __get__(self, part: Any, owner: type | None = None) -> Any:
        """The port on the class; on a part that is not connected, a function that returns None."""
        return self if part is None else _nothing


def polled(topic: StepTopic[M], *, wanted: str = "", when: str = "") -> Any:
    """Input that is read on demand; see `Polled`."""
    return Polled(topic, wanted=wanted, when=when)


class Output(Port, Generic[M]):
    """A topic that the part sends: on a part, the function that sends a message.

    Attributes:
        topic: row of the table in `step/topics.py`.
        lazy: whether the argument is a function that makes the message; it is called only if the topic has a receiver.
        at: vehicle whose topic is sent, as of `Input`.
    """

    def __init__(self, topic: StepTopic[M], *, lazy: bool = False, when: str = "", at: str = "") -> None:
        super().__init__(when)
        self.topic, self.lazy, self.at = topic, lazy, at

    def __get__(self, part: Any, owner: type | None = None) -> Any:
        """The port on the class; on a part that is not connected, a function that drops the message."""
        return self if part is None else drop


def output(topic: StepTopic[M], *, lazy: bool = False, when: str = "", at: str = "") -> Any:
    """Output to a topic; see `Output`."""
    return Output(topic, lazy=lazy, when=when, at=at)


class Service(_Method):
    """A service that the part offers; it decorates the method that answers: (request, response) -> response.

    Attributes:
        service_type: ROS service type.
        topic: name of the service.
        admits: whether the part's answers may wait for calls; the method then admits answers by the part's join.
    """

    def __init__(self, service_type: Any, topic: str, *, admits: bool = False, when: str = "") -> None:
        super().__init__(when)
        self.service_type, self.topic, self.admits = service_type, topic, admits


def service(service_type: Any, name: str, *, admits: bool = False, when: str = "") -> Service:
    """Service of a part."""
    return Service(service_type, name, admits=admits, when=when)


class Call(NamedTuple):
    """A service of another part, for the part that calls it.

    Attributes:
        is_available: function that returns whether the service exists at present.
        is_missing: function that returns whether the service is not available and no longer expected. In a graph, the
            discovery of a service takes system time, however fast the simulation runs.
        send: function that sends a request. Its second argument is a function that receives the response, possibly
            before `send` returns.
    """

    is_available: Callable[[], bool]
    is_missing: Callable[[], bool]
    send: Callable[[Any, Callable[[Any], None]], None]

    @classmethod
    def answered_by(cls, service_type: Any, serve: Callable[[Any, Any], Any]) -> Call:
        """Call that the method of a service answers at once."""
        return cls(lambda: True, lambda: False, lambda request, take: take(serve(request, service_type.Response())))


class Calls(Port):
    """Services that the part calls: on a part, a mapping of names to `Call`s; empty if the part is not connected.

    Attributes:
        service_type: ROS service type.
        topics: names of the services.
    """

    def __init__(self, service_type: Any, *topics: str) -> None:
        super().__init__()
        self.service_type, self.topics = service_type, topics

    def __get__(self, part: Any, owner: type | None = None) -> Any:
        """The port on the class."""
        return self if part is None else _NO_CALLS


def calls(service_type: Any, *names: str) -> Any:
    """Services of one type that the part calls."""
    return Calls(service_type, *names)


class FirmwareReading(_Method):
    """Parameters of the flight controller, passed to the decorated method at the start and after each change.

    The argument maps names to values, without the parameters that the flight controller lacks.

    Attributes:
        names: names of the parameters.
    """

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = names


class Each(_Method):
    """One port for each of several names, such as those of a vehicle's cameras.

    On a part, a mapping from each name to the attribute that a single port would have. The arguments of a decorated
    method are the name and the message.

    Attributes:
        names: name of the part's attribute that lists the names.
        port: function that makes the port of a name.
    """

    def __init__(self, names: str, port: Callable[[str], Any]) -> None:
        super().__init__()
        self.names, self.port = names, port

    def of(self, part: Any) -> Iterator[Port]:
        """The ports of the part's names."""
        take = self.function
        for name in getattr(part, self.names):
            one = self.port(name)
            one.name, one.family = name, self.name
            if take is not None and isinstance(one, _Method):
                one.function = _named(take, name)
            yield one

    def __get__(self, part: Any, owner: type | None = None) -> Any:
        """The port on the class; on a part, the mapping, or the bound method."""
        if part is None or self.function is not None:
            return super().__get__(part, owner)
        # Once the ports are connected, the part's dictionary takes precedence over this method.
        return {name: self.port(name).__get__(part, owner) for name in getattr(part, self.names)}


def each(names: str, port: Callable[[str], Any]) -> Any:
    """One port for each of the names that an attribute of the part lists; see `Each`."""
    return Each(names, port)


def _named(take: Callable[..., Any], name: str) -> Callable[..., Any]:
    def take_named(part: Any, message: Any) -> None:
        take(part, name, message)

    return take_named


_NO_CALLS: Mapping[str, Call] = {}


def _stamp_of(take: Callable[[int], None]) -> Callable[[Any], None]:
    """Function that passes the stamp of a message, ns."""
    return lambda message: take(message.time_ns)


def drop(message: object) -> None:
    """Send nothing: no receiver is connected."""


def _nothing() -> None:
    """No message has arrived: no sender is connected."""


def namespace_of(vehicle: str, own: str) -> str:
    """Absolute namespace of another vehicle.

    An absolute name is returned as it is. A relative name replaces the last element of `own`, an absolute namespace.
    """
    return vehicle if vehicle.startswith("/") else f"{own.rstrip('/').rpartition('/')[0]}/{vehicle}"


def examples_of(cls: type) -> Iterator[Port]:
    """Ports of a part's class, with one example, of the name NAME, in place of those that `Each` declares."""
    for port in ports_of(cls):
        yield port.port("NAME") if isinstance(port, Each) else port


def ports_of(cls: type) -> Sequence[Port]:
    """Ports of a part's class in the order of declaration, those of base classes first."""
    return _ports_of(cls)


@cache
def _ports_of(cls: Any) -> Sequence[Port]:
    names = dict.fromkeys(
        name for base in reversed(cls.__mro__) for name, one in vars(base).items() if isinstance(one, Port)
    )
    declared = (next(vars(base)[name] for base in cls.__mro__ if name in vars(base)) for name in names)
    return tuple(port for port in declared if isinstance(port, Port))

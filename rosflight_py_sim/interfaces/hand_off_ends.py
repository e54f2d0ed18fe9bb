"""Ends of a topic in the hand-off: the publishing end of each publisher, and the receiving end of each subscription.

An end notices external publishers and subscriptions, which take no part in the hand-off, by their number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSCompatibility, QoSProfile, qos_check_compatible
from rclpy.subscription import Subscription

from rosflight_py_sim.interfaces.rclpy_internals import (
    publisher_counter,
    raw_publish,
    subscription_counter,
    take_serialised,
)
from rosflight_py_sim.kernels.chain import ChainLink, Due, StepTime, gate
from rosflight_py_sim.step.topic_statistics import TopicCounter
from rosflight_py_sim.step.topics import StepTopic

# Greatest number of handed-off messages of which copies may still arrive through the middleware, which queues a few.
_ECHOES = 64

# Number of external messages that an inlet remembers as taken.
_REMEMBERED = 16

M = TypeVar("M")

Deliver = Callable[[Any], None]
"""Function that delivers a message to a subscription."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Receives the serialised messages of a publisher besides its subscriptions.

    Attributes:
        take: takes a message.
        link: returns the link by which a chain of kernels passes the message in an array; None if only `take` can.
    """

    take: Callable[[bytes], None]
    link: Callable[[NDArray[np.uint8]], ChainLink] | None = None


class Outlet:
    """The publishing end of a topic.

    Attributes:
        topic: row of the table `step/topics.py`.
        name: full name of the topic.
        last: last message sent; None before the first. `newest` returns it if messages may not be made in each step.
        refresh: function that sets `last`, while a chain of kernels does not make the messages; otherwise None.
        history: last messages sent, as many as the queue of a latched topic holds; None unless that is several.
        counter: counter of the messages.
        inlets: subscriptions of the hand-off that match.
        bypassed: those of them to which no messages are delivered, because a chain of kernels reads the numbers.
        at_once: functions that take a message at once: the encoder, if messages are encoded, and those that deliver it
            to the subscriptions of the hand-off that receive it at once.
        targets: functions that deliver a message to the others.
        sent_count: number of messages that the publisher sent through the middleware.
        is_encoded: whether messages are encoded, for external subscriptions or for a listener.
        is_received: whether there is a subscription or a listener.
        is_plain: whether messages need nothing but delivery to `at_once` and `targets`.
        is_removed: whether the publisher has been destroyed without a replacement.
        pass_on: function that calls a publishing function with a serialised message, at once or later in the turn.
        attend: function that does what a message needs besides delivery, if the outlet is not plain.
        ends_turns: whether `attend` may end the executor's turn.
    """

    def __init__(
        self,
        topic: StepTopic[Any],
        publisher: Publisher[Any],
        counter: TopicCounter,
        listener: Listener | None,
        renew: Callable[[], None],
    ) -> None:
        """Take over a publisher.

        Args:
            topic: row of the table `step/topics.py`.
            publisher: the node's publisher of the topic.
            counter: counter of the messages.
            listener: receives each message.
            renew: replaces the publisher by one that has sent nothing, and calls `use` with the new one.
        """
        self.topic = topic
        self.name = publisher.topic_name
        self.last: Any = None
        self.refresh: Callable[[], None] | None = None
        self.counter = counter
        self.targets: tuple[Deliver, ...] = ()
        self.is_latched = topic.qos.durability == DurabilityPolicy.TRANSIENT_LOCAL
        several = self.is_latched and topic.qos.depth > 1
        self.history: deque[Any] | None = deque(maxlen=topic.qos.depth) if several else None
        self.renew = renew
        self.pass_on: Callable[[Callable[[bytes], None], bytes], None] = _publish_at_once
        self.attend: Callable[[Any], None] = _attend_nothing
        self.ends_turns = False
        self._listener = listener
        self._has_external = self.is_plain = self.is_removed = False
        self.bypassed: Sequence[Inlet] = ()
        self._first: tuple[Deliver, ...] = ()
        self.connect(())
        self.use(publisher)

    def use(self, publisher: Publisher[Any]) -> None:
        """Publish with this publisher, which has sent nothing yet."""
        self.publisher = publisher
        self._publish, self._counted = raw_publish(publisher), subscription_counter(publisher)
        self._count = -1
        self.sent_count = 0

    def newest(self) -> Any:
        """The last message; None before the first."""
        if self.refresh is not None:
            self.refresh()
        return self.last

    @property
    def kept(self) -> list[Any]:
        """Messages that a late subscription of a latched topic receives."""
        if self.history is not None:
            return list(self.history)
        last = self.newest()
        return [] if last is None else [last]

    def bypass(self, inlets: Sequence[Inlet], take: Deliver | None = None) -> list[Deliver]:
        """Deliver to all subscriptions but these; return the functions that deliver to those that were left out.

        `take`, if given, receives each message first.
        """
        before, self.bypassed, self._first = self.bypassed, inlets, () if take is None else (take,)
        self.connect(self.inlets)
        return [target(self, inlet) for inlet in before]

    def connect(self, inlets: Sequence[Inlet]) -> None:
        """Deliver to these subscriptions, which match, and to no others of the hand-off."""
        self.inlets = tuple(inlets)
        taking = [inlet for inlet in inlets if inlet.deliver is not None and inlet not in self.bypassed]
        self._at_once = (*self._first, *(target(self, inlet) for inlet in taking if inlet.is_at_once))
        self.targets = tuple(target(self, inlet) for inlet in taking if not inlet.is_at_once)
        self._set_at_once()

    def _set_at_once(self) -> None:
        self.is_encoded = self._has_external or self._listener is not None
        self.is_received = self.is_encoded or bool(self.inlets)
        self._pass_serialised = self._passing()
        self.at_once = (self._encoder(), *self._at_once) if self.is_encoded else self._at_once

    def _encoder(self) -> Deliver:
        """Function that encodes a message, for the listener and for external subscriptions."""
        encode, pass_serialised = self.topic.encode, self._pass_serialised
        return lambda message: pass_serialised(encode(message))

    def _passing(self) -> Callable[[bytes], None]:
        """Function that passes a serialised message to the listener and to external subscriptions."""
        send = self._send
        if self._listener is None:
            return send
        take = self._listener.take
        if not self._has_external:
            return take

        def take_and_send(data: bytes) -> None:
            take(data)
            send(data)

        return take_and_send

    def serialised_links(self, time: StepTime, data: NDArray[np.uint8]) -> Sequence[ChainLink]:
        """Links of a chain that pass on the serialised message in an array, at the time of a step.

        The links count the message only if the outlet `ends_turns`; otherwise the chain counts it.
        """
        link = None if self._listener is None or self._has_external or self.ends_turns else self._listener.link
        if link is not None:
            return (link(data),)
        return (gate(time, Due(at_ns=0), lambda _: self._send_serialised(data.tobytes())),)

    def _send_serialised(self, data: bytes) -> None:
        if self.ends_turns:
            self.counter.count += 1
            if not self.is_plain:
                self.attend(None)
        self._pass_serialised(data)

    def _send(self, data: bytes) -> None:
        self.sent_count += 1
        for inlet in self.inlets:
            inlet.expect(data, self.sent_count)
        self.pass_on(self._publish, data)

    @property
    def has_external(self) -> bool:
        """Whether an external subscription matches."""
        return self._has_external

    def has_changed(self) -> bool:
        """Whether the number of matching subscriptions has changed since the last `check_matches`."""
        return self._counted() != self._count

    def check_matches(self) -> bool:
        """Check for external subscriptions, and send the latched messages to the first.

        Returns:
            Whether to renew the publisher: the last external subscription is gone, and the publisher would send a later
            one the outdated message that the middleware still has latched.
        """
        self._count = self._counted()
        had_external, self._has_external = self._has_external, self._count > len(self.inlets)
        if self._has_external != had_external:
            self._set_at_once()
        if self._has_external and not had_external and self.is_latched:
            for message in self.kept:
                self._send(self.topic.encode(message))
        return self.is_latched and had_external and not self._has_external


def _publish_at_once(publish: Callable[[bytes], None], data: bytes) -> None:
    publish(data)


def _attend_nothing(message: Any) -> None:
    """Do nothing, for an outlet that has not been connected."""


class Inlet:
    """The receiving end of a topic.

    Attributes:
        topic: row of the table `step/topics.py`.
        name: full name of the topic.
        deliver: called with each message; None for a polled subscription, which fetches the newest when needed.
        counter: counter of the messages.
        is_at_once: whether a message is delivered within the call that sends it.
        end: identification of the subscription for inputs from outside.
        owner: ports and input of the part that receives the messages; None for other subscriptions.
        is_removed: whether the subscription is being destroyed; a callback may destroy its own.
        has_external: whether an external publisher matches, so that messages are taken from the middleware.
        taken: the newest external messages taken.
    """

    def __init__(
        self,
        topic: StepTopic[Any],
        qos: QoSProfile,
        subscription: Subscription[Any],
        deliver: Deliver | None,
        show: Callable[[bool], None],
        take: Callable[[bytes], None] | None = None,
        counter: TopicCounter | None = None,
        *,
        at_once: bool = False,
        end: str = "",
    ) -> None:
        """Take over a subscription; `show` adds it to the executor's list, or removes it.

        `take` processes an external message; None for a polled subscription. `end` identifies the subscription for
        inputs from outside; empty for a polled one.

        While it is not on the list, its messages stay in the middleware's queue.
        """
        self.topic, self.qos = topic, qos
        self.subscription = subscription
        self.name = subscription.topic_name
        self.deliver = deliver
        self.counter = counter or TopicCounter()
        self.is_at_once, self.end = at_once, end
        self.owner: tuple[Any, Any] | None = None
        self.is_removed = False
        self._show, self.has_external = show, True
        self._take = take
        self.taken: deque[bytes] = deque(maxlen=_REMEMBERED)
        self._counted, self._count = publisher_counter(subscription), -1
        # While an external subscription matches, handed-off messages arrive a second time, through the middleware. The
        # content and the publisher's sequence number distinguish these copies from an external publisher's messages.
        self._echoes: deque[tuple[bytes, int]] = deque(maxlen=_ECHOES)

    def has_changed(self) -> bool:
        """Whether the number of matching publishers has changed since the last `check_matches`."""
        return self._counted() != self._count

    def check_matches(self, outlets: list[Outlet]) -> bool:
        """Take messages from the middleware if, and only if, there are external publishers besides `outlets`.

        Returns:
            Whether this has changed.
        """
        self._count = self._counted()
        is_needed = self._count > len(outlets)
        if is_needed == self.has_external:
            return False
        self.has_external = is_needed
        if is_needed:
            self.take_kept()
        if not self.is_removed:
            self._show(is_needed)
        return True

    def take_kept(self) -> None:
        """Deliver external messages that arrived while the subscription was not on the executor's list."""
        while self._take is not None and not self.is_removed:
            taken = take_serialised(self.subscription)
            if taken is None:
                return
            data, facts = taken
            if not self.is_echo(data, facts["publication_sequence_number"]):
                self._take(data)

    def expect(self, data: bytes, number: int) -> None:
        """Note a handed-off message that also goes through the middleware, with its publisher's sequence number."""
        self._echoes.append((data, number))

    def is_echo(self, data: bytes, number: int | None) -> bool:
        """Whether a message from the middleware is the copy of one that was handed off.

        `number`: the publisher's sequence number of the message; None if unknown.
        """
        echoes = self._echoes
        same = [index for index, echo in enumerate(echoes) if echo[0] == data and number in (None, echo[1])]
        if not same:
            return False
        # The middleware keeps the order: a copy missing before this one was overwritten in the queue.
        for _ in range(same[0] + 1):
            echoes.popleft()
        return True


def fit(outlet: Outlet, inlet: Inlet) -> bool:
    """Whether the middleware would match the two: same message type, compatible QoS."""
    if outlet.topic.message_type is not inlet.topic.message_type:
        return False
    return bool(qos_check_compatible(outlet.topic.qos, inlet.qos)[0] != QoSCompatibility.ERROR)


def target(outlet: Outlet, inlet: Inlet) -> Deliver:
    """Function that delivers a message of the outlet to the inlet, which is not polled."""
    deliver = inlet.deliver
    assert deliver is not None
    if outlet.topic.carried is inlet.topic.carried:
        return deliver
    return lambda message: None if inlet.is_removed else deliver(converted(outlet.topic, inlet.topic, message))


def converted(sent: StepTopic[Any], received: StepTopic[M], message: Any) -> M:
    """A message of one row as one of another row, whose ROS message is the same."""
    same: M = message
    return same if sent.carried is received.carried else received.decode(sent.encode(message))

"""Trace of a flight: hashes from which the first step and node that differ in another flight can be found.

Each topic has the BLAKE2 hash of all its messages with the time of their steps. Each node has the same for all its
topics, and after each step in which it sent something, 6 bits of this hash become one character of its trace. A hash
that has differed once differs from then on, so the first character that differs marks the first step that differs, or,
with a probability of 1/64, the next one in which the node sends something. Messages that are made only for receivers
(lazy outputs) are left out. One minute of a multirotor at 400 Hz has about 100,000 characters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.interfaces.canonical_messages import canonical_form_of_own
from rosflight_py_sim.sweep.pipeline_flight import Sent

_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

_TOPIC_BYTES = 6


@dataclass(frozen=True)
class Trace:
    """Hashes of a flight.

    Attributes:
        topics: hash of each topic, by its name, after the vehicle's namespace and a slash.
        nodes: characters of each node, by its name in the same form.
    """

    topics: Mapping[str, str]
    nodes: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Hash of the whole flight."""
        text = "\n".join(f"{name} {digest}" for name, digest in sorted(self.topics.items()))
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


class _NodeChain:
    """Chain of a node, with time, topics and place among all messages of each step in which it sent something."""

    def __init__(self) -> None:
        self.characters: list[str] = []
        self.steps: list[tuple[int, int, tuple[str, ...]]] = []
        self._chain = hashlib.blake2b(digest_size=16)
        self._time_ns, self._place = -1, 0
        self._sent: list[tuple[str, bytes]] = []

    def add(self, time_ns: int, place: int, name: str, message: bytes) -> None:
        if time_ns != self._time_ns:
            self.end_step()
            self._time_ns, self._place = time_ns, place
        self._sent.append((name, message))

    def end_step(self) -> None:
        """Add the step's messages in the order of the topics' names: compiled steps send in another order."""
        if not self._sent:
            return
        self._sent.sort(key=lambda one: one[0])  # keeps the order of a topic's messages
        self._chain.update(self._time_ns.to_bytes(8, "little"))
        for name, message in self._sent:
            self._chain.update(name.encode())
            self._chain.update(message)
        self.characters.append(_CHARACTERS[self._chain.copy().digest()[0] & 63])
        self.steps.append((self._time_ns, self._place, tuple(dict.fromkeys(name for name, _ in self._sent))))
        self._sent.clear()


@dataclass(frozen=True)
class FirstDifference:
    """First step in which a flight differs from an earlier one.

    Attributes:
        time_ns: time of the step, ns.
        place: place of the node's first message of the step among all messages; -1 without a message.
        node: name of the node that sent other messages; of several, the one that sends first in the step.
        topics: topics of the node's messages in the step that differ by the end of the flight: the first of them, or
            several, differ in this step.
        text: what differs if not the content of messages; otherwise empty.
    """

    time_ns: int
    place: int
    node: str
    topics: tuple[str, ...]
    text: str = ""

    def __str__(self) -> str:
        """Time, node, topics and text."""
        topics = f": {' or '.join(self.topics)}" if self.topics else ""
        text = f" ({self.text})" if self.text else ""
        return f"{self.time_ns / NANOSECONDS:.4f} s, node {self.node}{topics}{text}"


class FlightTracer:
    """Tracer of a flight without ROS, as the receiver of its messages (`sweep.pipeline_flight.Observe`)."""

    def __init__(self) -> None:
        """Trace nothing yet."""
        self._nodes: dict[str, _NodeChain] = {}
        self._topics: dict[str, Any] = {}
        self._places = count()

    def observe(self, sent: Sent, time_ns: Callable[[], int]) -> Callable[[Any], None] | None:
        """Function that takes the messages of a topic; None for a lazy one."""
        if sent.is_lazy:
            return None
        node = f"{sent.namespace}/{sent.node}" if sent.namespace else sent.node
        add, name, encode = self._nodes.setdefault(node, _NodeChain()).add, sent.name, sent.topic.encode
        # Padding between the fields of an encoded message is not defined.
        canonical = canonical_form_of_own(sent.topic.message_type)
        chain = self._topics[name] = hashlib.blake2b(digest_size=_TOPIC_BYTES)
        places = self._places

        def take(message: Any) -> None:
            now_ns, data = time_ns(), canonical(encode(message))
            chain.update(now_ns.to_bytes(8, "little"))
            chain.update(data)
            add(now_ns, next(places), name, data)

        return take

    def finish(self) -> Trace:
        """The trace of the flight, which is over."""
        for one in self._nodes.values():
            one.end_step()
        return Trace(
            {name: chain.hexdigest() for name, chain in self._topics.items()},
            {name: "".join(one.characters) for name, one in self._nodes.items()},
        )

    def first_difference(self, recorded: Trace) -> FirstDifference | None:
        """First difference between the flight, which is over, and an earlier one; None if they are equal."""
        now = self.finish()
        if now.topics == recorded.topics:
            return None
        other = {name for name, digest in now.topics.items() if recorded.topics.get(name) != digest}
        found = [self._difference(name, recorded.nodes.get(name, ""), other) for name in self._nodes]
        # Nodes that the flight no longer has.
        found += [FirstDifference(0, -1, name, (), "missing now") for name in recorded.nodes if name not in now.nodes]
        differences = [one for one in found if one is not None]
        if not differences:
            gone = sorted({*recorded.topics} - {*now.topics})
            return FirstDifference(0, -1, "", tuple(gone or sorted(other)), "other topics")
        return min(differences, key=lambda one: (one.time_ns, one.place))

    def _difference(self, name: str, recorded: str, other: set[str]) -> FirstDifference | None:
        """First difference of a node from its characters in an earlier flight; `other`: topics that differ."""
        node = self._nodes[name]
        pairs = zip(recorded, node.characters, strict=False)
        step = next((k for k, (old, new) in enumerate(pairs) if old != new), len(recorded))
        if step >= len(node.characters):
            if len(recorded) == len(node.characters):
                return None
            end_ns = node.steps[-1][0] if node.steps else 0
            return FirstDifference(end_ns, 1 << 62, name, (), "it sends nothing after that now")
        time_ns, place, topics = node.steps[step]
        text = "it had sent nothing after that" if step == len(recorded) else ""
        return FirstDifference(time_ns, place, name, tuple(one for one in topics if one in other), text)

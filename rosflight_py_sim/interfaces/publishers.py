"""Publishers of exclusive topics: those in other processes, with names and hosts."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from std_msgs.msg import Empty

from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.interfaces.diagnostics import PROCESS_KEY, process_text, watch_reports

# Layout of an endpoint's GUID: the first 12 bytes are those of the participant. With Fast DDS, these are the vendor,
# the host, the lower half of the process id, and random bytes.
_PARTICIPANT = slice(0, 12)
_HOST, _PROCESS = slice(2, 4), slice(4, 6)
_FAST_DDS = bytes((1, 15))


class Publisher(NamedTuple):
    """A node in another process that publishes exclusive topics.

    Attributes:
        name: full name of the node.
        guid: of one of its publishers.
        topics: full names of the topics.
    """

    name: str
    guid: bytes
    topics: tuple[str, ...]


def other_publishers(node: Node, topics: Iterable[str], own: bytes) -> list[Publisher]:
    """Publishers of topics (full names) in other processes, ordered by name; `own` is the node's participant."""
    found: dict[tuple[str, bytes], list[tuple[str, bytes]]] = {}
    for topic in topics:
        for end in node.get_publishers_info_by_topic(topic):
            guid = bytes(end.endpoint_gid)
            if guid[_PARTICIPANT] != own:
                name = absolute_name(end.node_namespace, end.node_name)
                found.setdefault((name, guid[_PARTICIPANT]), []).append((topic, guid))
    return [Publisher(name, ends[0][1], tuple(topic for topic, _ in ends)) for (name, _), ends in sorted(found.items())]


def participant_of(node: Node) -> bytes:
    """The bytes that the GUIDs of the process's publishers have in common."""
    # The names of nodes in two simulations may be equal, that of this topic is not.
    publisher = node.create_publisher(Empty, f"_participant_{os.getpid()}_{time.time_ns()}", 1)
    (end,) = node.get_publishers_info_by_topic(publisher.topic_name)
    node.destroy_publisher(publisher)
    return bytes(end.endpoint_gid)[_PARTICIPANT]


def participants_known_to(node: Node) -> set[bytes]:
    """GUID prefixes of the participants that a node has discovered, and of its own, from a topic of every node."""
    ends = node.get_publishers_info_by_topic("/parameter_events")
    return {bytes(end.endpoint_gid)[_PARTICIPANT] for end in ends}


def local_participants(domain: int) -> int:
    """Number of DDS participants of a domain on this machine, from their ports (DDSI-RTPS 2.5, sec. 9.6.2).

    0 where the system does not list the ports in use as Linux does.
    """
    first = 7410 + 250 * domain
    taken: set[int] = set()
    for file in (Path("/proc/net/udp"), Path("/proc/net/udp6")):
        with contextlib.suppress(OSError):
            lines = file.read_text("ascii").splitlines()[1:]
            taken.update(int(line.split()[1].rpartition(":")[2], 16) for line in lines)
    return len(taken.intersection(range(first, first + 240, 2)))


class Hosts:
    """Processes and hosts of nodes, from reports on /diagnostics or, without a report, from a publisher's GUID."""

    def __init__(self, node: Node, own: bytes) -> None:
        """Subscribe to the reports."""
        self._node, self._own = node, own
        self._found: dict[str, set[str]] = {}
        self._subscription = watch_reports(node, self._take)

    def close(self) -> None:
        """End the subscription."""
        self._node.destroy_subscription(self._subscription)

    def knows(self, publisher: Publisher) -> bool:
        """Whether a report names the process of the publisher."""
        return bool(self._reported(publisher))

    def text(self, publisher: Publisher) -> str:
        """Node, process and host."""
        where = self._reported(publisher)
        if not where:
            guid = publisher.guid
            is_here = guid[_HOST] == self._own[_HOST]
            machine = "this host" if is_here else f"another host, GUID {guid[_PARTICIPANT].hex()}"
            where = f"process {_number(guid)} on {machine}" if guid.startswith(_FAST_DDS) else f"GUID {guid.hex()}"
        return f"{publisher.name} ({where})"

    def _reported(self, publisher: Publisher) -> str:
        others = sorted(self._found.get(publisher.name, set()) - {process_text()})
        exact = [one for one in others if one.startswith(f"process {_number(publisher.guid)} ")]
        return next(iter(exact or others), "")

    def _take(self, status: DiagnosticStatus) -> None:
        found = self._found.setdefault(f"/{status.name}", set())
        found.update(one.value for one in status.values if one.key == PROCESS_KEY)


def _number(guid: bytes) -> int:
    return int.from_bytes(guid[_PROCESS], "little")


class PublisherWatch:
    """Reports other publishers of a node's exclusive topics; `check` is called once a second."""

    def __init__(self, node: Node, topics: Iterable[str], has_others: Callable[[str], bool]) -> None:
        """Watch topics, by their full names, that only this node may publish.

        `has_others` returns whether a topic may have other publishers.
        """
        self._node, self._topics, self._has_others = node, tuple(topics), has_others
        self._hosts: Hosts | None = None
        self._own = b""
        self._checks = 0
        self._logged: set[str] = set()

    def check(self) -> str:
        """Text about other publishers, which is also logged once; empty if there are none."""
        crowded = [topic for topic in self._topics if self._has_others(topic)]
        if not crowded:
            self._end()
            return ""
        self._own = self._own or participant_of(self._node)
        others = other_publishers(self._node, crowded, self._own)
        if not others:
            return ""
        self._hosts = self._hosts or Hosts(self._node, self._own)
        self._checks += 1
        if self._checks < _MOST_CHECKS and not all(map(self._hosts.knows, others)):
            return ""
        texts = [self._text(self._hosts, one) for one in others]
        for text in texts:
            if text not in self._logged:
                self._logged.add(text)
                self._node.get_logger().error(text)
        return "; ".join(texts)

    def _text(self, hosts: Hosts, other: Publisher) -> str:
        this = f"{self._node.get_fully_qualified_name()} ({process_text()})"
        topics = ", ".join(other.topics)
        return f"{topics}: published by {this} and by {hosts.text(other)}; {REMEDY}"

    def _end(self) -> None:
        self._checks = 0
        self._logged.clear()
        if self._hosts is not None:
            self._hosts.close()
            self._hosts = None


# Checks, one per second, after which another publisher is reported even if no report of its node has arrived.
_MOST_CHECKS = 3

REMEDY = "end one of the simulations, or start it in another ROS domain (ROS_DOMAIN_ID)"
"""What to do about two simulations in one ROS domain."""

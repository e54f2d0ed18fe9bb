"""Topics at the ports of a node's class, with any parameters: those that it publishes, and those that it receives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rosflight_py_sim.step.ports import FirmwareReading, Input, Output, Polled, Port, ports_of
from rosflight_py_sim.step.topics import ACTIVE_FAILURES, PARAMS_CHANGED, StepTopic


def parts_of(cls: type) -> tuple[type, ...]:
    """A node's class, and those of the parts that it hosts."""
    return (cls, *getattr(cls, "HOSTS", ()))


def declared_ports(cls: type) -> Iterator[Port]:
    """Ports of a node's class, and of the parts that it hosts."""
    return (port for one in parts_of(cls) for port in ports_of(one))


def published(cls: type) -> list[StepTopic[Any]]:
    """Rows of the topics that nodes of a class may publish."""
    own = [port.topic for port in declared_ports(cls) if isinstance(port, Output)]
    return [*own, ACTIVE_FAILURES] if getattr(cls, "FALLIBLE", ()) else own


def received(cls: type) -> list[StepTopic[Any]]:
    """Rows of the topics that nodes of a class may receive; rclpy subscribes any node to /clock."""
    ports = list(declared_ports(cls))
    own = [port.topic for port in ports if isinstance(port, (Input, Polled))]
    return [*own, PARAMS_CHANGED] if any(isinstance(port, FirmwareReading) for port in ports) else own


def nodes_at(topic: StepTopic[Any], classes: Iterable[type]) -> tuple[list[str], list[str]]:
    """Default names of the nodes, out of these classes, that may publish a topic, and of those that may receive it."""
    nodes = [(str(getattr(cls, "DEFAULT_NAME", "")), cls) for cls in classes]
    publishers = dict.fromkeys(name for name, cls in nodes if topic in published(cls))
    return list(publishers), list(dict.fromkeys(name for name, cls in nodes if topic in received(cls)))

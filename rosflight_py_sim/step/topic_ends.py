"""Topics at the ports of a node's class, with any parameters: those that it publishes, and those that it receives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import FirmwareReading, Input, Output, Polled, Port, examples_of
from rosflight_py_sim.step.topics import ACTIVE_FAILURES, CLOCK, PARAMS_CHANGED, StepTopic


def parts_of(cls: type[Part]) -> tuple[type[Part], ...]:
    """A node's class, and those of the parts that it hosts."""
    return (cls, *getattr(cls, "HOSTS", ()))


def declared_ports(cls: type[Part]) -> Iterator[Port]:
    """Ports of a node's class, and of the parts that it hosts."""
    return (port for one in parts_of(cls) for port in examples_of(one))


def published(cls: type[Part]) -> list[StepTopic[Any]]:
    """Rows of the topics that nodes of a class may publish."""
    own = [port.topic for port in declared_ports(cls) if isinstance(port, Output)]
    return [*own, ACTIVE_FAILURES] if any(one.FALLIBLE for one in parts_of(cls)) else own


def received(cls: type[Part]) -> list[StepTopic[Any]]:
    """Rows of the topics that nodes of a class may receive."""
    ports = list(declared_ports(cls))
    own = [port.topic for port in ports if isinstance(port, (Input, Polled))]
    return [*own, PARAMS_CHANGED] if any(isinstance(port, FirmwareReading) for port in ports) else own


def nodes_at(topic: StepTopic[Any], classes: Iterable[type[Part]]) -> tuple[list[str], list[str]]:
    """Default names of the nodes, out of these classes, that may publish a topic, and of those that may receive it."""
    nodes = [(cls.DEFAULT_NAME, cls) for cls in classes]
    publishers = dict.fromkeys(name for name, cls in nodes if topic in published(cls))
    receivers = dict.fromkeys(name for name, cls in nodes if topic in received(cls))
    # rclpy subscribes any node to /clock, port or not.
    return list(publishers), ["every node"] if topic is CLOCK else list(receivers)

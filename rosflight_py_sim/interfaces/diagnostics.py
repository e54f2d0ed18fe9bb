"""What a node says of its own health, on /diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.qos import QoSProfile

from rosflight_py_sim.interfaces.simulation_node import SimulationNode

_PERIOD_S = 1.0

# As others publish there: a viewer that is held up must not miss one of many nodes.
_QOS = QoSProfile(depth=10)


class Level(IntEnum):
    """How bad it is, as diagnostic_msgs counts."""

    OK = 0
    WARN = 1
    ERROR = 2


@dataclass(frozen=True)
class Diagnosis:
    """One entry of /diagnostics.

    Attributes:
        subject: what of the node it is about; empty: the node as a whole.
        message: the state in a word or a few.
        level: how bad that is.
        hardware_id: with whom or what the node has to do, outside of the graph.
        values: what else is worth knowing, by name.
    """

    subject: str
    message: str
    level: Level = Level.OK
    hardware_id: str = ""
    values: Mapping[str, object] = field(default_factory=dict)


def report_diagnostics(node: SimulationNode, diagnose: Callable[[], Iterable[Diagnosis]]) -> None:
    """Publish what `diagnose` gives on /diagnostics, once a second of system time.

    An entry's name is that of the node with its namespace, without the first slash, and then the subject. The stamp is
    the node's time.
    """
    publisher = node.create_publisher(DiagnosticArray, "/diagnostics", _QOS)
    owner = node.get_fully_qualified_name().lstrip("/")

    def report() -> None:
        message = DiagnosticArray()
        message.header.stamp = node.get_clock().now().to_msg()
        message.status = [_status(owner, diagnosis) for diagnosis in diagnose()]
        publisher.publish(message)

    node.create_system_timer(_PERIOD_S, report)


def _status(owner: str, diagnosis: Diagnosis) -> DiagnosticStatus:
    return DiagnosticStatus(
        level=bytes([diagnosis.level]),
        name=f"{owner}: {diagnosis.subject}" if diagnosis.subject else owner,
        message=diagnosis.message,
        hardware_id=diagnosis.hardware_id,
        values=[KeyValue(key=key, value=str(value)) for key, value in diagnosis.values.items()],
    )

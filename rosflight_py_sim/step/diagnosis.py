"""Diagnoses of a node or part, for its health report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum


class Level(IntEnum):
    """Severity, with the values of diagnostic_msgs."""

    OK = 0
    WARN = 1
    ERROR = 2


@dataclass(frozen=True)
class Diagnosis:
    """One entry of /diagnostics.

    Attributes:
        subject: part of the node that the entry is about; empty for the node as a whole, whose diagnoses become one
            entry.
        message: the state in a few words.
        level: severity of the state.
        hardware_id: hardware or program outside of the graph that the node is connected to.
        values: further values, by name.
    """

    subject: str
    message: str
    level: Level = Level.OK
    hardware_id: str = ""
    values: Mapping[str, object] = field(default_factory=dict)

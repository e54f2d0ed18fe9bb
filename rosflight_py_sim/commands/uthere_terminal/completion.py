"""Completion of commands, parameters, variables and plane numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from rosflight_py_sim.protocols.uthere import Data, FlyToWaypoint, PlaneList, parse_reply
from rosflight_py_sim.protocols.uthere.commands import CLASS_OF_NAME

VARIABLES = (
    "airspeed",
    "all",
    "altitude",
    "ap_target_from_packet_cage_triggered_last",
    "ap_target_from_packet_enabled",
    "ap_target_from_packet_timeout",
    "cage_triggered",
    "climb",
    "control_operate_mode",
    "course",
    "heading",
    "latitude",
    "longitude",
    "pitch",
    "power_battery_voltage",
    "roll",
)
"""Variables of every plane; others are taken from packets."""

_STATEMENT = re.compile(r"\s*(?P<name>\w*)\s*(?P<open>\(?)(?P<inside>[^)]*)(?P<close>\)?)")

# Packets from other senders must not fill the memory.
_MOST_LEARNT = 1000


class CommandCompleter(Completer):
    """Completes lines of the protocol, including names from replies."""

    def __init__(self) -> None:
        """Start with the names in the protocol."""
        self._variables = set(VARIABLES)
        self._planes: set[int] = set()

    def learn(self, packet: str) -> None:
        """Add plane numbers and variable names from a reply."""
        reply = parse_reply(packet)
        if len(self._variables) + len(self._planes) > _MOST_LEARNT:
            return
        if isinstance(reply, PlaneList):
            self._planes |= set(reply.planes)
        elif isinstance(reply, Data):
            self._planes.add(reply.plane)
            self._variables |= set(reply.values)

    def completions(self, before: str) -> tuple[str, list[str]]:
        """The word before the cursor, and its possible completions."""
        statement = _STATEMENT.match(before.rpartition(";")[2].lstrip("!"))
        assert statement is not None
        name = statement["name"].lower()
        if not statement["open"]:
            return statement["name"], [f"{name}(" if fields(kind) else name for name, kind in CLASS_OF_NAME.items()]
        if statement["close"] or name not in CLASS_OF_NAME:
            return "", []
        given = [part.partition("=") for part in statement["inside"].split(",")]
        last, equals, value = given[-1]
        if equals:
            return value.lstrip(), self._values(last.strip().lower())
        used = {one.strip().lower() for one, _, _ in given[:-1]}
        return last.lstrip(), [f"{field}=" for field in _fields(name) if field not in used]

    def _values(self, parameter: str) -> list[str]:
        if parameter == "variable":
            return sorted(self._variables)
        return [str(plane) for plane in sorted(self._planes)] if parameter == "plane" else []

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Completions of the word before the cursor."""
        begun, words = self.completions(document.text_before_cursor)
        for word in words:
            if word.startswith(begun.lower()):
                yield Completion(word, start_position=-len(begun))


def _fields(command: str) -> list[str]:
    """Names of the command's parameters."""
    kind = CLASS_OF_NAME[command]
    return [] if kind is FlyToWaypoint else [field.name for field in fields(kind)]

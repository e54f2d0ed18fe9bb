"""A failure in words: `motor 2 off at 12 for 3`.

    TARGET [NUMBER] KIND [VALUES] [at TIME] [for DURATION]

Times are in seconds of simulated time. Without `at` the failure begins at once; without `for` it does not end.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable
from dataclasses import dataclass

from rosflight_py_sim.ground import registry
from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import Parameter, ParameterError
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.ground.stamps import NANOSECONDS

_LONGEST_S = 1e9
_LARGEST = 1e9

OFF, STUCK, WRONG, DRIFT, NOISY = "off", "stuck", "wrong by", "drift", "noisy"
JAMMED, LOST, LATE, DAMAGED, FRONT = "jammed", "lost", "late", "damaged", "front"

KINDS = {
    OFF: "",
    STUCK: "",
    WRONG: "the offset",
    DRIFT: "the change per second",
    NOISY: "the standard deviation",
    JAMMED: "",
    LOST: "",
    LATE: "the delay",
    DAMAGED: "the share of damaged packets",
    FRONT: "the change of the velocity",
}
"""Kinds of failures, with the meaning of their values; empty for none."""

SIGNAL = (OFF, STUCK, WRONG, DRIFT, NOISY)
"""Kinds of failures of a measured signal."""

LINK, UPLINK, DOWNLINK = LINKS = "link", "uplink", "downlink"
"""Parts of the link between a vehicle and the programs that command it: both directions, or one of them."""

# Kinds with a single value, whatever the part: unit and largest value.
_OF_ONE_VALUE = {LATE: ("s", 60.0), DAMAGED: ("0 to 1", 1.0)}
_NOT_NEGATIVE = (NOISY, *_OF_ONE_VALUE)


@dataclass(frozen=True)
class Target:
    """A part that can fail.

    Attributes:
        text: the part in words.
        unit: of the values, except for a delay or a share.
        size: number of values: 1, or 3 along the axes x, y, z or north, east, down.
        kinds: failures that the part can have.
        last: largest number of the part, counted from 1; 0 if there is only one.
    """

    text: str
    unit: str = ""
    size: int = 1
    kinds: tuple[str, ...] = SIGNAL
    last: int = 0


TARGETS = {
    "motor": Target("motor on an output of the flight controller", "us of pulse width", last=OUTPUTS),
    "servo": Target("servo on an output of the flight controller", "us of pulse width", last=OUTPUTS),
    "cell": Target("a cell of the battery", kinds=(OFF,)),
    "wind": Target("wind or current", "m/s, north east down", 3, kinds=(FRONT,)),
    "camera": Target("cameras", kinds=(OFF, STUCK)),
    "rc": Target("link from the transmitter", kinds=(LOST, OFF, LATE)),
    "command": Target("link from the companion computer to the flight controller", kinds=(LOST, LATE)),
    LINK: Target("link between the vehicle and the programs that command it", kinds=(LOST, LATE, DAMAGED)),
    UPLINK: Target("the link's direction to the vehicle", kinds=(LOST, LATE, DAMAGED)),
    DOWNLINK: Target("the link's direction from the vehicle", kinds=(LOST, LATE, DAMAGED)),
}
"""Parts that can fail, by name. Those of a sensor are declared with the sensor; `all_targets` has all of them."""


def declare_target(name: str, target: Target) -> None:
    """Add a part that can fail.

    Raises:
        ValueError: another part has that name.
    """
    if TARGETS.setdefault(name, target) != target:
        raise ValueError(f"'{name}' is declared twice as a part that can fail: {TARGETS[name]} and {target}")


def all_targets() -> dict[str, Target]:
    """All parts that can fail: imports the sensors, and the nodes of other packages, which may declare parts."""
    for name in registry.node_names(NodeKind.SENSORS):
        with contextlib.suppress(ParameterError):
            registry.registered_class("nodes", name, object)
    return TARGETS


FAILURES = Parameter(
    "failures",
    [],
    "Failures of the vehicle, such as `motor 2 off at 12 for 3` (docs/failures.md); each node applies those of its own "
    "parts",
    element=str,
)


_PARTS = "; parts of this node: "


def constraints_with_parts(parts: Iterable[str]) -> str:
    """Constraints of a node's parameter `failures`, followed by the parts whose failures the node applies."""
    return f"{FAILURES.constraints}{_PARTS}{', '.join(parts) or 'none'}"


def parts_in(constraints: str) -> list[str] | None:
    """The parts in a text from `constraints_with_parts`; None for any other text."""
    _, found, parts = constraints.partition(_PARTS)
    return parts.split(", ") if found else None


@dataclass(frozen=True)
class Failure:
    """A failure of one part.

    Attributes:
        text: the failure in words.
        target: name of the part, from TARGETS.
        number: number of the part, from 1; 0 if there is only one.
        kind: from KINDS.
        values: as many as the part has axes, or 1 for a delay or share; none for a kind without values.
        begin_ns: simulated time of the beginning; None to begin at once.
        duration_ns: infinite for a failure that does not end.
    """

    text: str
    target: str
    number: int
    kind: str
    values: tuple[float, ...]
    begin_ns: int | None
    duration_ns: float


def parse_failure(text: str) -> Failure:
    """Parse a failure in words.

    Raises:
        ParameterError: the text is invalid; the error names the word given and the words allowed.
    """
    return _Words(text).failure()


class _Words:
    """The words of a text, read from left to right."""

    def __init__(self, text: str) -> None:
        self._words = text.split()
        self._text = " ".join(self._words)

    def failure(self) -> Failure:
        name = self._next()
        target = TARGETS.get(name) or all_targets().get(name)
        if target is None:
            raise self._refuse(name, ", ".join(all_targets()))
        number = self._number_of(name, target.last) if target.last else 0
        kind = self._kind(target)
        unit, most = _OF_ONE_VALUE.get(kind, (target.unit, _LARGEST))
        values: list[float] = []
        while self._words and self._words[0] not in ("at", "for"):
            least = 0.0 if kind in _NOT_NEGATIVE else -_LARGEST
            meaning = KINDS[kind] or "at TIME, for DURATION, or nothing more"
            if not KINDS[kind]:
                raise self._refuse(self._words[0], meaning)
            values.append(self._number(meaning, least, most))
        size = 1 if kind in _OF_ONE_VALUE else target.size
        if (KINDS[kind] and len(values) not in (1, size)) or (kind == FRONT and len(values) != size):
            counts = f"{size} numbers" if kind == FRONT else f"1 number or {size}" if size > 1 else "1 number"
            given = "1 number" if len(values) == 1 else f"{len(values)} numbers"
            raise self._refuse(given, f"{counts}, {KINDS[kind]} ({unit})")
        if KINDS[kind] and len(values) == 1:
            values *= size
        times: dict[str, float] = {}
        while self._words:
            word = self._next()
            if word not in ("at", "for") or word in times:
                raise self._refuse(word, "at TIME or for DURATION, each once")
            times[word] = self._number("a time in seconds", 0.0, _LONGEST_S)
        begin_ns = round(times["at"] * NANOSECONDS) if "at" in times else None
        duration_ns = times["for"] * NANOSECONDS if "for" in times else math.inf
        return Failure(self._text, name, number, kind, tuple(values), begin_ns, duration_ns)

    def _kind(self, target: Target) -> str:
        first = self._next()
        if first == "wrong" and self._words[:1] == ["by"]:
            first = f"{first} {self._next()}"
        if first not in target.kinds:
            raise self._refuse(first, ", ".join(target.kinds))
        return first

    def _number_of(self, name: str, last: int) -> int:
        word = self._next()
        if not word.isdecimal() or len(word) > len(str(last)) or not 1 <= int(word) <= last:
            raise self._refuse(word, f"{name} 1 to {last}")
        return int(word)

    def _number(self, meaning: str, least: float, most: float) -> float:
        word = self._next()
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise self._refuse(word, f"{meaning}, a number from {least:g} to {most:g}")
        return value

    def _next(self) -> str:
        return self._words.pop(0) if self._words else ""

    def _refuse(self, given: str, allowed: str) -> ParameterError:
        return ParameterError(f"failure '{self._text}': {given or 'nothing'} given; allowed: {allowed}")

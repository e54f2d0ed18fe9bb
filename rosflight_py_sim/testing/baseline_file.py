"""Baseline file: named flights that a user describes, followed by the hashes and measures that `baseline` records."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rosflight_py_sim.graph.scenario import checked_value
from rosflight_py_sim.ground.parameters import Parameter, ParameterError
from rosflight_py_sim.ground.yaml_section import Item, read_file
from rosflight_py_sim.sweep.definition import Sweep
from rosflight_py_sim.sweep.swept_values import named_entries
from rosflight_py_sim.testing.described import KEYS, simulation_of
from rosflight_py_sim.testing.flight_trace import Trace

TOLERANCE = Parameter(
    "tolerance",
    0.0,
    "Largest change of a measure, relative to its recorded value or to 1 if that is smaller",
    "",
    0.0,
    1.0,
)
"""Value of a baseline file; without it, the hashes must be equal."""

_RECORDED = "recorded:"
_HEAD = "# Written by `rosflight_py_sim baseline record`, which replaces everything from here on."

# As of every YAML file that is read.
_LARGEST = 1_000_000


@dataclass(frozen=True)
class RecordedFlight:
    """What a baseline holds of a flight.

    Attributes:
        outcome: `completed`, or why the mission failed.
        duration_s: simulated time at the end, s.
        measures: by name.
        trace: hashes.
    """

    outcome: str
    duration_s: float
    measures: Mapping[str, float]
    trace: Trace

    @property
    def data(self) -> dict[str, Any]:
        """The flight as data that YAML can hold, with what people read first."""
        return {
            "outcome": self.outcome,
            "duration_s": self.duration_s,
            "measures": dict(self.measures),
            "hash": self.trace.digest,
            "topics": dict(self.trace.topics),
            "steps": dict(self.trace.nodes),
        }


@dataclass(frozen=True)
class Baseline:
    """Flights of a baseline file.

    Attributes:
        file: the file.
        flights: simulation of each flight, by name.
        tolerance: largest relative change of a measure; None: hashes must be equal.
        recorded: recorded flights, by name.
        versions: versions with which they were recorded.
        text: the part of the file that the user writes.
    """

    file: Path
    flights: Mapping[str, Sweep]
    tolerance: float | None
    recorded: Mapping[str, RecordedFlight] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    text: str = ""

    def write(self, recorded: Mapping[str, RecordedFlight], versions: Mapping[str, str]) -> int:
        """Replace the recorded part of the file; return the size of the file, bytes.

        Raises:
            ParameterError: the file cannot be written, or would be too large to be read.
        """
        data = {"versions": dict(versions), "flights": {name: one.data for name, one in recorded.items()}}
        own = yaml.safe_dump({"recorded": data}, sort_keys=False, width=math.inf, allow_unicode=True)
        if len(own.encode()) > _LARGEST:
            raise ParameterError(
                f"{self.file}: {len(own.encode())} bytes of recorded flights given; allowed: at most {_LARGEST} bytes, "
                "with a smaller 'limit', a larger 'step_size', or the flights in several files"
            )
        content = f"{self.text.rstrip()}\n\n{_HEAD}\n{own}"
        new = self.file.with_name(f"{self.file.name}.new")
        try:
            new.write_text(content, encoding="utf-8")
            new.replace(self.file)
        except OSError as error:
            raise ParameterError(f"{self.file}: cannot be written: {error.strerror}") from error
        return len(content.encode())


def read_baseline(file: Path) -> Baseline:
    """Read a baseline file.

    Raises:
        ParameterError: the file cannot be read or is invalid; the text names file and key.
    """
    try:
        whole = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"{file}: cannot be read: {error}") from error
    text, own = _parts(whole)
    section = read_file(file, ParameterError, text).section(
        ("description", "tolerance", "flights"), ("description", "flights")
    )
    section["description"].text()
    tolerance = section.read(TOLERANCE.name, lambda item: float(checked_value(item, TOLERANCE)), None)
    flights = {name: _flight(file, name, item) for name, item in named_entries(section["flights"]).items()}
    if not flights:
        raise section["flights"].refuse("at least one flight")
    recorded, versions = _recorded(file, own)
    return Baseline(file, flights, tolerance, recorded, versions, text)


def _parts(whole: str) -> tuple[str, str]:
    """The user's part of the file, and the recorded part."""
    lines = whole.splitlines(keepends=True)
    first = next((k for k, line in enumerate(lines) if line.startswith(_RECORDED)), len(lines))
    own = "".join(lines[first:])
    if first and lines[first - 1].strip() == _HEAD:
        first -= 1
    return "".join(lines[:first]), own


def _flight(file: Path, name: str, item: Item) -> Sweep:
    place = f"{file}: flights.{name}"
    section = item.section((*KEYS, "measures"))
    given = {key: section[key].value() for key in KEYS if key in section}
    measures = {"measures": section["measures"].value()} if "measures" in section else None
    return simulation_of(place, file.absolute().parent, given, measures)


def _recorded(file: Path, own: str) -> tuple[dict[str, RecordedFlight], dict[str, str]]:
    if not own:
        return {}, {}
    damaged = f"{file}: the part after '{_RECORDED}' is damaged"
    try:
        data = read_file(file, ParameterError, own).value()["recorded"]
        flights = {
            str(name): RecordedFlight(
                str(one["outcome"]),
                float(one["duration_s"]),
                {str(key): float(value) for key, value in one["measures"].items()},
                Trace(
                    {str(key): str(value) for key, value in one["topics"].items()},
                    {str(key): str(value) for key, value in one["steps"].items()},
                ),
            )
            for name, one in data["flights"].items()
        }
        for name, one in flights.items():
            if one.trace.digest != data["flights"][name]["hash"]:
                raise ValueError(f"the hash of {name} does not fit its topics")
        return flights, {str(key): str(value) for key, value in data["versions"].items()}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ParameterError(f"{damaged} ({error}); restore it, or record the flights again without it") from error

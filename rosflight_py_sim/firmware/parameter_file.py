"""Parameter files in ROSflight's format: a YAML list of {name, type, value}, type 6 for an integer, 9 for a number.

This module knows no parameters: a flight controller checks names, types and ranges.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import yaml

from rosflight_py_sim.ground.bounded_yaml import compose_yaml

FILE_TYPES: dict[type[int] | type[float], int] = {int: 6, float: 9}
"""Type in a file for each Python type."""


class ParameterFileError(ValueError):
    """Invalid parameter file; the text names the file, the line if known, and the reason."""


class ParameterEntry(NamedTuple):
    """Name, type and value of a parameter, as they stand in the file, and its line."""

    name: str
    type: str
    text: str
    line: int

    @property
    def value(self) -> float:
        """The value.

        Raises:
            ValueError: it is not a number.
        """
        try:
            return float(self.text)
        except ValueError:
            raise ValueError(f"the value of '{self.name}' is not a number: {self.text!r}") from None


def read_entries(path: Path) -> tuple[ParameterEntry, ...]:
    """Entries of a file.

    Raises:
        ParameterFileError: not readable, not a list of {name, type, value}, or a name is there twice.
    """
    try:
        return _entries_of(path, path.stat().st_mtime_ns)
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterFileError(f"{path}: {error}") from error


@lru_cache(maxsize=16)
def _entries_of(path: Path, _: int) -> tuple[ParameterEntry, ...]:
    """Entries of a file, by the time of its last change: the vehicles of many flights read the same file.

    Raises:
        OSError: not readable; further errors as of `read_entries`.
    """
    # Uses YAML nodes instead of plain values, because nodes have line numbers.
    try:
        root = compose_yaml(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        reason = getattr(error, "problem", None) or str(error)
        raise ParameterFileError(f"{path}{line}: not YAML: {reason}") from error
    if not isinstance(root, yaml.SequenceNode):
        raise ParameterFileError(f"{path}: expected a list of {{name, type, value}}")
    entries: dict[str, ParameterEntry] = {}
    for item in root.value:
        line_number = item.start_mark.line + 1
        try:
            entry = _entry(item, line_number)
            if entry.name in entries:
                raise ValueError(f"'{entry.name}' is already in line {entries[entry.name].line}")
        except ValueError as error:
            raise ParameterFileError(f"{path}, line {line_number}: {error}") from error
        entries[entry.name] = entry
    return tuple(entries.values())


def _entry(item: yaml.Node, line: int) -> ParameterEntry:
    if not isinstance(item, yaml.MappingNode):
        raise ValueError("expected an entry {name, type, value}")
    fields = {key.value: node.value for key, node in item.value if _is_scalar(key) and _is_scalar(node)}
    for key in ("name", "type", "value"):
        if key not in fields:
            raise ValueError(f"the entry lacks '{key}'")
    return ParameterEntry(str(fields["name"]), str(fields["type"]), str(fields["value"]), line)


def _is_scalar(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode)

"""Values that sources give for the parameters of a node: files, mappings and ROS arguments.

rcl gives a node the values that match its name, with three shortcomings: sections in ROSflight's files have the
executables' names (`/standalone_dynamics`), which need not be the nodes' names; a misspelt name is ignored silently;
and a section of a file with the node's name overrides `-p NAME:=VALUE`. Here later sources override earlier ones,
however they match. Within one file, a section with the node's own name overrides one with another name of the node, and
both override sections for all nodes, such as `/**`. Within one mapping, `NODE:NAME` overrides `NAME`.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import yaml

from rosflight_py_sim.ground.bounded_yaml import load_yaml
from rosflight_py_sim.ground.parameters import ParameterError, ParameterTable, Value
from rosflight_py_sim.interfaces.parameter_files import as_rcl_reads, line_in_file, sections_of

Source: TypeAlias = "Mapping[str, Any] | Path | str"
"""Values by parameter name, `NAME` or `NODE:NAME`, or a parameter file."""

# Parameters that rcl and rclpy declare.
_NOT_OURS = ("use_sim_time", "start_type_description_service", "qos_overrides")

# A name this similar to a known one counts as misspelt (ratio as in difflib).
_NEAR = 0.8


class GivenValue(NamedTuple):
    """A value that a source gives for a parameter of a node.

    Attributes:
        name: name of the parameter.
        value: not checked.
        file: parameter file; empty: given by a mapping.
        section: section of the file.
        node_name: name of the node by which the section selects it; empty: the value is given for all nodes, or by a
            mapping.
    """

    name: str
    value: Any
    file: str = ""
    section: str = ""
    node_name: str = ""

    @property
    def place(self) -> str:
        """File and line; empty for a value of a mapping."""
        return f"{self.file}, line {line_in_file(self.file, self.section, self.name)}" if self.file else ""


def given_by(sources: Iterable[Source], names: Sequence[str], namespace: str = "") -> list[GivenValue]:
    """All values that sources give for the parameters of a node; a later one overrides an earlier one.

    Args:
        sources: in increasing order of precedence.
        names: names of the node, in decreasing order of precedence.
        namespace: full namespace of the node.

    Raises:
        ParameterError: a file cannot be read, is not YAML, or is not a parameter file.
    """
    given: list[GivenValue] = []
    for source in sources:
        if isinstance(source, Mapping):
            given += _of_mapping(source, names, namespace)
        else:
            given += _of_sections(str(source), _Sections(sections_of(str(source))), tuple(names), namespace)
    return given


def merged_values(sources: Iterable[Source], names: Sequence[str], namespace: str = "") -> dict[str, Any]:
    """The values that apply, by name; arguments and errors as of `given_by`."""
    return {one.name: one.value for one in given_by(sources, names, namespace)}


def checked_values(table: ParameterTable, found: Sequence[GivenValue]) -> dict[str, Value]:
    """All values of the table, checked; names that are not in it are ignored.

    Raises:
        ParameterError: a value is missing or not allowed; the text begins with the place of the value.
    """
    try:
        return table.checked({one.name: one.value for one in found if one.name in table})
    except ParameterError as error:
        raise placed(error, found) from error


def placed(error: ParameterError, found: Iterable[GivenValue]) -> ParameterError:
    """The error, preceded by file and line of the first parameter that it names."""
    last = {one.name: one for one in found}
    named = (last[name].place for name in re.findall(r"[\w.]+", str(error)) if name in last)
    place = next(filter(None, named), "")
    return ParameterError(f"{place}: {error}") if place else error


def unknown_names(names: Iterable[str], table: ParameterTable) -> list[str]:
    """Names, sorted, that are neither in the table nor of parameters that ROS itself declares."""
    return sorted({name for name in names if name not in table and name.split(".")[0] not in _NOT_OURS})


def refuse_misspelt(
    names: Iterable[str], table: ParameterTable, named: Collection[str], shared_names: Iterable[str]
) -> None:
    """Refuse unknown names that can only be meant for a node.

    Args:
        names: names of given parameters.
        table: the parameters of the node.
        named: those of the names that are given for this node; near misses are refused among the others.
        shared_names: names that other nodes have, which are not refused; read only when a name is unknown.

    Raises:
        ParameterError: a name is misspelt; the text gives similar ones.
    """
    known = tuple(parameter.name for parameter in table)
    for name in unknown_names(names, table):
        if (name in named or _is_near(name, known)) and name not in shared_names:
            raise ParameterError(table.unknown(name))


@lru_cache(maxsize=1024)
def _is_near(name: str, known: tuple[str, ...]) -> bool:
    """Whether a name resembles a known one; cached because nodes of the same class read the same wildcard sections."""
    return bool(difflib.get_close_matches(name, known, n=1, cutoff=_NEAR))


def _of_mapping(source: Mapping[str, Any], names: Sequence[str], namespace: str) -> list[GivenValue]:
    general, own = [], []
    for key, value in source.items():
        node, _, name = key.rpartition(":")
        if not node:
            general.append(GivenValue(name, value))
        elif any(_is_name(node, one, namespace) for one in names):
            own.append(GivenValue(name, value))
    return general + own


class _Sections:
    """Sections of a file; those of the same reading of the file are equal, however large."""

    def __init__(self, content: Sequence[tuple[str, dict[str, Any]]]) -> None:
        self.content = content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Sections) and other.content is self.content

    def __hash__(self) -> int:
        return id(self.content)


@lru_cache(maxsize=1024)
def _of_sections(file: str, sections: _Sections, names: Sequence[str], namespace: str) -> Sequence[GivenValue]:
    """The values of a file; cached because the vehicles of many flights read the same sections."""
    return tuple(_of_file(file, sections.content, names, namespace))


def _of_file(
    file: str, sections: Sequence[tuple[str, dict[str, Any]]], names: Sequence[str], namespace: str
) -> Iterator[GivenValue]:
    for section, values in sections:
        if section.endswith("*") and _matches(section, f"{namespace}/{names[0]}"):
            yield from (GivenValue(name, value, file, section) for name, value in values.items())
    for node_name in reversed(names):
        for section, values in sections:
            if _is_name(section, node_name, namespace):
                yield from (GivenValue(name, value, file, section, node_name) for name, value in values.items())


def _is_name(section: str, node_name: str, namespace: str) -> bool:
    """Whether a section names a node: by its full name, with or without wildcards, or without a namespace."""
    *above, last = section.lstrip("/").split("/")
    return last == node_name and (above in ([], ["*"]) or _matches(section, f"{namespace}/{node_name}"))


def _matches(section: str, full_name: str) -> bool:
    """Whether the name of a section matches the full name of a node by rcl's rules."""
    # Successive wildcards match what one does, but in many ways, all of which would be tried.
    name = re.sub(r"(/\*\*)+", "/**", f"/{section.strip('/')}")
    pattern = re.escape(name).replace(r"/\*\*", r"(/\w+)*").replace(r"/\*", r"/\w+")
    return re.fullmatch(pattern, f"/{full_name.strip('/')}") is not None


def sources_of_arguments(arguments: Iterable[str]) -> list[Source]:
    """The sources in ROS arguments: files (--params-file) and single values (-p), in order.

    Raises:
        ParameterError: a value is not YAML.
    """
    sources: list[Source] = []
    for flag, word in itertools.pairwise(arguments):
        if flag == "--params-file":
            sources.append(word)
        elif flag in ("-p", "--param"):
            key, _, text = word.partition(":=")
            sources.append({key: _single(key.rpartition(":")[2], text)})
    return sources


def _single(parameter: str, text: str) -> Any:
    try:
        return as_rcl_reads(load_yaml(text))
    except yaml.YAMLError as error:
        raise ParameterError(f"parameter '{parameter}': {text!r} given; allowed: a value in YAML") from error

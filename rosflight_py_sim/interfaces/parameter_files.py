"""Parameters from ROS arguments and files, with rules that go beyond rcl's.

rcl gives a node the values that match its name, with three shortcomings: sections in ROSflight's files have the
executables' names (`/standalone_dynamics`), which need not be the nodes' names; a misspelt name is ignored silently;
and a section of a file with the node's name overrides `-p NAME:=VALUE`. Here later arguments override earlier ones,
however they match. Within one file, a section with the node's own name overrides one with an alias, and both override
`/**`.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from rosflight_py_sim.ground.bounded_yaml import BoundedLoader, load_yaml
from rosflight_py_sim.ground.parameters import ParameterError


def files_of_arguments(arguments: Iterable[str]) -> list[str]:
    """Parameter files in ROS arguments (--params-file)."""
    given = list(arguments)
    return [value for flag, value in itertools.pairwise(given) if flag == "--params-file"]


def values_of_arguments(
    arguments: Iterable[str], node_name: str, namespace: str, aliases: Sequence[str]
) -> dict[str, Any]:
    """Parameter values for a node in ROS arguments, from files (--params-file) and single values (-p).

    Args:
        arguments: as given to rclpy.init.
        node_name: name of the node, after remapping.
        namespace: namespace of the node.
        aliases: other names of the node in files, in order of decreasing precedence.

    Raises:
        ParameterError: as `named_values`.
    """
    values: dict[str, Any] = {}
    for flag, word in itertools.pairwise(arguments):
        if flag == "--params-file":
            values.update(wildcard_values(word))
            for name in (*reversed(aliases), node_name):
                values.update(named_values(word, name, namespace))
        elif flag in ("-p", "--param"):
            target, _, text = word.partition(":=")
            node, _, parameter = target.rpartition(":")
            if not node or any(node in _names(name, namespace) for name in (node_name, *aliases)):
                values[parameter] = _as_rcl_reads(_single(parameter, text))
    return values


def place_of(parameter: str, arguments: Sequence[str], node_name: str, namespace: str, aliases: Sequence[str]) -> str:
    """File and line that give a parameter of a node its value; empty if no file does.

    Args:
        parameter: name of the parameter.
        arguments: as of `values_of_arguments`.
        node_name: as of `values_of_arguments`.
        namespace: as of `values_of_arguments`.
        aliases: as of `values_of_arguments`.
    """
    place = ""
    for flag, word in itertools.pairwise(arguments):
        if flag == "--params-file":
            lines = _lines(word, Path(word).stat().st_mtime_ns)
            for names in ({"/**"}, *(_names(name, namespace) for name in (*reversed(aliases), node_name))):
                place = next((f"{word}, line {lines[n, parameter]}" for n in names if (n, parameter) in lines), place)
        elif flag in ("-p", "--param") and word.partition(":=")[0].rpartition(":")[2] == parameter:
            place = ""
    return place


@functools.lru_cache(maxsize=64)
def _lines(file: str, _: int) -> dict[tuple[str, str], int]:
    """Line of each parameter in a parameter file that `_document` accepts, by section and name."""
    lines: dict[tuple[str, str], int] = {}

    def descend(node: yaml.Node | None, section: str, prefix: str | None) -> None:
        for key, inner in node.value if isinstance(node, yaml.MappingNode) else ():
            if prefix is None and key.value == "ros__parameters":
                descend(inner, section, "")
            elif prefix is None:
                descend(inner, f"{section}/{key.value.strip('/')}" if section else key.value, None)
            else:
                lines[section, prefix + key.value] = key.start_mark.line + 1
                descend(inner, section, f"{prefix}{key.value}.")

    descend(yaml.compose(Path(file).read_text(encoding="utf-8"), _Loader), "", None)
    return lines


def _single(parameter: str, text: str) -> Any:
    try:
        return load_yaml(text)
    except yaml.YAMLError as error:
        raise ParameterError(f"parameter '{parameter}': {text!r} given; allowed: a value in YAML") from error


def check_files(files: Iterable[str]) -> None:
    """Check that the parameter files can be read, because rcl's errors only name lines of its source code.

    Raises:
        ParameterError: a file cannot be read, is not YAML, or is not a parameter file.
    """
    for file in files:
        for _ in _sections(file):
            pass


def named_values(file: str, node_name: str, namespace: str) -> dict[str, Any]:
    """Values in the sections of a parameter file that name this node, with or without a wildcard namespace.

    The section for all nodes, `/**`, is not included.

    Raises:
        ParameterError: the file cannot be read, is not YAML, or is not a parameter file.
    """
    own = _names(node_name, namespace)
    values: dict[str, Any] = {}
    for section, content in _sections(file):
        if section in own:
            values.update(_flat(content))
    return values


def _names(node_name: str, namespace: str) -> set[str]:
    """All section names that match a node."""
    path = f"{namespace.rstrip('/')}/{node_name}"
    return {path, path.lstrip("/"), f"/**/{node_name}", f"/*/{node_name}", f"/{node_name}", node_name}


def wildcard_values(file: str) -> dict[str, Any]:
    """Values in the sections of a parameter file for all nodes, `/**`.

    Raises:
        ParameterError: as `named_values`.
    """
    values: dict[str, Any] = {}
    for section, content in _sections(file):
        if section == "/**":
            values.update(_flat(content))
    return values


class _Loader(BoundedLoader):
    """Accepts lists as launch_ros writes them, tagged as Python tuples; rcl ignores tags."""


def _list(loader: _Loader, node: yaml.SequenceNode) -> list[Any]:
    return loader.construct_sequence(node)


_Loader.add_constructor("tag:yaml.org,2002:python/tuple", _list)


def _sections(file: str) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        document = _document(file, Path(file).stat().st_mtime_ns)
    except OSError as error:
        raise ParameterError(f"parameter file '{file}': {error.strerror}") from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        text = " ".join(str(error).split())
        if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
            text = f"line {error.problem_mark.line + 1}: {error.problem}"
        raise ParameterError(f"parameter file '{file}' is not YAML: {text}") from error
    yield from _descend(document, "", file)


@functools.lru_cache(maxsize=64)
def _document(file: str, _: int) -> Any:
    """Content of a file, by the time of its last change: a fleet's nodes read the same files many times."""
    return load_yaml(Path(file).read_text(encoding="utf-8"), _Loader) or {}


def _descend(content: Any, path: str, file: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(content, dict):
        where = f"section '{path}'" if path else "the file"
        raise ParameterError(f"parameter file '{file}': {where} has no 'ros__parameters'")
    for name, inner in content.items():
        if name == "ros__parameters":
            if not isinstance(inner, (dict, type(None))):
                raise ParameterError(
                    f"parameter file '{file}': 'ros__parameters' of '{path}' is not a mapping from names to values"
                )
            yield path, inner or {}
        else:
            yield from _descend(inner, f"{path}/{str(name).strip('/')}" if path else str(name), file)


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat.update(_flat(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = _as_rcl_reads(value)
    return flat


def _as_rcl_reads(value: Any) -> Any:
    """A value as rcl reads it: `1e-5` and `-.5` are numbers in rcl but texts in PyYAML."""
    if isinstance(value, list):
        return [_as_rcl_reads(element) for element in value]
    # A text that PyYAML would read as a number was quoted.
    if isinstance(value, str) and _NUMBER.fullmatch(value) and _is_text(value):
        return float(value)
    return value


def _is_text(value: str) -> bool:
    try:
        return isinstance(load_yaml(value), str)
    except yaml.YAMLError:
        return False


_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")

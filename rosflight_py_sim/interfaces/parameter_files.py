"""Parameter files: their sections, with the values and lines of the parameters."""

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
    return [value for flag, value in itertools.pairwise(arguments) if flag == "--params-file"]


def line_in_file(file: str, section: str, parameter: str) -> int:
    """Line of a parameter in a file whose sections can be read; of the section itself if `parameter` is empty."""
    return _lines(file, Path(file).stat().st_mtime_ns)[section, parameter]


@functools.lru_cache(maxsize=64)
def _lines(file: str, _: int) -> dict[tuple[str, str], int]:
    """Line of each parameter in a YAML file by section and name; of each section with an empty name."""
    lines: dict[tuple[str, str], int] = {}

    def descend(node: yaml.Node | None, section: str, prefix: str | None) -> None:
        for key, inner in node.value if isinstance(node, yaml.MappingNode) else ():
            name, line = str(_Loader("").construct_document(key)), key.start_mark.line + 1
            if prefix is None and name == "ros__parameters":
                descend(inner, section, "")
            elif prefix is None:
                path = f"{section}/{name.strip('/')}" if section else name
                lines[path, ""] = line
                descend(inner, path, None)
            else:
                lines[section, prefix + name] = line
                descend(inner, section, f"{prefix}{name}.")

    descend(yaml.compose(Path(file).read_text(encoding="utf-8"), _Loader), "", None)
    return lines


def check_files(files: Iterable[str]) -> None:
    """Check that the parameter files can be read, because rcl's errors only name lines of its source code.

    Raises:
        ParameterError: a file cannot be read, is not YAML, or is not a parameter file.
    """
    for file in files:
        sections_of(file)


class _Loader(BoundedLoader):
    """Accepts lists as launch_ros writes them, tagged as Python tuples; rcl ignores tags."""


def _list(loader: _Loader, node: yaml.SequenceNode) -> list[Any]:
    return loader.construct_sequence(node)


_Loader.add_constructor("tag:yaml.org,2002:python/tuple", _list)


def sections_of(file: str) -> Sequence[tuple[str, dict[str, Any]]]:
    """Sections of a parameter file, in order: the name of each, and its values by parameter name.

    Raises:
        ParameterError: the file cannot be read, is not YAML, or is not a parameter file.
    """
    try:
        return _sections(file, Path(file).stat().st_mtime_ns)
    except OSError as error:
        raise ParameterError(f"parameter file '{file}': {error.strerror}") from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        text = " ".join(str(error).split())
        if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
            text = f"line {error.problem_mark.line + 1}: {error.problem}"
        raise ParameterError(f"parameter file '{file}' is not YAML: {text}") from error


@functools.lru_cache(maxsize=64)
def _sections(file: str, _: int) -> Sequence[tuple[str, dict[str, Any]]]:
    """Sections of a file, by the time of its last change: a fleet's nodes read the same files many times."""
    document = load_yaml(Path(file).read_text(encoding="utf-8"), _Loader) or {}
    return [(section, _flat(values)) for section, values in _descend(document, "", file)]


def _descend(content: Any, path: str, file: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(content, dict):
        raise _misplaced(file, path, f"{f'section {path!r}' if path else 'the file'} has no 'ros__parameters'")
    for name, inner in content.items():
        if name == "ros__parameters":
            if not isinstance(inner, (dict, type(None))):
                text = f"'ros__parameters' of '{path}' is not a mapping from names to values"
                raise _misplaced(file, path, text)
            yield path, inner or {}
        else:
            yield from _descend(inner, f"{path}/{str(name).strip('/')}" if path else str(name), file)


def _misplaced(file: str, section: str, text: str) -> ParameterError:
    line = f"line {line_in_file(file, section, '')}: " if section else ""
    return ParameterError(f"parameter file '{file}': {line}{text}")


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat.update(_flat(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = as_rcl_reads(value)
    return flat


def as_rcl_reads(value: Any) -> Any:
    """A value as rcl reads it: `1e-5` and `-.5` are numbers in rcl but texts in PyYAML."""
    if isinstance(value, list):
        return [as_rcl_reads(element) for element in value]
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

"""Vehicle file of an identified vehicle: a copy of the vehicle's files with the estimates in their places."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from rosflight_py_sim.ground.bounded_yaml import compose_yaml
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.identification.estimates import Estimated
from rosflight_py_sim.identification.flight_log import FlightLog

# The parameter file is in a folder of its own: every YAML file beside a vehicle file is a vehicle.
_PARAMETERS = "parameters"


@dataclass(frozen=True)
class Place:
    """Where a parameter's value applies.

    Attributes:
        file: parameter file; None if no file gives the value.
        line: line of the value, from 1.
        node: name of the node.
    """

    file: Path | None
    line: int
    node: str


def write_vehicle(
    estimates: Sequence[Estimated],
    logs: Sequence[FlightLog],
    vehicle_file: Path,
    parameter_file: Path,
    places: Mapping[str, Sequence[Place]],
    folder: Path,
) -> Path:
    """Write vehicle file and parameter file of the identified vehicle; return the path of the former.

    Args:
        estimates: the estimates.
        logs: the logs that show them.
        vehicle_file: file of the vehicle from which the identification began.
        parameter_file: its parameter file.
        places: places of each estimated parameter's value, by name.
        folder: folder to write to, which exists.

    Raises:
        ParameterError: a value of the parameter file is not on a line of its own.
        OSError: a file cannot be written.
    """
    name = f"{vehicle_file.stem.removesuffix('_identified')}_identified"
    parameters = folder / _PARAMETERS / f"{name}.yaml"
    parameters.parent.mkdir(exist_ok=True)
    written = folder / f"{name}.yaml"
    text = _with_paths(vehicle_file, {parameter_file: f"{_PARAMETERS}/{name}.yaml"})
    sources = ", ".join(_source(log.file, log.date) for log in logs)
    begun = f"# Identified from {sources}, beginning with {vehicle_file}.\n"
    parameters.write_text(begun + _with_values(estimates, sources, parameter_file, places), encoding="utf-8")
    written.write_text(begun + text, encoding="utf-8")
    return written


def _source(file: Path, date: str) -> str:
    return f"{file.name} ({date})" if date else file.name


def _with_values(estimates: Sequence[Estimated], source: str, file: Path, places: Mapping[str, Sequence[Place]]) -> str:
    lines = file.read_text(encoding="utf-8").splitlines()
    further: dict[str, list[str]] = {}
    for one in estimates:
        unit = f" {one.parameter.unit}" if one.parameter.unit else ""
        comment = f"standard error {one.standard_error:.2g}{unit}; before {one.before:g}; from {source}"
        entry = f"{one.name}: {_number(one.value)}  # {comment}"
        for place in places[one.name]:
            if place.file is None or place.file.resolve() != file.resolve():
                further.setdefault(place.node, []).append(entry)
                continue
            old = lines[place.line - 1]
            match = re.match(rf"(\s*){re.escape(one.name)}:\s*[-+.\deE]+\s*(#.*)?$", old)
            if match is None:
                raise ParameterError(
                    f"{file}, line {place.line}: '{old.strip()}' given; allowed: {one.name} with a number, on a line "
                    "of its own, which the estimate replaces"
                )
            lines[place.line - 1] = match[1] + entry
    for node, entries in further.items():
        indented = [f"    {entry}" for entry in entries]
        section = next((row for row, line in enumerate(lines) if line.startswith(f"/**/{node}:")), None)
        if section is None:
            lines += [f"/**/{node}:", "  ros__parameters:", *indented]
        else:
            lines[section + 2 : section + 2] = indented
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    """Five digits, with a point, so that ROS reads a real number."""
    text = f"{value:.5g}"
    if "e" in text:
        mantissa, exponent = text.split("e")
        return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}e{exponent}"
    return text if "." in text else f"{text}.0"


def _with_paths(file: Path, replaced: Mapping[Path, str]) -> str:
    """Text of a vehicle file whose relative paths have become absolute, or those given."""
    text = file.read_text(encoding="utf-8")
    root = compose_yaml(text)
    scalars: list[yaml.ScalarNode] = []

    def collect(node: yaml.Node | None) -> None:
        if isinstance(node, yaml.MappingNode):
            for _, value in node.value:
                collect(value)
        elif isinstance(node, yaml.SequenceNode):
            for value in node.value:
                collect(value)
        elif isinstance(node, yaml.ScalarNode):
            scalars.append(node)

    collect(root)
    for node in reversed(scalars):
        path = Path(os.path.normpath(file.absolute().parent / str(node.value)))
        if node.value and path.is_file():
            new = replaced.get(path, str(path))
            text = text[: node.start_mark.index] + new + text[node.end_mark.index :]
    return text

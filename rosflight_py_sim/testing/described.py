"""Simulations described by the keys of a sweep file, in a marker of a test or in a baseline file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.sweep.definition import Sweep
from rosflight_py_sim.sweep.sweep_file import read_sweep

KEYS = (
    *("vehicle", "scenario", "mission", "seed", "wind", "failures", "parameters", "parameter_files", "firmware"),
    *("forces_and_moments", "dynamics", "sensors", "transmitter", "flight_controller", "autopilot", "time_manager"),
    *("extra_nodes", "limit"),
)
"""Keys of a simulation: those of a sweep file (docs/sweep.md) that concern one flight, and `wind`."""


def simulation_of(
    place: str, folder: Path, given: Mapping[str, Any], further: Mapping[str, Any] | None = None
) -> Sweep:
    """A sweep of one run, from the keys of a simulation.

    Args:
        place: where the keys were given, for errors.
        folder: folder from which relative paths start.
        given: values by key; the class of a node stands for its place, `module:Class`.
        further: values of further keys of a sweep file.

    Raises:
        ParameterError: a key or value is not allowed; the text begins with `place`.
    """
    for key in given:
        if key not in KEYS:
            raise ParameterError(f"{place}: {key}: an unknown key given; allowed: {', '.join(KEYS)}")
    keys = {name: _plain(value, f"{place}: {name}") for name, value in given.items()}
    if "wind" in keys:
        keys["parameters"] = {**_steady_wind(keys.pop("wind"), place), **keys.get("parameters", {})}
    file = folder / "simulation"
    try:
        text = yaml.safe_dump({"description": place, "runs": 1, **keys, **(further or {})}, sort_keys=False)
        sweep = read_sweep(file, text)
    except ParameterError as error:
        raise ParameterError(_placed(str(error), str(file), place)) from error
    if sweep.quantities:
        names = ", ".join(one.key for one in sweep.quantities)
        raise ParameterError(f"{place}: a distribution given for {names}; allowed: one value")
    return sweep


def _steady_wind(wind: Any, place: str) -> dict[str, Any]:
    """Parameters of a wind of constant velocity, NED, m/s."""
    if not (isinstance(wind, list) and len(wind) == 3 and all(type(one) in (int, float) for one in wind)):
        raise ParameterError(f"{place}: wind: {wind} given; allowed: [north, east, down], m/s")
    return {
        "sim_has_wind": True,
        "use_random_wind": False,
        "turbulence_model": "none",
        "steady_state_wind": [float(one) for one in wind],
    }


def _plain(value: Any, place: str) -> Any:
    """The value as YAML holds it: classes of nodes as their places, tuples as lists, paths as texts."""
    if isinstance(value, type):
        return place_of(value, place)
    if isinstance(value, Mapping):
        return {str(name): _plain(one, place) for name, one in value.items()}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one, place) for one in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise ParameterError(
        f"{place}: {value!r} given; allowed: numbers, texts, truth values, paths, classes of nodes, and lists and "
        "mappings of these"
    )


def place_of(cls: type, place: str) -> str:
    """Place of a node's class, `module:Class`, by which another process imports it.

    Raises:
        ParameterError: not a class of a node, or one inside of a function.
    """
    if not issubclass(cls, Part):
        raise ParameterError(f"{place}: class {cls.__name__} given; allowed: classes derived from Part or PartNode")
    if "<locals>" in cls.__qualname__:
        raise ParameterError(
            f"{place}: class {cls.__name__} given, defined in a function; allowed: classes at the top of a module"
        )
    return f"{cls.__module__}:{cls.__qualname__}"


def _placed(text: str, file: str, place: str) -> str:
    """The error with the place of the keys in front, instead of a file that does not exist and a line in it."""
    if not text.startswith(file):
        return f"{place}: {text}"
    _, _, rest = text.removeprefix(file).partition(": ")
    return f"{place}: {rest}"

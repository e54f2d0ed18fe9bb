"""Catalogue of vehicles: vehicle files, found by name in the vehicle folders, or by path."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from rosflight_py_sim.ground.confined_files import is_file
from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.registry import node_names, not_searched, registered_folders
from rosflight_py_sim.vehicles.vehicle import Vehicle
from rosflight_py_sim.vehicles.vehicle_file import read_vehicle

DEFAULT_VEHICLE = "multirotor"
"""The default vehicle."""

STANDALONE = "standalone"
"""Name of this package's dynamics, as an option value."""

SHORT_NAMES = {"standalone_dynamics": STANDALONE, "jsbsim_dynamics": "jsbsim"}
"""Names of this package's dynamics as option values, by executable; other dynamics have the names of their nodes."""

FOLDERS = "ROSFLIGHT_PY_SIM_VEHICLES"
"""Environment variable with your own vehicle folders, separated as in PATH; they take precedence over folders
registered by packages."""


def vehicle_files() -> dict[tuple[str, str], Path]:
    """Vehicle files by names of vehicle and dynamics.

    A folder of vehicles holds NAME.yaml and, for vehicles with other dynamics, DYNAMICS/NAME.yaml. Other folders in it
    are ignored.
    """
    files: dict[tuple[str, str], Path] = {}
    for dynamics, place in _places():
        for file in sorted(place.glob("*.yaml")):
            files.setdefault((file.stem, dynamics), file)
    return files


def _places() -> Iterator[tuple[str, Path]]:
    """Names of dynamics with folders of their vehicle files, the strongest first."""
    given = [Path(folder) for folder in os.environ.get(FOLDERS, "").split(os.pathsep) if folder]
    for folder in [*given, *registered_folders("vehicles")[0]]:
        for dynamics in known_dynamics():
            yield dynamics, folder if dynamics == STANDALONE else folder / dynamics


def known_vehicles() -> list[str]:
    """Names of all vehicles."""
    return sorted({name for name, dynamics in vehicle_files() if dynamics == STANDALONE})


def known_dynamics() -> list[str]:
    """Names of all dynamics, as option values."""
    return [SHORT_NAMES.get(name, name) for name in node_names(NodeKind.DYNAMICS)]


def dynamics_by_name() -> dict[str, str]:
    """Option values of dynamics, by themselves and by the executables of the nodes."""
    return {name: name for name in known_dynamics()} | SHORT_NAMES


def vehicles_and_errors() -> tuple[dict[tuple[str, str], Vehicle], list[ParameterError]]:
    """Valid vehicles by names of vehicle and dynamics, and an error for each invalid vehicle file."""
    vehicles: dict[tuple[str, str], Vehicle] = {}
    errors = []
    for names, file in vehicle_files().items():
        try:
            vehicles[names] = read_vehicle(file)
        except ParameterError as error:
            errors.append(error)
    return vehicles, errors


def all_vehicles() -> dict[tuple[str, str], Vehicle]:
    """Vehicles by names of vehicle and dynamics, without those of invalid files, which must not affect the others."""
    return vehicles_and_errors()[0]


def names_of_vehicles(suits: Callable[[Vehicle], bool]) -> list[str]:
    """Names of the vehicles for which `suits` returns True, without those of invalid files."""
    return [name for (name, dynamics), one in all_vehicles().items() if dynamics == STANDALONE and suits(one)]


def reference(chosen: Vehicle) -> str:
    """Argument with which `vehicle` finds it again: its name, or the path of its file."""
    first: dict[str, Path] = {}
    for dynamics, place in _places():
        file = place / chosen.file.name
        if dynamics not in first and file.is_file():
            first[dynamics] = file
    return chosen.name if chosen.file in first.values() and chosen.file.suffix == ".yaml" else str(chosen.file)


def vehicle(name_or_path: str, dynamics: str = STANDALONE) -> Vehicle:
    """The vehicle with that name or file, and those dynamics.

    Dynamics for which there are no vehicle files replace those of any vehicle.

    Raises:
        ParameterError: there is no such vehicle, or its file is invalid.
    """
    files = vehicle_files()
    executable = next((name for name in node_names(NodeKind.DYNAMICS) if SHORT_NAMES.get(name, name) == dynamics), "")
    if executable and dynamics not in {by for _, by in files}:
        return vehicle(name_or_path).with_nodes({"dynamics": executable})
    if "/" in name_or_path or name_or_path.endswith((".yaml", ".yml")):
        file = Path(name_or_path)
        if dynamics != STANDALONE:
            file = file.parent / dynamics / file.name
        if is_file(file):
            return read_vehicle(file)
        raise ParameterError(f"vehicle '{name_or_path}' given; there is no file '{file}'")
    if (name_or_path, dynamics) in files:
        return read_vehicle(files[name_or_path, dynamics])
    given = name_or_path if dynamics == STANDALONE else f"{name_or_path} with --dynamics {dynamics}"
    names = [
        name if by == STANDALONE else f"{name} with --dynamics {by}"
        for name, by in sorted(files, key=lambda key: (key[1] != STANDALONE, key))
    ]
    raise ParameterError(
        f"vehicle '{given}' given; allowed: {', '.join(names)}, or the path of a vehicle file{not_searched('vehicles')}"
    )

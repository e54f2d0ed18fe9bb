"""Registry of front-ends, flight controllers, missions, wind models, and folders of vehicles, worlds and scenarios.

Other packages register theirs by entry points (docs/add_a_vehicle.md); a table of the same form lists this package's.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rosflight_py_sim.parameters import ParameterError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

PREFIX = "rosflight_py_sim."

_OWN = {
    "front_ends": {
        "ardupilot": "rosflight_py_sim.bridge.ardupilot_front_end:ArduPilotFrontEnd",
        "auv_zeromq": "rosflight_py_sim.bridge.auv_zeromq_front_end:AuvZeromqFrontEnd",
        "uthere": "rosflight_py_sim.bridge.uthere_front_end:UthereFrontEnd",
    },
    "flight_controllers": {
        "sil_board": "rosflight_py_sim.graph.flight_controllers:SIL_BOARD",
        "ardupilot": "rosflight_py_sim.graph.flight_controllers:ARDUPILOT",
        "auv_autopilot": "rosflight_py_sim.graph.flight_controllers:AUV_AUTOPILOT",
        "auv_zeromq": "rosflight_py_sim.graph.flight_controllers:AUV_ZEROMQ",
        "uthere": "rosflight_py_sim.graph.flight_controllers:UTHERE",
    },
    "missions": {
        "out_and_back": "rosflight_py_sim.missions.out_and_back.task:OutAndBackTask",
        "dive": "rosflight_py_sim.missions.dive.task:DiveTask",
        "skywriting": "rosflight_py_sim.missions.skywriting.task:SkywritingTask",
    },
    "scenarios": {"rosflight_py_sim": "rosflight_py_sim.graph.scenario:SCENARIOS"},
    "vehicles": {"rosflight_py_sim": "rosflight_py_sim.vehicles.vehicle_file:VEHICLES"},
    "wind_models": {
        "constant": "rosflight_py_sim.physics.constant_wind:ConstantWind",
        "shear": "rosflight_py_sim.physics.shear:ShearWind",
        "profile": "rosflight_py_sim.physics.wind_profile:WindProfile",
        "thermal": "rosflight_py_sim.physics.thermal:Thermal",
        "random_gusts": "rosflight_py_sim.physics.gusts:RandomGusts",
        "discrete_gust": "rosflight_py_sim.physics.gusts:DiscreteGust",
        "dryden": "rosflight_py_sim.physics.dryden:DrydenTurbulence",
    },
    "worlds": {"rosflight_py_sim": "rosflight_py_sim.world.world_file:WORLDS"},
}
"""Group, without PREFIX, to names and objects of its entry points."""


@cache
def registered(group: str) -> dict[str, EntryPoint]:
    """Entry points of a group by name, those of this package last.

    Raises:
        ParameterError: two packages register the same name.
    """
    from importlib.metadata import EntryPoint  # slow to import, and not needed by every node

    own = [EntryPoint(name, value, PREFIX + group) for name, value in _OWN[group].items()]
    found: dict[str, EntryPoint] = {}
    for one in [*_installed().select(group=PREFIX + group), *own]:
        other = found.setdefault(one.name, one)
        if other.value != one.value:
            raise ParameterError(
                f"entry point '{one.name}' of {one.group} is registered twice: {other.value} and {one.value}"
            )
    return found


@cache
def _installed() -> Any:
    """All entry points, cached: the search takes some hundredths of a second."""
    from importlib.metadata import entry_points

    return entry_points()


def search_again() -> None:
    """Search the installed packages at the next use once more, after an installation at run time."""
    registered.cache_clear()
    _installed.cache_clear()


def own_objects(group: str) -> dict[str, Any]:
    """Objects of this package in a group, by name, without a search of the installed packages."""
    places = {name: value.split(":") for name, value in _OWN[group].items()}
    return {name: getattr(import_module(module), attribute) for name, (module, attribute) in places.items()}


def flight_controller_names() -> list[str]:
    """Names of the registered flight controllers, and of front-ends not registered as flight controllers."""
    return list(dict.fromkeys([*registered("flight_controllers"), *registered("front_ends")]))


def registered_object(group: str, name: str, kind: type[T]) -> T:
    """The registered object of that name, which must be an instance of `kind`.

    Raises:
        ParameterError: the name is not registered, or its object cannot be loaded or is of another type.
    """
    found = _load(_entry(group, name))
    if not isinstance(found, kind):
        raise ParameterError(f"{_place(_entry(group, name))} is not an instance of {kind.__name__}")
    return found


def registered_class(group: str, name: str, base: type) -> Any:
    """The registered class of that name, which must be derived from `base`.

    Raises:
        ParameterError: the name is not registered, or its object cannot be loaded or is not such a class.
    """
    one = _entry(group, name)
    found = _load(one)
    if not isinstance(found, type) or not issubclass(found, base):
        raise ParameterError(f"{_place(one)} given; allowed: classes derived from {base.__name__}")
    return found


def registered_folders(group: str) -> list[Path]:
    """The registered folders of a group.

    Raises:
        ParameterError: an entry point cannot be loaded, or is not the path of a folder.
    """
    folders = []
    for one in registered(group).values():
        found = _load(one)
        if not isinstance(found, (str, Path)) or not Path(found).is_dir():
            raise ParameterError(f"{_place(one)} given, which is {found!r}; allowed: paths of folders")
        folders.append(Path(found))
    return folders


def registered_files(group: str) -> dict[str, Path]:
    """YAML files in the registered folders of a group, by name.

    Raises:
        ParameterError: as `registered_folders`.
    """
    files: dict[str, Path] = {}
    for folder in registered_folders(group):
        for file in folder.glob("*.yaml"):
            files.setdefault(file.stem, file)
    return files


def _entry(group: str, name: str) -> EntryPoint:
    one = registered(group).get(name)
    if one is None:
        raise ParameterError(f"'{name}' of {PREFIX}{group} given; allowed: {', '.join(registered(group))}")
    return one


def _load(one: EntryPoint) -> Any:
    try:
        return one.load()
    except Exception as error:
        raise ParameterError(f"{_place(one)} cannot be loaded: {error}") from error


def _place(one: EntryPoint) -> str:
    return f"entry point '{one.name} = {one.value}' of {one.group}"

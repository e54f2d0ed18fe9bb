"""Registry of nodes, front-ends, flight controllers, missions and wind models, and of folders of files.

The folders hold vehicles, worlds and scenarios. Other packages register theirs by entry points
(docs/add_a_vehicle.md); a table of the same form lists those of this package.
"""

from __future__ import annotations

import contextlib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rosflight_py_sim.ground.node_kinds import NODE_CLASSES, NODE_KINDS, NodeKind
from rosflight_py_sim.ground.parameters import ParameterError, ParameterTable

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

PREFIX = "rosflight_py_sim."

_OWN = {
    "front_ends": {
        "ardupilot": "rosflight_py_sim.bridge.ardupilot_front_end:ArduPilotFrontEnd",
        "auv_zeromq": "rosflight_py_sim.bridge.auv_zeromq_front_end:AuvZeromqFrontEnd",
        "px4": "rosflight_py_sim.bridge.px4_front_end:Px4FrontEnd",
        "uthere": "rosflight_py_sim.bridge.uthere_front_end:UthereFrontEnd",
    },
    "flight_controllers": {
        "sil_board": "rosflight_py_sim.graph.flight_controllers:SIL_BOARD",
        "ardupilot": "rosflight_py_sim.graph.flight_controllers:ARDUPILOT",
        "px4": "rosflight_py_sim.graph.flight_controllers:PX4",
        "auv_controller": "rosflight_py_sim.graph.flight_controllers:AUV_CONTROLLER",
        "policy_controller": "rosflight_py_sim.graph.flight_controllers:POLICY_CONTROLLER",
        "auv_zeromq": "rosflight_py_sim.graph.flight_controllers:AUV_ZEROMQ",
        "uthere": "rosflight_py_sim.graph.flight_controllers:UTHERE",
    },
    "missions": {
        "out_and_back": "rosflight_py_sim.missions.out_and_back.task:OutAndBackTask",
        "dive": "rosflight_py_sim.missions.dive.task:DiveTask",
        "skywriting": "rosflight_py_sim.missions.skywriting.task:SkywritingTask",
    },
    "nodes": NODE_CLASSES,
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
def registered(group: str) -> dict[str, list[EntryPoint]]:
    """Entry points of a group by name, those of this package last; several for a name registered differently."""
    from importlib.metadata import EntryPoint  # slow to import, and not needed by every node

    own = [EntryPoint(name, value, PREFIX + group) for name, value in _OWN[group].items()]
    found: dict[str, list[EntryPoint]] = {}
    for one in [*_installed().select(group=PREFIX + group), *own]:
        others = found.setdefault(one.name, [])
        if all(one.value != other.value for other in others):
            others.append(one)
    return found


@cache
def _installed() -> Any:
    """All entry points, cached: the search takes some hundredths of a second."""
    from importlib.metadata import entry_points

    return entry_points()


def search_again() -> None:
    """Search the installed packages again at the next use; needed after an installation at run time."""
    registered.cache_clear()
    _installed.cache_clear()


def own_names(group: str) -> list[str]:
    """Names of this package in a group."""
    return list(_OWN[group])


def own_objects(group: str) -> dict[str, Any]:
    """Objects of this package in a group, by name, without a search of the installed packages."""
    return {name: _own_object(value) for name, value in _OWN[group].items()}


def _own_object(place: str) -> Any:
    module, attribute = place.split(":")
    return getattr(import_module(module), attribute)


def flight_controller_names() -> list[str]:
    """Names of the registered flight controllers, and of front-ends and nodes not registered as flight controllers."""
    nodes = [name for name in node_names(NodeKind.FLIGHT_CONTROLLER) if name not in NODE_KINDS]
    return list(dict.fromkeys([*registered("flight_controllers"), *registered("front_ends"), *nodes]))


def registered_object(group: str, name: str, kind: type[T]) -> T:
    """The registered object of that name, which must be an instance of `kind`.

    Raises:
        ParameterError: the name is not registered or registered twice, or its object cannot be loaded or is of another
            type.
    """
    one = _entry(group, name)
    found = _load(one)
    if not isinstance(found, kind):
        raise ParameterError(f"{_place(one)} is not an instance of {kind.__name__}")
    return found


def registered_class(group: str, name: str, base: type) -> Any:
    """The registered class of that name, which must be derived from `base`, with a ParameterTable if `base` has one.

    Raises:
        ParameterError: the name is not registered or registered twice, or its object cannot be loaded or is not such a
            class.
    """
    one = _entry(group, name)
    found = _load(one)
    if not isinstance(found, type) or not issubclass(found, base):
        raise ParameterError(f"{_place(one)} given; allowed: classes derived from {base.__name__}")
    for table in (name for name in ("PARAMETERS", "VEHICLE_PARAMETERS") if hasattr(base, name)):
        given = getattr(found, table)
        if not isinstance(given, ParameterTable):
            raise ParameterError(f"{_place(one)} given, whose {table} is {given!r}; allowed: a ParameterTable")
    return found


def is_place(name: str) -> bool:
    """Whether a node is named by the place of its class, `module:Class`, and need not be registered."""
    return ":" in name


def registered_node(name: str) -> Any:
    """The registered class of a node or part with that name, or the class at a place; of two, this package's.

    Raises:
        ParameterError: the name is not registered, or its object cannot be loaded or is not a class.
    """
    return _own_object(NODE_CLASSES[name]) if name in NODE_CLASSES else registered_class("nodes", name, object)


def node_names(kind: NodeKind | None = None) -> list[str]:
    """Names of all nodes, or of one kind, without those that cannot be loaded; this package's come first."""
    own = [name for name, one in NODE_KINDS.items() if kind in (None, one)]
    others = []
    for name in registered("nodes"):
        if name not in NODE_KINDS:
            with contextlib.suppress(ParameterError):
                if kind in (None, kind_of_node(name)):
                    others.append(name)
    return own + others


def kind_of_node(name: str) -> NodeKind:
    """Kind of a registered node: the attribute KIND of its class, as the interface classes of this package have.

    Raises:
        ParameterError: the name is not registered, or its object cannot be loaded or has no kind.
    """
    if name in NODE_KINDS:
        return NODE_KINDS[name]
    kind = getattr(registered_class("nodes", name, object), "KIND", None)
    if not isinstance(kind, NodeKind):
        raise ParameterError(f"{_place(_entry('nodes', name))} has no KIND; allowed: {', '.join(map(str, NodeKind))}")
    return kind


def usable_classes(group: str, base: type) -> dict[str, Any]:
    """Registered classes by name, without those for which `registered_class` fails: only their use is an error."""
    found = {}
    for name in registered(group):
        with contextlib.suppress(ParameterError):
            found[name] = registered_class(group, name, base)
    return found


def registered_folders(group: str) -> tuple[list[Path], list[ParameterError]]:
    """The registered folders of a group, and an error for each entry point that is not the path of a folder."""
    folders, errors = [], []
    for name in registered(group):
        try:
            folders.append(_folder(_entry(group, name)))
        except ParameterError as error:
            errors.append(error)
    return folders, errors


def registered_files(group: str) -> dict[str, Path]:
    """YAML files in the registered folders of a group, by name."""
    files: dict[str, Path] = {}
    for folder in registered_folders(group)[0]:
        for file in folder.glob("*.yaml"):
            files.setdefault(file.stem, file)
    return files


def not_searched(group: str) -> str:
    """End of an error text on an unknown file of a group: which registered folders cannot be used, and why."""
    return "".join(f"; not searched: {error}" for error in registered_folders(group)[1])


def _entry(group: str, name: str) -> EntryPoint:
    if group == "nodes" and is_place(name):
        from importlib.metadata import EntryPoint

        return EntryPoint(name, name, PREFIX + group)
    found = registered(group).get(name)
    if found is None:
        raise ParameterError(f"'{name}' of {PREFIX}{group} given; allowed: {', '.join(registered(group))}")
    if len(found) > 1:
        places = " and ".join(one.value for one in found)
        raise ParameterError(f"entry point '{name}' of {PREFIX}{group} is registered twice: {places}")
    return found[0]


def _load(one: EntryPoint) -> Any:
    try:
        return one.load()
    except KeyboardInterrupt:
        raise
    # A module may also end the process while it is imported, or fail in any other way.
    except BaseException as error:
        reason = " ".join(str(error).split()) or "no reason given"
        raise ParameterError(f"{_place(one)} cannot be loaded: {reason} ({type(error).__name__})") from error


def _folder(one: EntryPoint) -> Path:
    found = _load(one)
    if not isinstance(found, (str, Path)) or "\0" in str(found) or not Path(found).is_dir():
        raise ParameterError(f"{_place(one)} given, which is {found!r}; allowed: paths of folders")
    return Path(found)


def _place(one: EntryPoint) -> str:
    if one.name == one.value:
        return f"class '{one.value}'"
    return f"entry point '{one.name} = {one.value}' of {one.group}"

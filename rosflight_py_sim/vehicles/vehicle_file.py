"""Vehicle files (docs/add_a_vehicle.md): reading and checking, with file, line and key in errors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from rosflight_py_sim.ground.confined_files import is_file
from rosflight_py_sim.ground.node_kinds import RENAMED, NodeKind, present_name
from rosflight_py_sim.ground.parameters import ParameterError, Value
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.ground.registry import flight_controller_names, is_place, kind_of_node, node_names, registered
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.ground.yaml_section import Item, Section, read_file
from rosflight_py_sim.vehicles.vehicle import (
    DEFAULT_SHAPE,
    NODE_KEYS,
    SPACING,
    Actuator,
    ClientMission,
    Pairing,
    Vehicle,
)

CONFIG = share_directory() / "config"
VEHICLES = CONFIG / "vehicles"

REQUIRED = ("description", "forces_and_moments", "parameters", "firmware", "actuators")
OPTIONAL = (
    *(
        "dynamics",
        "sensors",
        "transmitter",
        "time_manager",
        "appearance",
        "autopilot",
        "flight_controller",
        "autopilot_flight_controller",
        "pairings",
        "extra_nodes",
        "spacing",
        "mission",
    ),
    "weather",
)

# The name becomes part of ROS namespaces.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

_KINDS = {"motor": True, "servo": False}


class MissingFileError(ParameterError):
    """Error for a vehicle file that names a file that does not exist."""


def read_vehicle(file: Path, text: str | None = None) -> Vehicle:
    """Read a vehicle file; the vehicle's name is the file's stem.

    Args:
        file: the vehicle file.
        text: its content; None: read the file.

    Raises:
        MissingFileError: a file that it names does not exist.
        ParameterError: the file cannot be read, or is not a valid vehicle file.
    """
    if not _NAME.fullmatch(file.stem):
        raise ParameterError(
            f"{file}: the file name is the vehicle's name; allowed: letters, digits and _, starting with a letter"
        )
    section = read_file(file, ParameterError, text).section((*REQUIRED, *OPTIONAL), REQUIRED)

    mission, waypoint_file = section.read("mission", read_mission, (None, None))
    if waypoint_file is not None and "autopilot" not in section:
        raise section["mission"].refuse("waypoints only with the key autopilot", "waypoints without an autopilot")
    nodes = {"dynamics": "standalone_dynamics"} | read_nodes(section, NODE_KEYS)
    return Vehicle(
        name=file.stem,
        file=file.absolute(),
        description=section["description"].text(),
        parameter_file=_file(section["parameters"]),
        firmware_file=_file(section["firmware"]),
        actuators=_actuators(section["actuators"]),
        weather_file=section.read("weather", _file, CONFIG / "wind.yaml"),
        appearance=section.read(
            "appearance", lambda item: _appearance(item, nodes["forces_and_moments"], nodes["dynamics"]), DEFAULT_SHAPE
        ),
        waypoint_file=waypoint_file,
        flight_controller=section.read("flight_controller", read_flight_controller, "sil_board"),
        autopilot_flight_controller=section.read("autopilot_flight_controller", read_flight_controller, ""),
        pairings=section.read("pairings", lambda item: _pairings(item, tuple(flight_controller_names())), {}),
        extra_nodes=section.read("extra_nodes", read_further_nodes, ()),
        spacing=section.read("spacing", lambda item: item.number(least=0.0, most=1e4, above_least=True), SPACING),
        mission=mission,
        **nodes,
    )


def read_nodes(section: Section, keys: Iterable[str], *, places: bool = False) -> dict[str, str]:
    """Executables of nodes in a section, by keys out of NODE_KEYS; keys that it lacks are left out.

    Args:
        section: the section.
        keys: the keys.
        places: whether a node can also be the place of its class, `module:Class`. Only for files that a user gives on
            the command line or in a test, because reading one imports the module.

    Raises:
        ParameterError: there is no node of that name and kind; the text names file, line and key.
    """
    return {key: _executable(section[key], NODE_KEYS[key], places=places) for key in keys if key in section}


def read_flight_controller(item: Item, *, places: bool = False) -> str:
    """Name of a flight controller; `places`: or the place of its class, as in `read_nodes`.

    Raises:
        ParameterError: there is none of that name; the text names file, line and key.
    """
    if places and is_place(str(item.value())):
        return _executable(item, NodeKind.FLIGHT_CONTROLLER, places=places)
    return one_of(item, flight_controller_names())


def one_of(item: Item, names: Iterable[str]) -> str:
    """One of the names; also the former name of a node or flight controller, which causes a note.

    Raises:
        ParameterError: another value is given; the text names file, line and key.
    """
    allowed = {name: name for name in names}
    if RENAMED.get(str(item.value())) in allowed:
        return present_name(item.text())
    return item.choice(allowed)


def _executable(item: Item, kind: NodeKind, *, places: bool = False) -> str:
    if not places or not is_place(str(item.value())):
        return one_of(item, node_names(kind))
    name = item.text()
    try:
        given = kind_of_node(name)
    except ParameterError as error:
        raise item.fail(str(error)) from error
    if given is not kind:
        raise item.refuse(f"classes whose KIND is {kind.name}", f"'{name}', whose KIND is {given.name},")
    return name


def _appearance(item: Item, *physics: str) -> str:
    # Imported here because it loads numpy, which the command line does not need otherwise.
    from rosflight_py_sim.vehicles.physics_model import appearances

    text = item.text()
    if any(name == text for name, _ in appearances(*physics)):
        return text
    return one_of(item, (name for name, _ in appearances()))


def read_further_nodes(item: Item, *, places: bool = False) -> tuple[str, ...]:
    """Executables of further nodes, each once; `places` as in `read_nodes`.

    Raises:
        ParameterError: there is no such node; the text names file, line and key.
    """
    nodes: list[str] = []
    for one in item.items():
        node = _executable(one, NodeKind.FURTHER, places=places)
        if node in nodes:
            raise one.refuse("each node once", f"a second {node}")
        nodes.append(node)
    return tuple(nodes)


def _whole(item: Item, least: int, most: int) -> int:
    number = item.number(least=least, most=most)
    if not number.is_integer():
        raise item.refuse(f"a whole number from {least} to {most}")
    return int(number)


def _file(item: Item) -> Path:
    """A file; relative paths start at the vehicle file's folder."""
    file = _path(item)
    if not is_file(file):
        refusal = item.refuse(
            f"the path of a file, absolute or relative to {item.file.parent}", f"{item.text()}, not a file,"
        )
        raise MissingFileError(str(refusal))
    return file


def _path(item: Item) -> Path:
    return Path(os.path.normpath(item.file.absolute().parent / item.text()))


def _actuators(item: Item) -> tuple[Actuator, ...]:
    actuators: list[Actuator] = []
    for one in item.items():
        section = one.section(("name", "output", "kind"), ("name", "output", "kind"))
        name, output = section["name"].text(), _whole(section["output"], 0, OUTPUTS - 1)
        if any(output == other.output for other in actuators):
            raise section["output"].refuse("each output once", f"a second {output}")
        if any(name == other.name for other in actuators):
            raise section["name"].refuse("each name once", f"a second '{name}'")
        actuators.append(Actuator(name, output, section["kind"].choice(_KINDS)))
    if not actuators:
        raise item.refuse("at least one actuator")
    return tuple(actuators)


def _pairings(item: Item, controllers: Sequence[str]) -> dict[str, Pairing]:
    section = item.section(controllers)
    return {name: _pairing(section[name]) for name in controllers if name in section}


def _pairing(item: Item) -> Pairing:
    section = item.section(("parameters", "command", "instance"), ("parameters",))
    command = section.read("command", _command, "")
    return Pairing(_file(section["parameters"]), command, section.read("instance", _instance, ""))


def _command(item: Item) -> str:
    return _filled(item, "command", config=str(CONFIG), folder=str(item.file.absolute().parent))


def _instance(item: Item) -> str:
    _filled(item, "text", index=0)
    return item.text()


def _filled(item: Item, what: str, **placeholders: object) -> str:
    """The text of an item with its placeholders replaced."""
    try:
        return item.text().format(**placeholders)
    except (KeyError, IndexError, ValueError, AttributeError, TypeError):
        names = " and ".join(f"{{{name}}}" for name in placeholders)
        raise item.refuse(f"a {what} with no placeholders except {names}") from None


def _settings(item: Item) -> dict[str, Value]:
    return {name: one.value() for name, one in item.entries().items()}


def read_mission(item: Item) -> tuple[ClientMission | None, Path | None]:
    """The mission of a client program, or the waypoints of the autopilot, from the value of `mission`.

    Raises:
        ParameterError: the value is invalid; the text names file, line and key.
    """
    keys = ("program", "parts", "task", "arguments", "settings", "limits")
    section = item.section(("waypoints", *keys))
    if "waypoints" in section:
        for name in keys:
            if name in section:
                raise section[name].refuse("either waypoints for the autopilot or a program", "both")
        return None, _file(section["waypoints"])
    section = item.section(keys, keys[:3])
    mission = ClientMission(
        _file(section["program"]),
        _whole(section["parts"], 1, 1000),
        one_of(section["task"], registered("missions")),
        section.read("arguments", lambda given: tuple(map(Item.text, given.items())), ()),
        section.read("settings", _settings, {}),
        section.read("limits", _settings, {}),
    )
    return mission, None

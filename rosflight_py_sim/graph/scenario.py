"""Scenarios: different vehicles in one world, from a YAML file (docs/scenarios.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rosflight_py_sim.bridge.commanded_vehicle import link_refusal
from rosflight_py_sim.failures.failure import FAILURES, parse_failure
from rosflight_py_sim.graph.bridge_settings import bridge_settings
from rosflight_py_sim.graph.failing_links import concerns_link, link_obstacle
from rosflight_py_sim.graph.fleet import Member, seed_of
from rosflight_py_sim.graph.flight_controllers import (
    chosen_flight_controller,
    flight_controller_of,
    usable_flight_controllers,
)
from rosflight_py_sim.graph.named_parameters import NamedParameters
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.graph.plan import planned_nodes
from rosflight_py_sim.ground.confined_files import is_file
from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Value
from rosflight_py_sim.ground.registry import node_names, not_searched, registered_files, usable_classes
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.ground.shared_parameters import SEED, TIME_MODES
from rosflight_py_sim.ground.yaml_section import Item, Section, read_file
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.physics.wind_model import WindModel
from rosflight_py_sim.vehicles import CAMERA, STANDALONE, Vehicle, dynamics_by_name, vehicle
from rosflight_py_sim.vehicles.vehicle_file import one_of, read_mission, read_nodes
from rosflight_py_sim.world import WorldError, load_world

SCENARIOS = share_directory() / "config" / "scenarios"
"""Folder of this package's scenarios."""

_LARGEST_POSITION = 1e6

# Becomes a ROS namespace.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

_SWITCH = {"true": True, "false": False}


@dataclass(frozen=True)
class Scenario:
    """Simulated vehicles, in one world and on one clock.

    Attributes:
        members: the vehicles.
        time_mode: wall, paced, gated or lockstep.
        observers: front-ends of the bridge that observe the vehicles.
        files: parameter files for all nodes.
        settings: parameters of all nodes, which override the files.
        description: one line; empty for a scenario without a file.
        time_manager: name of the time manager; empty: that of the time mode.
        name: file name without suffix; for a scenario without a file, the name of the vehicle.
    """

    members: Sequence[Member]
    time_mode: str
    observers: Sequence[str] = ()
    files: Sequence[str] = ()
    settings: Mapping[str, Value] = field(default_factory=dict)
    description: str = ""
    name: str = ""
    time_manager: str = ""


def known_scenarios() -> list[str]:
    """Names of the scenarios of all packages."""
    return sorted(registered_files("scenarios"))


def load_scenario(name_or_path: str) -> Scenario:
    """Load a scenario by its name or by the path of its file.

    Raises:
        ParameterError: the scenario does not exist or is invalid; the text names file, line and key.
    """
    return _scenario(read_file(scenario_file(name_or_path), ParameterError))


def scenario_file(name_or_path: str) -> Path:
    """File of a scenario, given by its name or by the path of its file.

    Raises:
        ParameterError: the scenario does not exist.
    """
    is_path = "/" in name_or_path or name_or_path.endswith((".yaml", ".yml"))
    file = Path(name_or_path) if is_path else registered_files("scenarios").get(name_or_path)
    if file is None or not is_file(file):
        allowed = f"a name ({', '.join(known_scenarios())}) or the path of a YAML file{not_searched('scenarios')}"
        raise ParameterError(f"there is no scenario '{name_or_path}'; allowed: {allowed}")
    return file


def _scenario(document: Item) -> Scenario:
    keys = (
        *("description", "world", "seed", "time_mode", "time_manager", "observers", "parameters"),
        *("parameter_files", "vehicles"),
    )
    section = document.section(keys, ("description", "vehicles"))
    seed = int(section.read("seed", lambda item: checked_value(item, SEED), 0))
    observers = section.read("observers", lambda item: tuple(map(Item.text, item.items())), ())
    members: list[Member] = []
    sections: list[Section] = []
    for item in section["vehicles"].items():
        sections.append(item.section((*_VEHICLE, *_OPTIONAL), _VEHICLE))
        members.append(_member(sections[-1], members))
    if not members:
        raise section["vehicles"].refuse("at least one vehicle")
    try:
        bridge_settings(members, observers)
    except ParameterError as error:
        raise section["observers"].fail(str(error).removeprefix("observers: ")) from error
    members = [
        _with_settings(one, given, NamedParameters(own_tables(members, index, observers)), seed)
        for index, (one, given) in enumerate(zip(members, sections, strict=True))
    ]
    world = section.read("world", _world, "")
    own = NamedParameters(table for index in range(len(members)) for table in own_tables(members, index, observers))
    # Nodes that serve all vehicles, such as viewers, have parameters, too.
    everything = NamedParameters([*(_table(node_class(name)) for name in node_names()), *_wind_tables()])
    made = Scenario(
        members,
        section.read("time_mode", lambda item: _time_mode(item, members), "lockstep"),
        observers,
        [str(file) for file in section.read("parameter_files", existing_files, ())],
        {
            **section.read("parameters", lambda item: _values(item, own, everything), {}),
            **({"world": world} if world else {}),
        },
        section["description"].text(),
        section["vehicles"].file.stem,
        read_nodes(section, ["time_manager"]).get("time_manager") or _time_manager(section["vehicles"], members),
    )
    for member, given in zip(members, sections, strict=True):
        for item in given["failures"].items() if "failures" in given else ():
            check_link_failure(item, item.text(), made, member)
    return made


_VEHICLE = ("name", "kind")
_OPTIONAL = (
    *(
        "forces_and_moments",
        "dynamics",
        "sensors",
        "transmitter",
        "start",
        "flight_controller",
        "autopilot",
        "cameras",
        "mission",
        "failures",
    ),
    *("parameters", "parameter_files"),
)


def _member(section: Section, others: Sequence[Member]) -> Member:
    """Vehicle without the settings of its nodes."""
    name = section["name"].text()
    if not _NAME.fullmatch(name):
        raise section["name"].refuse("letters, digits and _, beginning with a letter")
    if any(name == other.namespace for other in others):
        raise section["name"].refuse("each name once", f"a second '{name}'")
    dynamics = section.read("dynamics", lambda item: item.choice(dynamics_by_name()), STANDALONE)
    chosen = section.read("kind", lambda item: _kind(item, dynamics), None)
    assert chosen is not None
    chosen = chosen.with_nodes(read_nodes(section, ("forces_and_moments", "sensors", "transmitter")))
    chosen = chosen.carrying(CAMERA, section.read("cameras", lambda item: item.choice(_SWITCH), None))
    able = [name for name, one in usable_flight_controllers().items() if one.flies(chosen)]
    controller = section.read("flight_controller", lambda item: one_of(item, able), chosen.flight_controller)
    carrying = chosen
    none: tuple[Vehicle, Sequence[str]] = chosen, ()
    chosen, autopilots = section.read("autopilot", lambda item: _autopilot(item, carrying, controller), none)
    mission, waypoint_file = section.read("mission", read_mission, (None, chosen.waypoint_file))
    chosen = replace(chosen, mission=mission, waypoint_file=waypoint_file)
    files = section.read("parameter_files", existing_files, ())
    return Member(chosen, name, {}, controller, tuple(files), tuple(autopilots))


def _autopilot(item: Item, chosen: Vehicle, controller: str) -> tuple[Vehicle, Sequence[str]]:
    """Vehicle with the given autopilot, and the executables of the autopilots to start."""
    value = item.choice(_SWITCH | {name: name for name in node_names(NodeKind.AUTOPILOT)})
    if isinstance(value, str):
        chosen = replace(chosen, autopilot=value)
    try:
        return chosen, chosen_flight_controller(controller).requested_autopilots(chosen, wanted=bool(value))
    except ParameterError as error:
        raise item.fail(str(error)) from error


def _with_settings(member: Member, section: Section, own: NamedParameters, seed: int) -> Member:
    settings: dict[str, Value] = {"seed": seed_of(seed, member.namespace)}
    if "start" in section:
        settings |= _start(section["start"], node_class(member.vehicle.dynamics).PARAMETERS)
    if "mission" in section:
        settings |= _mission_settings(section["mission"], own)
    settings |= section.read("parameters", lambda item: _values(item, own), {})
    if "failures" in section:
        settings[FAILURES.name] = [_failure(item) for item in section["failures"].items()]
    return replace(member, settings=settings)


def _mission_settings(item: Item, own: NamedParameters) -> dict[str, Value]:
    """Parameters that a vehicle's mission sets."""
    mission = item.entries()
    return _values(mission["settings"], own) if "settings" in mission else {}


def check_link_failure(item: Item, text: str, scenario: Scenario, member: Member, *, has_programs: bool = True) -> None:
    """Check that the link of a vehicle can fail if a failure in a file concerns it.

    Args:
        item: the failure in the file.
        text: the failure in words.
        scenario: the simulation.
        member: the vehicle.
        has_programs: whether programs can use the MAVLink link of the flight controller.

    Raises:
        ParameterError: the link cannot fail; the text names file, line and key.
    """
    if concerns_link(text):
        sources = parameter_sources(
            scenario.members,
            observers=scenario.observers,
            files=scenario.files,
            weakest={},
            settings=scenario.settings,
        )
        if obstacle := link_obstacle(member, sources, has_programs=has_programs):
            raise item.fail(link_refusal(text, member.namespace, obstacle))


def _failure(item: Item) -> str:
    try:
        return parse_failure(item.text()).text
    except ParameterError as error:
        raise item.fail(str(error)) from error


def own_tables(
    members: Sequence[Member], index: int, observers: Sequence[str] = ()
) -> list[tuple[str, ParameterTable]]:
    """Names of nodes and tables of the parameters that can be set for a single vehicle."""
    tables = []
    for node in planned_nodes(members, observers=observers):
        cls = node_class(node.executable)
        if node.member is members[index]:
            tables.append(_table(cls))
        elif node.member is None:
            tables.append((cls.DEFAULT_NAME, cls.VEHICLE_PARAMETERS))
    return [*tables, *_wind_tables()]


def _table(cls: type[SimulationNode]) -> tuple[str, ParameterTable]:
    return cls.DEFAULT_NAME, cls.PARAMETERS


def _wind_tables() -> list[tuple[str, ParameterTable]]:
    return [("dynamics", model.PARAMETERS) for model in usable_classes("wind_models", WindModel).values()]


def _time_mode(item: Item, members: Sequence[Member]) -> str:
    mode = one_of(item, TIME_MODES)
    waiting = [one.name for one in map(flight_controller_of, members) if one.needs_lockstep]
    if waiting and mode != "lockstep":
        raise item.refuse(f"lockstep, which flight controller '{waiting[0]}' requires")
    return mode


def _time_manager(item: Item, members: Sequence[Member]) -> str:
    """Time manager that the vehicles name; empty if none does."""
    names = sorted({one.vehicle.time_manager for one in members} - {""})
    if len(names) > 1:
        raise item.refuse("vehicles that name one time manager, or the key time_manager", " and ".join(names))
    return names[0] if names else ""


def _kind(item: Item, dynamics: str) -> Vehicle:
    try:
        return vehicle(name_or_path(item), dynamics)
    except ParameterError as error:
        raise item.fail(str(error)) from error


def _world(item: Item) -> str:
    name = name_or_path(item)
    try:
        load_world(name)
    except WorldError as error:
        raise item.fail(str(error)) from error
    return name


def name_or_path(item: Item) -> str:
    """Name or path; relative paths start from the folder of the file that holds it."""
    text = item.text()
    is_path = "/" in text or text.endswith((".yaml", ".yml"))
    return str((item.file.absolute().parent / text).resolve()) if is_path else text


def existing_files(item: Item) -> list[Path]:
    """List of files; relative paths start from the folder of the file that holds the list."""
    files = []
    for one in item.items():
        file = (item.file.absolute().parent / one.text()).resolve()
        if not is_file(file):
            raise one.refuse(f"the path of a file, absolute or relative to {item.file.parent}", f"{file}, not a file,")
        files.append(file)
    return files


def _start(item: Item, table: ParameterTable) -> dict[str, Value]:
    """Parameters of dynamics for a start on the ground, or at a height or depth."""
    section = item.section(("position", "heading_deg"), ("position",))
    position = [_coordinate(one) for one in section["position"].items()]
    if len(position) not in (2, 3):
        raise section["position"].refuse("[north, east] on the ground, or [north, east, down]")
    settings: dict[str, Value] = {"initial_position": position[:2], "use_world_start": False}
    if len(position) == 3:
        settings |= {"initial_altitude": -position[2], "starts_on_ground": False}
        if "initial_altitude" not in table:
            raise section["position"].refuse("[north, east] with these dynamics")
    if "heading_deg" in section:
        settings["initial_heading"] = section["heading_deg"].number(least=-360.0, most=360.0)
        if "initial_heading" not in table:
            raise section["heading_deg"].refuse("no heading with these dynamics")
    return settings


def _coordinate(item: Item) -> float:
    return item.number(least=-_LARGEST_POSITION, most=_LARGEST_POSITION)


def _values(item: Item, *known: NamedParameters) -> dict[str, Value]:
    """Parameters by name, each of one of the nodes in `known`."""
    values = {}
    for key, one in item.entries().items():
        try:
            parameter = next((found for named in known if (found := named.find(key))), None)
        except ParameterError as error:
            raise one.fail(str(error)) from error
        if parameter is None:
            raise one.fail(known[-1].unknown(key))
        values[parameter.name] = checked_value(one, parameter)
    return values


def checked_value(item: Item, parameter: Parameter) -> Any:
    """Value of a parameter in a file.

    Raises:
        ParameterError: the value is not allowed; the text names file, line and key.
    """
    try:
        return parameter.checked(item.value())
    except ParameterError as error:
        raise item.refuse(parameter.constraints) from error

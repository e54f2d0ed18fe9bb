"""Sweep files (docs/sweep.md): reading and checking, with file, line and key in errors."""

from __future__ import annotations

import hashlib
import itertools
import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rosflight_py_sim.confined_files import is_file
from rosflight_py_sim.failures.failure import FAILURES, parse_failure
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import flight_controller_of
from rosflight_py_sim.graph.scenario import (
    Scenario,
    checked_value,
    existing_files,
    joined,
    load_scenario,
    name_or_path,
    own_tables,
    scenario_file,
)
from rosflight_py_sim.graph.time_modes import TIME_MANAGERS
from rosflight_py_sim.missions.autopilot.judge import autopilot_class
from rosflight_py_sim.missions.autopilot.log import FlightLog
from rosflight_py_sim.missions.catalogue import flight_of, judge_class, mission_name, single_scenario
from rosflight_py_sim.missions.client_log import PathLog
from rosflight_py_sim.missions.mission_judge import LOG_RATE_HZ
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, Scalar, Value
from rosflight_py_sim.recording.state_log import StateLog
from rosflight_py_sim.shared_parameters import SEED
from rosflight_py_sim.sweep.definition import Measure, Quantity, Signal, StopRule, Sweep, with_setting
from rosflight_py_sim.sweep.distributions import Grid, read_distribution
from rosflight_py_sim.sweep.expressions import Expression, ExpressionError, figures_of, series_of
from rosflight_py_sim.vehicles import Vehicle, vehicle
from rosflight_py_sim.vehicles.vehicle_file import read_mission
from rosflight_py_sim.world import WORLD
from rosflight_py_sim.world.world_file import world_file
from rosflight_py_sim.yaml_section import Item, Section, read_file

SWEEP_PARAMETERS = ParameterTable(
    Parameter("runs", 1, "Number of runs; not with a grid", minimum=1, maximum=10_000_000),
    Parameter("repeats", 1, "Number of runs at each point of the grid", minimum=1, maximum=1_000_000),
    SEED.overridden("root of the seeds of all runs"),
    Parameter("limit", 300.0, "Longest simulated duration of a run", "s", 0.0, 86400.0, above_minimum=True),
    Parameter("signal_period", 0.25, "Time between two values of a signal", "s", 1.0 / LOG_RATE_HZ, 3600.0),
)
"""Values at the top of a sweep file."""

STOP_PARAMETERS = ParameterTable(
    Parameter(
        "half_width", 0.0, "Half the width of the interval at which the sweep ends", minimum=0.0, above_minimum=True
    ),
    Parameter("confidence", 0.95, "Level of confidence", minimum=0.5, maximum=0.9999),
    Parameter("least_runs", 20, "Number of runs below which the rule does not apply", minimum=2, maximum=10_000_000),
)
"""Values of the stop rule."""

_KEYS = (
    *("description", "vehicle", "scenario", "mission", "parameter_files", "parameters", "failures", "variables"),
    *("measures", "signals", "stop", *(one.name for one in SWEEP_PARAMETERS)),
)

_RESERVED = ("run", "seed", "succeeded", "reason")
"""Columns of every table."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

# Parameters that a sweep sets itself.
_OWN = {
    SEED.name: "the key 'seed' of the sweep file",
    FAILURES.name: "the key 'failures' of the sweep file",
    "time_mode": "none, as all runs are in lockstep",
    "real_time_multiplier": "none, as all runs are as fast as possible",
}

# Failures are checked for so many combinations of the extremes of their variables.
_MOST_COMBINATIONS = 10_000


def read_sweep(file: Path) -> Sweep:
    """Read a sweep file.

    Raises:
        ParameterError: the file cannot be read, or is not a valid sweep file; the text names file, line and key.
    """
    section = read_file(file, ParameterError).section(_KEYS, ("description",))
    scenario, files = _scenario(section, file)
    scenario, quantities = _Parameters(scenario).read(section)
    variables = section.read("variables", _variables, [])
    failures = section.read("failures", lambda item: _failures(item, scenario, variables), {})
    for one in variables:
        if not any(one.key in _variables_in(text) for texts in failures.values() for text in texts):
            raise section["variables"].fail(f"no failure contains {{{one.key}}}")
    runs, quantities = _numbered([*quantities, *variables], section)
    trial = _trial(scenario)
    measures = section.read("measures", lambda item: _measures(item, trial), ())
    period_s = _value(section, SWEEP_PARAMETERS["signal_period"])
    signals = section.read("signals", lambda item: _signals(item, trial, period_s), ())
    columns = list(_RESERVED)
    for key, names in (
        ("variables", [one.key for one in quantities]),
        ("measures", [one.name for one in measures]),
        ("signals", [one.name for one in signals]),
    ):
        for name in names:
            if name in columns:
                raise section[key].refuse("each name of a quantity, measure or signal once", f"a second '{name}'")
            columns.append(name)
    return Sweep(
        file=file,
        digest=_digest([file, *files, *_files_of(scenario, quantities)]),
        description=section["description"].text(),
        scenario=scenario,
        quantities=quantities,
        runs=runs,
        seed=_value(section, SWEEP_PARAMETERS["seed"]),
        measures=measures,
        signals=signals,
        stop=section.read("stop", lambda item: _stop(item, measures, quantities), None),
        limit_s=_value(section, SWEEP_PARAMETERS["limit"]),
        failures=failures,
    )


def _value(section: Section, parameter: Parameter) -> Any:
    return section.read(parameter.name, lambda item: checked_value(item, parameter), parameter.default)


def _scenario(section: Section, file: Path) -> tuple[Scenario, list[Path]]:
    """Scenario of all runs, and its file, if any."""
    if ("vehicle" in section) == ("scenario" in section):
        given = "both" if "vehicle" in section else "none"
        item = section["scenario"] if "vehicle" in section else section["description"]
        raise item.refuse("one of the keys vehicle and scenario", given)
    further = [str(one) for one in section.read("parameter_files", existing_files, ())]
    if "vehicle" in section:
        scenario, files = _vehicle_scenario(section), []
    else:
        item = section["scenario"]
        if "mission" in section:
            raise section["mission"].refuse("with the key vehicle; a scenario has its own missions", "a mission")
        name = name_or_path(item)
        try:
            scenario, files = load_scenario(name), [scenario_file(name)]
        except ParameterError as error:
            raise item.fail(str(error)) from error
        if not any(flight_of(one) for one in scenario.members):
            raise item.refuse("scenarios with 'mission' or 'autopilot' in at least one vehicle")
    return replace(scenario, time_mode="lockstep", files=[*scenario.files, *further], name=file.stem), files


def _vehicle_scenario(section: Section) -> Scenario:
    """A single vehicle, as `rosflight_py_sim fly --vehicle` flies it."""
    item = section["vehicle"]
    try:
        chosen = vehicle(name_or_path(item))
    except ParameterError as error:
        raise item.fail(str(error)) from error
    mission, waypoint_file = section.read("mission", read_mission, (chosen.mission, chosen.waypoint_file))
    try:
        return single_scenario(replace(chosen, mission=mission, waypoint_file=waypoint_file))
    except ParameterError as error:
        raise item.fail(str(error)) from error


class _Parameters:
    """Reader of the section `parameters`: constants become settings of the scenario, distributions quantities."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._quantities: list[Quantity] = []
        # Vehicle and parameter by key; keys without a vehicle mean all vehicles.
        self._known: dict[str, tuple[str, Parameter]] = {}
        tables = [own_tables(scenario.members, k, scenario.observers) for k in range(len(scenario.members))]
        time_manager = node_class(TIME_MANAGERS["lockstep"]).PARAMETERS
        for one in joined(itertools.chain(*tables, [time_manager])):
            self._known[one.name] = "", one
        for member, own in zip(scenario.members, tables, strict=True):
            for one in joined(own) if member.namespace else ():
                self._known.setdefault(f"{member.namespace}.{one.name}", (member.namespace, one))

    def read(self, section: Section) -> tuple[Scenario, list[Quantity]]:
        """The scenario with the constants, and the quantities."""
        for key, item in section.read("parameters", Item.entries, {}).items():
            self._read(key, item)
        return self._scenario, self._quantities

    def _read(self, key: str, item: Item) -> None:
        if key not in self._known:
            known = (replace(one, name=name) for name, (_, one) in self._known.items())
            raise item.fail(ParameterTable(*known).unknown(key))
        vehicle, parameter = self._known[key]
        name = parameter.name
        if name in _OWN:
            raise item.refuse(_OWN[name], f"the parameter '{name}'")
        if item.is_mapping and isinstance(parameter.default, list):
            raise item.refuse(f"{parameter.constraints}, or a distribution for an element")
        if item.is_mapping:
            self._quantities.append(Quantity(key, parameter, read_distribution(item, parameter), vehicle))
            return
        if item.is_list and isinstance(parameter.default, list) and any(one.is_mapping for one in item.items()):
            value = self._elements(key, item, parameter, vehicle)
        else:
            value = checked_value(item, parameter)
        self._scenario = with_setting(self._scenario, vehicle, name, value)

    def _elements(self, key: str, item: Item, parameter: Parameter, vehicle: str) -> list[Any]:
        """A list with distributions, which its placeholders stand for."""
        items = list(item.items())
        if parameter.length not in (None, len(items)):
            raise item.refuse(parameter.constraints, f"a list of {len(items)}")
        element = replace(parameter, default=parameter.scalar_type(), length=None)
        values: list[Any] = []
        for index, one in enumerate(items):
            if one.is_mapping:
                distribution = read_distribution(one, element)
                self._quantities.append(Quantity(f"{key}[{index}]", element, distribution, vehicle, index))
            values.append(element.default if one.is_mapping else checked_value(one, element))
        return values


def _variables(item: Item) -> list[Quantity]:
    return [_variable(name, one) for name, one in item.entries().items()]


def _variable(name: str, item: Item) -> Quantity:
    if not _NAME.fullmatch(name):
        raise item.refuse("a name of letters, digits and _, beginning with a letter", f"'{name}'")
    parameter = Parameter(name, _kind_of(item)(), "")
    return Quantity(name, parameter, read_distribution(item, parameter), is_variable=True)


def _kind_of(item: Item) -> type[Scalar]:
    """Type of a variable: that of all listed values, otherwise float."""
    given = item.entries()
    listed = [one for name, one in given.items() if name in ("choice", "grid") and one.is_list]
    kinds = {type(value.value()) for one in listed for value in one.items()}
    return next((kind for kind in (bool, int, str) if kinds == {kind}), float)


def _failures(item: Item, scenario: Scenario, variables: Sequence[Quantity]) -> dict[str, list[str]]:
    """Texts of failures by vehicle: a list for a single vehicle, otherwise a mapping from vehicles to lists."""
    names = [one.namespace for one in scenario.members]
    if names == [""]:
        return {"": [_failure(one, variables) for one in item.items()]}
    section = item.section(names)
    return {name: [_failure(one, variables) for one in section[name].items()] for name in names if name in section}


def _failure(item: Item, variables: Sequence[Quantity]) -> str:
    text = item.text()
    known = {one.key: one.distribution.extremes for one in variables}
    try:
        used = _variables_in(text)
    except ValueError as error:
        raise item.refuse("names of variables in braces, as in {time}") from error
    for name in used:
        if name not in known:
            raise item.refuse(f"the variables {', '.join(known)}" if known else "a name in 'variables'", f"{{{name}}}")
    combinations = itertools.product(*(known[name] for name in used))
    for values in itertools.islice(combinations, _MOST_COMBINATIONS):
        try:
            parse_failure(text.format_map(dict(zip(used, values, strict=True))))
        except ParameterError as error:
            raise item.fail(str(error)) from error
    return text


def _variables_in(text: str) -> list[str]:
    """Names in braces.

    Raises:
        ValueError: braces that do not match, or with more than a name between them.
    """
    names = []
    for _, name, specification, conversion in string.Formatter().parse(text):
        if name is not None:
            if specification or conversion or not _NAME.fullmatch(name):
                raise ValueError(name)
            names.append(name)
    return list(dict.fromkeys(names))


def _numbered(quantities: Sequence[Quantity], section: Section) -> tuple[int, list[Quantity]]:
    """Number of runs, and the quantities with the strides of grids: the last grid changes fastest."""
    grids = [one for one in quantities if isinstance(one.distribution, Grid)]
    runs = SWEEP_PARAMETERS["runs"]
    if not grids:
        if "repeats" in section:
            raise section["repeats"].refuse("with a grid; otherwise the key runs", "repeats without a grid")
        if "runs" not in section:
            raise section["description"].refuse("the key runs, unless there is a grid", "no number of runs")
        return _value(section, runs), list(quantities)
    if "runs" in section:
        raise section["runs"].refuse("the key repeats: a grid determines the number of runs", "runs with a grid")
    stride = int(_value(section, SWEEP_PARAMETERS["repeats"]))
    numbered: list[Quantity] = []
    for one in reversed(quantities):
        if isinstance(one.distribution, Grid):
            numbered.insert(0, replace(one, distribution=replace(one.distribution, stride=stride)))
            stride *= len(one.distribution.values)
        else:
            numbered.insert(0, one)
    if stride > runs.maximum:
        raise section["description"].refuse(f"at most {runs.maximum:.0f} runs", f"a grid of {stride} runs")
    return stride, numbered


def _trial(scenario: Scenario) -> dict[str, Any]:
    """Values of the names in expressions for a flight of a few rows, on which expressions are tried out."""
    values: dict[str, Any] = {}
    for one in scenario.members:
        if flight_of(one) is not None:
            prefix = f"{one.namespace}." if len(scenario.members) > 1 else ""
            values |= {prefix + name: value for name, value in _trial_of(one).items()}
    return values


def _trial_of(member: Member) -> dict[str, Any]:
    figures = figures_of(judge_class(mission_name(member.vehicle)).SUMMARY)
    return series_of(_trial_log(member.vehicle)) | {f"judge.{name}": 0.0 for name in figures}


def _trial_log(vehicle: Vehicle) -> StateLog:
    truth, commands = np.eye(19)[3], np.zeros(len(vehicle.actuators))
    # More rows than a vector has components, so that numpy cannot take one for the other.
    times = range(99)
    if vehicle.mission is not None:
        states = PathLog(vehicle.actuators)
        for time_s in times:
            states.append(time_s, truth, commands, truth[:3])
        return states
    phases = autopilot_class(vehicle).PHASES
    log = FlightLog(vehicle.actuators, phases)
    for time_s in times:
        log.append(time_s, truth, (0.0, 0.0, 0.0), commands, truth[:3], 0.0, 0.0, max(phases))
    return log


def _measures(item: Item, trial: Mapping[str, Any]) -> list[Measure]:
    return [
        Measure(name, _expression(name, one, trial, 0, "a number, such as mean(...), max(...) or last(...)"))
        for name, one in item.entries().items()
    ]


def _signals(item: Item, trial: Mapping[str, Any], period_s: float) -> list[Signal]:
    return [
        Signal(name, _expression(name, one, trial, 1, "a series, such as -truth_state.position_ned[2]"), period_s)
        for name, one in item.entries().items()
    ]


def _expression(name: str, item: Item, trial: Mapping[str, Any], dimensions: int, allowed: str) -> str:
    """Text of an expression, whose value for a flight has so many dimensions."""
    if not _NAME.fullmatch(name):
        raise item.refuse("a name of letters, digits and _, beginning with a letter", f"'{name}'")
    text = item.text()
    try:
        given = np.ndim(Expression(text, trial).value(trial))
    except ExpressionError as error:
        raise item.fail(str(error)) from error
    if given != dimensions:
        raise item.refuse(allowed, f"{('a number', 'a series', 'a vector')[given]}, '{text}',")
    return text


def _stop(item: Item, measures: Sequence[Measure], quantities: Sequence[Quantity]) -> StopRule:
    if any(isinstance(one.distribution, Grid) for one in quantities):
        raise item.refuse("without a grid, all of whose points are flown", "a stop rule")
    section = item.section(("measure", *(one.name for one in STOP_PARAMETERS)), ("measure", "half_width"))
    measure = section["measure"].choice({one.name: one.name for one in measures})
    half_width, confidence, least_runs = (_value(section, one) for one in STOP_PARAMETERS)
    return StopRule(measure, half_width, confidence, least_runs)


def _files_of(scenario: Scenario, quantities: Sequence[Quantity]) -> Iterator[Path]:
    """Files that the vehicles, the scenario and the parameters name."""
    yield from map(Path, scenario.files)
    for one in scenario.members:
        chosen = one.vehicle
        yield from (chosen.file, chosen.parameter_file, chosen.firmware_file, *one.files)
        yield from flight_controller_of(one).files_for(chosen)
        yield from [chosen.waypoint_file] if chosen.waypoint_file else []
        yield from [chosen.mission.program] if chosen.mission else []
    for name, value in _values(scenario, quantities):
        if isinstance(value, str):
            file = world_file(value, Path()) if name == WORLD.name else Path(value)
            if file is not None and is_file(file):
                yield file


def _values(scenario: Scenario, quantities: Sequence[Quantity]) -> Iterator[tuple[str, Value]]:
    """Names and values of all parameters that are set."""
    for settings in (scenario.settings, *(one.settings for one in scenario.members)):
        yield from settings.items()
    for one in quantities:
        yield from ((one.parameter.name, value) for value in one.distribution.extremes)


def _digest(files: Iterable[Path]) -> str:
    """SHA-256 of the SHA-256s of the files' contents."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()

"""Reader of sweep files (docs/sweep.md), whose errors name file, line and key."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rosflight_py_sim.failures.failure import FAILURES
from rosflight_py_sim.graph.flight_controllers import flight_controller_of
from rosflight_py_sim.graph.scenario import (
    Scenario,
    check_link_failure,
    checked_value,
    existing_files,
    load_scenario,
    name_or_path,
    scenario_file,
)
from rosflight_py_sim.ground.confined_files import is_file
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Scalar, Value
from rosflight_py_sim.ground.shared_parameters import SEED
from rosflight_py_sim.ground.yaml_section import Item, Section, read_file
from rosflight_py_sim.missions.catalogue import flight_of, single_scenario
from rosflight_py_sim.missions.mission_judge import LOG_RATE_HZ
from rosflight_py_sim.sweep.definition import Measure, Quantity, Signal, StopRule, Sweep, named_expressions, setting
from rosflight_py_sim.sweep.distributions import Grid
from rosflight_py_sim.sweep.measured_values import read_measures, read_property, read_signals, trial_flight
from rosflight_py_sim.sweep.swept_values import (
    read_failures,
    read_firmware,
    read_parameters,
    read_variables,
    variables_in,
)
from rosflight_py_sim.vehicles import NODE_KEYS, vehicle
from rosflight_py_sim.vehicles.vehicle_file import read_flight_controller, read_further_nodes, read_mission, read_nodes
from rosflight_py_sim.world import WORLD
from rosflight_py_sim.world.world_file import world_file

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

_NODES = (*NODE_KEYS, "flight_controller", "extra_nodes")
"""Keys that name a node in place of the vehicle's own, or further nodes."""

_KEYS = (
    *("description", "vehicle", "scenario", "mission", "parameter_files", "parameters", "firmware", "failures"),
    *_NODES,
    *("variables", "nominal", "measures", "signals", "property", "stop", *(one.name for one in SWEEP_PARAMETERS)),
)

_RESERVED = ("run", "seed", "succeeded", "reason")
"""Columns of every table."""


def read_sweep(file: Path, text: str | None = None) -> Sweep:
    """Read a sweep file.

    Args:
        file: the file.
        text: content to read in place of the file's; relative paths in it start from the folder of `file`.

    Raises:
        ParameterError: the file cannot be read, or is not a valid sweep file; the text names file, line and key.
    """
    section = read_file(file, ParameterError, text).section(_KEYS, ("description",))
    scenario, files = _scenario(section, file)
    nothing: tuple[Scenario, list[Quantity]] = scenario, []
    scenario, quantities = section.read("parameters", partial(read_parameters, scenario=scenario), nothing)
    scenario, of_firmware = section.read("firmware", partial(read_firmware, scenario=scenario), (scenario, []))
    variables = section.read("variables", read_variables, [])
    failures = section.read("failures", partial(read_failures, scenario=scenario, variables=variables), {})
    for one in variables:
        if not any(one.key in variables_in(text) for texts in failures.values() for text in texts):
            raise section["variables"].fail(f"no failure contains {{{one.key}}}")
    runs, quantities = _numbered([*quantities, *of_firmware, *variables], section)
    trial = trial_flight(scenario)
    measures = section.read("measures", partial(read_measures, trial=trial), [])
    period_s = _value(section, SWEEP_PARAMETERS["signal_period"])
    signals = section.read("signals", partial(read_signals, trial=trial, period_s=period_s), [])
    if "property" in section:
        measures = [*measures, read_property(section["property"], trial, named_expressions(measures, signals))]
    _check_columns(section, quantities, measures, signals)
    nominal = {one.key: one.distribution.nominal for one in quantities}
    nominal |= section.read("nominal", partial(_nominal, quantities=quantities), {})
    return Sweep(
        file=file,
        digest=_digest(
            file.read_bytes() if text is None else text.encode(), [*files, *_files_of(scenario, quantities)]
        ),
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
        nominal=nominal,
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
            raise section["mission"].refuse("only with the key vehicle; a scenario has its own missions", "a mission")
        for key in _NODES:
            if key in section:
                raise section[key].refuse("only with the key vehicle; a scenario names the nodes of its vehicles")
        name = name_or_path(item)
        try:
            scenario, files = load_scenario(name), [scenario_file(name)]
        except ParameterError as error:
            raise item.fail(str(error)) from error
        for member in scenario.members:
            for text in setting(scenario, member.namespace, FAILURES.name, ()):
                check_link_failure(item, text, scenario, member, has_programs=False)
        if not any(flight_of(one) for one in scenario.members):
            raise item.refuse("scenarios with 'mission' or 'autopilot' in at least one vehicle")
    return replace(scenario, time_mode="lockstep", files=[*scenario.files, *further], name=file.stem), files


def _vehicle_scenario(section: Section) -> Scenario:
    """A single vehicle, as `rosflight_py_sim fly --vehicle` flies it."""
    item = section["vehicle"]
    nodes = read_nodes(section, NODE_KEYS, places=True)
    further = section.read("extra_nodes", partial(read_further_nodes, places=True), ())
    try:
        chosen = vehicle(name_or_path(item)).with_nodes(nodes)
    except ParameterError as error:
        raise item.fail(str(error)) from error
    chosen = replace(chosen, extra_nodes=tuple(dict.fromkeys([*chosen.extra_nodes, *further])))
    controller = section.read(
        "flight_controller", partial(read_flight_controller, places=True), chosen.flight_controller
    )
    mission, waypoint_file = section.read("mission", read_mission, (chosen.mission, chosen.waypoint_file))
    try:
        return single_scenario(
            replace(chosen, mission=mission, waypoint_file=waypoint_file, flight_controller=controller)
        )
    except ParameterError as error:
        raise item.fail(str(error)) from error


def _numbered(quantities: Sequence[Quantity], section: Section) -> tuple[int, list[Quantity]]:
    """Number of runs, and the quantities with the strides of grids: the last grid changes fastest."""
    grids = [one for one in quantities if isinstance(one.distribution, Grid)]
    runs = SWEEP_PARAMETERS["runs"]
    if not grids:
        if "repeats" in section:
            raise section["repeats"].refuse("only with a grid; otherwise the key runs", "repeats without a grid")
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


def _check_columns(
    section: Section, quantities: Sequence[Quantity], measures: Sequence[Measure], signals: Sequence[Signal]
) -> None:
    """Check that the columns of the table have different names."""
    columns = {*_RESERVED}
    named = {
        "variables": [one.key for one in quantities],
        "measures": [one.name for one in measures],
        "signals": [one.name for one in signals],
    }
    for key, names in named.items():
        for name in names:
            if name in columns:
                raise section[key].refuse("each name of a quantity, measure or signal once", f"a second '{name}'")
            columns.add(name)


def _nominal(item: Item, quantities: Sequence[Quantity]) -> dict[str, Scalar]:
    """Nominal values of some quantities, which are within their distributions."""
    known = {one.key: one for one in quantities}
    given: dict[str, Scalar] = {}
    for key, one in item.entries().items():
        if key not in known:
            raise one.refuse(f"quantities with a distribution: {', '.join(known) or 'none'}", f"'{key}'")
        distribution, extremes = known[key].distribution, known[key].distribution.extremes
        given[key] = value = checked_value(one, known[key].parameter)
        least, most = extremes[0], extremes[-1]
        if distribution.is_ordered and not least <= value <= most:  # type: ignore[operator]
            raise one.refuse(f"within the distribution, {least:g} to {most:g}")
        if not distribution.is_ordered and value not in extremes:
            raise one.refuse(", ".join(map(known[key].parameter.text_of, extremes)))
    return given


def _stop(item: Item, measures: Sequence[Measure], quantities: Sequence[Quantity]) -> StopRule:
    if any(isinstance(one.distribution, Grid) for one in quantities):
        raise item.refuse("only without a grid, as all points of a grid are flown", "a stop rule")
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
            is_path = "/" in value or value.endswith((".yaml", ".yml"))
            file = world_file(value, Path()) if name == WORLD.name else Path(value) if is_path else None
            if file is not None and is_file(file):
                yield file


def _values(scenario: Scenario, quantities: Sequence[Quantity]) -> Iterator[tuple[str, Value]]:
    """Names and values of all parameters that are set."""
    for settings in (scenario.settings, *(one.settings for one in scenario.members)):
        yield from settings.items()
    for one in quantities:
        yield from ((one.parameter.name, value) for value in one.distribution.extremes)


def _digest(content: bytes, files: Iterable[Path]) -> str:
    """SHA-256 of the SHA-256s of the sweep file's content and of those of the files that it names."""
    digest = hashlib.sha256(hashlib.sha256(content).digest())
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()

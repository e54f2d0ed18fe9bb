"""One run of a sweep, flown without ROS or in a composed graph; both give the same row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from std_msgs.msg import String

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.parameter_sources import ParameterSources, parameter_sources
from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.ground.parameters import ParameterError, Scalar
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.missions.catalogue import flight_of
from rosflight_py_sim.missions.flight import Flight, not_done
from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.physics.ignored_wind import SWITCHES, ignored_wind
from rosflight_py_sim.step.topics import FAULT
from rosflight_py_sim.sweep.definition import Measure, Row, Run, Signal, Sweep, run_of, scenario_of
from rosflight_py_sim.sweep.expressions import Expression, ExpressionError, values_of
from rosflight_py_sim.sweep.pipeline_flight import NeedsGraphError, PipelineFlight, parts_of, step_size_s


def check_direct(sweep: Sweep) -> None:
    """Check that the runs of a sweep can be flown without ROS.

    Raises:
        ParameterError: a part of a vehicle runs only as a node, or a parameter of the time manager is not allowed.
    """
    varied = [one.parameter.name.rpartition(":")[2] for one in sweep.quantities]
    for member in _flying(sweep.scenario):
        try:
            parts_of(member)
            step_size_s(sweep.scenario.time_manager, _sources(sweep.scenario), varied)
        except NeedsGraphError as error:
            raise ParameterError(f"{sweep.file}: {error}; give the option --graph") from error


def ignored_in(sweep: Sweep) -> list[str]:
    """Warnings of given parameters that have no effect in at least one run, each warning once.

    Raises:
        ParameterError: a parameter is missing or not allowed.
    """
    switches = [one.key for one in sweep.quantities if one.parameter.name in SWITCHES]
    # Runs with the same values of the switches have the same warnings.
    different: dict[tuple[Scalar, ...], Run] = {}
    for number in range(sweep.runs if switches else 1):
        run = run_of(sweep, number)
        different.setdefault(tuple(run.values[key] for key in switches), run)
    texts: list[str] = []
    for run in different.values():
        scenario = scenario_of(sweep, run)
        sources = _sources(scenario)
        for member in _flying(scenario):
            dynamics = node_class(member.vehicle.dynamics)
            values = sources.values_of(dynamics, member)
            texts += ignored_wind(values, sources.given_to(dynamics, member)) if "wind_models" in values else []
    return list(dict.fromkeys(texts))


def fly_run(sweep: Sweep, number: int) -> Row:
    """Fly a run without ROS."""
    run = run_of(sweep, number)
    return _row(sweep, run, _flown_directly(scenario_of(sweep, run), sweep.limit_s))


def fly_run_in_graph(sweep: Sweep, number: int) -> Row:
    """Fly a run in a composed graph, which has the process's ROS domain to itself."""
    run = run_of(sweep, number)
    return _row(sweep, run, _flown_in_graph(scenario_of(sweep, run), sweep.limit_s))


def _flying(scenario: Scenario) -> list[Member]:
    """Vehicles that fly a mission; the others have no effect on them."""
    return [member for member in scenario.members if flight_of(member) is not None]


def _flown_directly(scenario: Scenario, limit_s: float) -> list[MissionJudge]:
    sources = _sources(scenario)
    judges: list[MissionJudge] = []
    for member in _flying(scenario):
        flight = PipelineFlight(member, sources, scenario.time_manager)
        flight.judge.name = member.namespace or member.vehicle.name
        flight.fly(limit_s)
        judges.append(flight.judge)
    return judges


def _sources(scenario: Scenario) -> ParameterSources:
    return parameter_sources(
        scenario.members, files=scenario.files, weakest={"device": "none"}, settings=scenario.settings
    )


def _flown_in_graph(scenario: Scenario, limit_s: float) -> list[MissionJudge]:
    limit_ns = round(limit_s * NANOSECONDS)
    flights = [flight for flight in map(flight_of, scenario.members) if flight is not None]
    graph = ComposedGraph(
        scenario.members,
        files=scenario.files,
        settings={"real_time_multiplier": 0.0, **scenario.settings},
        arguments=["--log-level", "error"],
        observers=scenario.observers,
        time_manager=scenario.time_manager,
    )
    faults: dict[Flight, str] = {}

    def note_fault(flight: Flight, message: String) -> None:
        faults[flight] = message.data.partition(";")[0]

    def go_on() -> bool:
        running = [one for one in flights if not one.over and not faults.get(one)]
        return any(one.judge.state.time_ns < limit_ns for one in running)

    try:
        for flight in flights:
            flight.join(graph, flight.member.namespace)
            flight.node.subscribe(FAULT, partial(note_fault, flight))
        graph.spin(go_on)
    finally:
        for flight in flights:
            flight.close()
        graph.close()
    for flight in flights:
        if not flight.judge.has_ended:
            flight.judge.reason = faults.get(flight) or not_done(flight.activity, limit_s)
    return [flight.judge for flight in flights]


def _row(sweep: Sweep, run: Run, judges: Sequence[MissionJudge]) -> Row:
    """The row of a run, from the logs of its missions."""
    names: dict[str, Any] = {}
    reasons: list[str] = []
    for judge in judges:
        judge.log.cut(sweep.limit_s)
        prefix = f"{judge.name}." if len(sweep.scenario.members) > 1 else ""
        reason = judge.reason
        if judge.has_begun:
            names |= {prefix + name: value for name, value in values_of(judge.log, judge.summary).items()}
            verdict = judge.verdict()
            reason = reason or ("" if verdict.completed else verdict.shortfall or "the mission was not completed")
        else:
            reason = reason or "the mission did not begin"
        if reason:
            reasons.append(f"{judge.name}: {reason}" if prefix else reason)
    measures = {one.name: _number(one, names) for one in sweep.measures}
    signals = {one.name: _samples(one, names) for one in sweep.signals}
    return Row(run, not reasons, "; ".join(reasons), measures, signals)


def _number(measure: Measure, names: Mapping[str, Any]) -> float:
    expression = _expression(measure.expression, frozenset(names))
    return math.nan if expression is None else float(expression.value(names))


def _samples(signal: Signal, names: Mapping[str, Any]) -> list[float]:
    """Values of a signal, from one period after the beginning of the log to its end."""
    expression = _expression(signal.expression, frozenset(names))
    if expression is None:
        return []
    time_s = names[expression.time_name]
    count = math.floor((time_s[-1] - time_s[0]) / signal.period_s + 1e-9)
    at_s = time_s[0] + signal.period_s * np.arange(1, count + 1)
    samples: list[float] = np.interp(at_s, time_s, np.asarray(expression.value(names))).tolist()
    return samples


@lru_cache(maxsize=256)
def _expression(text: str, known: frozenset[str]) -> Expression | None:
    """The expression; None if it names a vehicle whose mission did not begin, and which therefore has no values."""
    try:
        return Expression(text, known)
    except ExpressionError:
        return None

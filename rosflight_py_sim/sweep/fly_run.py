"""One run of a sweep, flown without ROS or in a composed graph; both give the same row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from rclpy.qos import QoSProfile
from std_msgs.msg import String

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.parameter_sources import ParameterSources, parameter_sources
from rosflight_py_sim.graph.plan import planned_nodes
from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.ground.parameters import ParameterError, Scalar
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.interfaces.hand_off_ends import Listener
from rosflight_py_sim.missions.catalogue import flight_of
from rosflight_py_sim.missions.flight import Flight, not_done
from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.physics.ignored_wind import SWITCHES, ignored_wind
from rosflight_py_sim.step.ports import Output, examples_of
from rosflight_py_sim.step.topics import FAULT, StepTopic
from rosflight_py_sim.sweep.definition import Measure, Row, Run, Signal, Sweep, named_expressions, run_of, scenario_of
from rosflight_py_sim.sweep.expressions import Expression, ExpressionError, values_of
from rosflight_py_sim.sweep.pipeline_flight import NeedsGraphError, Observe, PipelineFlight, Sent, parts_of, step_size_s
from rosflight_py_sim.sweep.temporal_logic import Property


def check_direct(sweep: Sweep) -> None:
    """Check that the runs of a sweep can be flown without ROS.

    Raises:
        ParameterError: a part of a vehicle runs only as a node, or a parameter of the time manager is not allowed.
    """
    varied = [one.parameter.name.rpartition(":")[2] for one in sweep.quantities]
    for member in _flying(sweep.scenario):
        try:
            parts_of(member)
            step_size_s(sweep.scenario.time_manager, sources_of(sweep.scenario), varied)
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
        sources = sources_of(scenario)
        for member in _flying(scenario):
            dynamics = node_class(member.vehicle.dynamics)
            values = sources.values_of(dynamics, member)
            texts += ignored_wind(values, sources.given_to(dynamics, member)) if "wind_models" in values else []
    return list(dict.fromkeys(texts))


def fly_run(sweep: Sweep, run: Run) -> Row:
    """Fly a run without ROS."""
    return _row(sweep, run, fly_directly(scenario_of(sweep, run), sweep.limit_s))


def fly_run_in_graph(sweep: Sweep, run: Run) -> Row:
    """Fly a run in a composed graph, which has the process's ROS domain to itself."""
    return _row(sweep, run, fly_in_graph(scenario_of(sweep, run), sweep.limit_s))


def _flying(scenario: Scenario) -> list[Member]:
    """Vehicles that fly a mission; the others have no effect on them."""
    return [member for member in scenario.members if flight_of(member) is not None]


def fly_directly(scenario: Scenario, limit_s: float, *, observe: Observe | None = None) -> list[MissionJudge]:
    """Fly the missions of a scenario without ROS, one vehicle after the other; return their judges.

    Raises:
        NeedsGraphError: a part runs only as a node.
        ParameterError: a parameter is missing or not allowed.
    """
    sources = sources_of(scenario)
    judges: list[MissionJudge] = []
    for member in _flying(scenario):
        flight = PipelineFlight(member, sources, scenario.time_manager, observe=observe)
        flight.judge.name = member.namespace or member.vehicle.name
        flight.fly(limit_s)
        judges.append(flight.judge)
    return judges


def sources_of(scenario: Scenario) -> ParameterSources:
    """Sources of the parameters in a flight without ROS."""
    return parameter_sources(
        scenario.members, files=scenario.files, weakest={"device": "none"}, settings=scenario.settings
    )


def fly_in_graph(
    scenario: Scenario, limit_s: float, *, observe: Observe | None = None, record: str | None = None
) -> list[MissionJudge]:
    """Fly the missions of a scenario in a composed graph, which has the process's ROS domain to itself.

    Args:
        scenario: the scenario.
        limit_s: simulated time at which missions that have not ended fail, s.
        observe: receivers of the topics; None: none.
        record: file to record every topic to; None: no recording.

    Returns:
        the judges of the missions.

    Raises:
        ParameterError: the graph cannot be created.
    """
    limit_ns = round(limit_s * NANOSECONDS)
    flights = [flight for flight in map(flight_of, scenario.members) if flight is not None]
    graph: ComposedGraph | None = None
    rows = rows_of(scenario.members, scenario.observers) if observe is not None else {}

    def time_ns() -> int:
        return 0 if graph is None else graph.time_ns

    def tapped(name: str, message_type: Any, _: QoSProfile) -> Listener | None:
        sent = rows.get(name) or Sent("", "", StepTopic(name.removeprefix("/"), message_type), False)
        take = observe(sent, time_ns) if observe is not None else None
        return None if take is None else Listener(lambda message: take(sent.topic.decode(message)))

    graph = ComposedGraph(
        scenario.members,
        files=scenario.files,
        settings={"real_time_multiplier": 0.0, **scenario.settings},
        arguments=["--log-level", "error"],
        observers=scenario.observers,
        time_manager=scenario.time_manager,
        record=record,
        tap=None if observe is None else tapped,
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
            flight.judge.note_failure(faults.get(flight) or not_done(flight.activity, limit_s))
    return [flight.judge for flight in flights]


def rows_of(members: Sequence[Member], observers: Sequence[str] = ()) -> dict[str, Sent]:
    """Topics that the nodes of vehicles send, by full name.

    Args:
        members: the vehicles.
        observers: front-ends of the bridge that observe them.
    """
    rows: dict[str, Sent] = {}
    for node in planned_nodes(members, observers=observers):
        cls = node_class(node.executable)
        for port in examples_of(cls):
            if isinstance(port, Output):
                one = Sent(node.namespace, cls.DEFAULT_NAME, port.topic, port.lazy)
                rows.setdefault(absolute_name("", one.name), one)
    return rows


def outcome_of(judges: Sequence[MissionJudge], limit_s: float, *, several: bool) -> tuple[dict[str, Any], list[str]]:
    """Values of the names in expressions, and the reasons why missions failed.

    Args:
        judges: judges of the missions, whose logs are cut at the limit.
        limit_s: simulated time of the limit, s.
        several: whether the scenario has several vehicles, whose names precede all names.
    """
    names: dict[str, Any] = {}
    reasons: list[str] = []
    for judge in judges:
        judge.log.cut(limit_s)
        prefix = f"{judge.name}." if several else ""
        reason = judge.reason
        if judge.has_begun:
            names |= {prefix + name: value for name, value in values_of(judge.log, judge.summary).items()}
            verdict = judge.verdict()
            reason = reason or ("" if verdict.completed else verdict.shortfall or "the mission was not completed")
        else:
            reason = reason or "the mission did not begin"
        if reason:
            reasons.append(f"{judge.name}: {reason}" if prefix else reason)
    return names, reasons


def _row(sweep: Sweep, run: Run, judges: Sequence[MissionJudge]) -> Row:
    """The row of a run, from the logs of its missions."""
    names, reasons = outcome_of(judges, sweep.limit_s, several=len(sweep.scenario.members) > 1)
    measures = {one.name: _number(one, names) for one in sweep.measures if not one.is_property}
    signals = {one.name: _samples(one, names) for one in sweep.signals}
    if sweep.property is not None:
        defined = named_expressions(sweep.measures, sweep.signals)
        formula = _property(sweep.property.expression, frozenset(names), tuple(defined.items()))
        measures[sweep.property.name] = robustness = math.nan if formula is None else formula.value(names)
        if not reasons and math.isnan(robustness):
            reasons.append("the property has no value")
        elif robustness < 0.0:
            reasons.append(f"the property is broken, robustness {robustness:.4g}")
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


@lru_cache(maxsize=256)
def _property(text: str, known: frozenset[str], defined: tuple[tuple[str, str], ...]) -> Property | None:
    """The property, with the expressions of measures and signals; None as for `_expression`."""
    try:
        return Property(text, known, {name: Expression(one, known) for name, one in defined})
    except ExpressionError:
        return None

"""Reader of the sections `measures`, `signals` and `property` of a sweep file; it tries expressions on a short log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.ground.yaml_section import Item
from rosflight_py_sim.missions.autopilot.judge import autopilot_class
from rosflight_py_sim.missions.autopilot.log import FlightLog
from rosflight_py_sim.missions.catalogue import flight_of, judge_class, mission_name
from rosflight_py_sim.missions.client_log import PathLog
from rosflight_py_sim.recording.state_log import StateLog
from rosflight_py_sim.sweep.definition import Measure, Signal
from rosflight_py_sim.sweep.expressions import Expression, ExpressionError, figures_of, series_of
from rosflight_py_sim.sweep.swept_values import named_entries
from rosflight_py_sim.sweep.temporal_logic import Property
from rosflight_py_sim.vehicles import Vehicle

ROBUSTNESS = "robustness"
"""Column of the robustness of the property."""


def trial_flight(scenario: Scenario) -> dict[str, Any]:
    """Values of the names in expressions for a log of a few rows, to try expressions on."""
    values: dict[str, Any] = {}
    for one in scenario.members:
        if flight_of(one) is not None:
            prefix = f"{one.namespace}." if len(scenario.members) > 1 else ""
            values |= {prefix + name: value for name, value in _trial_of(one).items()}
    return values


def read_measures(item: Item, trial: Mapping[str, Any]) -> list[Measure]:
    """Numbers of each run.

    Raises:
        ParameterError: an expression is invalid, or not a number; the text names file, line and key.
    """
    return [
        Measure(name, _expression(one, trial, 0, "a number, such as mean(...), max(...) or last(...)"))
        for name, one in named_entries(item).items()
    ]


def read_signals(item: Item, trial: Mapping[str, Any], period_s: float) -> list[Signal]:
    """Trajectories of each run.

    Raises:
        ParameterError: an expression is invalid, or not a series; the text names file, line and key.
    """
    return [
        Signal(name, _expression(one, trial, 1, "a series, such as -truth_state.position_ned[2]"), period_s)
        for name, one in named_entries(item).items()
    ]


def read_property(item: Item, trial: Mapping[str, Any], defined: Mapping[str, str]) -> Measure:
    """The property of the flights, in which the names of measures and signals may occur, whose expressions are given.

    Raises:
        ParameterError: it is invalid; the text names file, line and key.
    """
    text = item.text()
    try:
        Property(text, trial, {name: Expression(one, trial) for name, one in defined.items()}).value(trial)
    except ExpressionError as error:
        raise item.fail(str(error)) from error
    return Measure(ROBUSTNESS, text, is_property=True)


def _trial_of(member: Member) -> dict[str, Any]:
    figures = figures_of(judge_class(mission_name(member.vehicle)).SUMMARY)
    return series_of(_trial_log(member.vehicle)) | {f"judge.{name}": 0.0 for name in figures}


def _trial_log(vehicle: Vehicle) -> StateLog:
    truth, commands = np.eye(19)[3], np.zeros(len(vehicle.actuators))
    # More rows than a vector has components, so that numpy cannot confuse the two dimensions.
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


def _expression(item: Item, trial: Mapping[str, Any], dimensions: int, allowed: str) -> str:
    """Text of an expression, whose value for a flight must have the given number of dimensions."""
    text = item.text()
    try:
        given = np.ndim(Expression(text, trial).value(trial))
    except ExpressionError as error:
        raise item.fail(str(error)) from error
    if given != dimensions:
        raise item.refuse(allowed, f"{('a number', 'a series', 'a vector')[given]}, '{text}',")
    return text

"""Definition of a sweep: a scenario, distributions of its parameters, and the measures of each run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from rosflight_py_sim.failures.failure import FAILURES
from rosflight_py_sim.firmware.parameters import FIRMWARE_PARAMETERS
from rosflight_py_sim.graph.fleet import Member, seed_of
from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.ground.parameters import Parameter, Scalar
from rosflight_py_sim.ground.shared_parameters import SEED


class Distribution(ABC):
    """Values that a quantity takes."""

    @abstractmethod
    def value(self, number: int, rng: np.random.Generator) -> Scalar:
        """Value of a run, given by the number of the run, or drawn."""

    @abstractmethod
    def quantile(self, share: float) -> Scalar:
        """Value below which a share of the values lies, from 0 to 1; of values without order, one of the list."""

    @property
    @abstractmethod
    def extremes(self) -> Sequence[Scalar]:
        """Values between which all others lie, or all values."""

    @property
    def is_ordered(self) -> bool:
        """Whether the values are numbers between the extremes; otherwise, they are the extremes."""
        return True

    @property
    def nominal(self) -> Scalar:
        """Value from which others deviate: the median, or the first of a list."""
        return self.quantile(0.5) if self.is_ordered else self.extremes[0]


@dataclass(frozen=True)
class Quantity:
    """A number, text or truth value that differs from run to run: a parameter, or a variable in the texts of failures.

    A parameter is one of a node, or one of the firmware.

    Attributes:
        key: column of the table: the name of the parameter or variable; with the vehicle's name and a dot before it if
            the value is for one vehicle of a scenario, and the index in brackets after it for an element of a list.
        parameter: descriptor of the parameter, or of the element; of a variable, without text and limits.
        distribution: its values.
        vehicle: namespace of the vehicle; empty: all vehicles.
        index: index of the element in the parameter's list; None if the parameter is not a list.
        is_variable: whether it is a variable, which only the texts of failures contain.
        is_firmware: whether it is a parameter of the firmware.
    """

    key: str
    parameter: Parameter
    distribution: Distribution
    vehicle: str = ""
    index: int | None = None
    is_variable: bool = False
    is_firmware: bool = False


@dataclass(frozen=True)
class Measure:
    """A number of each run.

    Attributes:
        name: column of the table.
        expression: text of the expression over the flight's topics and the judge's figures (sweep/expressions.py).
        is_property: whether the expression is a property, and the number its robustness (sweep/temporal_logic.py).
    """

    name: str
    expression: str
    is_property: bool = False


@dataclass(frozen=True)
class Signal:
    """A number at each moment of a run, for pictures of trajectories.

    Attributes:
        name: column of the table, which holds a list: the values at `period_s`, 2 `period_s`, ... after the start.
        expression: text of the expression, whose value is an array with an entry for each row of the flight's log.
        period_s: time between two values, s.
    """

    name: str
    expression: str
    period_s: float


def named_expressions(measures: Sequence[Measure], signals: Sequence[Signal]) -> dict[str, str]:
    """Texts of the expressions that a property may name, by name."""
    of_measures = {one.name: one.expression for one in measures if not one.is_property}
    return of_measures | {one.name: one.expression for one in signals}


@dataclass(frozen=True)
class StopRule:
    """Ends a sweep early: the confidence interval of a measure's mean over the succeeded runs is narrow enough.

    Attributes:
        measure: name of the measure.
        half_width: half the width of the interval at which the sweep ends, in the unit of the measure.
        confidence: level of confidence, between 0 and 1.
        least_runs: number of runs below which the rule does not apply.
    """

    measure: str
    half_width: float
    confidence: float = 0.95
    least_runs: int = 20


@dataclass(frozen=True)
class Sweep:
    """Runs of a scenario.

    Attributes:
        file: the sweep file.
        digest: SHA-256 of everything that determines the table: the content of the sweep file and of the files that it
            names.
        description: one line.
        scenario: scenario of all runs; the elements of lists that differ from run to run are placeholders.
        quantities: values that differ.
        runs: number of runs; with a grid, the number of its points times the repetitions.
        seed: root seed.
        measures: numbers of each run; the last one is the robustness of the property, if the file has one.
        signals: trajectories of each run.
        stop: stop rule; None: all runs are flown.
        limit_s: longest simulated duration of a run, s; a mission that is not done by then has failed.
        failures: texts of failures by the namespace of their vehicle, with the names of variables in braces.
        nominal: values of the quantities from which those of the runs deviate, by key.
    """

    file: Path
    digest: str
    description: str
    scenario: Scenario
    quantities: Sequence[Quantity]
    runs: int
    seed: int
    measures: Sequence[Measure] = ()
    signals: Sequence[Signal] = ()
    stop: StopRule | None = None
    limit_s: float = 300.0
    failures: Mapping[str, Sequence[str]] = field(default_factory=dict)
    nominal: Mapping[str, Scalar] = field(default_factory=dict)

    @property
    def property(self) -> Measure | None:
        """The property that the flights should have; None if the file has none."""
        return next((one for one in self.measures if one.is_property), None)


@dataclass(frozen=True)
class Run:
    """Inputs of one run, which depend only on the sweep's root seed and the number of the run.

    Attributes:
        number: from 0.
        seed: of the scenario.
        values: of the quantities, by key.
    """

    number: int
    seed: int
    values: Mapping[str, Scalar]


@dataclass(frozen=True)
class Row:
    """Outcome of a run: a row of the table.

    Attributes:
        run: the inputs.
        succeeded: whether the mission was completed.
        reason: why the run failed; empty if it succeeded.
        measures: by name; NaN where a failed run has none.
        signals: by name; empty where a failed run has none.
    """

    run: Run
    succeeded: bool
    reason: str = ""
    measures: Mapping[str, float] = field(default_factory=dict)
    signals: Mapping[str, Sequence[float]] = field(default_factory=dict)


def run_of(sweep: Sweep, number: int) -> Run:
    """Inputs of a run.

    Raises:
        ValueError: the sweep has no run of that number.
    """
    if not 0 <= number < sweep.runs:
        raise ValueError(f"run {number} given; allowed: 0 to {sweep.runs - 1}")
    rng = np.random.default_rng([sweep.seed, number])
    seed = int(rng.integers(int(SEED.maximum) + 1))
    return Run(number, seed, {one.key: one.distribution.value(number, rng) for one in sweep.quantities})


def scenario_of(sweep: Sweep, run: Run) -> Scenario:
    """The scenario with the values of a run, and with seeds derived from the run's."""
    scenario = sweep.scenario
    for one in sweep.quantities:
        if one.is_variable:
            continue
        name, value = one.parameter.name, run.values[one.key]
        if one.is_firmware:
            scenario = with_firmware_parameter(scenario, one.vehicle, name, value)
        elif one.index is None:
            scenario = with_setting(scenario, one.vehicle, name, value)
        else:
            elements = list(setting(scenario, one.vehicle, name))
            elements[one.index] = value
            scenario = with_setting(scenario, one.vehicle, name, elements)
    for vehicle, texts in sweep.failures.items():
        drawn = [text.format_map(run.values) for text in texts]
        scenario = with_setting(
            scenario, vehicle, FAILURES.name, [*setting(scenario, vehicle, FAILURES.name, []), *drawn]
        )
    for vehicle in (one.namespace for one in scenario.members):
        seed = seed_of(run.seed, vehicle) if vehicle else run.seed
        scenario = with_setting(scenario, vehicle, SEED.name, seed)
    return scenario


def setting(scenario: Scenario, vehicle: str, name: str, default: Any = None) -> Any:
    """Value of a parameter of a vehicle, or of all vehicles if `vehicle` is empty; the default if it is not set."""
    own = next((one.settings for one in scenario.members if vehicle and one.namespace == vehicle), scenario.settings)
    return own.get(name, default)


def with_setting(scenario: Scenario, vehicle: str, name: str, value: Any) -> Scenario:
    """The scenario with another value of a parameter of a vehicle, or of all vehicles if `vehicle` is empty."""

    def changed(member: Member) -> Member:
        is_meant = member.namespace == vehicle if vehicle else name in member.settings
        return replace(member, settings={**member.settings, name: value}) if is_meant else member

    settings = scenario.settings if vehicle else {**scenario.settings, name: value}
    return replace(scenario, members=[changed(one) for one in scenario.members], settings=settings)


def with_firmware_parameter(scenario: Scenario, vehicle: str, name: str, value: Any) -> Scenario:
    """The scenario with another value of a firmware parameter of a vehicle, or of all if `vehicle` is empty."""

    def changed(member: Member) -> Member:
        given: Any = {**scenario.settings, **member.settings}.get(FIRMWARE_PARAMETERS.name, [])
        return replace(member, settings={**member.settings, FIRMWARE_PARAMETERS.name: [*given, f"{name} {value}"]})

    return replace(
        scenario, members=[changed(one) if vehicle in ("", one.namespace) else one for one in scenario.members]
    )

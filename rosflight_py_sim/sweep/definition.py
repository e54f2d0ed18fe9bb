"""What a sweep is: a scenario, distributions over its parameters, and what is measured in each run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.parameters import Parameter, Value
from rosflight_py_sim.shared_parameters import SEED


class Distribution(ABC):
    """Values that a quantity takes."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Value:
        """Value of one run."""

    @property
    @abstractmethod
    def extremes(self) -> Sequence[Value]:
        """Values between which all others lie, or all values."""


@dataclass(frozen=True)
class Quantity:
    """A parameter that differs from run to run.

    Attributes:
        key: name in the sweep file and column of the table: the parameter's name, after the name of the vehicle and a
            dot in a scenario of several vehicles.
        vehicle: namespace of the vehicle; empty for a single vehicle.
        parameter: descriptor of the parameter.
        distribution: its values.
    """

    key: str
    vehicle: str
    parameter: Parameter
    distribution: Distribution


@dataclass(frozen=True)
class Measure:
    """A number of each run.

    Attributes:
        name: column of the table.
        expression: text of the expression over the flight's topics and the judge's figures (sweep/expressions.py).
    """

    name: str
    expression: str


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


@dataclass(frozen=True)
class StopRule:
    """Ends a sweep early: the confidence interval of a measure's mean is narrow enough.

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
        scenario: scenario of all runs.
        quantities: parameters that differ.
        runs: number of runs; with a grid, the number of its points times the repetitions.
        seed: root seed.
        measures: numbers of each run.
        signals: trajectories of each run.
        stop: stop rule; None: all runs are flown.
        limit_s: longest simulated duration of a run, s; a mission that is not done by then has failed.
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
    values: Mapping[str, Value]


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
    """Inputs of a run."""
    rng = np.random.default_rng([sweep.seed, number])
    seed = int(rng.integers(int(SEED.maximum) + 1))
    return Run(number, seed, {one.key: one.distribution.draw(rng) for one in sweep.quantities})


def scenario_of(sweep: Sweep, run: Run) -> Scenario:
    """The scenario with the values of a run, and with seeds derived from the run's."""
    raise NotImplementedError

"""Flight of a described simulation, without ROS or in a composed graph; both give the same outcome, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.kernels.preparation import prepare_kernels
from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.sweep.definition import Sweep, run_of, scenario_of
from rosflight_py_sim.sweep.fly_run import fly_directly, fly_in_graph, outcome_of
from rosflight_py_sim.sweep.pipeline_flight import NeedsGraphError, Observe
from rosflight_py_sim.testing.flown import FlownSimulation, ObservedTopics
from rosflight_py_sim.testing.recorded import recorded_flight


@dataclass(frozen=True)
class Flight:
    """A flight, with all that a bundle needs.

    Attributes:
        sweep: the simulation.
        scenario: what is flown.
        judges: judges of the missions; none before the flight is over, or if it has raised an exception.
        flown: the outcome.
        with_ros: whether it is flown in a composed graph, in the process's ROS domain.
        recording: file to which the graph is recorded; empty for none.
    """

    sweep: Sweep
    scenario: Scenario
    judges: Sequence[MissionJudge]
    flown: FlownSimulation
    with_ros: bool
    recording: str

    @property
    def limit_s(self) -> float:
        """Longest simulated duration, s."""
        return self.sweep.limit_s


def prepared(sweep: Sweep, *, ros: bool = False, record: str = "") -> Flight:
    """The only run of a sweep before its flight.

    Args:
        sweep: the simulation.
        ros: whether to fly in a composed graph.
        record: file to record the graph to; empty: no recording.
    """
    scenario = scenario_of(sweep, run_of(sweep, 0))
    vehicles = ", ".join(one.namespace or one.vehicle.name for one in scenario.members)
    flown = FlownSimulation(f"{vehicles}, seed {sweep.seed}", 0.0, {}, ("the flight is not over",))
    return Flight(sweep, scenario, (), flown, ros, record)


def fly(flight: Flight, topics: Sequence[str] = (), *, observe: Observe | None = None) -> Flight:
    """Fly.

    Args:
        flight: the flight before.
        topics: topics to observe.
        observe: receivers of all topics, in place of `topics`.

    Raises:
        ParameterError: a topic or parameter is not allowed, or the simulation cannot be flown so.
    """
    prepare_kernels()
    sweep, scenario = flight.sweep, flight.scenario
    observed = ObservedTopics(topics)
    receivers = observe or (observed.observe if topics else None)
    try:
        if flight.with_ros:
            judges = fly_in_graph(scenario, sweep.limit_s, observe=receivers, record=flight.recording or None)
        else:
            judges = fly_directly(scenario, sweep.limit_s, observe=receivers)
    except NeedsGraphError as error:
        raise ParameterError(f"{sweep.description}: {error}; a test with ros=True flies in the node graph") from error
    messages = observed.messages
    if observed.unsent and Path(flight.recording).is_file():
        # Topics of nodes in other processes are only in the recording.
        messages |= recorded_flight(flight.recording, observed.unsent).messages
    else:
        observed.check()
    names, reasons = outcome_of(judges, sweep.limit_s, several=len(scenario.members) > 1)
    # Judges of compiled steps receive states only while they log.
    ends_s = [float(one.log.time_s[-1]) if len(one.log) else one.state.time_s for one in judges]
    end_s = max(ends_s, default=0.0)
    flown = FlownSimulation(flight.flown.title, end_s, names, reasons, messages)
    return replace(flight, judges=judges, flown=flown)

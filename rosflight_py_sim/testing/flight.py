"""Flight of a described simulation, without ROS or in a composed graph; both give the same outcome, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.kernels.preparation import prepare_kernels
from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.sweep.definition import Sweep, run_of, scenario_of
from rosflight_py_sim.sweep.fly_run import fly_directly, fly_in_graph, outcome_of
from rosflight_py_sim.sweep.pipeline_flight import NeedsGraphError, Observe
from rosflight_py_sim.testing.flown import FlownSimulation, ObservedTopics


@dataclass(frozen=True)
class Flight:
    """A flight that is over, with all that a bundle needs.

    Attributes:
        scenario: what was flown.
        limit_s: longest simulated duration, s.
        judges: judges of the missions.
        flown: the outcome.
        with_ros: whether it was flown in a graph.
        recording: its recording; empty if there is none.
    """

    scenario: Scenario
    limit_s: float
    judges: Sequence[MissionJudge]
    flown: FlownSimulation
    with_ros: bool
    recording: str = ""


def fly(
    sweep: Sweep,
    topics: Sequence[str] = (),
    *,
    ros: bool = False,
    record: str = "",
    observe: Observe | None = None,
) -> Flight:
    """Fly the only run of a sweep.

    Args:
        sweep: the simulation.
        topics: topics to observe.
        ros: whether to fly in a composed graph, in the process's ROS domain.
        record: file to record the graph to; empty: no recording.
        observe: receivers of all topics, in place of `topics`.

    Raises:
        ParameterError: a topic or parameter is not allowed, or the simulation cannot be flown so.
    """
    prepare_kernels()
    scenario = scenario_of(sweep, run_of(sweep, 0))
    observed = ObservedTopics(topics)
    receivers = observe or (observed.observe if topics else None)
    try:
        if ros:
            judges = fly_in_graph(scenario, sweep.limit_s, observe=receivers, record=record or None)
        else:
            judges = fly_directly(scenario, sweep.limit_s, observe=receivers)
    except NeedsGraphError as error:
        raise ParameterError(f"{sweep.description}: {error}; a test with ros=True flies in the node graph") from error
    observed.check()
    names, reasons = outcome_of(judges, sweep.limit_s, several=len(scenario.members) > 1)
    vehicles = ", ".join(one.namespace or one.vehicle.name for one in scenario.members)
    # Judges of compiled steps receive states only while they log.
    ends_s = [float(one.log.time_s[-1]) if len(one.log) else one.state.time_s for one in judges]
    end_s = max(ends_s, default=0.0)
    flown = FlownSimulation(f"{vehicles}, seed {sweep.seed}", end_s, names, reasons, observed.messages)
    return Flight(scenario, sweep.limit_s, judges, flown, ros, record)

"""Running of missions: the composed graph, the pilots and programs that fly the vehicles, and the verdict."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from std_msgs.msg import String

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import SIL_BOARD, chosen_flight_controller
from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.ground.new_files import prepare, reserved
from rosflight_py_sim.ground.parameters import ParameterError, Value, Values
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.missions.flight_film import FlightFilm
from rosflight_py_sim.missions.flight_page import FlightPage
from rosflight_py_sim.missions.flight_progress import FlightProgress
from rosflight_py_sim.missions.flight_result import FlightResult, flown
from rosflight_py_sim.missions.judge_node import JudgeNode
from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.missions.mission_settings import MissionSettings
from rosflight_py_sim.missions.overview_picture import draw_overview
from rosflight_py_sim.missions.summary_table import print_table
from rosflight_py_sim.nodes.running import deferred_signals
from rosflight_py_sim.parts.transmitter import RcTransmitter
from rosflight_py_sim.step.mission_topics import MISSION_END
from rosflight_py_sim.vehicles import reference

AUTOPILOT = "autopilot"
"""Name of the mission of a vehicle's autopilot."""


class Flight(ABC):
    """A vehicle's mission in a simulation, and its judge.

    Attributes:
        member: the vehicle that flies.
        name: display name of the vehicle.
        judge: judge of the mission; set by `join`.
        node: node of the judge; set by `join`.
    """

    judge: MissionJudge
    node: JudgeNode

    def __init__(self, member: Member, mission: str, judge: type[MissionJudge]) -> None:
        """Define the mission by its name and the class of its judge."""
        self.member = member
        self.name = member.namespace or member.vehicle.name
        self._mission = mission
        self._judge_class = judge
        self._has_ended = False

    def join(self, graph: ComposedGraph, namespace: str) -> None:
        """Create the judge and the nodes that fly in the graph, in the vehicle's `namespace`.

        Raises:
            ParameterError: the mission cannot be flown in the graph.
        """
        judge, vehicle = self._judge_class, self.member.vehicle
        values = graph.values_of(judge.NODE, self.member.namespace) if judge.PARAMETERS else {}
        taken = {name: values[name] for name in judge.PARAMETERS}
        self.judge = judge(vehicle, {**taken, **self.given_limits(graph)})
        self.judge.name = self.name
        settings = MissionSettings(
            self._mission, self.name, reference(vehicle), vehicle.autopilot, dict(self.judge.values)
        )
        self.node = graph.join(JudgeNode, self.judge, settings, namespace=namespace)
        self._publish_end = self.node.publisher(MISSION_END)

    @abstractmethod
    def given_limits(self, graph: ComposedGraph) -> Values:
        """Limits of acceptance that are given for this mission; the others have their defaults."""

    @property
    @abstractmethod
    def activity(self) -> str:
        """Current activity, for the progress display."""

    @property
    @abstractmethod
    def progress(self) -> float:
        """Completed share of the mission, 0 to 1."""

    @property
    @abstractmethod
    def end(self) -> str | None:
        """None while the mission continues; then the activity and reason of its failure, empty on success."""

    @property
    def over(self) -> bool:
        """Whether the mission has ended, with or without success, and the judge has received its end.

        Also after the time went back: the judge receives nothing then. An oscillation that begins meanwhile is logged.
        """
        if not self._has_ended:
            self.node.warn_of_oscillation()
            end = self.end
            if end is None and self.judge.take_off.text:
                end = f"{self.activity}: {self.judge.take_off.text}"
            if end is not None:
                self._has_ended = True
                self._publish_end(String(data=end))
        return self.judge.has_ended or bool(self.node.torn)

    def close(self) -> None:  # noqa: B027
        """End external programs before the graph is closed."""


class Flights:
    """Missions of all vehicles of a simulation."""

    def __init__(self, flights: Sequence[Flight], limit_s: float = math.inf) -> None:
        """Observe the missions.

        Args:
            flights: at least one.
            limit_s: simulated time at which missions that have not ended fail, s.
        """
        self._flights = flights
        self._limit_s = limit_s

    @property
    def activity(self) -> str:
        """Current activity of each vehicle whose mission has not ended."""
        if len(self._flights) == 1:
            return self._flights[0].activity
        return ", ".join(f"{one.name}: {one.activity}" for one in self._flights if not one.judge.has_ended)

    @property
    def progress(self) -> float:
        """Mean of the missions' completed shares, 0 to 1."""
        return sum(1.0 if one.judge.has_ended else one.progress for one in self._flights) / len(self._flights)

    @property
    def over(self) -> bool:
        """Whether all missions have ended, or their time has."""
        # `over` publishes the end of a mission, so it must be read for each, even if others continue.
        running = [one for one in self._flights if not one.over]
        return not any(one.judge.state.time_ns < self._limit_s * NANOSECONDS for one in running)

    def fail_unfinished(self) -> None:
        """Fail the missions that have not ended within their time."""
        for one in self._flights:
            if not one.judge.has_ended:
                one.judge.note_failure(not_done(one.activity, self._limit_s))


def not_done(activity: str, limit_s: float) -> str:
    """Reason why a mission failed that was not done within its time (s)."""
    return f"{activity}: not done after {limit_s:g} s"


def fly(
    scenario: Scenario,
    flights: Sequence[Flight],
    *,
    settings: Mapping[str, Value],
    ros_arguments: Sequence[str],
    namespace: str,
    output: Path,
    transmitter: str = "none",
    sidecars: Sequence[str] = (),
    record: str | None = None,
    limit_s: float = math.inf,
    alone: bool = False,
    page: FlightPage | None = None,
    film: FlightFilm | None = None,
) -> int:
    """Fly the missions of a scenario, for `limit_s` of simulated time at most; print the verdicts and draw the plot.

    With `alone`, another simulation in the ROS domain is refused. If there is a `page`, the processes of `sidecars`
    belong to it, and it shows the verdicts until a signal or a request to fly again. A `film` is made of the flight.

    Raises:
        ParameterError: files cannot be created in the folder `output`, or the graph cannot be created.

    Returns:
        Exit code: 0 on success, 1 after a failed mission or an incomplete recording, or if the time went back.
    """
    console = Console()
    try:
        prepare(output)
    except OSError as error:
        raise ParameterError(
            f"folder '{output}' for plots given, which cannot be written ({error.strerror}); allowed: --output with a "
            "folder that you can write to"
        ) from error
    pace: dict[str, Value] = {"real_time_multiplier": 0.0} if scenario.time_mode == "lockstep" else {}
    # An interrupt between the creation of the graph and its end would leave its processes behind.
    with deferred_signals() as signals:
        graph = ComposedGraph(
            scenario.members,
            files=scenario.files,
            settings={**pace, **scenario.settings, **settings},
            # INFO messages would break the progress bar; a log level given by the user overrides this one.
            arguments=["--log-level", "warn", *ros_arguments[1:]],
            time_mode=scenario.time_mode,
            time_manager=scenario.time_manager,
            namespace=namespace,
            observers=scenario.observers,
            transmitter=transmitter,
            sidecars=sidecars,
            outliving=None if page is None else page.processes,
            record=record,
            alone=alone,
        )
        try:
            for flight in flights:
                flight.join(graph, absolute_name(namespace, flight.member.namespace))
            missions = Flights(flights, limit_s)
            if film is not None:
                film.load(graph, [flight.member for flight in flights], namespace)
            has_transmitter = any(isinstance(node, RcTransmitter) for node in graph.nodes)
            _spin(graph, missions, console)
        finally:
            for flight in flights:
                flight.close()
            graph.close()
    if signals:
        raise KeyboardInterrupt
    missions.fail_unfinished()
    result = _conclude(scenario, flights, graph, output, console)
    if film is not None and not film.write([flight.judge.log for flight in flights], console):
        result.exit_code = 1
    if page is not None:
        page.serve(result, namespace, ros_arguments, how_to_fly(flights[0].member) if has_transmitter else "")
    return result.exit_code


def how_to_fly(member: Member) -> str:
    """Line that says how to fly a vehicle by hand."""
    is_module = Path(sys.argv[0]).name == "__main__.py"
    program = f"{sys.executable} -m rosflight_py_sim" if is_module else sys.argv[0]
    run = f"{program} sim --view --vehicle {reference(member.vehicle)}"
    if chosen_flight_controller(member.vehicle.flight_controller).receives_sticks:
        during = "press 'Fly by hand' on the page during a flight, or"
        return f"to fly by hand, {during} end this one with Ctrl-C and run: {run}"
    return f"to fly by hand, end this with Ctrl-C and run: {run} --flight-controller {SIL_BOARD.name}"


def _conclude(
    scenario: Scenario, flights: Sequence[Flight], graph: ComposedGraph, output: Path, console: Console
) -> FlightResult:
    """Print the verdicts of the missions, and draw their plot."""
    result = FlightResult()
    outcome = graph.recorder.outcome if graph.recorder is not None else None
    if outcome is not None:
        result.recording = str(outcome.path)
        console.print(f"recording: {outcome.path}, {outcome.text}", highlight=False, soft_wrap=True)
    if torn := next((flight.node.torn for flight in flights if flight.node.torn), ""):
        print(f"rosflight_py_sim: {torn}", file=sys.stderr)
        result.exit_code, result.torn = 1, torn
        return result
    succeeded = [print_verdict(flight.judge, console) for flight in flights]
    result.flights = [flown(flight.judge) for flight in flights]
    judges = [flight.judge for flight in flights if flight.judge.has_begun]
    draw = judges[0].draw if len(flights) == 1 and judges else partial(draw_overview, scenario.name, judges)
    result.plot = _save(draw, output, scenario.name, console) if judges else None
    drawn = not judges or result.plot is not None
    result.exit_code = 0 if all(succeeded) and graph.recorded and drawn else 1
    return result


def _save(draw: Callable[[Path], object], output: Path, name: str, console: Console) -> Path | None:
    """Save the plot of the missions; return None, after a line on stderr, if the file cannot be written."""
    try:
        plot = reserved(output, name, ".png")
        draw(plot)
    except OSError as error:
        print(f"rosflight_py_sim: the plot cannot be written to '{output}': {error.strerror}", file=sys.stderr)
        return None
    console.print(f"plot: {plot.resolve()}", highlight=False, soft_wrap=True)
    return plot.resolve()


def print_verdict(judge: MissionJudge, console: Console) -> bool:
    """Print the reason for a failure, and the table if the mission has begun; return whether it succeeded."""
    if judge.reason:
        text = f"{judge.name}: [red]failed[/red] while {escape(judge.reason)}"
        console.print(text, highlight=False, soft_wrap=True)
    if not judge.has_begun:
        if not judge.reason:
            console.print(f"{judge.name}: [red]failed[/red]: the mission did not begin", highlight=False)
        return False
    verdict = judge.verdict()
    if verdict.shortfall and not judge.reason:
        text = f"{judge.name}: [red]failed[/red]: {escape(verdict.shortfall)}"
        console.print(text, highlight=False, soft_wrap=True)
    print_table(verdict.title, verdict.rows, console)
    return verdict.completed


def _spin(graph: ComposedGraph, flights: Flights, console: Console) -> None:
    with FlightProgress(flights, console, lambda: graph.time_ns / NANOSECONDS) as progress:
        graph.spin(progress.go_on)

"""Running a mission: the composed graph, the pilot or program that flies it, and the report."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from std_msgs.msg import String

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.missions.flight_progress import ProgressLines
from rosflight_py_sim.missions.judge_node import JudgeNode
from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.missions.mission_topics import MISSION_END
from rosflight_py_sim.missions.summary_table import print_table
from rosflight_py_sim.parameters import Value
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.vehicles import Vehicle

# Redraw rate of the progress bar on the wall clock: terminal output costs more than a step.
_REDRAW_S = 0.1


class Flight(ABC):
    """A mission and its judge.

    Attributes:
        vehicle: the vehicle that flies.
        executables: further nodes for each vehicle.
        settings: parameters that differ from the defaults; the user's override them.
        judge: evaluates the mission; exists once the flight has joined a graph, as does `node`.
        node: node of the judge.
    """

    judge: MissionJudge
    node: JudgeNode

    def __init__(self, vehicle: Vehicle, judge: type[MissionJudge]) -> None:
        """Define the mission's nodes and parameters; `judge` is the class of its judge."""
        self.vehicle = vehicle
        self.executables: tuple[str, ...] = ()
        self.settings: dict[str, Value] = {"real_time_multiplier": 0.0}
        self._judge_class = judge
        self._has_ended = False

    def join(self, graph: ComposedGraph, namespace: str) -> None:
        """Create the judge, and the nodes that fly, in the graph.

        Raises:
            ParameterError: the mission cannot be flown in the graph.
        """
        judge = self._judge_class
        values = graph.values_of(judge.NODE) if judge.PARAMETERS else {}
        self.judge = judge(self.vehicle, {name: values[name] for name in judge.PARAMETERS})
        self.node = graph.join(JudgeNode, self.judge, namespace=namespace)
        self._publish_end = self.node.publisher(MISSION_END)

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
        """None while the mission goes on; then activity and reason of its failure, empty for none."""

    @property
    def over(self) -> bool:
        """Whether the mission has ended, with or without success, and the judge has received its end."""
        if not self._has_ended:
            end = self.end
            if end is not None:
                self._has_ended = True
                self._publish_end(String(data=end))
        return self.judge.has_ended

    def close(self) -> None:  # noqa: B027
        """End external programs before the graph is closed."""


def fly(
    flight: Flight,
    *,
    files: Sequence[str],
    settings: dict[str, Any],
    ros_arguments: Sequence[str],
    namespace: str,
    output: Path,
    sidecars: Sequence[str] = (),
    record: str | None = None,
) -> int:
    """Fly the mission and show it; return the exit code: 0 success, 1 failure or incomplete recording."""
    console = Console()
    graph = ComposedGraph(
        [Member(flight.vehicle, executables=tuple(flight.executables))],
        files=files,
        settings={**flight.settings, **settings},
        # INFO messages would break the progress bar; the user's own log level overrides this one.
        arguments=["--log-level", "warn", *ros_arguments[1:]],
        namespace=namespace,
        sidecars=sidecars,
        record=record,
    )
    try:
        flight.join(graph, namespace)
        _spin(graph, flight, console)
    finally:
        flight.close()
        graph.close()
    outcome = graph.recorder.outcome if graph.recorder is not None else None
    if outcome is not None:
        console.print(f"recording: {outcome.path}, {outcome.text}", highlight=False, soft_wrap=True)
    judge = flight.judge
    success = print_verdict(judge, console)
    if judge.has_begun:
        plot = output / f"{flight.vehicle.name}-{datetime.now():%Y%m%d-%H%M%S}.png"
        judge.draw(plot)
        console.print(f"plot: {plot.resolve()}", highlight=False, soft_wrap=True)
    return 0 if success and graph.recorded else 1


def print_verdict(judge: MissionJudge, console: Console) -> bool:
    """Print the reason of a failure, and the table if the mission has begun; return whether the mission succeeded."""
    if judge.reason:
        console.print(f"[red]failed[/red] while {escape(judge.reason)}", highlight=False, soft_wrap=True)
    if not judge.has_begun:
        if not judge.reason:
            console.print("[red]failed[/red]: the mission did not begin", highlight=False)
        return False
    verdict = judge.verdict()
    print_table(verdict.title, verdict.rows, console)
    return verdict.completed


def _spin(graph: ComposedGraph, flight: Flight, console: Console) -> None:
    if console.is_terminal:
        _spin_with_bar(graph, flight, console)
    else:
        clock = graph.nodes[0].get_clock()
        graph.spin(ProgressLines(flight, console, lambda: clock.now().nanoseconds / NANOSECONDS).go_on)


def _spin_with_bar(graph: ComposedGraph, flight: Flight, console: Console) -> None:
    columns = (TextColumn("{task.description:34s}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
    with Progress(*columns, TimeElapsedColumn(), console=console, auto_refresh=False) as progress:
        task = progress.add_task(flight.activity, total=1.0)
        redraw_s = 0.0

        def go_on() -> bool:
            nonlocal redraw_s
            now_s = time.monotonic()
            over = flight.over
            if over or now_s > redraw_s:
                redraw_s = now_s + _REDRAW_S
                progress.update(task, description=flight.activity, completed=flight.progress)
                progress.refresh()
            return not over

        graph.spin(go_on)

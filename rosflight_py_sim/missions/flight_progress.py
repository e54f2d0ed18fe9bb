"""Progress of a flight: a bar in a terminal, lines in a file or pipe."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from rosflight_py_sim.missions.flight import Flights

PERIOD_S = 10.0
"""System time between lines, s."""

# System time between updates of the bar, s: terminal output costs more than a step.
_REDRAW_S = 0.1

WATCHED_PACE = 2.0
"""Default pace of a mission that is watched in the viewer, in simulated seconds per second."""


def time_left(elapsed_s: float, done: float) -> str:
    """Time left at the mean pace so far, of a task of which `done` (0 to 1) took `elapsed_s`: '0:01:20 left'.

    Empty while nothing is done.
    """
    return f"{timedelta(seconds=round(elapsed_s * (1.0 - done) / done))} left" if done > 0.0 else ""


class FlightProgress:
    """Shows phase and completed share of a flight, and the system time left at the pace since the mission began.

    A terminal shows a bar. A file or pipe receives a line every `PERIOD_S`, with the simulated time.
    """

    def __init__(
        self,
        flight: Flights,
        console: Console,
        simulated_s: Callable[[], float],
        system_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start the first period.

        Args:
            flight: only `over` is read between updates.
            console: output.
            simulated_s: simulated time, s.
            system_s: system time, s.
        """
        self._flight = flight
        self._console = console
        self._simulated_s, self._system_s = simulated_s, system_s
        self._period_s = _REDRAW_S if console.is_terminal else PERIOD_S
        self._began_s = system_s()
        self._due_s = self._began_s + self._period_s
        columns = (TextColumn("{task.description:34s}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
        times = (TimeElapsedColumn(), TextColumn("{task.fields[left]}"))
        self._bar = Progress(*columns, *times, console=console, auto_refresh=False, disable=not console.is_terminal)
        self._task = self._bar.add_task(flight.activity, total=1.0, left="")

    def __enter__(self) -> FlightProgress:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._bar.stop()

    def go_on(self) -> bool:
        """Update the bar or print a line if it is due; return whether the flight continues."""
        over = self._flight.over
        now_s = self._system_s()
        # The bar ends full; lines end with the verdict.
        if self._console.is_terminal if over else now_s >= self._due_s:
            self._due_s = now_s + self._period_s
            self._show(now_s)
        return not over

    def _show(self, now_s: float) -> None:
        flight, done = self._flight, self._flight.progress
        if done <= 0.0:
            # Calibration and arming are no part of the mission's pace.
            self._began_s = now_s
        left = time_left(now_s - self._began_s, done)
        if self._console.is_terminal:
            self._bar.update(self._task, description=flight.activity, completed=done, left=left)
            self._bar.refresh()
        else:
            line = f"{flight.activity}: {self._simulated_s():.1f} s simulated, {done:.0%} done"
            line += f", {left}" if left else ""
            self._console.print(line, highlight=False, markup=False, soft_wrap=True)

"""Progress of a sweep: a bar in a terminal, lines in a file or pipe."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from rosflight_py_sim.missions.flight_progress import time_left

PERIOD_S = 10.0
"""System time between lines, s."""

# System time between updates of the bar, s.
_REDRAW_S = 0.2


class SweepProgress:
    """Shows the number of runs that are done, the number of failed runs, and the time left."""

    def __init__(
        self, console: Console, runs: int, done: int, failed: int, system_s: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin with the runs that were stored before.

        Args:
            console: output.
            runs: largest number of runs.
            done: number of runs done before.
            failed: number of these that failed.
            system_s: system time, s.
        """
        self._console, self._runs = console, runs
        self._done, self._failed = done, failed
        self._system_s = system_s
        self._began_s, self._done_before = system_s(), done
        self._period_s = _REDRAW_S if console.is_terminal else PERIOD_S
        self._due_s = self._began_s + self._period_s
        columns = (BarColumn(), TextColumn("{task.description}"))
        self._bar = Progress(*columns, console=console, auto_refresh=False, disable=not console.is_terminal)
        self._task = self._bar.add_task(self.text, total=runs, completed=done)

    @property
    def text(self) -> str:
        """The progress as text: '120 of 1000 runs, 3 failed, 0:01:20 left'."""
        new, elapsed_s = self._done - self._done_before, self._system_s() - self._began_s
        left = time_left(elapsed_s, new / (self._runs - self._done_before)) if new else ""
        return f"{self._done} of {self._runs} runs, {self._failed} failed{left and ', '}{left}"

    def add(self, *, failed: bool) -> None:
        """Count a run."""
        self._done += 1
        self._failed += failed

    def show_if_due(self) -> None:
        """Update the bar or print a line, if the last one is old."""
        now_s = self._system_s()
        if now_s >= self._due_s:
            self._due_s = now_s + self._period_s
            self._show()

    def __enter__(self) -> SweepProgress:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self._console.is_terminal:
            self._show()
        self._bar.stop()

    def _show(self) -> None:
        if self._console.is_terminal:
            self._bar.update(self._task, completed=self._done, description=self.text)
            self._bar.refresh()
        else:
            self._console.print(self.text, highlight=False, markup=False, soft_wrap=True)

"""Lines of progress during a flight, for output to a file or pipe."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from rosflight_py_sim.missions.flight import Flights

PERIOD_S = 10.0
"""System time between lines, s."""


WATCHED_PACE = 2.0
"""Default pace of a mission that is watched in the viewer, in simulated seconds per second."""


class ProgressLines:
    """Prints a line every `PERIOD_S`: phase of the flight, simulated time, percentage done."""

    def __init__(
        self,
        flight: Flights,
        console: Console,
        simulated_s: Callable[[], float],
        system_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start the first period.

        Args:
            flight: only `over` is read between lines.
            console: output for the lines.
            simulated_s: simulated time, s.
            system_s: system time, s.
        """
        self._flight = flight
        self._console = console
        self._simulated_s, self._system_s = simulated_s, system_s
        self._due_s = system_s() + PERIOD_S

    def go_on(self) -> bool:
        """Print a line if one is due; return whether the flight continues."""
        flight = self._flight
        if flight.over:
            return False
        now_s = self._system_s()
        if now_s >= self._due_s:
            self._due_s = now_s + PERIOD_S
            line = f"{flight.activity}: {self._simulated_s():.1f} s simulated, {flight.progress:.0%} done"
            self._console.print(line, highlight=False, markup=False, soft_wrap=True)
        return True

"""Progress of `fly` in a file or a pipe, with a clock controlled by the test."""

from __future__ import annotations

import io

from rich.console import Console

from rosflight_py_sim.missions.flight import Flights
from rosflight_py_sim.missions.flight_progress import ProgressLines

LENGTH_S = 35.0


class Clocked(Flights):
    """A flight of 35 s of system time, in a simulation that runs at twice real time."""

    def __init__(self) -> None:
        super().__init__([])
        self.system_s = 1000.0

    @property
    def elapsed_s(self) -> float:
        return self.system_s - 1000.0

    @property
    def activity(self) -> str:
        return "climbing [1]" if self.elapsed_s < 15.0 else "landing"

    @property
    def progress(self) -> float:
        return self.elapsed_s / LENGTH_S

    @property
    def over(self) -> bool:
        return self.elapsed_s >= LENGTH_S


def lines(step_s: float) -> list[str]:
    """Lines printed during the flight, if the clock is read at these intervals."""
    flight, text = Clocked(), io.StringIO()
    progress = ProgressLines(
        flight,
        Console(file=text, width=20),
        simulated_s=lambda: 2.0 * flight.elapsed_s,
        system_s=lambda: flight.system_s,
    )
    while progress.go_on():
        flight.system_s += step_s
    return text.getvalue().splitlines()


def test_progress_line_every_ten_seconds_shows_phase_simulated_time_and_percentage() -> None:
    assert lines(0.25) == [
        "climbing [1]: 20.0 s simulated, 29% done",
        "landing: 40.0 s simulated, 57% done",
        "landing: 60.0 s simulated, 86% done",
    ]


def test_stalled_host_prints_one_progress_line_for_the_missed_interval() -> None:
    assert lines(25.0) == ["landing: 50.0 s simulated, 71% done"]

"""Progress of `fly` in a terminal, a file or a pipe, with a clock controlled by the test."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from rosflight_py_sim.missions.flight import Flights
from rosflight_py_sim.missions.flight_progress import FlightProgress, time_left

LENGTH_S = 35.0


class Clocked(Flights):
    """A flight of 35 s of system time, in a simulation that runs at twice real time; calibrates for `before_s`."""

    def __init__(self, before_s: float = 0.0) -> None:
        super().__init__([])
        self.system_s = 1000.0
        self.before_s = before_s

    @property
    def elapsed_s(self) -> float:
        return self.system_s - 1000.0

    @property
    def activity(self) -> str:
        return "climbing [1]" if self.elapsed_s < 15.0 else "landing"

    @property
    def progress(self) -> float:
        return max(0.0, (self.elapsed_s - self.before_s) / (LENGTH_S - self.before_s))

    @property
    def over(self) -> bool:
        return self.elapsed_s >= LENGTH_S


def output(step_s: float, *, is_terminal: bool = False, before_s: float = 0.0) -> str:
    """Text printed during the flight, if the clock is read at these intervals."""
    flight, text = Clocked(before_s), io.StringIO()
    console = Console(file=text, width=120 if is_terminal else 20, force_terminal=is_terminal)
    simulated_s, system_s = lambda: 2.0 * flight.elapsed_s, lambda: flight.system_s
    with FlightProgress(flight, console, simulated_s, system_s) as progress:
        while progress.go_on():
            flight.system_s += step_s
    return text.getvalue()


def test_line_every_ten_seconds_shows_phase_simulated_time_percentage_and_time_left() -> None:
    assert output(0.25).splitlines() == [
        "climbing [1]: 20.0 s simulated, 29% done, 0:00:25 left",
        "landing: 40.0 s simulated, 57% done, 0:00:15 left",
        "landing: 60.0 s simulated, 86% done, 0:00:05 left",
    ]


def test_stalled_host_prints_one_line_for_the_missed_interval() -> None:
    assert output(25.0).splitlines() == ["landing: 50.0 s simulated, 71% done, 0:00:10 left"]


def test_time_left_is_not_shown_before_the_mission_has_begun() -> None:
    assert output(0.25, before_s=12.0).splitlines()[0] == "climbing [1]: 20.0 s simulated, 0% done"


# The estimate takes the pace of the mission alone, although it began after 12 s of calibration.
@pytest.mark.parametrize("before_s", [0.0, 12.0])
def test_bar_in_a_terminal_shows_the_time_left(before_s: float) -> None:
    shown = output(0.25, is_terminal=True, before_s=before_s)
    left_s = [int(text) for text in re.findall(r"0:00:(\d\d) left", shown)]
    assert left_s == sorted(left_s, reverse=True)
    assert {left_s[0], left_s[-1]} == {round(LENGTH_S - before_s), 0}
    assert "100 %" in shown


@pytest.mark.parametrize(
    ("elapsed_s", "done", "text"),
    [(10.0, 0.0, ""), (10.0, 0.5, "0:00:10 left"), (10.0, 1.0, "0:00:00 left"), (36.0, 0.01, "0:59:24 left")],
)
def test_time_left_follows_from_the_pace_so_far(elapsed_s: float, done: float, text: str) -> None:
    assert time_left(elapsed_s, done) == text

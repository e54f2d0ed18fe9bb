"""Progress of a sweep, with a clock controlled by the test."""

from __future__ import annotations

import io

from rich.console import Console

from rosflight_py_sim.sweep.sweep_progress import SweepProgress


class Clock:
    """System time."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def printed(*, is_terminal: bool, seconds: float) -> str:
    """Output of a sweep that continues after 20 of 100 runs, flies two runs a second, and fails every fourth."""
    clock, text = Clock(), io.StringIO()
    console = Console(file=text, width=200, force_terminal=is_terminal)
    with SweepProgress(console, 100, 20, 5, clock) as progress:
        for number in range(round(2 * seconds)):
            clock.now_s += 0.5
            progress.add(failed=number % 4 == 0)
            progress.show_if_due()
    return text.getvalue()


def test_line_every_ten_seconds_shows_done_failed_and_time_left() -> None:
    assert printed(is_terminal=False, seconds=25.0).splitlines() == [
        "40 of 100 runs, 10 failed, 0:00:30 left",
        "60 of 100 runs, 15 failed, 0:00:20 left",
    ]


def test_terminal_shows_a_bar() -> None:
    assert "60 of 100 runs, 15 failed, 0:00:20 left" in printed(is_terminal=True, seconds=20.0)


def test_time_left_is_unknown_before_the_first_run() -> None:
    assert SweepProgress(Console(file=io.StringIO()), 100, 20, 5).text == "20 of 100 runs, 5 failed"

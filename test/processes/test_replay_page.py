"""A recording in a browser, as seen by a user."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from test.processes.browser import Tab, browsers
from test.processes.conftest import Processes
from test.processes.test_web_viewer import url_of

pytestmark = pytest.mark.timeout(240)

OTHER = Path(__file__).parents[1] / "data" / "other_recorder.mcap"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsers() as browser:
        yield browser


@pytest.fixture
def tab(browser: Any, processes: Processes) -> Iterator[Tab]:
    """The recording at a slow pace: its ten seconds last longer than a test."""
    program = processes.command("replay", str(OTHER), "--speed", "0.05")
    tab = Tab(browser, url_of(program))
    yield tab
    tab.page.close()
    assert tab.outside == []
    assert tab.errors == []
    program.signal(signal.SIGTERM)
    assert program.wait() == 130
    assert program.error_lines == []


def assert_time_advances(tab: Tab) -> None:
    began = float(tab.shown_time)
    tab.until(lambda: float(tab.shown_time) > began, "time advances")


def settled_time(tab: Tab) -> float:
    """The time shown, once it no longer changes."""
    before = -1.0
    for _ in range(100):
        now = float(tab.shown_time)
        if now == before:
            return now
        before = now
        tab.page.wait_for_timeout(400)
    pytest.fail("the time does not settle")


def seek(tab: Tab, time_s: str) -> None:
    field = tab.row_of("Time, s").get_by_role("textbox")
    field.fill(time_s)
    field.press("Enter")


def test_recording_plays_pauses_and_seeks_to_any_time(tab: Tab) -> None:
    assert_time_advances(tab)
    # The blue dart is over the green ground.
    tab.until(lambda: _is_blue(tab.picture()), "the vehicle")
    tab.click("Pause")
    paused_s = settled_time(tab)
    assert 0.0 < paused_s < 10.0
    tab.until(lambda: "0.00 \N{MULTIPLICATION SIGN} real time" in tab.text, "no pace")
    seek(tab, "7.5")
    tab.until(lambda: float(tab.shown_time) == pytest.approx(7.5), "7.5 s")
    # A circle of 8 m radius at half a radian per second.
    assert f"north {8.0 * np.cos(3.75):.1f} m, east {8.0 * np.sin(3.75):.1f} m, height 12.0 m" in tab.text
    seek(tab, "1.0")
    tab.until(lambda: float(tab.shown_time) == pytest.approx(1.0), "1 s")
    tab.click("Play")
    assert_time_advances(tab)


def _is_blue(picture: np.ndarray) -> bool:
    red, green, blue = np.moveaxis(picture, 2, 0)
    return float(np.mean((blue > 100) & (blue > red + 60) & (blue > green + 30))) > 0.003

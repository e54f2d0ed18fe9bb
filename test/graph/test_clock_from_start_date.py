"""With clock_from_start_date, /clock and all stamps count from start_date, and the flight stays the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Any

import pytest
from rosgraph_msgs.msg import Clock

from rosflight_py_sim.ground.stamps import EPOCH
from rosflight_py_sim.step.topics import (
    ATTITUDE_EULER,
    CLOCK,
    FORCES_AND_MOMENTS,
    GNSS_FIX,
    IMU,
    PWM_OUTPUT,
    TRUTH_ERRORS,
    TRUTH_STATE,
    TRUTH_WIND,
)

START = "2026-06-01T12:00:00Z"
START_S = int(datetime(2026, 6, 1, 12, tzinfo=timezone.utc).timestamp())
DATED = ("-p", "clock_from_start_date:=true", "-p", f"start_date:={START}")
ROWS = (TRUTH_STATE, TRUTH_WIND, IMU, GNSS_FIX, PWM_OUTPUT, FORCES_AND_MOMENTS, ATTITUDE_EULER, TRUTH_ERRORS)


@pytest.fixture(autouse=True)
def epoch() -> Iterator[None]:
    yield
    EPOCH.ns = 0


def flown(graph: Callable[..., Any], *settings: str) -> tuple[list[Any], list[int], Any]:
    """Truth states of half a second, seconds of all stamps, and a GNSS message."""
    g = graph(*settings).ready()
    clock = g.collect_messages("clock", Clock, CLOCK.qos)
    messages = [g.collect_messages(row) for row in ROWS]
    g.spin_for(0.5)
    truth = [(one.header.stamp.sec, one.header.stamp.nanosec, one.pose, one.twist) for one in messages[0][-20:]]
    seconds = [one.clock.sec for one in clock] + [one.header.stamp.sec for kind in messages for one in kind]
    assert all(messages) and clock
    assert g.node("dynamics").now_ns < 60_000_000_000
    return truth, seconds, messages[3][-1]


def test_all_stamps_start_at_the_date_and_the_flight_is_the_same(undisturbed_graph: Callable[..., Any]) -> None:
    truth, seconds, fix = flown(undisturbed_graph, *DATED)
    assert all(START_S <= second < START_S + 60 for second in seconds)
    assert fix.gnss_unix_seconds == fix.header.stamp.sec
    plain, plain_seconds, _ = flown(undisturbed_graph)
    assert all(0 <= second < 60 for second in plain_seconds)
    offset = [(second + START_S, *rest) for second, *rest in plain]
    common = [one for one in truth if one in offset]
    assert len(common) >= 10

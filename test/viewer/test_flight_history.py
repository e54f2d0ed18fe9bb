"""What the page remembers of a flight: states, events, and the verdicts at its end."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from rosflight_py_sim.firmware import ErrorFlag
from rosflight_py_sim.viewer.web.flight_events import MOST, FlightEvents, WaypointPasses
from rosflight_py_sim.viewer.web.flight_verdict import FlownMission, Verdicts
from rosflight_py_sim.viewer.web.memory import LONGEST, Memory
from rosflight_py_sim.viewer.web.pilot_state import PilotState
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView


def view(time_s: float, north: float = 0.0) -> VehicleView:
    truth = np.zeros(19)
    truth[0], truth[3] = north, 1.0
    return VehicleView(time_s, truth, np.zeros(3), np.zeros(14), {"front": b"image"})


def test_memory_interpolates_between_states_and_keeps_no_images() -> None:
    memory = Memory(["one"])
    for k in range(4):
        assert not memory.take("one", view(float(k), north=10.0 * k))
    assert memory.span_s == (0.0, 3.0)
    past = memory.at("one", 1.25)
    assert past is not None
    assert (past.time_s, past.truth[0], past.images) == (1.25, pytest.approx(12.5), {})
    assert memory.at("one", 99.0).truth[0] == 30.0  # type: ignore[union-attr]
    assert memory.at("one", -1.0).truth[0] == 0.0  # type: ignore[union-attr]


def test_memory_begins_anew_when_time_goes_back_for_any_vehicle() -> None:
    memory = Memory(["one", "other"])
    memory.take("other", view(5.0))
    memory.take("one", view(5.0))
    assert memory.take("one", view(0.1))
    assert memory.span_s == (0.1, 0.1)
    assert memory.at("other", 0.1) is None


def test_memory_is_limited() -> None:
    memory = Memory(["one"])
    for k in range(LONGEST + 2):
        memory.take("one", view(float(k)))
    assert memory.span_s == (LONGEST / 10, LONGEST + 1.0)


def test_changes_of_the_state_are_events() -> None:
    events = FlightEvents()
    state = PilotState(time_s=0.0, armed=False, phase="wait")
    for k, change in enumerate(
        (
            {},
            {"armed": True},
            {"phase": "take off"},
            {"paused": True},
            {"paused": False},
            {"failsafe": True, "error_code": int(ErrorFlag.RC_LOST)},
            {"armed": False, "failsafe": False},
        )
    ):
        state = replace(state, time_s=float(k), **change)  # type: ignore[arg-type]
        events.take_state(state)
        events.take_state(state)
    assert [(one.time_s, one.text) for one in events.events] == [
        (1.0, "armed"),
        (2.0, "mission: take off"),
        (3.0, "paused"),
        (5.0, "failsafe: no RC signal"),
        (6.0, "disarmed"),
    ]
    events.clear()
    assert events.events == []


def test_first_state_of_a_running_flight_is_no_event() -> None:
    events = FlightEvents()
    events.take_state(PilotState(time_s=9.0, armed=True, phase="side 1"))
    assert events.events == []


def test_repeated_warning_is_one_event_and_their_number_is_limited() -> None:
    events = FlightEvents()
    for k in range(3 * MOST):
        events.note(float(k), "sil_board: cannot arm" if k < MOST else f"warning {k}")
    assert len(events.events) == MOST
    assert events.events[-1].text == f"warning {3 * MOST - 1}"


def test_waypoints_are_passed_in_order_at_the_nearest_points() -> None:
    corners = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0), (0.0, 0.0)]
    passes = WaypointPasses([(north, east, -5.0) for north, east in corners])
    found = []
    # Along the square, 0.2 m beside it at each corner, and on.
    path = [(0.0, -2.0, -5.0)]
    for north, east in [*corners, (0.0, -4.0)]:
        start = path[-1]
        for k in range(1, 41):
            share = k / 40
            path.append((start[0] + share * (north - start[0]), start[1] + share * (east - start[1]), -5.2))
    for k, place in enumerate(path):
        if passed := passes.take(0.1 * k, place):
            found.append(passed)
    assert [number for number, _, _ in found] == [1, 2, 3, 4, 5]
    for number, time_s, miss_m in found:
        assert time_s == pytest.approx(4.0 * number, abs=0.11)
        assert miss_m == pytest.approx(0.2, abs=1e-9)


def test_waypoint_that_is_missed_by_far_is_not_passed() -> None:
    passes = WaypointPasses([(0.0, 0.0, 0.0), (10.0, 0.0, 0.0)])
    assert all(passes.take(0.1 * k, (k - 50.0, 6.0, 0.0)) is None for k in range(100))


def test_verdicts_arrive_as_they_were_sent_and_are_escaped() -> None:
    flown = FlownMission("<b>", False, "side 1: <lost>", "Flight of <b>", [("wind", "4 m/s & more")])
    sent = Verdicts([flown], plot="aGVsbG8=", plot_file="/plots/flight.png", recording="flights/one.mcap")
    received = Verdicts.of_text(sent.text)
    assert received == sent
    page = received.headline + received.details
    for part in (
        "&lt;b&gt;: failed",
        "side 1: &lt;lost&gt;",
        "4 m/s &amp; more",
        "base64,aGVsbG8=",
        "flights/one.mcap",
    ):
        assert part in page
    assert "<lost>" not in page


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"flights": [1]}', '{"flights": [{"name": "a"}]}', "[" * 100_000, str(math.nan)]
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Verdicts.of_text(text)

"""Readings of the instruments, and the pilot's seat."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator

import numpy as np
import pytest
import viser
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from rosflight_py_sim.transmitter.keyboard import Action
from rosflight_py_sim.transmitter.page import DRAWN_STICKS, KEYBOARD, StickReport
from rosflight_py_sim.viewer.web.cockpit import Cockpit
from rosflight_py_sim.viewer.web.instruments import readings
from rosflight_py_sim.viewer.web.pilot_seat import LEFT, BadMessageError, PilotSeat
from rosflight_py_sim.viewer.web.server import open_server, stop_server
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView

TIMEOUT_S = 30.0


def test_readings_of_a_vehicle_that_flies_west_in_wind() -> None:
    truth = np.zeros(19)
    truth[0:3] = 0.0, 0.0, -40.0
    # Heading west, level: half a square root, and minus the same, about the down axis.
    truth[3:7] = np.sqrt(0.5), 0.0, 0.0, -np.sqrt(0.5)
    truth[7:10] = 10.0, 0.0, -2.0
    # Head wind of 5 m/s, from the west.
    shown = readings(VehicleView(3.0, truth, np.array([0.0, 5.0, 0.0]), np.zeros(14)), underwater=False)
    assert shown["heading"] == 270.0
    assert shown["speed"] == pytest.approx(np.hypot(15.0, 2.0), abs=1e-3)
    assert (shown["ground_speed"], shown["climb"], shown["altitude"]) == (10.0, 2.0, 40.0)
    assert (shown["battery"], shown["rc"]) == (None, None)


def test_underwater_vehicle_has_depth_instead_of_altitude() -> None:
    truth = np.zeros(19)
    truth[2], truth[3], truth[9] = 3.0, 1.0, 0.5
    shown = readings(VehicleView(0.0, truth, np.zeros(3), np.zeros(14)), underwater=True)
    assert (shown["depth"], shown["climb"]) == (3.0, -0.5)
    assert "altitude" not in shown


class Sent(list[StickReport]):
    """Reports of a seat."""

    def __init__(self) -> None:
        super().__init__()
        self.seat = PilotSeat(self.append)


def test_one_pilot_flies_at_a_time() -> None:
    sent = Sent()
    assert sent.seat.take("first", DRAWN_STICKS, 0.0, armed=False) == ""
    assert "another browser" in sent.seat.take("second", DRAWN_STICKS, 0.0, armed=False)
    sent.seat.report("second", {"axes": [1.0] * 4, "buttons": []}, 0.1)
    sent.seat.leave("second")
    sent.seat.lose("second")
    assert sent == []
    sent.seat.leave("first")
    assert sent == [LEFT]
    assert sent.seat.take("second", DRAWN_STICKS, 0.0, armed=False) == ""


class Keys:
    """Keys of a pilot, whose page's clock is 100 s behind the system's; the page reports them late."""

    def __init__(self, *, armed: bool = False) -> None:
        self.sent = Sent()
        self.sent.seat.take("pilot", KEYBOARD, 100.0, armed=armed)

    def report(self, *held: Action, at_s: float, arrives_s: float) -> StickReport:
        """The last report to the vehicle once the page has reported keys, held from a time on, s of the page."""
        message = {"held": [action.value for action in held], "at": at_s}
        self.sent.seat.report("pilot", message, 100.0 + arrives_s)
        return self.sent[-1]

    def wait(self, until_s: float) -> StickReport:
        self.sent.seat.wait(100.0 + until_s)
        return self.sent[-1]


def test_keys_move_the_sticks_while_they_are_held() -> None:
    # In the air, the throttle starts at half.
    keys = Keys(armed=True)
    pressed = keys.report(Action.ROLL_RIGHT, Action.THROTTLE_UP, Action.ARM, at_s=0.0, arrives_s=0.0)
    assert pressed == StickReport(KEYBOARD, (0.0, 0.0, 0.0, 0.0), (True, False, False))
    # The page need not report for a stick to move.
    assert keys.wait(0.2) == StickReport(KEYBOARD, (pytest.approx(0.5), 0.0, pytest.approx(0.2), 0.0), pressed.buttons)
    released = keys.report(at_s=0.5, arrives_s=0.5)
    assert released == StickReport(KEYBOARD, (1.0, 0.0, pytest.approx(0.5), 0.0), (False,) * 3)
    assert keys.wait(1.0).axes == (0.0, 0.0, pytest.approx(0.5), 0.0)


def test_key_that_a_slow_page_reports_at_once_is_held_for_its_time() -> None:
    keys = Keys()
    keys.report(Action.ROLL_RIGHT, Action.THROTTLE_UP, at_s=0.1, arrives_s=0.9)
    keys.report(at_s=0.3, arrives_s=0.9)
    assert keys.wait(1.0).axes[0] == pytest.approx(0.25)
    # Both ends of the key are as much later than on the page: the stick is at its furthest after 0.2 s.
    assert [keys.wait(1.15).axes[0], keys.wait(1.2).axes[0]] == pytest.approx([0.25, 0.0])
    assert max(report.axes[0] for report in keys.sent) == pytest.approx(0.5)
    assert keys.sent[-1].axes[2] == pytest.approx(2.0 * 0.1 - 1.0)


def test_release_that_a_slow_page_reports_late_takes_back_the_rest() -> None:
    keys = Keys()
    keys.report(Action.THROTTLE_UP, Action.YAW_LEFT, at_s=1.0, arrives_s=1.0)
    assert keys.wait(1.8).axes == (0.0, 0.0, pytest.approx(2.0 * 0.4 - 1.0), -1.0)
    late = keys.report(at_s=1.1, arrives_s=1.9)
    assert late.axes == (0.0, 0.0, pytest.approx(2.0 * 0.05 - 1.0), 0.0)


def test_taps_and_switches_that_arrive_together_follow_each_other() -> None:
    keys = Keys()
    for tap in range(3):
        keys.report(Action.THROTTLE_UP, Action.ARM, at_s=0.2 * tap, arrives_s=0.6)
        keys.report(at_s=0.2 * tap + 0.1, arrives_s=0.6)
    # All at once: nothing is lost between two reports, each of which the transmitter receives.
    assert keys.wait(1.5).axes[2] == pytest.approx(2.0 * 0.15 - 1.0)
    presses = [report.buttons[0] for report in keys.sent]
    assert sum(after and not before for before, after in zip([False, *presses], presses, strict=False)) == 3


def test_time_from_far_ahead_holds_no_key_for_longer_than_a_page_may_be_silent() -> None:
    keys = Keys()
    keys.report(Action.THROTTLE_UP, at_s=0.0, arrives_s=0.0)
    keys.report(at_s=1e300, arrives_s=0.0)
    for quarter in range(17):
        keys.report(at_s=1e300, arrives_s=0.25 * quarter)
    assert keys.sent[-1].axes[2] == pytest.approx(2.0 * 0.5 * 2.0 - 1.0)


def test_silent_page_is_reported_once_and_its_keys_are_released() -> None:
    keys = Keys()
    keys.report(Action.THROTTLE_UP, at_s=0.0, arrives_s=0.0)
    keys.wait(0.4)
    assert keys.wait(2.1) == keys.wait(2.2) == StickReport(KEYBOARD)
    assert keys.sent.count(StickReport(KEYBOARD)) == 1
    assert keys.report(at_s=9.0, arrives_s=9.0).axes[2] == pytest.approx(2.0 * 0.2 - 1.0)


@pytest.mark.parametrize("at", [None, "1", float("nan"), float("inf")])
def test_keys_without_a_time_are_refused(at: object) -> None:
    keys = Keys()
    with pytest.raises(BadMessageError, match="'at'"):
        keys.sent.seat.report("pilot", {"held": [], "at": at}, 0.0)


def test_lost_page_is_reported_and_its_pilot_must_take_the_controls_again() -> None:
    sent = Sent()
    sent.seat.take("pilot", DRAWN_STICKS, 0.0, armed=False)
    sent.seat.lose("pilot")
    sent.seat.report("pilot", {"axes": [0.0] * 4, "buttons": []}, 0.1)
    assert sent == [StickReport(DRAWN_STICKS)]
    assert sent.seat.is_free


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"axes": "1", "buttons": []},
        {"axes": [float("nan")], "buttons": []},
        {"axes": [0.0] * 100, "buttons": []},
        {"axes": [None], "buttons": []},
        {"axes": [0.0]},
    ],
)
def test_invalid_report_is_refused(message: dict[str, object]) -> None:
    sent = Sent()
    sent.seat.take("pilot", DRAWN_STICKS, 0.0, armed=False)
    with pytest.raises(BadMessageError):
        sent.seat.report("pilot", message, 0.1)
    assert sent == []


class Served:
    """A page with a cockpit."""

    def __init__(self) -> None:
        self.cockpit = Cockpit()
        self.cockpit.can_fly = True
        self.reports: list[StickReport] = []
        self.cockpit.on_report = self.reports.append
        self.server = open_server("127.0.0.1", 0, "test", self.cockpit)
        self.address = f"127.0.0.1:{self.server.get_port()}"


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    served = Served()
    yield served
    stop_server(served.server)


def test_page_of_another_origin_cannot_fly(served: Served) -> None:
    for path in ("/cockpit", "/cockpit/pilot.js"):
        with pytest.raises(Exception, match="403"):
            connect(f"ws://{served.address}{path}", origin="http://evil.example", compression=None)  # type: ignore[arg-type]


def test_program_that_names_no_compression_gets_the_page_and_its_socket(served: Served) -> None:
    """A browser always sends Accept-Encoding; other clients need not."""
    with socket.create_connection(served.address.split(":"), timeout=TIMEOUT_S) as plain:
        plain.sendall(f"GET / HTTP/1.1\r\nHost: {served.address}\r\nConnection: close\r\n\r\n".encode())
        assert plain.recv(64).startswith(b"HTTP/1.1 200 OK")
    subprotocol = Subprotocol(f"viser-v{viser.__version__}")
    with connect(f"ws://{served.address}/", subprotocols=[subprotocol], compression=None) as page:
        assert page.recv(timeout=TIMEOUT_S)


def test_obstacle_is_shown_in_every_browser_until_it_ends(served: Served) -> None:
    def received(page: ClientConnection) -> dict[str, object]:
        return dict(json.loads(page.recv(TIMEOUT_S)))

    with connect(f"ws://{served.address}/cockpit", compression=None) as first:
        assert [*received(first), *received(first)] == ["setup", "seat"]
        served.cockpit.show_obstacle("no simulation")
        assert received(first) == {"obstacle": "no simulation"}
        with connect(f"ws://{served.address}/cockpit", compression=None) as later:
            assert "setup" in received(later)
            assert received(later) == {"obstacle": "no simulation"}
            assert received(later) == received(first) == {"seat": "free"}
            served.cockpit.show_obstacle("")
            assert received(later) == received(first) == {"obstacle": ""}


def test_pilot_takes_the_controls_reports_and_closes_the_page(served: Served) -> None:
    with connect(f"ws://{served.address}/cockpit", compression=None) as page:
        assert json.loads(page.recv(TIMEOUT_S))["setup"]["can_fly"]
        assert json.loads(page.recv(TIMEOUT_S)) == {"seat": "free"}
        page.send(json.dumps({"take": DRAWN_STICKS}))
        assert json.loads(page.recv(TIMEOUT_S)) == {"seat": "mine"}
        page.send(json.dumps({"axes": [0.5, 0.0, -1.0, 0.0], "buttons": [False, True, False]}))
        served.cockpit.show({"altitude": 3.0})
        assert json.loads(page.recv(TIMEOUT_S)) == {"readings": {"altitude": 3.0}}
        # A message that no page sends closes the connection, after the earlier ones.
        page.send("[]")
        with pytest.raises(ConnectionClosed):
            page.recv(TIMEOUT_S)
    # The server's thread reports the lost page after it has closed the connection.
    end = time.monotonic() + TIMEOUT_S
    while len(served.reports) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    assert served.reports == [
        StickReport(DRAWN_STICKS, (0.5, 0.0, -1.0, 0.0), (False, True, False)),
        StickReport(DRAWN_STICKS),
    ]
    assert not served.cockpit.is_flown

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
from websockets.sync.client import connect
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


def test_keys_move_the_sticks_while_they_are_held() -> None:
    sent = Sent()
    sent.seat.take("pilot", KEYBOARD, 0.0, armed=True)
    held = {"held": [Action.ROLL_RIGHT.value, Action.THROTTLE_UP.value, Action.ARM.value]}
    sent.seat.report("pilot", held, 0.0)
    sent.seat.report("pilot", {"held": []}, 0.5)
    sent.seat.report("pilot", {"held": []}, 1.0)
    first, moved, released = sent
    # In the air, the throttle starts at half.
    assert first == StickReport(KEYBOARD, (0.0, 0.0, 0.0, 0.0), (True, False, False))
    assert moved == StickReport(KEYBOARD, (1.0, 0.0, pytest.approx(0.5), 0.0), (False,) * 3)
    assert released.axes == (0.0, 0.0, pytest.approx(0.5), 0.0)


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

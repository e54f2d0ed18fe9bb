"""A pilot flies a fixed wing and an underwater vehicle from the page, by keys."""

from __future__ import annotations

import json
import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from rosflight_py_sim.transmitter.channels import LOW
from test.processes.browser import Tab, browsers
from test.processes.conftest import TIMEOUT_S, Processes
from test.processes.hand_flight import PAGE, Flown, address_of, hold, reading, take_control

pytestmark = pytest.mark.timeout(420)

THROTTLE = 2

# Throttle with which the fixed wing takes off with its stick released, and climbs at 3 m/s.
TAKE_OFF_US = 1620


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsers() as browser:
        yield browser


@contextmanager
def flown(
    browser: Any, domain: AbstractContextManager[int], folder: Path, *options: str
) -> Iterator[tuple[Flown, Tab]]:
    """A simulation and its page; at the end, the page has reported no error and the simulation ends without one."""
    with domain as number:
        processes = Processes(number, folder)
        try:
            one = Flown(processes, *options)
            tab = Tab(browser, one.url, **PAGE)
            yield one, tab
            assert (tab.outside, tab.errors) == ([], [])
            one.simulation.signal(signal.SIGINT)
            assert one.simulation.wait() == 130
            assert one.simulation.error_lines == []
        finally:
            processes.close()


def arm(tab: Tab, one: Flown) -> None:
    take_control(tab, one)
    tab.until(lambda: one.status.header.stamp.sec and not one.status.error_code, "a calibrated IMU", one.listen)
    tab.page.keyboard.press("t")
    tab.until(lambda: one.status.armed, "armed", one.listen)


def disarm(tab: Tab, one: Flown) -> None:
    hold(tab, one, "s", lambda: one.rc.values[THROTTLE] == LOW, "no throttle")
    tab.page.keyboard.press("t")
    tab.until(lambda: not one.status.armed, "disarmed", one.listen)


def bank(one: Flown) -> float:
    """Roll angle, deg."""
    one.listen()
    q = one.truth.pose.orientation
    return math.degrees(math.atan2(2.0 * (q.w * q.x + q.y * q.z), 1.0 - 2.0 * (q.x * q.x + q.y * q.y)))


def bank_to(tab: Tab, one: Flown, angle: float) -> None:
    """Tap a key towards a roll angle, deg."""
    lacking = angle - bank(one)
    if abs(lacking) > 4.0:
        tab.page.keyboard.press("ArrowRight" if lacking > 0.0 else "ArrowLeft", delay=min(20.0 + abs(lacking), 60.0))


def test_fixed_wing_takes_off_turns_and_lands(
    browser: Any, tmp_path: Path, claim_domain: Callable[[], AbstractContextManager[int]]
) -> None:
    with flown(browser, claim_domain(), tmp_path, "--vehicle", "fixedwing") as (one, tab):
        arm(tab, one)
        hold(tab, one, "w", lambda: one.rc.values[THROTTLE] >= TAKE_OFF_US, "the throttle")
        tab.until(lambda: reading(tab, "altitude") > 2.0, "a climb", lambda: bank_to(tab, one, 0.0), every_ms=50)
        begun = reading(tab, "heading")

        def has_turned() -> bool:
            return 15.0 < (reading(tab, "heading") - begun) % 360.0 < 180.0

        # A page that is slow to draw shows the heading late.
        tab.until(has_turned, "a turn to the right", lambda: bank_to(tab, one, 15.0), every_ms=50, limit_s=150.0)
        hold(tab, one, "s", lambda: one.rc.values[THROTTLE] == LOW, "no throttle")
        level = lambda: bank_to(tab, one, 0.0)  # noqa: E731
        # On a busy machine, the turn takes longer, and the plane has climbed higher.
        tab.until(lambda: reading(tab, "altitude") < 0.4, "the ground", level, every_ms=50, limit_s=200.0)
        disarm(tab, one)
        # It may hop once after it has touched down.
        tab.until(lambda: reading(tab, "altitude") < 0.4, "rest on the ground")
        assert abs(bank(one)) < 10.0


def test_underwater_vehicle_dives_turns_and_surfaces(
    browser: Any, tmp_path: Path, claim_domain: Callable[[], AbstractContextManager[int]]
) -> None:
    options = ("--vehicle", "auv", "--no-camera", "--flight-controller", "sil_board")
    with flown(browser, claim_domain(), tmp_path, *options) as (one, tab):
        arm(tab, one)
        hold(tab, one, "ArrowUp", lambda: reading(tab, "depth") > 0.8, "a dive")
        begun = reading(tab, "heading")
        hold(tab, one, "d", lambda: 20.0 < (reading(tab, "heading") - begun) % 360.0 < 180.0, "a turn to the right")
        hold(tab, one, "ArrowDown", lambda: reading(tab, "depth") < 0.3, "the surface")
        disarm(tab, one)


def test_sticks_that_no_flight_controller_receives_are_refused(processes: Processes) -> None:
    options = ("--vehicle", "bluerov2", "--no-camera", "--flight-controller", "auv_controller")
    simulation = processes.command("sim", "--view", *options, "--ros-args", "-p", "web_viewer.port:=0")
    # Without an observer, which would subscribe to the frames.
    url = address_of(simulation)
    with connect(url.replace("http", "ws") + "/cockpit", origin=url) as socket:
        refusal, end = "", time.monotonic() + TIMEOUT_S
        while "flight controller" not in refusal and time.monotonic() < end:
            socket.send(json.dumps({"take": "sticks on the page"}))
            while "refused" not in (answer := json.loads(socket.recv(TIMEOUT_S))):
                assert answer.get("seat") != "mine"
            refusal = answer["refused"]
    assert "start the simulation with --flight-controller sil_board" in refusal

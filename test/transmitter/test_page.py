"""The page of the browser viewer as transmitter, without a browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rosflight_py_sim.transmitter.channels import ARM, CENTRE, HIGH, LOW, OVERRIDE, PITCH, ROLL, THROTTLE, frame_at_rest
from rosflight_py_sim.transmitter.mapping import all_mappings
from rosflight_py_sim.transmitter.page import (
    DRAWN_STICKS,
    KEYBOARD,
    SILENCE_S,
    STANDARD_GAMEPAD,
    PageTransmitter,
    StickReport,
)
from test.transmitter.conftest import RecordingLog

CLOSED, LEFT = StickReport(KEYBOARD), StickReport("")


def keys(throttle: float = 0.0, *, arm: bool = False, override: bool = False, roll: float = 0.0) -> StickReport:
    """Keyboard with this throttle (0 to 1) and roll, while the keys of these switches are held."""
    return StickReport(KEYBOARD, (roll, 0.0, 2.0 * throttle - 1.0, 0.0), (arm, override, False))


class Flown:
    """A transmitter, the frame at rest, and the time."""

    def __init__(self, log: RecordingLog) -> None:
        self.page = PageTransmitter(all_mappings(None), log)
        self.at_rest = frame_at_rest()
        self.now_s = 100.0

    def receive(self, *reports: StickReport) -> list[int] | None:
        """Report every 20 ms; return the last frame."""
        for report in reports:
            self.now_s += 0.02
            self.page.poll(self.now_s)
            self.page.receive(report, self.at_rest, self.now_s)
        return self.page.frame

    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        self.page.poll(self.now_s)


@pytest.fixture
def flown(log: RecordingLog) -> Flown:
    return Flown(log)


def test_without_a_pilot_nothing_is_in_control(flown: Flown, log: RecordingLog) -> None:
    flown.wait(10.0)
    assert flown.receive(LEFT, CLOSED) is None
    assert not flown.page.is_present
    assert log.warnings == []


def test_first_report_gives_the_frame_at_rest(flown: Flown) -> None:
    assert flown.receive(keys()) == frame_at_rest()


@pytest.mark.parametrize("device", [KEYBOARD, DRAWN_STICKS])
def test_drawn_sticks_and_keys_fly_by_the_mapping_file(flown: Flown, device: str) -> None:
    frame = flown.receive(StickReport(device, (1.0, -1.0, 1.0, 0.0), (False,) * 3))
    assert frame is not None
    assert (frame[ROLL], frame[PITCH], frame[THROTTLE]) == (HIGH, LOW, HIGH)


def test_held_switch_key_throws_the_switch_once(flown: Flown) -> None:
    frame = flown.receive(keys(arm=True))
    assert frame is not None and frame[ARM] == LOW
    frame = flown.receive(keys(), keys(arm=True), keys(arm=True))
    assert frame is not None and frame[ARM] == HIGH


def test_standard_gamepad_precedes_a_mapping_for_the_numbers_of_the_kernel(flown: Flown) -> None:
    # Right stick: roll and pitch are axes 2 and 3 in a browser, and 3 and 4 of the Linux driver.
    name = f"{STANDARD_GAMEPAD}Xbox 360 Controller (STANDARD GAMEPAD Vendor: 045e Product: 028e)"
    frame = flown.receive(StickReport(name, (0.0, 1.0, 1.0, -1.0), (False,) * 17))
    assert frame is not None
    assert (frame[ROLL], frame[PITCH], frame[THROTTLE]) == (HIGH, LOW, LOW)


def test_gamepad_without_mapping_is_refused_once_with_an_example(flown: Flown, log: RecordingLog) -> None:
    report = StickReport("Sandwich Toaster", (0.0, 0.0), (False,))
    assert flown.receive(report, report) is None
    assert not flown.page.is_present
    (warning,) = log.warnings
    assert "gamepad 'Sandwich Toaster' of the browser (2 axes, 1 buttons)" in warning
    assert "mapping_file" in warning


@pytest.mark.parametrize(
    "report",
    [
        StickReport(DRAWN_STICKS, (float("nan"), 0.0, 0.0, 0.0), (False,) * 3),
        StickReport(KEYBOARD, (0.0,), (False,) * 3),
        StickReport(KEYBOARD, (0.0,) * 4, (True,)),
        StickReport("Sandwich Toaster", (1.0,) * 8, (True,) * 8),
    ],
)
def test_report_that_does_not_fit_changes_nothing(flown: Flown, report: StickReport) -> None:
    before = flown.receive(keys(0.7, roll=0.5))
    assert flown.receive(report) == before


@pytest.mark.parametrize("lose", [lambda flown: flown.receive(CLOSED), lambda flown: flown.wait(SILENCE_S + 0.01)])
def test_closed_or_silent_page_sends_nothing_until_a_pilot_is_back(
    flown: Flown, lose: Callable[[Flown], object], log: RecordingLog
) -> None:
    flown.receive(keys(), keys(arm=True), keys(0.5))
    lose(flown)
    assert flown.page.frame is None
    assert flown.page.is_present
    flown.wait(10.0)
    (warning,) = log.warnings
    assert "RC signal lost" in warning
    frame = flown.receive(keys(0.5))
    assert frame is not None
    assert (frame[ARM], frame[THROTTLE]) == (HIGH, CENTRE)


def test_pilot_who_takes_over_in_flight_has_the_sticks_in_command(flown: Flown) -> None:
    flown.at_rest[ARM], flown.at_rest[OVERRIDE] = HIGH, LOW
    frame = flown.receive(keys(0.5))
    assert frame is not None
    assert (frame[ARM], frame[OVERRIDE]) == (HIGH, HIGH)


def test_leaving_gives_the_switches_back_only_if_the_sticks_do_not_fly(flown: Flown) -> None:
    flown.receive(keys(), keys(arm=True), LEFT)
    assert flown.page.frame is None
    assert flown.page.is_present
    flown.receive(keys(), keys(override=True), LEFT)
    assert not flown.page.is_present
    assert (flown.at_rest[ARM], flown.at_rest[OVERRIDE]) == (HIGH, LOW)

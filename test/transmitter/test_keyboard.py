"""Effects of keys on the sticks."""

from __future__ import annotations

import pytest

from rosflight_py_sim.transmitter.channels import (
    ARM,
    ATTITUDE_TYPE,
    CENTRE,
    HIGH,
    LOW,
    OVERRIDE,
    PITCH,
    ROLL,
    THROTTLE,
    YAW,
    frame_at_rest,
)
from rosflight_py_sim.transmitter.keyboard import LAYOUTS, Action, KeyboardSticks

DIRECTIONS = [
    (Action.ROLL_LEFT, ROLL, LOW),
    (Action.ROLL_RIGHT, ROLL, HIGH),
    (Action.PITCH_FORWARD, PITCH, LOW),
    (Action.PITCH_BACK, PITCH, HIGH),
    (Action.YAW_LEFT, YAW, LOW),
    (Action.YAW_RIGHT, YAW, HIGH),
]


def test_keyboard_starts_with_transmitter_at_rest() -> None:
    assert KeyboardSticks().frame == frame_at_rest()


def test_vimfly_keys_work_as_in_vimfly() -> None:
    keys = LAYOUTS["vimfly"]
    wanted = {
        "a": Action.THROTTLE_UP,
        "s": Action.THROTTLE_DOWN,
        "d": Action.YAW_LEFT,
        "f": Action.YAW_RIGHT,
        "h": Action.ROLL_LEFT,
        "j": Action.PITCH_BACK,
        "k": Action.PITCH_FORWARD,
        "l": Action.ROLL_RIGHT,
        "t": Action.ARM,
        "r": Action.OVERRIDE,
        "m": Action.ATTITUDE_TYPE,
    }
    assert {key: keys[key] for key in wanted} == wanted


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_covers_all_controls(layout: str) -> None:
    assert set(LAYOUTS[layout].values()) == set(Action)


@pytest.mark.parametrize(("action", "channel", "end"), DIRECTIONS)
def test_held_key_moves_stick_to_its_end_and_release_recentres_it(action: Action, channel: int, end: int) -> None:
    sticks = KeyboardSticks()
    sticks.hold([action], 0.1)
    part = sticks.frame[channel]
    assert abs(part - CENTRE) == 125
    sticks.hold([action], 1.0)
    assert sticks.frame[channel] == end
    sticks.hold([], 0.1)
    assert min(end, CENTRE) < sticks.frame[channel] < max(end, CENTRE)
    sticks.hold([], 0.1)
    assert sticks.frame == frame_at_rest()


def test_opposite_keys_centre_their_stick_and_leave_others_alone() -> None:
    sticks = KeyboardSticks()
    sticks.hold([Action.ROLL_LEFT, Action.ROLL_RIGHT], 1.0)
    assert sticks.frame == frame_at_rest()


def test_two_keys_for_the_same_action_equal_one() -> None:
    sticks = KeyboardSticks()
    sticks.hold([Action.ROLL_RIGHT, Action.ROLL_RIGHT], 10.0)
    assert sticks.deflection[ROLL] == 1.0
    sticks.hold([Action.THROTTLE_UP, Action.THROTTLE_UP], 1.0)
    assert sticks.throttle == pytest.approx(0.5, abs=1e-12)


def test_throttle_takes_two_seconds_end_to_end_and_stays() -> None:
    sticks = KeyboardSticks()
    for _ in range(100):
        sticks.hold([Action.THROTTLE_UP], 0.01)
    assert sticks.frame[THROTTLE] == CENTRE
    sticks.hold([], 5.0)
    assert sticks.frame[THROTTLE] == CENTRE
    sticks.hold([Action.THROTTLE_UP], 5.0)
    assert sticks.frame[THROTTLE] == HIGH
    sticks.hold([Action.THROTTLE_DOWN], 5.0)
    assert sticks.frame[THROTTLE] == LOW


@pytest.mark.parametrize(
    ("action", "channel"), [(Action.ARM, ARM), (Action.OVERRIDE, OVERRIDE), (Action.ATTITUDE_TYPE, ATTITUDE_TYPE)]
)
def test_switch_moves_once_per_key_press(action: Action, channel: int) -> None:
    sticks = KeyboardSticks()
    before = sticks.frame
    sticks.press(action)
    sticks.hold([action], 1.0)
    after = sticks.frame
    assert {before[channel], after[channel]} == {LOW, HIGH}
    assert [a for k, a in enumerate(after) if k != channel] == [b for k, b in enumerate(before) if k != channel]
    sticks.press(action)
    assert sticks.frame == before


@pytest.mark.parametrize(("action", "channel", "end"), DIRECTIONS)
def test_repeating_key_holds_stick_at_its_end_and_single_press_decays(action: Action, channel: int, end: int) -> None:
    sticks = KeyboardSticks()
    sticks.nudge(action)
    assert abs(sticks.frame[channel] - CENTRE) == 100
    sticks.drift(0.5)
    assert sticks.frame == frame_at_rest()
    # 30 characters per second, the repeat rate of terminals.
    for _ in range(30):
        sticks.nudge(action)
        sticks.drift(1.0 / 30.0)
    # Between two characters it drifts by 14 us at most.
    assert abs(sticks.frame[channel] - end) <= 14
    sticks.nudge(action)
    assert sticks.frame[channel] == end


def test_opposite_press_first_centres_the_stick() -> None:
    sticks = KeyboardSticks()
    for _ in range(5):
        sticks.nudge(Action.ROLL_RIGHT)
    sticks.nudge(Action.ROLL_LEFT)
    assert sticks.frame == frame_at_rest()
    sticks.nudge(Action.ROLL_LEFT)
    assert sticks.frame[ROLL] == 1400


def test_throttle_and_switches_do_not_drift() -> None:
    sticks = KeyboardSticks()
    for _ in range(10):
        sticks.nudge(Action.THROTTLE_UP)
    sticks.nudge(Action.ARM)
    sticks.drift(10.0)
    assert sticks.frame[THROTTLE] == 1200
    assert sticks.frame[ARM] == HIGH

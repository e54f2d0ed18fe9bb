"""Joysticks of SDL's virtual driver: connected, lost, reconnected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rosflight_py_sim.transmitter.joystick import JoystickTransmitter
from rosflight_py_sim.transmitter.mapping import all_mappings

XBOX = "Microsoft X-Box 360 pad"

Open = Callable[..., JoystickTransmitter]


@pytest.fixture
def transmitter(log: Any) -> Iterator[Open]:
    """A function that makes a transmitter with the shipped mappings."""
    made: list[JoystickTransmitter] = []

    def make(**options: Any) -> JoystickTransmitter:
        mappings = all_mappings(options.pop("mapping_file", None))
        made.append(JoystickTransmitter(mappings, log, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_connected_joystick_is_used_from_the_first_poll(
    virtual_joystick: Callable[..., Any], transmitter: Open, log: Any
) -> None:
    joystick = virtual_joystick()
    joystick.axis(2, -1.0)
    joystick.plug_in()
    t = transmitter()
    t.poll(0.0)
    assert t.is_present
    assert t.frame == [1500, 1500, 1000, 1500, 1500, 1500, 1500, 1500]
    joystick.axis(0, 0.5)
    t.poll(0.01)
    assert t.frame[0] == 1750
    assert len(log.infos) == 1 and "TX16S" in log.infos[0]
    assert not log.warnings


def test_nothing_is_sent_until_a_joystick_is_plugged_in(
    virtual_joystick: Callable[..., Any], transmitter: Open
) -> None:
    joystick = virtual_joystick()
    t = transmitter()
    t.poll(0.0)
    assert t.frame is None and not t.is_present
    joystick.plug_in()
    t.poll(0.01)
    assert t.frame is not None and t.is_present


def test_unplugged_joystick_is_rc_lost_until_it_returns(
    virtual_joystick: Callable[..., Any], transmitter: Open, log: Any
) -> None:
    joystick = virtual_joystick()
    joystick.axis(2, 0.4)
    joystick.plug_in()
    t = transmitter()
    t.poll(0.0)
    before = t.frame
    joystick.unplug()
    for k in range(3):
        t.poll(0.01 * k)
        # SDL centres a lost joystick's axes; these values must not be used.
        assert t.frame is None
        assert t.is_present
    assert len(log.warnings) == 1 and "TX16S" in log.warnings[0]
    joystick.plug_in()
    t.poll(0.1)
    assert t.frame == before
    assert len(log.warnings) == 1


def test_toggled_switches_keep_their_position_while_gamepad_is_unplugged(
    virtual_joystick: Callable[..., Any], transmitter: Open
) -> None:
    pad = virtual_joystick(XBOX, 6, 11)
    pad.plug_in()
    t = transmitter()
    t.poll(0.0)
    pad.button(0, pressed=True)
    t.poll(0.0)
    pad.button(0, pressed=False)
    t.poll(0.0)
    assert t.frame is not None and t.frame[4] == 2000
    pad.unplug()
    t.poll(0.0)
    pad.plug_in()
    t.poll(0.0)
    assert t.frame is not None and t.frame[4] == 2000


def test_another_joystick_takes_over_after_the_first_is_unplugged(
    virtual_joystick: Callable[..., Any], transmitter: Open, log: Any
) -> None:
    first, second = virtual_joystick(), virtual_joystick(XBOX, 6, 11)
    first.plug_in()
    t = transmitter()
    t.poll(0.0)
    second.plug_in()
    second.axis(3, 1.0)
    t.poll(0.0)
    assert t.frame is not None and t.frame[0] == 1500
    first.unplug()
    t.poll(0.0)
    assert t.frame is not None and t.frame[0] == 2000
    assert XBOX in log.infos[-1]


def test_unknown_joystick_is_reported_once_and_ignored(
    virtual_joystick: Callable[..., Any], transmitter: Open, log: Any
) -> None:
    joystick = virtual_joystick("Thrustmaster T.16000M", 4, 16)
    t = transmitter()
    for _ in range(2):
        joystick.plug_in()
        t.poll(0.0)
        assert t.frame is None and not t.is_present
        joystick.unplug()
        t.poll(0.0)
    (warning,) = log.warnings
    for words in (
        "'Thrustmaster T.16000M'",
        "4 axes, 16 buttons",
        "mapping_file",
        'matches: ["Thrustmaster T.16000M"]',
    ):
        assert words in warning


def test_joystick_lacking_mapped_inputs_is_reported_and_not_used(
    virtual_joystick: Callable[..., Any], transmitter: Open, log: Any
) -> None:
    virtual_joystick("OpenTX RM TX16S Joystick", 4, 0).plug_in()
    t = transmitter()
    t.poll(0.0)
    assert t.frame is None
    (warning,) = log.warnings
    assert "axis 6" in warning and "4 axes" in warning


def test_joystick_is_selected_by_name_or_number(virtual_joystick: Callable[..., Any], transmitter: Open) -> None:
    first, second = virtual_joystick(), virtual_joystick(XBOX, 6, 11)
    first.axis(0, -1.0)
    second.axis(3, 1.0)
    first.plug_in()
    second.plug_in()
    for options in ({"part_of_name": "x-box"}, {"index": 1}):
        t = transmitter(**options)
        t.poll(0.0)
        assert t.frame is not None and t.frame[0] == 2000
    t = transmitter(index=2)
    t.poll(0.0)
    assert t.frame is None


def test_user_mapping_takes_precedence(virtual_joystick: Callable[..., Any], transmitter: Open, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(
        "- {name: Own, matches: ['*tx16s*'], roll: {axis: 7}, pitch: {axis: 1}, throttle: {axis: 2}, yaw: {axis: 3}}"
    )
    joystick = virtual_joystick()
    joystick.axis(7, 1.0)
    joystick.plug_in()
    t = transmitter(mapping_file=own)
    t.poll(0.0)
    assert t.frame is not None and t.frame[0] == 2000


def test_two_transmitters_in_one_process_both_detect_joystick_removal(
    virtual_joystick: Callable[..., Any], transmitter: Open
) -> None:
    joystick = virtual_joystick()
    joystick.plug_in()
    one, other = transmitter(), transmitter()
    for t in (one, other):
        t.poll(0.0)
        assert t.frame is not None
    joystick.unplug()
    one.poll(0.0)
    other.poll(0.0)
    assert one.frame is None and other.frame is None
    joystick.plug_in()
    one.poll(0.0)
    other.poll(0.0)
    assert one.frame is not None and other.frame is not None

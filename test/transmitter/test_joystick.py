"""Joysticks by SDL's virtual driver: taken up, lost, taken up again."""

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


def test_a_joystick_that_is_there_flies_from_the_first_look(
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


def test_without_a_joystick_nothing_is_sent_until_one_is_plugged_in(
    virtual_joystick: Callable[..., Any], transmitter: Open
) -> None:
    joystick = virtual_joystick()
    t = transmitter()
    t.poll(0.0)
    assert t.frame is None and not t.is_present
    joystick.plug_in()
    t.poll(0.01)
    assert t.frame is not None and t.is_present


def test_an_unplugged_joystick_is_a_lost_transmitter_until_it_returns(
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
        # SDL centres a lost joystick's axes: that must not be flown.
        assert t.frame is None
        assert t.is_present
    assert len(log.warnings) == 1 and "TX16S" in log.warnings[0]
    joystick.plug_in()
    t.poll(0.1)
    assert t.frame == before
    assert len(log.warnings) == 1


def test_toggled_switches_stay_where_they_were_while_a_pad_is_away(
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


def test_another_joystick_takes_over_when_the_first_is_gone(
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


def test_an_unknown_joystick_is_told_of_once_and_is_as_none(
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


def test_a_joystick_that_lacks_what_its_mapping_names_is_told_of_and_not_flown(
    virtual_joystick: Callable[..., Any], transmitter: Open, log: Any
) -> None:
    virtual_joystick("OpenTX RM TX16S Joystick", 4, 0).plug_in()
    t = transmitter()
    t.poll(0.0)
    assert t.frame is None
    (warning,) = log.warnings
    assert "axis 6" in warning and "4 axes" in warning


def test_a_name_or_a_number_chooses_among_joysticks(virtual_joystick: Callable[..., Any], transmitter: Open) -> None:
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


def test_a_mapping_of_ones_own_comes_first(
    virtual_joystick: Callable[..., Any], transmitter: Open, tmp_path: Path
) -> None:
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


def test_two_transmitters_of_one_process_both_hear_of_a_joystick_that_is_lost(
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

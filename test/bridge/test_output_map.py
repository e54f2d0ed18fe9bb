"""Sums of channels, as parameters give them, and the outputs that they make."""

from __future__ import annotations

import pytest

from rosflight_py_sim.bridge.output_map import OutputMap
from rosflight_py_sim.parameters import ParameterError

POWERS = ("left", "right", "side", "vertical")
NUMBERS = [str(i + 1) for i in range(32)]


def outputs(texts: list[str], *channels_us: int, names: tuple[str, ...] = POWERS) -> list[int]:
    return OutputMap("auv.outputs", texts, [1500] * 14, names).outputs(channels_us)


def test_channel_goes_where_it_is_named_and_the_other_outputs_get_what_they_get_without_one() -> None:
    assert outputs(["right", "", "left"], 1100, 1200, 1300, 1400) == [1200, 1500, 1100, *[1500] * 11]


def test_sum_counts_from_the_middle() -> None:
    texts = ["left-side", " - left + side ", "+0.5*right + .25 * side", "2*vertical"]
    assert outputs(texts, 1750, 1600, 1300, 1400)[:4] == [1950, 1050, 1500, 1300]


def test_output_waits_for_all_of_its_channels() -> None:
    assert outputs(["left", "left + right", "right"], 1750, 0, 0, 0)[:3] == [1750, 1500, 1500]


@pytest.mark.parametrize("text", ["left right", "left +", "+", "- - left", "left * 2", "left + + side"])
def test_what_is_no_sum_is_refused(text: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        outputs(["left", text])
    told = f"parameter 'auv.outputs': '{text}' given for output 2; allowed: a sum of channels about 1500 us"
    assert told in str(refusal.value)


def test_channel_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(
        ParameterError, match="'Left' given for output 1; allowed: channels left, right, side, vertical"
    ):
        outputs(["Left"])
    with pytest.raises(ParameterError, match="'33' given for output 1; allowed: channels from 1 to 32"):
        OutputMap("ardupilot.outputs", ["33"], [1000] * 14, NUMBERS)


def test_more_texts_than_outputs_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"'auv.outputs': 15 texts given; allowed: one for each of 14 outputs"):
        outputs(["left"] * 15)

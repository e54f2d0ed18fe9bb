"""Sums of channels as given in parameters, and the resulting outputs."""

from __future__ import annotations

import pytest

from rosflight_py_sim.bridge.output_map import OutputMap
from rosflight_py_sim.ground.parameters import ParameterError

POWERS = ("left", "right", "side", "vertical")
NUMBERS = [str(i + 1) for i in range(32)]
CHANNELS = (1100, 1200, 1300, 1400) + (1500,) * 12
NO_OUTPUT = [1000, 1500] * 7


def outputs(texts: list[str], *channels_us: int, names: tuple[str, ...] = POWERS) -> list[int]:
    return OutputMap("auv_zeromq.outputs", texts, [1500] * 14, names).outputs(channels_us)


def test_named_channel_drives_its_output_and_other_outputs_get_defaults() -> None:
    assert outputs(["right", "", "left"], 1100, 1200, 1300, 1400) == [1200, 1500, 1100, *[1500] * 11]


def test_sum_is_taken_about_the_centre() -> None:
    texts = ["left-side", " - left + side ", "+0.5*right + .25 * side", "2*vertical"]
    assert outputs(texts, 1750, 1600, 1300, 1400)[:4] == [1950, 1050, 1500, 1300]


def test_output_requires_all_of_its_channels() -> None:
    assert outputs(["left", "left + right", "right"], 1750, 0, 0, 0)[:3] == [1750, 1500, 1500]


@pytest.mark.parametrize("text", ["left right", "left +", "+", "- - left", "left * 2", "left + + side"])
def test_invalid_sum_is_rejected(text: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        outputs(["left", text])
    expected = f"parameter 'auv_zeromq.outputs': '{text}' given for output 2; allowed: a sum of channels about 1500 us"
    assert expected in str(refusal.value)


def test_unknown_channel_is_rejected_with_known_channels() -> None:
    with pytest.raises(
        ParameterError, match="'Left' given for output 1; allowed: channels left, right, side, vertical"
    ):
        outputs(["Left"])
    with pytest.raises(ParameterError, match="'33' given for output 1; allowed: channels from 1 to 32"):
        OutputMap("ardupilot.outputs", ["33"], [1000] * 14, NUMBERS)


def test_more_expressions_than_outputs_are_rejected() -> None:
    with pytest.raises(ParameterError, match=r"outputs': 15 texts given; allowed: one for each of the 14 outputs"):
        outputs(["left"] * 15)


def numbered(*texts: str, channels: tuple[int, ...] = CHANNELS) -> list[int]:
    """The first outputs, with these expressions; the other outputs have none."""
    every = [*texts, *[""] * (14 - len(texts))]
    return OutputMap("outputs", every, NO_OUTPUT, NUMBERS).outputs(channels)[: len(texts)]


def test_channel_is_passed_through_unchanged() -> None:
    assert numbered("3", "1", "3") == [1300, 1100, 1300]


def test_output_without_channel_gets_no_output_value() -> None:
    assert numbered("", " ") == [1000, 1500]


def test_minus_sign_reverses_about_the_centre() -> None:
    assert numbered("-2", " - 1 ") == [1800, 1900]


def test_elevons_are_weighted_sums() -> None:
    assert numbered("0.5*1-0.5*2", "0.5*1+0.5*2", ".25 * 4 - 1.*1") == [1450, 1150, 1875]


def test_channel_named_twice_is_added_twice() -> None:
    assert numbered("0.5*1+0.5*1") == [1100]


def test_sum_with_a_zero_channel_yields_no_output() -> None:
    channels = (0, 1200) + (1500,) * 14
    assert numbered("1", "0.5*1-0.5*2", "2", channels=channels) == [1000, 1500, 1200]


def test_channel_above_16_yields_no_output_with_16_channels() -> None:
    assert numbered("20", "0.5*1+20") == [1000, 1500]
    assert numbered("20", channels=(1500,) * 19 + (1700,) + (1500,) * 12) == [1700]


def test_sums_are_clamped_to_message_range() -> None:
    assert numbered("100*1", "-1000*1", channels=(2000,) * 16) == [51500, 0]


@pytest.mark.parametrize(
    "text", ["1 2", "1+", "*3", "2*", "0.5*", "1*2*3", "--1", "nan*1", "1e3*2", "3;4", "1,2", "0.5", "+-1"]
)
def test_invalid_expression_is_rejected_with_allowed_syntax(text: str) -> None:
    with pytest.raises(ParameterError) as refused:
        numbered("1", text)
    assert f"'outputs': {text!r} given for output 2; allowed: a sum of channels" in str(refused.value)


@pytest.mark.parametrize("text", ["1001*1", "9" * 400 + "*1"])
def test_excessive_weight_is_rejected(text: str) -> None:
    with pytest.raises(ParameterError, match="allowed: weights up to 1000"):
        numbered(text)


@pytest.mark.parametrize("text", ["x", "0", "33", "0.5*1-0.5*99"])
def test_impossible_channel_is_rejected(text: str) -> None:
    with pytest.raises(ParameterError, match="allowed: channels from 1 to 32"):
        numbered(text)

"""Mapping from a program's channels to the vehicle's outputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, texts
from rosflight_py_sim.ground.pulse_width import CENTRE_US, LOW_US, OUTPUTS
from rosflight_py_sim.kernels.jit import bound, kernel

LARGEST_PULSE_US = 65535
LARGEST_WEIGHT = 1000.0

_NUMBER = r"(?:\d+\.?\d*|\.\d+)"
_TERM = re.compile(rf"\s*(?P<sign>[+-]?)\s*(?:(?P<weight>{_NUMBER})\s*\*\s*)?(?P<channel>\w+)\s*(?=[+-]|$)")


def output_parameters(front_end: str, default: Sequence[str], channels: str, examples: str) -> ParameterTable:
    """Parameters from which `output_map_of` makes a map: `outputs` and `no_output` of a front-end.

    Args:
        front_end: name of the front-end.
        default: text of each output.
        channels: when a channel has no value, in words.
        examples: texts of outputs, each with its meaning.
    """
    return ParameterTable(
        Parameter(
            f"{front_end}.outputs",
            list(default),
            f"Input of each output: a sum of channels about 1500 us, such as {examples}, or empty text (no channel: "
            "the value in no_output)",
            length=OUTPUTS,
            read_only=True,
        ),
        Parameter(
            f"{front_end}.no_output",
            [LOW_US] * OUTPUTS,
            f"Pulse width of each output while {channels}: 1000 stops a motor, 1500 centres a servo",
            "us",
            minimum=0,
            maximum=LARGEST_PULSE_US,
            length=OUTPUTS,
            read_only=True,
        ),
    )


def output_map_of(front_end: str, values: Values, channels: Sequence[str]) -> OutputMap:
    """The map that the values of `output_parameters` describe.

    Raises:
        ParameterError: as `OutputMap`.
    """
    no_output = [int(us) for us in texts(values, f"{front_end}.no_output")]
    return OutputMap(f"{front_end}.outputs", texts(values, f"{front_end}.outputs"), no_output, channels)


class OutputMap:
    """Computes a vehicle's outputs, us (14), from a program's channels, us.

    An output is 1500 us plus the weighted sum of its channels' deviations from 1500 us. It is `no_output` if one of its
    channels is 0 (no output yet), or if it has no channel.

    Attributes:
        channels_us: pulse width of each channel, us.
        outputs_us: pulse width of each output, us (14,).
        map: arguments of `map_channels`, which computes `outputs_us` from `channels_us`.
    """

    def __init__(self, name: str, texts: Sequence[str], no_output: Sequence[int], channels: Sequence[str]) -> None:
        """Parse the texts of a parameter for a program with channels of these names.

        Each text is for one output; outputs beyond the last text have no channel.

        Raises:
            ParameterError: too many texts, a text that is not such a sum, or an unknown channel.
        """
        if len(texts) > OUTPUTS:
            raise ParameterError(
                f"parameter '{name}': {len(texts)} texts given; allowed: one for each of the {OUTPUTS} outputs"
            )
        self._no_output = list(no_output)
        given = [_parsed(name, number, text, channels) for number, text in enumerate(texts, start=1)]
        rows = given + [{}] * (OUTPUTS - len(given))
        terms = [(output, channel, weight) for output, row in enumerate(rows) for channel, weight in row.items()]
        self.channels_us, self.outputs_us = np.zeros(len(channels), np.int64), np.zeros(OUTPUTS, np.int64)
        self.map = (
            np.array([(output, channel) for output, channel, _ in terms], np.int64).reshape(-1, 2),
            np.array([weight for *_, weight in terms]),
            np.array(no_output, np.int64),
            self.channels_us,
            self.outputs_us,
        )
        self._map_channels: Callable[[], None] = bound(map_channels, *self.map)

    def outputs(self, channels_us: Sequence[int]) -> list[int]:
        """Pulse width of each output, us, with these pulse widths of the first channels, and no other outputs yet."""
        self.channels_us[:] = 0
        self.channels_us[: len(channels_us)] = channels_us
        self._map_channels()
        return self.outputs_us.tolist()


@kernel
def map_channels(
    terms: NDArray[np.int64],
    weights: NDArray[np.float64],
    no_output: NDArray[np.int64],
    channels_us: NDArray[np.int64],
    outputs_us: NDArray[np.int64],
) -> None:
    """Write the outputs (14,), each the sum of terms: rows of output and channel (n, 2) in order, and weights (n,)."""
    term = 0
    for output in range(OUTPUTS):
        us, first, is_silent = 0.0, term, False
        while term < len(terms) and terms[term, 0] == output:
            channel_us = channels_us[terms[term, 1]]
            is_silent = is_silent or channel_us == 0
            us += weights[term] * (channel_us - CENTRE_US)
            term += 1
        if is_silent or term == first:
            outputs_us[output] = no_output[output]
        else:
            outputs_us[output] = min(max(int(np.rint(CENTRE_US + us)), 0), LARGEST_PULSE_US)


def _parsed(name: str, number: int, text: str, channels: Sequence[str]) -> dict[int, float]:
    """Weights by index of channel."""
    row: dict[int, float] = {}
    at = 0
    while at < len(text.rstrip()):
        term = _TERM.match(text, at)
        if term is None or (at and not term["sign"]):
            raise ParameterError(
                f"parameter '{name}': {text!r} given for output {number}; allowed: a sum of channels about 1500 us, "
                f"each with an optional weight and * before it, as '{channels[2]}', '-{channels[1]}' (reversed) "
                f"or '0.5*{channels[0]}-0.5*{channels[1]}', or empty text (no channel)"
            )
        if term["channel"] not in channels:
            numbered = channels[0].isdecimal()
            allowed = f"from {channels[0]} to {channels[-1]}" if numbered else ", ".join(channels)
            raise ParameterError(f"parameter '{name}': {text!r} given for output {number}; allowed: channels {allowed}")
        channel = channels.index(term["channel"])
        weight = float(term["weight"] or 1.0) * (-1.0 if term["sign"] == "-" else 1.0)
        if abs(weight) > LARGEST_WEIGHT:
            raise ParameterError(
                f"parameter '{name}': {text!r} given for output {number}; allowed: weights up to {LARGEST_WEIGHT:g}"
            )
        row[channel] = row.get(channel, 0.0) + weight
        at = term.end()
    return row

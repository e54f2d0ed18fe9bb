"""Mapping from a program's channels to the vehicle's outputs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, texts
from rosflight_py_sim.ground.pulse_width import CENTRE_US, LOW_US, OUTPUTS

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
        plain = [len(row) == 1 and 1.0 in row.values() for row in rows]
        # Channels beyond the 16th also count as 0.
        self._sources = [
            next(iter(row)) if is_plain else len(channels) for row, is_plain in zip(rows, plain, strict=True)
        ]
        self._silent = (0,) * (len(channels) + 1)
        self._mixed = [
            (output, list(row.items()))
            for output, (row, is_plain) in enumerate(zip(rows, plain, strict=True))
            if row and not is_plain
        ]

    def outputs(self, channels_us: tuple[int, ...]) -> list[int]:
        """Pulse width of each output, us."""
        received = channels_us + self._silent[len(channels_us) :]
        outputs = [received[source] or none for source, none in zip(self._sources, self._no_output, strict=True)]
        for output, terms in self._mixed:
            if all(received[channel] for channel, _ in terms):
                us = CENTRE_US + sum(weight * (received[channel] - CENTRE_US) for channel, weight in terms)
                outputs[output] = min(max(round(us), 0), LARGEST_PULSE_US)
        return outputs


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

"""From the channels of a program to the outputs of the vehicle."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rosflight_py_sim.parameters import ParameterError

OUTPUTS = 14
CENTRE_US = 1500

LARGEST_PULSE_US = 65535

_ALLOWED = (
    "a sum of channels about 1500 us, each a number from 1 up with an optional weight and * before it: '3' (channel 3 "
    "as it is), '-2' (channel 2 reversed), '0.5*1-0.5*2', or empty text (no channel)"
)

_NUMBER = r"(?:\d+\.?\d*|\.\d+)"
_TERM = re.compile(rf"\s*(?P<sign>[+-]?)\s*(?:(?P<weight>{_NUMBER})\s*\*\s*)?(?P<channel>\d+)\s*")


class OutputMap:
    """Makes the outputs of a vehicle, us (14), of the channels of a program, us.

    An output is 1500 us plus the sum of its channels' distances from 1500 us, each times its weight. It gets its
    `no_output` as long as one of its channels is 0 (no output yet), and where it has none.
    """

    def __init__(self, name: str, texts: Sequence[str], no_output: Sequence[int], channels: int) -> None:
        """Parse the texts of a parameter, one for each output, for a program that has at most so many channels.

        Raises:
            ParameterError: there is a text that is no such sum, or one with a channel that there cannot be.
        """
        self._no_output = list(no_output)
        rows = [_parsed(name, number, text, channels) for number, text in enumerate(texts, start=1)]
        self.weights = [[row.get(channel + 1, 0.0) for channel in range(channels)] for row in rows]
        plain = [len(row) == 1 and 1.0 in row.values() for row in rows]
        # Past the end of 16 channels there is silence, too.
        self._sources = [
            next(iter(row)) - 1 if is_plain else channels for row, is_plain in zip(rows, plain, strict=True)
        ]
        self._silent = (0,) * (channels + 1)
        self._mixed = [
            (output, [(channel - 1, weight) for channel, weight in row.items()])
            for output, (row, is_plain) in enumerate(zip(rows, plain, strict=True))
            if row and not is_plain
        ]

    def outputs(self, channels_us: tuple[int, ...]) -> list[int]:
        """Pulse width of each output, us."""
        heard = channels_us + self._silent[len(channels_us) :]
        outputs = [heard[source] or none for source, none in zip(self._sources, self._no_output, strict=True)]
        for output, terms in self._mixed:
            if all(heard[channel] for channel, _ in terms):
                us = CENTRE_US + sum(weight * (heard[channel] - CENTRE_US) for channel, weight in terms)
                outputs[output] = min(max(round(us), 0), LARGEST_PULSE_US)
        return outputs


def _parsed(name: str, number: int, text: str, channels: int) -> dict[int, float]:
    """Channel to weight."""
    row: dict[int, float] = {}
    at = 0
    while at < len(text.rstrip()):
        term = _TERM.match(text, at)
        if term is None or (at and not term["sign"]):
            raise ParameterError(f"parameter '{name}': {text!r} given for output {number}; allowed: {_ALLOWED}")
        channel = int(term["channel"])
        if not 1 <= channel <= channels:
            raise ParameterError(
                f"parameter '{name}': {text!r} given for output {number}; allowed: channels from 1 to {channels}"
            )
        weight = float(term["weight"] or 1.0) * (-1.0 if term["sign"] == "-" else 1.0)
        row[channel] = row.get(channel, 0.0) + weight
        at = term.end()
    return row

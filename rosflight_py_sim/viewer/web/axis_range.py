"""Range of a plot's vertical axis: round limits that change rarely, far enough apart for labels to differ."""

from __future__ import annotations

import math

LEAST_SPAN = 0.05
"""Smallest range: the browser labels an axis with three decimal places."""

_SPARE = 0.02


def round_range(lowest: float, highest: float, least_span: float = LEAST_SPAN) -> tuple[float, float]:
    """Limits around two values, in round numbers and at least `least_span` apart.

    The limits are multiples of a tenth to a quarter of the span, so they stay as they are while the values change a
    little.
    """
    missing = least_span - (highest - lowest)
    if missing > 0.0:
        lowest, highest = lowest - 0.5 * missing, highest + 0.5 * missing
    span = highest - lowest
    power = 10.0 ** math.floor(math.log10(span))
    step = next(share * power for share in (0.1, 0.25, 0.5, 1.0) if span <= 10.0 * share * power)
    low = math.floor(lowest / step - _SPARE) * step
    high = math.ceil(highest / step + _SPARE) * step
    # Without the binary remainder of the multiplication, which labels would show.
    digits = max(0, 3 - math.floor(math.log10(step)))
    return round(low, digits) + 0.0, round(high, digits) + 0.0

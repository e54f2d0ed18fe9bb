"""Length of a vector of two components in a kernel, equal to Python's `math.hypot`."""

from __future__ import annotations

import math

from rosflight_py_sim.kernels.jit import kernel

_SPLITTER = 134217729.0  # 2^27 + 1


@kernel
def rounding_error(x: float, square: float) -> float:
    """Exact difference between x * x and `square`, its rounded value.

    T. J. Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik 18, 1971.
    """
    scaled = x * _SPLITTER
    high = scaled - (scaled - x)
    low = x - high
    return ((high * high - square) + 2.0 * high * low) + low * low


@kernel
def hypot(x: float, y: float) -> float:
    """Square root of x^2 + y^2, rounded as if computed exactly; the C library's `hypot` may differ in the last bit.

    Valid for results from 1e-130 to 1e130, and 0. The square root is improved by one step of Newton's method with an
    exact residual.
    """
    larger, smaller = max(x * x, y * y), min(x * x, y * y)
    total = larger + smaller
    length = math.sqrt(total)
    if length == 0.0:
        return 0.0
    square = length * length
    rest = (larger - total) + smaller
    rest += rounding_error(x, x * x) + rounding_error(y, y * y) - rounding_error(length, square)
    return length + ((total - square) + rest) / (2.0 * length)

"""Rounding to single precision in a kernel, as a message with such a field carries a number."""

from __future__ import annotations

import numpy as np

from rosflight_py_sim.kernels.jit import kernel


@kernel
def single(number: float) -> float:
    """A number as a message carries it in single precision."""
    return float(np.float64(np.float32(number)))

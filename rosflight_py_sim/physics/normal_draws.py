"""Standard normal numbers for kernels, drawn in blocks because a single draw costs more than the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

ROWS = 1024


def normal_draws(rng: np.random.Generator, width: int) -> Iterator[NDArray[np.float64]]:
    """Endless rows (width,) of independent standard normal numbers from `rng`, reproducible by seed.

    At most ROWS further draws overwrite a row.
    """
    return chain.from_iterable(_blocks(rng, width))


def _blocks(rng: np.random.Generator, width: int) -> Iterator[list[NDArray[np.float64]]]:
    block = np.empty((ROWS, width))
    rows = list(block)
    while True:
        rng.standard_normal(out=block)
        yield rows

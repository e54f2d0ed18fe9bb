"""Standard normal numbers for kernels, drawn in blocks because a single draw costs more than the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

ROWS = 1024


class NormalDraws:
    """Source of rows of `width` independent standard normal numbers from `rng`, reproducible by seed.

    Attributes:
        next: function that returns the next row (width,); at most ROWS further calls overwrite it.
    """

    def __init__(self, rng: np.random.Generator, width: int) -> None:
        self.next: Callable[[], NDArray[np.float64]] = chain.from_iterable(_blocks(rng, width)).__next__


def _blocks(rng: np.random.Generator, width: int) -> Iterator[list[NDArray[np.float64]]]:
    block = np.empty((ROWS, width))
    rows = list(block)
    while True:
        rng.standard_normal(out=block)
        yield rows

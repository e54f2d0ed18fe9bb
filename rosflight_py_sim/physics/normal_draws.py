"""Standard normal numbers for kernels, drawn in blocks because a single draw costs more than the kernel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

ROWS = 1024


class NormalDraws:
    """Source of rows of `width` independent standard normal numbers from `rng`, reproducible by seed."""

    def __init__(self, rng: np.random.Generator, width: int) -> None:
        self._rng = rng
        self._block = np.empty((ROWS, width))
        self._rows: list[NDArray[np.float64]] = list(self._block)
        self._left: Iterator[NDArray[np.float64]] = iter(())

    def next(self) -> NDArray[np.float64]:
        """The next row (width,); at most ROWS further calls overwrite it."""
        row = next(self._left, None)
        if row is None:
            self._rng.standard_normal(out=self._block)
            self._left = iter(self._rows)
            row = next(self._left)
        return row

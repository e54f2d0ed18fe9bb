"""Standard normal numbers for kernels, drawn in blocks because a single draw costs more than the kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.chain import ChainLink
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import kernel_record

ROWS = 256


@kernel_record
class Place:
    """Place in a block of numbers.

    Attributes:
        row: the next row to use.
    """

    row: int


@kernel
def take_row(block: NDArray[np.float64], place: Place, row: NDArray[np.float64]) -> bool:
    """Copy the next row of a block (n, m) to `row` (m,); return whether it was the last."""
    for i in range(block.shape[1]):
        row[i] = block[place.row, i]
    place.row += 1
    return bool(place.row == block.shape[0])


class NormalDraws:
    """Endless rows (width,) of independent standard normal numbers from `rng`, reproducible by seed.

    `next` returns a row, which at most ROWS further draws overwrite.
    """

    __slots__ = ("_block", "_rng", "_row")

    def __init__(self, rng: np.random.Generator, width: int) -> None:
        self._rng, self._row = rng, ROWS
        self._block = np.empty((ROWS, width))

    def __next__(self) -> NDArray[np.float64]:
        row = self._row
        if row == ROWS:
            row = self._fill()
        self._row = row + 1
        numbers: NDArray[np.float64] = self._block[row]
        return numbers

    def _fill(self) -> int:
        self._rng.standard_normal(out=self._block)
        return 0

    def link(self, row: NDArray[np.float64]) -> ChainLink:
        """Link of a chain that writes the next numbers to `row` (width,)."""
        if self._row == ROWS:
            self._row = self._fill()
        place = Place(row=self._row)

        def refill(time_ns: int, status: int) -> None:
            place.row = self._fill()

        def leave(answered_ns: int) -> None:
            self._row = place.row

        return ChainLink(bound(take_row, self._block, place, row), refill, leave, is_closed=True)

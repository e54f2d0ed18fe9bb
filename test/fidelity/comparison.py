"""A row of the fidelity table: a simulated quantity and its reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from matplotlib.figure import Figure


@dataclass(frozen=True)
class Comparison:
    """The quantity, its value in the simulation and in the reference, with the reference's source, and the error.

    All are texts, rounded so that they reproduce on other machines.
    """

    quantity: str
    simulation: str
    reference: str
    difference: str


class Subject(Protocol):
    """A subject of the fidelity page: a module of this folder, or an object like one."""

    TITLE: str

    def comparisons(self) -> Iterator[Comparison]:
        """Rows of the table."""

    def draw(self, figure: Figure) -> None:
        """Draw the picture on an empty figure of 16 by 10 inches."""

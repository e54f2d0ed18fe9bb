"""Failed runs by kind of reason: reasons that differ only in their figures are of one kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# A number that stands alone, such as that of '12.3 m', '76%' or 'at 4 s'; not the digits of a name or of '0x02'.
_FIGURE = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*\w)")


@dataclass(frozen=True)
class FailureKind:
    """Failed runs with a common kind of reason.

    Attributes:
        text: the reason; each figure that differs is given by its least and greatest value, as '15.8 to 20.1'.
        count: number of runs.
        run: number of the first of them, an example.
        example: its reason.
    """

    text: str
    count: int
    run: int
    example: str


def failure_kinds(runs: Sequence[int], reasons: Sequence[str]) -> list[FailureKind]:
    """The kinds of reasons of failed runs, the most frequent first, then in the order of the runs."""
    kinds: dict[tuple[str, ...], list[tuple[int, str]]] = {}
    for run, reason in sorted(zip(runs, reasons, strict=True)):
        kinds.setdefault(tuple(_FIGURE.split(reason)), []).append((run, reason))
    found = [_kind(words, members) for words, members in kinds.items()]
    return sorted(found, key=lambda one: (-one.count, one.run))


def _kind(words: Sequence[str], members: Sequence[tuple[int, str]]) -> FailureKind:
    figures = zip(*(_FIGURE.findall(reason) for _, reason in members), strict=True)
    text = "".join(word + figure for word, figure in zip(words, [*map(_range, figures), ""], strict=True))
    run, example = members[0]
    return FailureKind(text, len(members), run, example)


def _range(figures: Sequence[str]) -> str:
    """Least and greatest of figures, as they are written; one figure if they are equal."""
    least, greatest = min(figures, key=float), max(figures, key=float)
    return least if float(least) == float(greatest) else f"{least} to {greatest}"

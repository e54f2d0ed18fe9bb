"""A network between ArduPilot and the simulator that loses, duplicates and delays datagrams."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class UnreliableLine:
    """Losses, duplicates and delays, each with its own probability.

    Attributes:
        loss: probability that a frame does not arrive.
        doubling: probability that a frame arrives twice.
        delay: probability that the previous frame arrives again, after a frame.
        answer_loss: probability that a reply does not arrive.
        seed: seed of the random numbers.
        happened: number of occurrences of each.
    """

    loss: float = 0.0
    doubling: float = 0.0
    delay: float = 0.0
    answer_loss: float = 0.0
    seed: int = 1
    happened: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._before = b""

    def arriving(self, frame: bytes) -> list[bytes]:
        """Frames that arrive, in order, when a frame is sent."""
        before, self._before = self._before, frame
        if self._happens("loss"):
            return []
        arrives = [frame]
        if self._happens("doubling"):
            arrives.append(frame)
        if before not in (b"", frame) and self._happens("delay"):
            arrives.append(before)
        return arrives

    def answer_arrives(self) -> bool:
        """Whether the next reply arrives."""
        return not self._happens("answer_loss")

    def _happens(self, what: str) -> bool:
        probability = getattr(self, what)
        if probability == 0.0 or self._random.random() >= probability:
            return False
        self.happened[what] += 1
        return True

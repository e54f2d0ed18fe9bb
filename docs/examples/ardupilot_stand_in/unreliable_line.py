"""A network between ArduPilot and the simulator that loses, doubles and delays."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class UnreliableLine:
    """What happens to the frames and to the answers, each with a probability of its own.

    Attributes:
        loss: a frame does not arrive.
        doubling: a frame arrives twice.
        delay: the frame before it arrives once more behind a frame.
        answer_loss: an answer does not arrive.
        seed: of the draws.
        happened: how often each has happened.
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
        """What arrives, in its order, when a frame is sent."""
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
        """Whether the next answer does."""
        return not self._happens("answer_loss")

    def _happens(self, what: str) -> bool:
        probability = getattr(self, what)
        if probability == 0.0 or self._random.random() >= probability:
            return False
        self.happened[what] += 1
        return True

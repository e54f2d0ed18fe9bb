"""Effects of active failures on the numbers of a signal, and on the messages of a link."""

from __future__ import annotations

import hashlib
import math
from collections import deque
from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np

from rosflight_py_sim.failures.failure import DRIFT, FRONT, JAMMED, LATE, NOISY, OFF, STUCK, WRONG, Failure
from rosflight_py_sim.ground.shared_parameters import FAILURE_STREAM
from rosflight_py_sim.ground.stamps import NANOSECONDS

M = TypeVar("M")

FRONT_RISE_S = 2.0
"""Time in which a wind front rises, and in which it falls, s."""


class Effect:
    """Effect of one failure, from its beginning.

    Each effect has its own random generators, seeded by the node's seed and the failure's text. They are therefore
    independent of other failures and of the sensors' own noise.

    Attributes:
        failure: the failure.
        begin_ns: simulated time of its beginning; None for a failure without `at` that has not begun.
    """

    def __init__(self, failure: Failure, occurrence: int, seed: int) -> None:
        """Prepare the effect of a failure; `occurrence` counts equal texts in the vehicle's list, from 0."""
        self.failure = failure
        self.begin_ns = failure.begin_ns
        self._seed, self._name = seed, f"{failure.text} {occurrence}"
        self._rngs: dict[str, np.random.Generator] = {}
        self._held: Sequence[float] | None = None

    @property
    def end_ns(self) -> float:
        """Simulated time of the end; infinite for a failure that does not end or has not begun."""
        return math.inf if self.begin_ns is None else self.begin_ns + self.failure.duration_ns

    def rng(self, stream: str = "") -> np.random.Generator:
        """Random generator of the effect; each stream has its own, which continues between calls."""
        if stream not in self._rngs:
            digest = hashlib.sha256(f"{self._name}{stream}".encode()).digest()
            self._rngs[stream] = np.random.default_rng([self._seed, FAILURE_STREAM, int.from_bytes(digest[:4], "big")])
        return self._rngs[stream]

    def applied(self, time_ns: int, numbers: Sequence[float]) -> Sequence[float] | None:
        """Numbers with the effect of the failure, whose values apply to the first ones; None if the signal is off."""
        kind, values = self.failure.kind, self.failure.values
        begin_ns = time_ns if self.begin_ns is None else self.begin_ns
        if kind == OFF:
            return None
        if kind in (STUCK, JAMMED):
            self._held = numbers if self._held is None else self._held
            return self._held
        factors: Sequence[float]
        if kind == WRONG:
            factors = [1.0] * len(values)
        elif kind == DRIFT:
            factors = [(time_ns - begin_ns) / NANOSECONDS] * len(values)
        elif kind == NOISY:
            factors = self.rng().standard_normal(len(values)).tolist()
        else:
            assert kind == FRONT
            factors = [_rise(time_ns - begin_ns) * _rise(self.end_ns - time_ns)] * len(values)
        changed = [number + factor * value for number, factor, value in zip(numbers, factors, values, strict=False)]
        return [*changed, *numbers[len(values) :]]

    def release(self) -> None:
        """Discard the numbers that a stuck signal repeats."""
        self._held = None


class FailedSignal:
    """Active failures of one part.

    Attributes:
        effects: of the failures, in the order of the list.
    """

    def __init__(self, effects: Sequence[Effect]) -> None:
        self.effects = effects

    def applied(self, time_ns: int, numbers: Sequence[float]) -> Sequence[float] | None:
        """Numbers with all effects; None if the signal is off."""
        for effect in self.effects:
            changed = effect.applied(time_ns, numbers)
            if changed is None:
                return None
            numbers = changed
        return numbers

    def has(self, kind: str) -> bool:
        """Whether one of the failures is of that kind."""
        return any(effect.failure.kind == kind for effect in self.effects)


class Link(Generic[M]):
    """Link whose messages are lost or late."""

    def __init__(self, signal: FailedSignal, silent: str) -> None:
        """Apply the failures of `signal`; a failure of the kind `silent` loses every message."""
        self._is_silent = signal.has(silent)
        late = [effect.failure.values[0] for effect in signal.effects if effect.failure.kind == LATE]
        self._delay_ns = round(sum(late) * NANOSECONDS)
        self._under_way: deque[tuple[int, M]] = deque()

    def send(self, time_ns: int, message: M) -> None:
        """Send a message at the simulated time `time_ns`."""
        if not self._is_silent:
            self._under_way.append((time_ns + self._delay_ns, message))

    def arrived(self, time_ns: int) -> list[M]:
        """Messages that arrived since the last call, in the order of sending."""
        due = []
        while self._under_way and self._under_way[0][0] <= time_ns:
            due.append(self._under_way.popleft()[1])
        return due


def _rise(elapsed_ns: float) -> float:
    """Share of a front, from 0 to 1: half a cosine wave over FRONT_RISE_S."""
    share = min(1.0, max(0.0, elapsed_ns / (FRONT_RISE_S * NANOSECONDS)))
    return 0.5 - 0.5 * math.cos(math.pi * share)

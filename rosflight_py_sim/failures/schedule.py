"""Schedule of a node's failures in simulated time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence

from rosflight_py_sim.failures.failure import Failure, parse_failure
from rosflight_py_sim.failures.signal import Effect, FailedSignal

Signals = dict[tuple[str, int], FailedSignal]
"""Active failures by name and number of their part."""


class FailureSchedule:
    """Failures of a node's parts, and those of them that are active.

    A node calls `switch` only when its time is outside of `since_ns` (inclusive) to `until_ns` (exclusive).

    Attributes:
        since_ns, until_ns: interval of simulated time in which the active failures stay the same.
        active: active failures, in the order of the list.
    """

    def __init__(
        self,
        texts: Sequence[str] = (),
        targets: Collection[str] = (),
        seed: int = 0,
        *,
        check: Callable[[Failure], None] = lambda _: None,
        previous: FailureSchedule | None = None,
    ) -> None:
        """Schedule the failures of `targets`; failures that are also in `previous` continue.

        Raises:
            ParameterError: a text is invalid, or `check` rejects the failure.
        """
        self.since_ns: float = 0
        self.until_ns: float = 0
        self.active: tuple[Effect, ...] = ()
        self._effects: dict[tuple[str, int], Effect] = {}
        seen: Counter[str] = Counter()
        for failure in map(parse_failure, texts):
            if failure.target not in targets:
                continue
            check(failure)
            key = failure.text, seen[failure.text]
            seen[failure.text] += 1
            kept = None if previous is None else previous._effects.get(key)
            self._effects[key] = kept or Effect(failure, key[1], seed)

    def __len__(self) -> int:
        return len(self._effects)

    @property
    def texts(self) -> list[str]:
        """Active failures, in words."""
        return [effect.failure.text for effect in self.active]

    def switch(self, time_ns: int) -> None:
        """Set `active` for a time, and the interval in which `active` does not change."""
        effects = self._effects.values()
        for effect in effects:
            if effect.begin_ns is None:
                effect.begin_ns = time_ns
        times = sorted({time for effect in effects for time in (effect.begin_ns or 0, effect.end_ns)})
        self.since_ns = max((time for time in times if time <= time_ns), default=-math.inf)
        self.until_ns = min((time for time in times if time > time_ns), default=math.inf)
        before, self.active = self.active, tuple(one for one in effects if (one.begin_ns or 0) <= time_ns < one.end_ns)
        for effect in before:
            if effect not in self.active:
                effect.release()

    def signals(self) -> Signals:
        """Active failures by part."""
        parts: dict[tuple[str, int], list[Effect]] = {}
        for effect in self.active:
            parts.setdefault((effect.failure.target, effect.failure.number), []).append(effect)
        return {part: FailedSignal(effects) for part, effects in parts.items()}

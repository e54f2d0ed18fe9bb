"""Sticks moved by the keys of a page, which takes them late and several at once while it draws.

Each change of the held keys comes with its time on the page's clock: a key moves its stick for as long as it was held.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterator, Set

from rosflight_py_sim.transmitter.keyboard import Action, KeyboardSticks

_NONE: frozenset[Action] = frozenset()

# A change of the held keys takes effect at most this much later than it arrives, s.
_FURTHEST_S = 2.0


class KeyTimes:
    """Sticks at any time, from changes of the held keys.

    A key that is pressed while no other is held takes effect when it arrives. Until no key is held, all changes then
    take effect with the same delay after their times on the page. A change that arrives even later is applied to the
    past: the sticks are where they would be if it had arrived in time.
    """

    def __init__(self, throttle: float, now_s: float) -> None:
        """Begin with centred sticks and no held key; `throttle`: from 0 to 1, `now_s`: system time."""
        self._sticks = KeyboardSticks()
        self._sticks.throttle = throttle
        self._held: Set[Action] = _NONE
        self._since_s = self._now_s = now_s
        self._coming: deque[tuple[float, Set[Action]]] = deque()
        self._later_s = 0.0

    def take(self, held: Set[Action], at_s: float, now_s: float) -> None:
        """Take the keys that are held from a time on.

        Args:
            held: actions of the keys.
            at_s: time of the change on the page's clock.
            now_s: system time.
        """
        last_s, last = self._coming[-1] if self._coming else (self._since_s, self._held)
        if held == last:
            return
        if not last:
            self._later_s = max(now_s, last_s) - at_s
        self._coming.append((max(min(at_s + self._later_s, now_s + _FURTHEST_S), last_s), held))

    def until(self, now_s: float) -> Iterator[tuple[KeyboardSticks, Set[Action]]]:
        """Sticks and held keys at each change that has taken effect since the last call, and at a system time."""
        self._now_s = now_s
        while self._coming and self._coming[0][0] <= now_s:
            self._change(*self._coming.popleft())
            yield copy.deepcopy(self._sticks), self._held
        sticks = copy.deepcopy(self._sticks)
        sticks.hold(self._held, now_s - self._since_s)
        yield sticks, self._held

    def release(self) -> None:
        """Release all keys at the time of the last call of `until`."""
        self._coming.clear()
        self._change(max(self._now_s, self._since_s), _NONE)

    def _change(self, at_s: float, held: Set[Action]) -> None:
        self._sticks.hold(self._held, at_s - self._since_s)
        self._since_s, self._held = at_s, held

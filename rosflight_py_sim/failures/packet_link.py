"""Failures of a link between a vehicle and programs, whose packets are lost, late or damaged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np

from rosflight_py_sim.failures.failure import DAMAGED, LINK, LOST
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.failures.signal import Effect, FailedSignal, Link

P = TypeVar("P")

# Limit of the bytes in transit, and the overhead counted for each packet. Without a limit, a late link of a paused
# simulation would hold everything that arrives.
_MOST_HELD = 1 << 26
_OVERHEAD = 256

_HIGHEST_BIT = 0x80


class PacketLink(Generic[P]):
    """One direction of a link. Without failures, every packet passes at once.

    A packet consists of bytes and of an address or other content; failures change only the bytes. At most 64 MiB are
    in transit; further packets are lost.
    """

    def __init__(self, direction: str) -> None:
        """Create a direction, UPLINK or DOWNLINK, without failures."""
        self._direction = direction
        self._effects: Sequence[Effect] = ()
        self._link: Link[tuple[bytes, P]] | None = None
        self._damaging: Sequence[tuple[float, np.random.Generator]] = ()
        self._is_lost = False
        self._held = 0

    def fail(self, signals: Iterable[Signals]) -> None:
        """Apply the failures of this direction from now on; a failure that several vehicles share counts once.

        If the failures have changed, packets in transit are lost.
        """
        parts = [one[part, 0] for one in signals for part in (LINK, self._direction) if (part, 0) in one]
        effects = list({effect.failure.text: effect for part in reversed(parts) for effect in part.effects}.values())
        if effects == self._effects:
            return
        self._effects, self._held = effects, 0
        signal = FailedSignal(effects)
        self._is_lost = signal.has(LOST)
        self._link = Link(signal, LOST) if effects else None
        self._damaging = [
            (effect.failure.values[0], effect.rng(self._direction))
            for effect in effects
            if effect.failure.kind == DAMAGED
        ]

    def passed(self, time_ns: int, packets: Iterable[tuple[bytes, P]] = ()) -> Iterator[tuple[bytes, P]]:
        """Send packets at a simulated time; yield all that have arrived since the last call."""
        if self._link is None:
            yield from packets
            return
        for data, content in packets:
            if self._held < _MOST_HELD and not self._is_lost:
                self._held += len(data) + _OVERHEAD
                self._link.send(time_ns, (self._with_damage(data), content))
        for data, content in self._link.arrived(time_ns):
            self._held -= len(data) + _OVERHEAD
            yield data, content

    def _with_damage(self, data: bytes) -> bytes:
        for share, rng in self._damaging:
            if data and rng.random() < share:
                data = _damaged(data, rng)
        return data


def _damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Copy with one byte changed: its highest bit, so that text is no longer ASCII, and its other bits at random."""
    changed = bytearray(data)
    changed[int(rng.integers(len(data)))] ^= _HIGHEST_BIT | int(rng.integers(_HIGHEST_BIT))
    return bytes(changed)

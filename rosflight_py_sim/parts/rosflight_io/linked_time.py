"""Time of a flight controller behind a link, in the time of the companion computer."""

from __future__ import annotations

# Difference by which the times may run apart before the offset is determined anew, ns: the clocks have the same rate,
# so it means that one of them was set.
_JUMP_NS = 1_000_000_000


class LinkedTime:
    """Offset between the flight controller's time, which begins at its start, and the companion computer's.

    The flight controller's replies arrive without a delay, or later when the companion computer is busy. The smallest
    difference of reception and reply is therefore the offset.
    """

    def __init__(self) -> None:
        self._offset_ns: int | None = None
        self._last_ns = 0

    def update(self, board_ns: int, now_ns: int) -> bool:
        """Take a time of the flight controller, received at `now_ns`; return whether it has restarted."""
        restarted, self._last_ns = board_ns < self._last_ns, board_ns
        offset_ns = now_ns - board_ns
        if self._offset_ns is None or restarted or abs(offset_ns - self._offset_ns) > _JUMP_NS:
            self._offset_ns = offset_ns
        else:
            self._offset_ns = min(self._offset_ns, offset_ns)
        return restarted

    def stamp_ns(self, board_ns: int, now_ns: int) -> int:
        """Time of the companion computer at a time of the flight controller; `now_ns` while that is not known."""
        return now_ns if self._offset_ns is None else board_ns + self._offset_ns

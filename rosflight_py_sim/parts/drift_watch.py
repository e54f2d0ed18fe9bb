"""Detection of a vehicle in flight that the wind carries away from its set-point."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rosflight_py_sim.ground.stamps import NANOSECONDS

# Distance (m) that an autopilot does not reach in flight, not even in an overshot turn, and the time (s) in which one
# that can return at all has become smaller, or at least has not grown by a second distance (m).
_FAR_M, _RETURNS_S, _GROWS_M = 50.0, 20.0, 10.0


class DriftWatch:
    """Watches the distance from the set-point of an autopilot that flies a mission.

    Attributes:
        text: what happens, once the vehicle has been far from its set-point and moving away for 20 s; empty before.
    """

    def __init__(self) -> None:
        self.text = ""
        self._since: tuple[int, float] | None = None

    def observe(
        self,
        time_ns: int,
        position_ned: Sequence[float],
        setpoint_ned: Sequence[float],
        wind_ned: Sequence[float],
    ) -> None:
        """Take the time (ns), the true position and the set-point (m), and the wind (m/s)."""
        apart = math.dist(position_ned[:2], setpoint_ned[:2])
        if apart <= _FAR_M:
            self._since = None
        elif self._since is None or time_ns < self._since[0]:
            self._since = time_ns, apart
        elif time_ns - self._since[0] >= _RETURNS_S * NANOSECONDS:
            if apart > self._since[1] + _GROWS_M:
                wind = math.hypot(*wind_ned[:2])
                self.text = f"the wind of {wind:.1f} m/s carries the vehicle away: {apart:.0f} m from its set-point"
            self._since = time_ns, apart

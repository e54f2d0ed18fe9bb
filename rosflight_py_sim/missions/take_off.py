"""Detection of a vehicle that does not take off."""

from __future__ import annotations

from collections.abc import Sequence

from rosflight_py_sim.ground.parameters import Values
from rosflight_py_sim.ground.shared_parameters import TAKE_OFF_TIMEOUT
from rosflight_py_sim.missions.acceptance import Limit

# Command above which a motor counts as running: it should lift the vehicle, or make it roll.
_RUNS = 0.3

# Change of height (m) after which a vehicle has left the ground; initial speed (m/s) above which it starts in the air.
_LEFT_M, _FLIES_MPS = 0.2, 1.0


class TakeOffWatch:
    """Watches a vehicle from the start until it leaves the ground.

    Attributes:
        text: reason for the end of the mission, once the limit is exceeded; empty before.
    """

    def __init__(self, values: Values) -> None:
        """`values` may contain a value of TAKE_OFF_TIMEOUT; otherwise the default applies."""
        self.text = ""
        self._limit = Limit.of(TAKE_OFF_TIMEOUT, values)
        self._start_m: float | None = None
        self._since_s: float | None = None
        self._has_left = False

    @property
    def is_watching(self) -> bool:
        """Whether the vehicle has not left the ground, and the limit is not exceeded."""
        return not (self._has_left or self.text)

    def observe(self, time_s: float, height_m: float, speed_mps: float, motor_commands: Sequence[float]) -> None:
        """Take the simulated time, height, speed, and the commands of the motors, 0 to 1."""
        if not self.is_watching:
            return
        if self._start_m is None:
            self._start_m, self._has_left = height_m, speed_mps > _FLIES_MPS
        elif abs(height_m - self._start_m) >= _LEFT_M:
            self._has_left = True
        elif max(motor_commands, default=0.0) <= _RUNS:
            self._since_s = None
        elif self._since_s is None:
            self._since_s = time_s
        elif excess := self._limit.excess("the time with a running motor", round(time_s - self._since_s, 6)):
            self.text = f"the vehicle does not leave the ground: {excess}"

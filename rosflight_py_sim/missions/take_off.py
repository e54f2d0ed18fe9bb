"""Detection of a vehicle that does not take off."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rosflight_py_sim.ground.parameters import Values
from rosflight_py_sim.ground.shared_parameters import TAKE_OFF_TIMEOUT
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.missions.acceptance import Limit

# Command above which a motor counts as running: it should lift the vehicle, or make it roll.
_RUNS = 0.3

# Change of height (m) after which a vehicle has left the ground; initial speed (m/s) above which it starts in the air.
_LEFT_M, _FLIES_MPS = 0.2, 1.0

# More than the time changes when it is rounded, s.
_ROUNDED_S = 1e-6


@kernel_record
class GroundTime:
    """Time that a vehicle with a running motor has spent on the ground.

    Attributes:
        start_m: height at the start, m.
        since_s: time from which on a motor has been running, s; -1: none is.
        limit_s: s.
        has_left: whether the vehicle has left the ground.
    """

    start_m: float
    since_s: float
    limit_s: float
    has_left: bool


@kernel
def watch_ground(ground: GroundTime, time_s: float, height_m: float, command: float) -> bool:
    """Take time, height and the largest command of a motor, 0 to 1; return whether the limit may be exceeded."""
    if abs(height_m - ground.start_m) >= _LEFT_M:
        ground.has_left = True
    elif command <= _RUNS:
        ground.since_s = -1.0
    elif ground.since_s < 0.0:
        ground.since_s = time_s
    else:
        return time_s - ground.since_s > ground.limit_s - _ROUNDED_S
    return False


class TakeOffWatch:
    """Watches a vehicle from the start until it leaves the ground.

    Attributes:
        ground: for a kernel that watches the vehicle after the first call of `observe`.
        text: reason for the end of the mission, once the limit is exceeded; empty before.
    """

    def __init__(self, values: Values) -> None:
        """`values` may contain a value of TAKE_OFF_TIMEOUT; otherwise the default applies."""
        self.text = ""
        self._limit = Limit.of(TAKE_OFF_TIMEOUT, values)
        self.ground = GroundTime(start_m=math.nan, since_s=-1.0, limit_s=self._limit.value, has_left=False)

    @property
    def is_watching(self) -> bool:
        """Whether the vehicle has not left the ground, and the limit is not exceeded."""
        return not (self.ground.has_left or self.text)

    @property
    def is_for_kernel(self) -> bool:
        """Whether the kernel `watch_ground` can go on."""
        return not (math.isnan(self.ground.start_m) or self.text)

    def observe(self, time_s: float, height_m: float, speed_mps: float, motor_commands: Sequence[float]) -> None:
        """Take the simulated time, height, speed, and the commands of the motors, 0 to 1."""
        if not self.is_watching:
            return
        ground = self.ground
        if math.isnan(ground.start_m):
            ground.start_m, ground.has_left = height_m, speed_mps > _FLIES_MPS
        elif watch_ground(ground, time_s, height_m, max(motor_commands, default=0.0)):
            elapsed_s = round(time_s - ground.since_s, 6)
            if excess := self._limit.excess("the time with a running motor", elapsed_s):
                self.text = f"the vehicle does not leave the ground: {excess}"

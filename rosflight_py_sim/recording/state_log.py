"""Columns of every log: true state and actuator commands, step by step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.rotations import euler_from_quaternions
from rosflight_py_sim.vehicles import Actuator

Array = npt.NDArray[np.float64]

_TIME, _TRUTH, _FLOW, _OWN = 0, 1, 20, 23


def dots(ones: Array, others: Array) -> Array:
    """Scalar products (n,) of vectors (n, d), as `np.sum` along the last axis, in a fifth of its time."""
    first, *further = zip(ones.T, others.T, strict=True)
    total: Array = first[0] * first[1]
    for one, other in further:
        total += one * other
    return total


def lengths(vectors: Array) -> Array:
    """Lengths (n,) of vectors (n, d)."""
    return np.asarray(np.sqrt(dots(vectors, vectors)))


class TimeWentBackError(ValueError):
    """The time of a row is before that of the last row."""


@kernel_record
class LogEnd:
    """End of a log.

    Attributes:
        count: number of rows.
    """

    count: int


class StateLog:
    """Rows of time, truth, commands and flow, in one growing table; each property is a view of n rows.

    Appending costs about a microsecond; the table doubles when it is full. A derived class defines further columns in
    `EXTRA_COLUMNS`.
    """

    EXTRA_COLUMNS: ClassVar[int] = 0

    def __init__(self, actuators: Sequence[Actuator], capacity: int = 4096) -> None:
        """`actuators` are the vehicle's; `capacity` is the initial number of rows.

        Raises:
            ValueError: no actuator, or zero capacity.
        """
        if not actuators or capacity < 1:
            raise ValueError(f"{len(actuators)} actuators and capacity {capacity} given; allowed: at least 1")
        self.actuators = tuple(actuators)
        self._commands = _OWN + self.EXTRA_COLUMNS
        self._rows = np.empty((capacity, self._commands + len(actuators)))
        self._end = LogEnd(count=0)

    @property
    def _count(self) -> int:
        return self._end.count

    @property
    def memory(self) -> tuple[LogEnd, Array]:
        """End of the log, and the table (rows, columns), for a kernel that adds rows.

        Python adds a row to a full table: then both are replaced, and the old ones stay full.
        """
        return self._end, self._rows

    def __len__(self) -> int:
        return self._count

    def _add(
        self,
        time_s: float,
        truth: Array,
        actuator_commands: Sequence[float] | Array,
        flow_ned: Sequence[float] | Array,
        own: Sequence[float] = (),
    ) -> None:
        """Add one row.

        `truth` is the truth vector (19): position NED, quaternion, velocity and rates in body axes, accelerations.
        `actuator_commands` are 0 to 1 for a motor and -1 to 1 for a servo; `flow_ned` is the velocity of air or water
        over the ground, m/s; `own` are the columns of the derived class. Time must not decrease.

        Raises:
            TimeWentBackError: the time is before the last row's; nothing is added.
            ValueError: an array has the wrong length; nothing is added.
        """
        if self._count and time_s < self._rows[self._count - 1, _TIME]:
            raise TimeWentBackError(
                f"the time went back from {self._rows[self._count - 1, _TIME]:g} s to {time_s:g} s; does another "
                "simulation in the ROS domain publish the same topics?"
            )
        if len(truth) != 19 or len(actuator_commands) != len(self.actuators):
            raise ValueError(
                f"{len(truth)} truth values and {len(actuator_commands)} actuator commands given; "
                f"allowed: 19 and {len(self.actuators)}"
            )
        if self._count == len(self._rows):
            self._rows = np.concatenate((self._rows, np.empty_like(self._rows)))
            self._end = LogEnd(count=self._count)
        row = self._rows[self._count]
        row[_TIME] = time_s
        row[_TRUTH:_FLOW] = truth
        row[_FLOW:_OWN] = flow_ned
        row[_OWN : self._commands] = own
        row[self._commands :] = actuator_commands
        self._end.count += 1

    def cut(self, end_s: float) -> None:
        """Remove the rows after a time, s."""
        self._end.count = int(np.searchsorted(self.time_s, end_s, side="right"))

    @property
    def time_s(self) -> Array:
        """Simulated time, s; shape (n,)."""
        return self._column(_TIME)

    @property
    def truth(self) -> Array:
        """Truth vectors; shape (n, 19)."""
        return self._columns(_TRUTH, _FLOW)

    @property
    def position_ned(self) -> Array:
        """True position, m; shape (n, 3)."""
        return self._columns(_TRUTH, _TRUTH + 3)

    @property
    def velocity_body(self) -> Array:
        """True velocity over ground in body axes, m/s; shape (n, 3)."""
        return self._columns(_TRUTH + 7, _TRUTH + 10)

    @property
    def velocity_ned(self) -> Array:
        """True velocity over ground, NED, m/s; shape (n, 3), computed at each access."""
        w, x, y, z = self._columns(_TRUTH + 3, _TRUTH + 7).T
        u, v, s = self.velocity_body.T
        return np.stack(
            (
                (1.0 - 2.0 * (y * y + z * z)) * u + 2.0 * (x * y - w * z) * v + 2.0 * (x * z + w * y) * s,
                2.0 * (x * y + w * z) * u + (1.0 - 2.0 * (x * x + z * z)) * v + 2.0 * (y * z - w * x) * s,
                2.0 * (x * z - w * y) * u + 2.0 * (y * z + w * x) * v + (1.0 - 2.0 * (x * x + y * y)) * s,
            ),
            axis=1,
        )

    @property
    def euler(self) -> Array:
        """True roll, pitch and yaw, rad; shape (n, 3), computed at each access."""
        angles = np.empty((self._count, 3))
        euler_from_quaternions(np.ascontiguousarray(self._columns(_TRUTH + 3, _TRUTH + 7)), angles)
        return angles

    @property
    def flow_ned(self) -> Array:
        """Velocity of the air or water over the ground, m/s; shape (n, 3)."""
        return self._columns(_FLOW, _OWN)

    @property
    def airspeed(self) -> Array:
        """Speed through the air or the water, m/s; shape (n,), computed at each access."""
        return lengths(self.velocity_ned - self.flow_ned)

    @property
    def actuator_commands(self) -> Array:
        """Commands of the actuators, 0 to 1 for a motor, -1 to 1 for a servo; shape (n, actuators)."""
        return self._columns(self._commands, self._commands + len(self.actuators))

    @property
    def is_finite(self) -> bool:
        """Whether every number of the log is finite."""
        return math.isfinite(float(np.sum(self._rows[: self._count])))

    def _extra(self, first: int, end: int) -> Array:
        """Columns of the derived class, numbered from its first."""
        return self._columns(_OWN + first, _OWN + end)

    def _column(self, index: int) -> Array:
        return self._rows[: self._count, index]

    def _columns(self, first: int, end: int) -> Array:
        return self._rows[: self._count, first:end]

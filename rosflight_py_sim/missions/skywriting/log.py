"""The columns of a flight in which a client program writes letters into the sky, and the letters that it wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rosflight_py_sim.autopilot.waypoint_route import RouteWaypoint
from rosflight_py_sim.missions.client_log import ClientLog
from rosflight_py_sim.recording.state_log import Array
from rosflight_py_sim.vehicles import Actuator


@dataclass
class Letter:
    """A letter as it was wanted.

    Attributes:
        text: which.
        time_s: when the program began it (simulated time, s).
        chains: waypoints that name each other, in the order in which they were sent.
    """

    text: str
    time_s: float
    chains: list[list[RouteWaypoint]] = field(default_factory=list)

    def add(self, waypoint: RouteWaypoint) -> None:
        """Take a waypoint down: in the chain whose last one leads to it, or in one of its own."""
        if self.chains and self.chains[-1][-1].next_id == waypoint.id:
            self.chains[-1].append(waypoint)
        else:
            self.chains.append([waypoint])

    @property
    def strokes_ned(self) -> list[Array]:
        """Lines of the letter, NED, m, (n, 3) each; the first waypoint of a chain is only the run-up to its line."""
        return [np.array([one.position_ned for one in chain[1:]]) for chain in self.chains if len(chain) > 2]


class SkywritingLog(ClientLog):
    """Rows of such a flight.

    Attributes:
        letters: in the order in which they were begun.
    """

    OWN = 3

    def __init__(self, actuators: Sequence[Actuator], capacity: int = 4096) -> None:
        """`actuators` are the vehicle's; `capacity` is how many rows fit in at first.

        Raises:
            ValueError: no actuator, or no room.
        """
        super().__init__(actuators, capacity)
        self.letters: list[Letter] = []

    def append(
        self,
        time_s: float,
        truth: Array,
        actuator_commands: Sequence[float] | Array,
        wind_ned: Sequence[float] | Array,
        mode: int,
        cage_triggered: int,
        triggered_last: int,
    ) -> None:
        """Add one row, as `StateLog` says; `mode` and the bitmaps are Ground Control's.

        Raises:
            ValueError: an array of another length, or a time before the last one; nothing is added.
        """
        self._add(time_s, truth, actuator_commands, wind_ned, (mode, cage_triggered, triggered_last))

    @property
    def mode(self) -> npt.NDArray[np.int64]:
        """control_operate_mode; shape (n,)."""
        return self._own(0, 1)[:, 0].astype(np.int64)

    @property
    def cage_triggered(self) -> npt.NDArray[np.int64]:
        """Bitmap of the limits that the plane is beyond; shape (n,)."""
        return self._own(1, 2)[:, 0].astype(np.int64)

    @property
    def triggered_last(self) -> npt.NDArray[np.int64]:
        """Bitmap of those that switched fly() off; shape (n,)."""
        return self._own(2, 3)[:, 0].astype(np.int64)

    @property
    def height(self) -> Array:
        """True height above home, m; shape (n,)."""
        return -self.position_ned[:, 2]

    @property
    def airspeed(self) -> Array:
        """Speed through the air, m/s; shape (n,), made anew at each access."""
        return np.asarray(np.linalg.norm(self.velocity_ned - self.flow_ned, axis=1))

"""Columns of a skywriting flight, and the letters planned by the client program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rosflight_py_sim.autopilot.waypoint_route import RouteWaypoint
from rosflight_py_sim.missions.client_log import ClientLog
from rosflight_py_sim.recording.state_log import Array, lengths
from rosflight_py_sim.vehicles import Actuator


@dataclass
class Letter:
    """A planned letter.

    Attributes:
        text: the letter.
        time_s: simulated time at which the program began it, s.
        chains: linked waypoints, in the order in which they were sent.
    """

    text: str
    time_s: float
    chains: list[list[RouteWaypoint]] = field(default_factory=list)

    def add(self, waypoint: RouteWaypoint) -> None:
        """Append a waypoint to the chain whose last waypoint links to it, or start a new chain."""
        if self.chains and self.chains[-1][-1].next_id == waypoint.id:
            self.chains[-1].append(waypoint)
        else:
            self.chains.append([waypoint])

    @property
    def strokes_ned(self) -> list[Array]:
        """Lines of the letter, NED (n, 3) each, m; a chain's first waypoint only leads up to its line."""
        return [np.array([one.position_ned for one in chain[1:]]) for chain in self.chains if len(chain) > 2]


class SkywritingLog(ClientLog):
    """Rows of a skywriting flight.

    Attributes:
        letters: in the order in which they were begun.
    """

    EXTRA_COLUMNS = 3

    def __init__(self, actuators: Sequence[Actuator], capacity: int = 4096) -> None:
        """`actuators` are the vehicle's; `capacity` is the initial number of rows.

        Raises:
            ValueError: no actuator, or zero capacity.
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
        """Add one row, as `StateLog` does; `mode` and the bitmaps are Ground Control's.

        Raises:
            ValueError: an array has the wrong length, or the time is before the last row's; nothing is added.
        """
        self._add(time_s, truth, actuator_commands, wind_ned, (mode, cage_triggered, triggered_last))

    @property
    def mode(self) -> npt.NDArray[np.int64]:
        """control_operate_mode; shape (n,)."""
        return self._extra(0, 1)[:, 0].astype(np.int64)

    @property
    def cage_triggered(self) -> npt.NDArray[np.int64]:
        """Bitmap of the limits that the plane exceeds; shape (n,)."""
        return self._extra(1, 2)[:, 0].astype(np.int64)

    @property
    def triggered_last(self) -> npt.NDArray[np.int64]:
        """Bitmap of the limits that switched fly() off; shape (n,)."""
        return self._extra(2, 3)[:, 0].astype(np.int64)

    @property
    def height(self) -> Array:
        """True height above home, m; shape (n,)."""
        return -self.position_ned[:, 2]

    @property
    def airspeed(self) -> Array:
        """Airspeed, m/s; shape (n,), computed at each access."""
        return lengths(self.velocity_ned - self.flow_ned)

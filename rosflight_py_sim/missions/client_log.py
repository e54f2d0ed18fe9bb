"""Log of a mission flown by a client program, with the steps that the program printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rosflight_py_sim.recording.state_log import Array, StateLog
from rosflight_py_sim.vehicles import Actuator


@dataclass(frozen=True)
class Mark:
    """A step that the program printed, and its simulated time, s."""

    time_s: float
    text: str


class ClientLog(StateLog):
    """Rows of a mission flown by a client program.

    Attributes:
        marks: printed steps, in order.
    """

    def __init__(self, actuators: Sequence[Actuator], capacity: int = 4096) -> None:
        """`actuators` are the vehicle's; `capacity` is the initial number of rows.

        Raises:
            ValueError: no actuator, or zero capacity.
        """
        super().__init__(actuators, capacity)
        self.marks: list[Mark] = []


class PathLog(ClientLog):
    """Log without additional columns."""

    def append(
        self,
        time_s: float,
        truth: Array,
        actuator_commands: Sequence[float] | Array,
        flow_ned: Sequence[float] | Array,
    ) -> None:
        """Add one row, as `StateLog` does; `flow_ned` is the velocity of air or water, m/s.

        Raises:
            ValueError: an array has the wrong length, or the time is before the last row's; nothing is added.
        """
        self._add(time_s, truth, actuator_commands, flow_ned)

"""The columns of a mission that a client program steers, with what the program said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rosflight_py_sim.recording.state_log import StateLog
from rosflight_py_sim.vehicles import Actuator


@dataclass(frozen=True)
class Mark:
    """What the program said that it does, and when (simulated time, s)."""

    time_s: float
    text: str


class ClientLog(StateLog):
    """Rows of such a mission.

    Attributes:
        marks: what the program said, in order.
    """

    def __init__(self, actuators: Sequence[Actuator], capacity: int = 4096) -> None:
        """`actuators` are the vehicle's; `capacity` is how many rows fit in at first.

        Raises:
            ValueError: no actuator, or no room.
        """
        super().__init__(actuators, capacity)
        self.marks: list[Mark] = []

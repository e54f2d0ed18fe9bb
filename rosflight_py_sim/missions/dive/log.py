"""The columns of a dive that a client program steers, with what the cameras saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rosflight_py_sim.missions.client_log import ClientLog
from rosflight_py_sim.recording.state_log import Array
from rosflight_py_sim.vehicles import Actuator


@dataclass(frozen=True)
class Frame:
    """What a camera saw: simulated time (s), name of the camera, JPEG."""

    time_s: float
    camera: str
    jpeg: bytes


class DiveLog(ClientLog):
    """Rows of a dive.

    Attributes:
        frames: camera frames, in the order in which they came.
    """

    def __init__(self, actuators: Sequence[Actuator], capacity: int = 4096) -> None:
        """`actuators` are the vehicle's; `capacity` is how many rows fit in at first.

        Raises:
            ValueError: no actuator, or no room.
        """
        super().__init__(actuators, capacity)
        self.frames: list[Frame] = []

    def append(
        self,
        time_s: float,
        truth: Array,
        actuator_commands: Sequence[float] | Array,
        current_ned: Sequence[float] | Array,
    ) -> None:
        """Add one row, as `StateLog` says; `current_ned` is the water's velocity, m/s.

        Raises:
            ValueError: an array of another length, or a time before the last one; nothing is added.
        """
        self._add(time_s, truth, actuator_commands, current_ned)

    def frame_near(self, time_s: float, camera: str) -> Frame | None:
        """The camera's frame nearest to that time; None where it has none."""
        own = [frame for frame in self.frames if frame.camera == camera]
        return min(own, key=lambda frame: abs(frame.time_s - time_s), default=None)

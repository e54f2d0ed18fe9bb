"""Columns of a dive by a client program, with camera images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rosflight_py_sim.missions.client_log import PathLog
from rosflight_py_sim.vehicles import Actuator


@dataclass(frozen=True)
class CameraImage:
    """A camera image: simulated time (s), name of the camera, JPEG."""

    time_s: float
    camera: str
    jpeg: bytes


class DiveLog(PathLog):
    """Rows of a dive.

    Attributes:
        images: camera images, in the order of arrival.
    """

    def __init__(self, actuators: Sequence[Actuator], capacity: int = 4096) -> None:
        """`actuators` are the vehicle's; `capacity` is the initial number of rows.

        Raises:
            ValueError: no actuator, or zero capacity.
        """
        super().__init__(actuators, capacity)
        self.images: list[CameraImage] = []

    def image_near(self, time_s: float, camera: str) -> CameraImage | None:
        """The camera's image nearest to that time; None if there is none."""
        own = [image for image in self.images if image.camera == camera]
        return min(own, key=lambda image: abs(image.time_s - time_s), default=None)

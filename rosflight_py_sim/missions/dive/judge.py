"""Judge of the dive: the true path among the world's objects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from rosflight_py_sim.ground.parameters import ParameterError, ParameterTable, Values
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.missions.acceptance import Limit
from rosflight_py_sim.missions.client_judge import ClientJudge
from rosflight_py_sim.missions.dive.log import CameraImage, DiveLog
from rosflight_py_sim.missions.dive.picture import draw_dive
from rosflight_py_sim.missions.dive.summary import WAYPOINT_RADIUS, DiveSummary, summarise_dive, task_object
from rosflight_py_sim.missions.dive.table import dive_rows
from rosflight_py_sim.missions.mission_judge import Verdict
from rosflight_py_sim.step.camera_topics import PictureFile, compressed_topic
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.vehicles import Vehicle
from rosflight_py_sim.world import WORLD, Kind, WorldError, world_of

CAMERAS = ("front", "bottom")

# Names of the world's objects: the gate to pass, and the ring to surface in.
GATE, RING = "gate", "ring"

# Images kept per second and camera, for the picture.
_KEPT_HZ = 2.0


class DiveJudge(ClientJudge):
    """Logs the dive and its camera images."""

    NODE = "dynamics"
    PARAMETERS = (WORLD.name,)
    LIMITS = ParameterTable(WAYPOINT_RADIUS)
    SUMMARY = DiveSummary
    log: DiveLog

    def __init__(self, vehicle: Vehicle, values: Values) -> None:
        """Check for the dive's objects in the world.

        Raises:
            ParameterError: the world lacks the gate or the ring, or there is no such world.
        """
        super().__init__(vehicle, values, DiveLog(vehicle.actuators))
        self._world = world_of(values)
        try:
            self._gate = task_object(self._world, GATE, Kind.GATE)
            self._ring = task_object(self._world, RING, Kind.RING)
        except WorldError as error:
            raise ParameterError(f"parameter 'world': {error}") from error
        for camera in CAMERAS:
            self._watch(camera)

    def write(self, commands: list[float], flow_ned: Sequence[float]) -> None:
        """Log a row."""
        self.log.append(self.state.time_s, self.state.truth, commands, flow_ned)

    def verdict(self) -> Verdict:
        """Evaluate the true path."""
        summary = self.summary
        return Verdict(f"Dive of {summary.vehicle}", dive_rows(summary), summary.completed, summary.shortfall)

    def draw(self, plot: Path) -> None:
        """Draw path, depth, heading, thrusters and camera images."""
        draw_dive(self.log, self.summary, self._world, plot)

    @cached_property
    def summary(self) -> DiveSummary:
        """Key figures of the log."""
        limit = Limit.of(WAYPOINT_RADIUS, self.values)
        return summarise_dive(self.log, self._world, self._gate, self._ring, self.name, self.wall_s, limit)

    def _watch(self, camera: str) -> None:
        schedule = Schedule(_KEPT_HZ)

        def on_picture(picture: PictureFile) -> None:
            if schedule.due(picture.time_ns):
                self.log.images.append(CameraImage(picture.time_ns / NANOSECONDS, camera, picture.file))

        self.subscribe(compressed_topic(camera), on_picture, needed=False)

"""The dive: pass a gate and surface in a ring, by camera."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.interfaces.camera_topics import PictureFile, compressed_topic
from rosflight_py_sim.interfaces.ticks import Schedule
from rosflight_py_sim.missions.client_task import ClientRecorder, ClientTask
from rosflight_py_sim.missions.dive.log import DiveLog, Frame
from rosflight_py_sim.missions.dive.picture import draw_dive
from rosflight_py_sim.missions.dive.summary import summarise_dive, task_object
from rosflight_py_sim.missions.summary_table import print_dive
from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.vehicles import CAMERA, Vehicle
from rosflight_py_sim.world import Kind, WorldError, world_of

CAMERAS = ("front", "bottom")

# Names of the world's objects: the gate to pass, and the ring to surface in.
GATE, RING = "gate", "ring"

# Images kept per second and camera, for the report.
_KEPT_HZ = 2.0


class DiveRecorder(ClientRecorder):
    """Records the dive and its camera images."""

    DEFAULT_NAME = "dive_recorder"
    log: DiveLog

    def __init__(self, vehicle: Vehicle, **arguments: Any) -> None:
        """Listen."""
        super().__init__(vehicle, DiveLog(vehicle.actuators), **arguments)
        for camera in CAMERAS:
            self._watch(camera)

    def write(self, commands: list[float], flow_ned: Sequence[float]) -> None:
        """Write a row."""
        self.log.append(self.state.time_s, self.state.truth, commands, flow_ned)

    def _watch(self, camera: str) -> None:
        schedule = Schedule(_KEPT_HZ)

        def on_picture(picture: PictureFile) -> None:
            if schedule.due(picture.time_ns):
                self.log.frames.append(Frame(picture.time_ns / NANOSECONDS, camera, picture.file))

        self.subscribe(compressed_topic(camera), on_picture)


class DiveTask(ClientTask):
    """Evaluated by the true path among the world's objects."""

    def __init__(self, vehicle: Vehicle) -> None:
        """Check for the camera.

        Raises:
            ParameterError: the vehicle has no camera.
        """
        super().__init__(vehicle)
        if CAMERA not in vehicle.extra_nodes:
            raise ParameterError(f"vehicle '{vehicle.name}' given without camera, which its mission needs")

    def join(self, graph: ComposedGraph, namespace: str) -> DiveRecorder:
        """Check for the dive's objects in the world, and create the recorder."""
        self._world = world_of(graph.values_of("dynamics"))
        try:
            self._gate = task_object(self._world, GATE, Kind.GATE)
            self._ring = task_object(self._world, RING, Kind.RING)
        except WorldError as error:
            raise ParameterError(f"parameter 'world': {error}") from error
        self._recorder = graph.join(DiveRecorder, self.vehicle, namespace=namespace)
        return self._recorder

    def arguments(self, graph: ComposedGraph) -> list[str]:
        """Address and ports of the AUV protocol's server."""
        bridge = graph.values_of("bridge")
        address = str(bridge["auv_zeromq.address"])
        ports = [str(bridge[f"auv_zeromq.{name}_port"]) for name in ("image", "thruster", "telemetry")]
        arguments = ["--id", str(bridge["auv_zeromq.first_id"]), "--ports", *ports]
        # A server on all addresses is also reachable at the program's default address.
        return arguments if address == "0.0.0.0" else [*arguments, "--address", address]

    def report(self, console: Console, picture: Path) -> bool:
        """Print the table and draw the picture."""
        log = self._recorder.log
        summary = summarise_dive(log, self._world, self._gate, self._ring, self.vehicle.name, self._recorder.wall_s)
        print_dive(summary, console)
        draw_dive(log, summary, self._world, picture)
        return summary.completed

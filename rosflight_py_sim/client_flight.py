"""A mission that a client program steers over the vehicle's protocol, as a user's would: how it is run and judged."""

from __future__ import annotations

import queue
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from rich.console import Console
from sensor_msgs.msg import CompressedImage

from rosflight_py_sim.composition import ComposedGraph
from rosflight_py_sim.flight import Flight
from rosflight_py_sim.interfaces.qos import CHAIN
from rosflight_py_sim.interfaces.ticks import Schedule
from rosflight_py_sim.interfaces.wire import NANOSECONDS
from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.recorder import Recorder
from rosflight_py_sim.recording.dive_log import DiveLog, Frame, Mark
from rosflight_py_sim.recording.dive_summary import summarise_dive, task_object
from rosflight_py_sim.resources import share_directory
from rosflight_py_sim.vehicles import CAMERA, ClientMission, Vehicle
from rosflight_py_sim.viewer.dive_picture import draw_dive
from rosflight_py_sim.viewer.summary_table import print_dive
from rosflight_py_sim.world import Kind, WorldError, world_of

CAMERAS = ("front", "bottom")

# Of each camera so many pictures a second are kept, for the report.
_KEPT_HZ = 2.0

# A program says what it does as "  12.3 s  dive".
_SAID = re.compile(r"\s*[\d.]+ s\s+(.*)")

_GOODBYE_S = 5.0


class DiveRecorder(Recorder):
    """Writes down what the program does with the vehicle, and what the cameras see."""

    def __init__(self, vehicle: Vehicle, **arguments: Any) -> None:
        """Listen."""
        self.log = DiveLog(vehicle.actuators)
        super().__init__(vehicle, "dive_recorder", **arguments)
        for camera in CAMERAS:
            self._watch(camera)

    @property
    def is_on(self) -> bool:
        """Whether the program has said something."""
        return bool(self.log.marks)

    def write(self, commands: list[float], flow_ned: tuple[float, ...]) -> None:
        """Write a row."""
        self.log.append(self.state.time_s, self.state.truth, commands, flow_ned)

    def hear(self, text: str) -> None:
        """Take down what the program says, now."""
        self.log.marks.append(Mark(self.get_clock().now().nanoseconds / NANOSECONDS, text))

    def _watch(self, camera: str) -> None:
        schedule = Schedule(_KEPT_HZ)

        def on_image(message: CompressedImage) -> None:
            time_ns = message.header.stamp.sec * NANOSECONDS + message.header.stamp.nanosec
            if schedule.due(time_ns):
                self.log.frames.append(Frame(time_ns / NANOSECONDS, camera, bytes(message.data)))

        self.create_subscription(CompressedImage, f"camera/{camera}/image_raw/compressed", on_image, CHAIN)


class Client:
    """A Python program in a process of its own, whose lines are heard one by one."""

    def __init__(self, program: Path, arguments: list[str]) -> None:
        """Start it."""
        self._process = subprocess.Popen(
            [sys.executable, "-u", str(program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Ctrl-C is for us, who end it in its turn.
            start_new_session=True,
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="client", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip())

    @property
    def code(self) -> int | None:
        """Its exit code, once it has ended and all its lines are in `lines`; None before."""
        return None if self._reader.is_alive() else self._process.wait()

    def lines(self) -> list[str]:
        """Lines that came since the last call."""
        return [self._lines.get() for _ in range(self._lines.qsize())]

    def close(self) -> None:
        """End it, if it runs."""
        self._process.terminate()
        try:
            self._process.wait(_GOODBYE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._reader.join(_GOODBYE_S)


class ClientFlight(Flight):
    """Runs the program of a mission beside the simulation, which waits for it after each telemetry message.

    Whether the mission was a success is judged by the truth and the world, not by what the program thinks.
    """

    def __init__(self, vehicle: Vehicle, mission: ClientMission) -> None:
        """Have the simulation wait for the program.

        Raises:
            ParameterError: the vehicle has been left without what the program steers by.
        """
        super().__init__(vehicle)
        if CAMERA not in vehicle.companions:
            raise ParameterError(f"vehicle '{vehicle.name}' given without camera; {mission.program} steers by it")
        self._mission = mission
        self.settings = dict(mission.settings)
        self._client: Client | None = None
        self._doing = "starting (compiles the first time)"
        self._said: list[str] = []
        self._code: int | None = None

    def join(self, graph: ComposedGraph, namespace: str) -> None:
        """Look for what the mission needs in the world, and start the program."""
        mission = self._mission
        self._world = world_of(graph.values_of("dynamics"))
        try:
            self._gate = task_object(self._world, mission.gate, Kind.GATE)
            self._ring = task_object(self._world, mission.ring, Kind.RING)
        except WorldError as error:
            raise ParameterError(f"parameter 'world': {error}") from error
        self._recorder = DiveRecorder(self.vehicle, namespace=namespace)
        graph.adopt(self._recorder)
        graph.executor.add_node(self._recorder)
        bridge = graph.values_of("bridge")
        address = str(bridge["auv.address"])
        ports = [str(bridge[f"auv.{name}_port"]) for name in ("image", "thruster", "telemetry")]
        arguments = ["--id", str(bridge["auv.first_id"]), "--ports", *ports]
        # A server that listens everywhere listens here, too.
        arguments += [] if address == "0.0.0.0" else ["--address", address]
        self._client = Client(share_directory() / "docs" / "examples" / mission.program, arguments)

    @property
    def doing(self) -> str:
        """What the program said last."""
        return self._doing

    @property
    def progress(self) -> float:
        """Share of what the program has to say."""
        heard = len(self._recorder.log.marks) / (self._mission.parts + 1)
        return 1.0 if self._code == 0 else min(heard, 0.99)

    @property
    def over(self) -> bool:
        """Whether the program has ended."""
        assert self._client is not None
        self._code = self._client.code
        for line in self._client.lines():
            self._said.append(line)
            said = _SAID.fullmatch(line)
            if said:
                self._doing = said[1]
                self._recorder.hear(said[1])
        return self._code is not None

    @property
    def failure(self) -> str:
        """What the program said last, where it did not get so far that there is something to show."""
        if len(self._recorder.log) >= 2:
            return ""
        return "\n".join([f"{self._doing}: {self._mission.program} ended with {self._code}", *self._said[-10:]])

    def report(self, console: Console, picture: Path) -> bool:
        """Print the table and draw the picture."""
        log = self._recorder.log
        if self._code:
            said = "\n".join(self._said[-10:])
            console.print(f"[red]{self._mission.program} gave up[/red]:\n{said}", highlight=False)
        summary = summarise_dive(log, self._world, self._gate, self._ring, self.vehicle.name, self._recorder.wall_s)
        print_dive(summary, console)
        draw_dive(log, summary, self._world, picture)
        return summary.completed

    def close(self) -> None:
        """End the program."""
        if self._client is not None:
            self._client.close()

"""The skywriting: letters of waypoints through uThere's protocol, with a way out of the cage and back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from rosflight_py_sim.autopilot.cage import CAGE_LIMITS
from rosflight_py_sim.bridge.uthere_targets import waypoint_of
from rosflight_py_sim.bridge.uthere_units import UthereUnits
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.interfaces.step_topics import CAGE_TRIGGERED, CAGE_TRIGGERED_LAST, GUIDED_MODE
from rosflight_py_sim.missions.client_task import ClientRecorder, ClientTask
from rosflight_py_sim.missions.skywriting.log import Letter, SkywritingLog
from rosflight_py_sim.missions.skywriting.picture import draw_skywriting
from rosflight_py_sim.missions.skywriting.summary import summarise_skywriting
from rosflight_py_sim.missions.skywriting.table import skywriting_rows
from rosflight_py_sim.missions.summary_table import print_table
from rosflight_py_sim.nodes.pilot import Pilot
from rosflight_py_sim.parameters import ParameterError, number
from rosflight_py_sim.protocols.uthere import WaypointAdd, parse_packet
from rosflight_py_sim.vehicles import Vehicle

# What the program says at the beginning of a letter.
_WRITE = re.compile(r"write (\S+)")


class SkywritingRecorder(ClientRecorder):
    """Writes down the flight, with modes and cage of the plane."""

    DEFAULT_NAME = "skywriting_recorder"
    SUBSCRIBES = (GUIDED_MODE, CAGE_TRIGGERED, CAGE_TRIGGERED_LAST)
    log: SkywritingLog

    def __init__(self, vehicle: Vehicle, units: UthereUnits, **arguments: Any) -> None:
        """Subscribe; `units` are those of the program's waypoints."""
        self._units = units
        super().__init__(vehicle, SkywritingLog(vehicle.actuators), **arguments)

    def begin(self, step: str) -> None:
        """Log the step, and the letter that it begins."""
        super().begin(step)
        begun = _WRITE.fullmatch(step)
        if begun:
            self.log.letters.append(Letter(begun[1], self.log.marks[-1].time_s))

    def take(self, line: str) -> None:
        """Log the waypoints that the program has sent."""
        for command in parse_packet(line.encode("utf-8", "replace")):
            if isinstance(command, WaypointAdd) and self.log.letters:
                self.log.letters[-1].add(waypoint_of(command, self._units))

    def write(self, commands: list[float], flow_ned: Sequence[float]) -> None:
        """Write a row."""
        modes = [self.newest(topic).data for topic in self.SUBSCRIBES]
        self.log.append(self.state.time_s, self.state.truth, commands, flow_ned, *modes)


class SkywritingTask(ClientTask):
    """Judged by the true path beside the waypoints that the program sends, and by the true height."""

    def join(self, graph: ComposedGraph, namespace: str) -> SkywritingRecorder:
        """Create the recorder, and the pilot who hands the plane over."""
        values = graph.values_of("bridge")
        if values["front_end"] != "uthere":
            raise ParameterError(f"vehicle '{self.vehicle.name}' is not flown by uThere Ground Control")
        self._limits = {one.name: number(values, f"uthere.{one.name}") for one in CAGE_LIMITS}
        self._recorder = graph.join(SkywritingRecorder, self.vehicle, UthereUnits(values), namespace=namespace)
        self._pilot = graph.join(Pilot, namespace=namespace)
        return self._recorder

    def arguments(self, graph: ComposedGraph) -> list[str]:
        """Where Ground Control is, and that the waypoints are to be told."""
        bridge = graph.values_of("bridge")
        address = str(bridge["uthere.address"])
        ports = [str(bridge[f"uthere.udp_port_{way}"]) for way in ("in", "out")]
        words = ["--echo", "--ports", *ports]
        # A server that listens everywhere listens here, too.
        return words if address == "0.0.0.0" else [*words, "--address", address]

    @property
    def doing(self) -> str:
        """What the pilot does."""
        return self._pilot.doing

    @property
    def hindrance(self) -> str:
        """Why the pilot gave up."""
        return "" if self._pilot.failure is None else str(self._pilot.failure)

    def report(self, console: Console, picture: Path) -> bool:
        """Print the table and draw the picture."""
        log = self._recorder.log
        limit_m = self._limits["cage_altitude_maximum"]
        summary = summarise_skywriting(log, limit_m, self.vehicle.name, self._recorder.wall_s)
        print_table(f"Skywriting by {summary.vehicle}: {summary.word}", skywriting_rows(summary), console)
        draw_skywriting(log, summary, self._limits, picture)
        return summary.completed

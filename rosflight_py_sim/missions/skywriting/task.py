"""The skywriting: letters flown as waypoints through uThere's protocol, with an excursion out of the cage."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

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

# The program's step at the beginning of a letter.
_WRITE = re.compile(r"write (\S+)")


class SkywritingRecorder(ClientRecorder):
    """Records the flight, with the plane's mode and cage."""

    DEFAULT_NAME = "skywriting_recorder"
    SUBSCRIBES = (GUIDED_MODE, CAGE_TRIGGERED, CAGE_TRIGGERED_LAST)
    log: SkywritingLog

    def __init__(self, vehicle: Vehicle, units: UthereUnits, **arguments: Any) -> None:
        """Subscribe; `units` apply to the program's waypoints."""
        self._units = units
        super().__init__(vehicle, SkywritingLog(vehicle.actuators), **arguments)

    def begin(self, step: str) -> None:
        """Log the step, and any letter that it begins."""
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
    """Evaluated by the true path relative to the program's waypoints, and by the true height."""

    def join(self, graph: ComposedGraph, namespace: str) -> SkywritingRecorder:
        """Create the recorder, and the pilot that enables offboard control."""
        values = graph.values_of("bridge")
        if "uthere" not in cast("list[str]", values["front_ends"]):
            raise ParameterError(f"vehicle '{self.vehicle.name}' is not flown by uThere Ground Control")
        self._limits = {one.name: number(values, f"uthere.{one.name}") for one in CAGE_LIMITS}
        self._recorder = graph.join(SkywritingRecorder, self.vehicle, UthereUnits(values), namespace=namespace)
        self._pilot = graph.join(Pilot, namespace=namespace)
        return self._recorder

    def arguments(self, graph: ComposedGraph) -> list[str]:
        """Address of Ground Control, and the option to print waypoints."""
        bridge = graph.values_of("bridge")
        address = str(bridge["uthere.address"])
        ports = [str(bridge[f"uthere.udp_port_{way}"]) for way in ("in", "out")]
        arguments = ["--echo", "--ports", *ports]
        # A server on all addresses is also reachable at the program's default address.
        return arguments if address == "0.0.0.0" else [*arguments, "--address", address]

    @property
    def doing(self) -> str:
        """Activity of the pilot."""
        return self._pilot.doing

    @property
    def hindrance(self) -> str:
        """Reason of the pilot's failure."""
        return "" if self._pilot.failure is None else str(self._pilot.failure)

    def report(self, console: Console, picture: Path) -> bool:
        """Print the table and draw the picture."""
        log = self._recorder.log
        limit_m = self._limits["cage_altitude_maximum"]
        summary = summarise_skywriting(log, limit_m, self.vehicle.name, self._recorder.wall_s)
        print_table(f"Skywriting by {summary.vehicle}: {summary.word}", skywriting_rows(summary), console)
        draw_skywriting(log, summary, self._limits, picture)
        return summary.completed

"""Judge of the skywriting: the true path relative to the program's waypoints, and the true height."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from rosflight_py_sim.autopilot.cage import CAGE_LIMITS
from rosflight_py_sim.bridge.uthere_targets import waypoint_of
from rosflight_py_sim.bridge.uthere_units import UTHERE_UNIT_PARAMETERS, UthereUnits
from rosflight_py_sim.ground.parameters import ParameterTable, Values, number
from rosflight_py_sim.missions.acceptance import Limit
from rosflight_py_sim.missions.client_judge import ClientJudge
from rosflight_py_sim.missions.mission_judge import Verdict
from rosflight_py_sim.missions.skywriting.log import Letter, SkywritingLog
from rosflight_py_sim.missions.skywriting.picture import draw_skywriting
from rosflight_py_sim.missions.skywriting.summary import WAYPOINT_RADIUS, SkywritingSummary, summarise_skywriting
from rosflight_py_sim.missions.skywriting.table import skywriting_rows
from rosflight_py_sim.protocols.uthere import WaypointAdd, parse_packet
from rosflight_py_sim.step.topics import CAGE_TRIGGERED, CAGE_TRIGGERED_LAST, GUIDED_MODE
from rosflight_py_sim.vehicles import Vehicle

# The program's step at the beginning of a letter.
_WRITE = re.compile(r"write (\S+)")


class SkywritingJudge(ClientJudge):
    """Logs the flight, with the plane's mode and cage, and the letters that the program plans."""

    NODE = "bridge"
    PARAMETERS = (
        *(one.name for one in UTHERE_UNIT_PARAMETERS),
        *(f"uthere.{one.name}" for one in CAGE_LIMITS),
    )
    SUBSCRIBES = (GUIDED_MODE, CAGE_TRIGGERED, CAGE_TRIGGERED_LAST)
    LIMITS = ParameterTable(WAYPOINT_RADIUS)
    SUMMARY = SkywritingSummary
    log: SkywritingLog

    def __init__(self, vehicle: Vehicle, values: Values) -> None:
        """Take the units of the program's waypoints and the cage's limits."""
        super().__init__(vehicle, values, SkywritingLog(vehicle.actuators))
        self._units = UthereUnits(values)
        self._limits = {one.name: number(values, f"uthere.{one.name}") for one in CAGE_LIMITS}

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
        """Log a row."""
        modes = [self.newest(topic).data for topic in self.SUBSCRIBES]
        self.log.append(self.state.time_s, self.state.truth, commands, flow_ned, *modes)

    def verdict(self) -> Verdict:
        """Evaluate the letters and the excursion out of the cage."""
        summary = self.summary
        title = f"Skywriting by {summary.vehicle}: {summary.word}"
        return Verdict(title, skywriting_rows(summary), summary.completed, summary.shortfall)

    def draw(self, plot: Path) -> None:
        """Draw the letters, the height and the modes."""
        draw_skywriting(self.log, self.summary, self._limits, plot)

    @cached_property
    def summary(self) -> SkywritingSummary:
        """Key figures of the log."""
        limit_m = self._limits["cage_altitude_maximum"]
        legible = Limit.of(WAYPOINT_RADIUS, self.values)
        return summarise_skywriting(self.log, limit_m, self.name, self.wall_s, legible)

"""Result of the missions of a simulation, as the page shows it: verdicts, tables, plot and recording."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from pathlib import Path

from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.viewer.web.flight_verdict import FlownMission, Verdicts


@dataclass
class FlightResult:
    """What `fly` has found out.

    Attributes:
        flights: the missions.
        torn: why the flight cannot be judged; empty if it can.
        plot: file of the plot; None if there is none.
        recording: file of the recording; empty without one.
        exit_code: exit code of the command.
    """

    flights: list[FlownMission] = field(default_factory=list)
    torn: str = ""
    plot: Path | None = None
    recording: str = ""
    exit_code: int = 0

    @property
    def text(self) -> str:
        """The result as JSON, with the picture of the plot.

        Raises:
            OSError: the plot cannot be read.
        """
        plot = "" if self.plot is None else base64.b64encode(self.plot.read_bytes()).decode()
        file = "" if self.plot is None else str(self.plot)
        return Verdicts(self.flights, self.torn, plot, file, self.recording).text


def flown(judge: MissionJudge) -> FlownMission:
    """Verdict of a mission that has ended."""
    if not judge.has_begun:
        return FlownMission(judge.name, False, judge.reason or "the mission did not begin", judge.name, [])
    verdict = judge.verdict()
    return FlownMission(judge.name, verdict.completed, judge.reason or verdict.shortfall, verdict.title, verdict.rows)

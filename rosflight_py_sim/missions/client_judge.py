"""Judge of a mission flown by a client program, with a log of the steps that the program prints."""

from __future__ import annotations

import re

from std_msgs.msg import String

from rosflight_py_sim.ground.parameters import Values
from rosflight_py_sim.missions.client_log import ClientLog, Mark
from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.step.mission_topics import MISSION_LOG
from rosflight_py_sim.vehicles import Vehicle

# Programs print each step as "  12.3 s  dive"; values may follow after two spaces.
_STEP = re.compile(r"\s*[\d.]+ s\s+(.*?)(?:\s{2,}.*)?")


class ClientJudge(MissionJudge):
    """Judge by the true state, independent of the program's reports.

    Attributes:
        log: rows, and the steps of the mission that the program prints.
    """

    def __init__(self, vehicle: Vehicle, values: Values, log: ClientLog) -> None:
        """Judge a mission of the vehicle; `log` is empty."""
        super().__init__(vehicle, values)
        self.log: ClientLog = log
        self.subscribe(MISSION_LOG, self._on_line)

    @property
    def is_on(self) -> bool:
        """Whether the program has begun a step."""
        return bool(self.log.marks)

    @property
    def is_done(self) -> bool:
        """Whether the mission is completed according to the true state, whatever the program prints."""
        return False

    def begin(self, step: str) -> None:
        """Log the beginning of a step, at the time of the newest true state."""
        self.log.marks.append(Mark(self.state.time_s, step))

    def take(self, line: str) -> None:
        """Process a line of the program that does not begin a step."""

    def _on_line(self, message: String) -> None:
        step = _STEP.fullmatch(message.data)
        if step:
            self.begin(step[1])
        else:
            self.take(message.data)

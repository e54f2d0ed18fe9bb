"""Judge of a flight out and back: the true path."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from rosflight_py_sim.ground.parameters import Values, number
from rosflight_py_sim.missions.client_judge import ClientJudge
from rosflight_py_sim.missions.client_log import PathLog
from rosflight_py_sim.missions.mission_judge import Verdict
from rosflight_py_sim.missions.out_and_back.summary import (
    LEAST_DISTANCE,
    LEAST_HEIGHT,
    OUT_AND_BACK_LIMITS,
    OutAndBackSummary,
    has_landed,
    summarise_out_and_back,
)
from rosflight_py_sim.missions.out_and_back.table import out_and_back_rows
from rosflight_py_sim.missions.overview_picture import draw_overview
from rosflight_py_sim.vehicles import Vehicle

# Time on the ground after which the flight is over, s.
_ON_GROUND_S = 1.0


class OutAndBackJudge(ClientJudge):
    """Logs the flight from the first state on, flown by ArduPilot, PX4 or a stand-in."""

    LIMITS = OUT_AND_BACK_LIMITS
    SUMMARY = OutAndBackSummary
    log: PathLog

    def __init__(self, vehicle: Vehicle, values: Values) -> None:
        """Judge a flight of the vehicle."""
        super().__init__(vehicle, values, PathLog(vehicle.actuators))
        self._start_ned: np.ndarray | None = None
        self._farthest, self._highest = (number(self.values, one.name) for one in (LEAST_DISTANCE, LEAST_HEIGHT))
        self._was_far = self._was_high = False
        self._landed_s: float | None = None

    @property
    def is_on(self) -> bool:
        """Whether a state has been received."""
        return True

    @property
    def is_done(self) -> bool:
        """Whether the vehicle has been out, and has stood on the ground since."""
        return self._landed_s is not None and self.state.time_s - self._landed_s >= _ON_GROUND_S

    def write(self, commands: list[float], flow_ned: Sequence[float]) -> None:
        """Log a row."""
        state = self.state
        self.log.append(state.time_s, state.truth, commands, flow_ned)
        position = np.asarray(state.position_ned, dtype=np.float64)
        if self._start_ned is None:
            self._start_ned = position.copy()
        north, east, down = position - self._start_ned
        self._was_far = self._was_far or float(np.hypot(north, east)) >= self._farthest
        self._was_high = self._was_high or -down >= self._highest
        if not (self._was_far and self._was_high and has_landed(-down, float(np.linalg.norm(state.velocity_body)))):
            self._landed_s = None
        elif self._landed_s is None:
            self._landed_s = state.time_s

    def verdict(self) -> Verdict:
        """Evaluate the true path."""
        s = self.summary
        completed = s.completed and not self.reason
        return Verdict(f"Flight of {self.name}", out_and_back_rows(s), completed, s.shortfall)

    def draw(self, plot: Path) -> None:
        """Draw path and height."""
        draw_overview(f"Flight of {self.name}", [self], plot)

    @cached_property
    def summary(self) -> OutAndBackSummary:
        """Key figures of the log."""
        return summarise_out_and_back(self.log, self.values, self.wall_s)

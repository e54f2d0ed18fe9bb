"""Columns of a flight: true state, setpoint, commands and battery, step by step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rosflight_py_sim.autopilot.mission_phase import MissionPhase
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.recording.state_log import Array, StateLog
from rosflight_py_sim.vehicles import Actuator


class FlightLog(StateLog):
    """Rows of a flight by an autopilot: those of StateLog, with setpoint, battery, phase and error bits."""

    EXTRA_COLUMNS = 7

    def __init__(self, actuators: Sequence[Actuator], phases: type[MissionPhase], capacity: int = 4096) -> None:
        """`actuators` and `phases` belong to the vehicle and its mission; `capacity` is the initial number of rows.

        Raises:
            ValueError: no actuator, or zero capacity.
        """
        super().__init__(actuators, capacity)
        self.phases = phases

    def append(
        self,
        time_s: float,
        truth: Array,
        setpoint_ned: Vector3,
        actuator_commands: Sequence[float] | Array,
        wind_ned: Sequence[float] | Array,
        battery_voltage: float,
        battery_current: float,
        phase: MissionPhase,
        error_code: float = 0.0,
    ) -> None:
        """Add one row, as `StateLog` does.

        `setpoint_ned` is the commanded position, m; battery in V and A; `error_code` holds the error bits of
        `status`.

        Raises:
            ValueError: an array has the wrong length, or the time is before the last row's; nothing is added.
        """
        own = (*setpoint_ned, battery_voltage, battery_current, phase, error_code)
        self._add(time_s, truth, actuator_commands, wind_ned, own)

    @property
    def setpoint_ned(self) -> Array:
        """Position commanded by the autopilot, m; shape (n, 3)."""
        return self._extra(0, 3)

    @property
    def wind_ned(self) -> Array:
        """Velocity of the air over the ground, m/s; shape (n, 3)."""
        return self.flow_ned

    @property
    def battery_voltage(self) -> Array:
        """Voltage of the battery, V; shape (n,)."""
        return self._extra(3, 4)[:, 0]

    @property
    def battery_current(self) -> Array:
        """Current drawn from the battery, A; shape (n,)."""
        return self._extra(4, 5)[:, 0]

    @property
    def phase(self) -> npt.NDArray[np.int64]:
        """Number of the mission's phase; shape (n,)."""
        return self._extra(5, 6)[:, 0].astype(np.int64)

    @property
    def error_code(self) -> Array:
        """Error bits of the flight controller's status; shape (n,)."""
        return self._extra(6, 7)[:, 0]

    @property
    def on_path(self) -> npt.NDArray[np.bool_]:
        """Whether the vehicle was following its planned path; shape (n,)."""
        following = [phase.value for phase in self.phases if phase.on_path]
        return np.isin(self.phase, following)

    @property
    def is_completed(self) -> bool:
        """Whether the last row belongs to the mission's last phase."""
        return len(self) > 0 and int(self.phase[-1]) == max(self.phases)

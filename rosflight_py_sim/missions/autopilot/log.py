"""Columns of a flight: true state, setpoint, commands and battery, step by step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from rosflight_py_sim.autopilot.mission_phase import MissionPhase
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import StepTime
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.missions.take_off import GroundTime, watch_ground
from rosflight_py_sim.recording.state_log import Array, LogEnd, StateLog
from rosflight_py_sim.vehicles import Actuator


@kernel_record
class FlightStatus:
    """Columns of a row that messages set.

    Attributes:
        phase: number of the mission's phase.
        errors: error bits of the flight controller's status.
    """

    phase: float
    errors: float


@kernel
def log_flight(
    time: StepTime,
    log: LogEnd,
    rows: NDArray[np.float64],
    ground: GroundTime,
    status: FlightStatus,
    actuators: NDArray[np.float64],
    truth: NDArray[np.float64],
    wind_ned: NDArray[np.float64],
    setpoint: NDArray[np.float64],
    power: NDArray[np.float64],
    pulse_us: NDArray[np.int64],
) -> bool:
    """Add the row of `FlightLog.append`, or return that Python must.

    It must if the table is full, and if the time on the ground may exceed its limit.

    Args:
        time: time of the state.
        log: end of the log.
        rows: the table.
        ground: watch on the take-off.
        status: phase and error bits.
        actuators: output, pulse width of command 0 and its increase to that of command 1 (us), and 1 for a motor or 0
            for a servo, of each (n, 4).
        truth: true state (19,).
        wind_ned: m/s (3,).
        setpoint: position (m) in its first three elements.
        power: battery voltage (V) and current (A).
        pulse_us: pulse width of each output, us.
    """
    n = log.count
    if n >= rows.shape[0]:
        return True
    most = 0.0
    for i in range(actuators.shape[0]):
        pulse = float(pulse_us[int(actuators[i, 0])])
        command = (pulse - actuators[i, 1]) / actuators[i, 2]
        rows[n, 30 + i] = command
        if actuators[i, 3] == 1.0:
            most = max(most, command)
    time_s = time.time_ns / NANOSECONDS
    if not ground.has_left and watch_ground(ground, time_s, -truth[2], most):
        return True
    rows[n, 0] = time_s
    for i in range(19):
        rows[n, 1 + i] = truth[i]
    for i in range(3):
        rows[n, 20 + i] = wind_ned[i]
        rows[n, 23 + i] = setpoint[i]
    rows[n, 26], rows[n, 27] = power[0], power[1]
    rows[n, 28], rows[n, 29] = status.phase, status.errors
    log.count = n + 1
    return False


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

"""Gap between simulation and reality: a vehicle's model flies the outputs of a log.

The model begins anew at each stretch, with the state that the log shows there, and is compared with the log at growing
times after the start. Of the flight, only the mean wind and the errors of the IMU are estimated, as for an
identification; gusts and errors of the logged states are part of the gap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rosflight_py_sim.ground.parameters import number
from rosflight_py_sim.identification.fitted_parameters import LATENCY
from rosflight_py_sim.identification.flight_log import Array, FlightLog, FlightLogError
from rosflight_py_sim.identification.identification import (
    LONGEST_WARM_UP_LAGS,
    Subject,
    hidden_outputs,
    lag_of,
    notes_on,
)
from rosflight_py_sim.identification.output_error import LOCALS, OF_LOG, WIND, Residuals, errors_of
from rosflight_py_sim.identification.search import ResidualSearch, fit
from rosflight_py_sim.identification.shooting import Shots, shots_of
from rosflight_py_sim.physics.dynamics import StateDivergedError

HORIZONS_S = (0.25, 0.5, 1.0, 2.0, 5.0)
"""Times after the start of a stretch up to which errors are counted, s."""


@dataclass(frozen=True)
class Comparison:
    """Log and model side by side.

    Attributes:
        subject: the vehicle.
        log: the log.
        shots: the stretches.
        measured: readings of the IMU (blocks, 6), and velocities with the airspeed (m, 4), as logged.
        modelled: the same as the model gives.
        wind: mean wind north and east (2,), m/s.
        notes: what was left out or assumed.
    """

    subject: Subject
    log: FlightLog
    shots: Shots
    measured: tuple[Array, Array]
    modelled: tuple[Array, Array]
    wind: Array
    notes: Sequence[str]

    @property
    def horizons_s(self) -> list[float]:
        """The HORIZONS_S within a stretch, and its length."""
        length_s = self.shots.steps * self.shots.step_s
        return [*(one for one in HORIZONS_S if one < 0.99 * length_s), length_s]

    def errors(self, horizon_s: float) -> tuple[Array, Array]:
        """Root mean square of log minus model up to a time after the starts, and that over the deviation of the log.

        Each for READINGS (10,), in their units; NaN for a reading that is not logged.
        """
        shots = self.shots
        blocks = shots.steps // shots.block
        rows_imu = np.tile((np.arange(blocks) + 1) * shots.block, len(shots)) * shots.step_s <= horizon_s + 1e-9
        rows_velocity = shots.velocity_step * shots.step_s <= horizon_s + 1e-9
        rms, relative = [], []
        for measured, modelled, rows in zip(self.measured, self.modelled, (rows_imu, rows_velocity), strict=True):
            found, over_deviation = errors_of(measured[rows], modelled[rows])
            rms.append(found)
            relative.append(over_deviation)
        return np.concatenate(rms), np.concatenate(relative)


def compare(
    subject: Subject, log: FlightLog, *, stretch_s: float, progress: Callable[[str], None] = lambda _: None
) -> Comparison:
    """Fly the outputs of a log with a vehicle's model.

    Args:
        subject: the vehicle.
        log: the log.
        stretch_s: time after which the model begins anew, s.
        progress: takes a line about each step of the estimation.

    Raises:
        FlightLogError: the log lacks channels, shows no flight or too little of the motors' mean output, or the model
            cannot fly its outputs.
    """
    hidden = hidden_outputs(log, subject)
    shots = shots_of(
        [log],
        subject.outputs,
        length_s=stretch_s,
        warm_up_s=LONGEST_WARM_UP_LAGS * lag_of(subject),
        origin_altitude=number(subject.dynamics_values, "origin_altitude"),
        with_airspeed=subject.has_pitot_tube,
        with_rates=bool(hidden),
    )
    knows_current = not np.isnan(shots.current).any() and not np.isnan(shots.voltage).any()
    resistance = number(subject.values, "battery_internal_resistance") if knows_current else 0.0
    model = subject.model({}, battery=knows_current)
    latency_s = number(subject.values, LATENCY)
    problem = Residuals(shots, lambda _: model, 0, subject.mounting, resistance, lambda _: latency_s)
    start, free = np.zeros((len(shots), LOCALS)), np.full(OF_LOG, np.inf)
    try:
        flight = fit(ResidualSearch(problem, np.zeros(OF_LOG), start, (-free, free)), progress)
        modelled = problem.modelled(flight.theta, start)
    except StateDivergedError as error:
        raise FlightLogError(
            f"the vehicle '{subject.name}' cannot fly the outputs of '{log.file}' for {stretch_s:g} s: {error}"
        ) from error
    notes = notes_on([log], shots)
    if hidden:
        notes.append(f"moments are not compared: {hidden}; the logged angular rates are prescribed")
    return Comparison(subject, log, shots, shots.measured, modelled, flight.theta[WIND], notes)

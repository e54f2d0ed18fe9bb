"""Identification of a vehicle: which parameters the logs show, their values, and how sure they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Value, Values, number
from rosflight_py_sim.identification.estimates import LARGEST_ERROR, Estimated, Refused
from rosflight_py_sim.identification.fitted_parameters import (
    DEFAULTS,
    LATENCY,
    MANOEUVRES,
    fitted,
    is_scale,
    least_size_of,
    needs_moments,
    reading_of,
    scale_of,
)
from rosflight_py_sim.identification.flight_log import Array, FlightLog, FlightLogError, white_variance
from rosflight_py_sim.identification.logged_vehicle import in_words
from rosflight_py_sim.identification.output_error import (
    ACCEL_BIAS,
    ACCEL_MATRIX,
    GYRO_BIAS,
    LOCALS,
    OF_LOG,
    PRIOR,
    READINGS,
    WIND,
    Mounting,
    Residuals,
    errors_of,
)
from rosflight_py_sim.identification.search import COLOUR, Estimate, ResidualSearch, fit
from rosflight_py_sim.identification.shooting import NEEDED, Shots, first_wind, hidden_share, shots_of
from rosflight_py_sim.identification.uncertainty import covariance_of, white_covariance
from rosflight_py_sim.identification.vehicle_model import VehicleModel
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, StateDivergedError
from rosflight_py_sim.sensing import SENSOR_PARAMETERS
from rosflight_py_sim.vehicles.physics_model import VehicleClass

LARGEST_DISTURBANCE = 0.1
"""Deviation of a reading's residuals over that of the reading from which on parameters that it shows are refused.

A flight controller answers gusts by outputs, so that outputs and disturbances are not independent, and an estimate from
a flight that is moved by gusts alone is biased, whatever its standard error says (Klein and Morelli and Jategaonkar
both demand manoeuvres well above the disturbances for identification in closed loop).
"""

LARGEST_UNEXPLAINED = 0.5
"""The same for a rate, from which on the model is not that of the vehicle."""

LARGEST_HIDDEN = 0.01
"""Largest share of the variance of the outputs that may be missing in a log for moments to be modelled: with 4 %, the
inertia of simulated multirotors comes out a fifth too large. Otherwise the logged rates are prescribed to the model."""

LARGEST_HIDDEN_SUM = 0.15
"""The same for the mean output of the motors, above which a log is refused: with up to 11 % (outputs logged every 10 to
100 ms), thrust and drag of three simulated multirotors come out within three standard errors."""

LARGEST_SENSOR_ERROR = 4.0
"""Ratio of an estimated sensor error to its usual size above which a note doubts the model, or the flight."""

_SCALINGS = 4
"""Corrections of the thrust before the search, each by at most a factor of two."""

_LARGEST_FIRST_ERROR = 1.0
"""LARGEST_ERROR before the fit, when standard errors are only rough."""

STRETCH_S = 1.0
"""Length of a stretch, s: long enough for some measurements of GNSS, short enough for disturbances to stay small."""

_LEAST_STRETCHES, _MOST_STRETCHES = 8, 120
"""Least number of stretches, and the most that are used: those with the most motion."""

_NAMED_STRETCHES = 3
"""Number of stretches that the error of a fit that has not converged names."""

_HELD_OUT = 4
"""Every fourth stretch does not take part in the fit, and tests it."""

_LEAST_ERROR = 2e-3
_LEAST_ERRORS = {"CD": 0.03, "A_c": 0.03, "C_D_O": 0.03, "Jxx": 5e-3, "Jyy": 5e-3, "Jzz": 5e-3}
"""Least standard errors over the values, in general and by parameter: errors of the model that residuals do not show.

They are the scatter of the estimates of vehicles with known parameters beyond their calculated errors
(`proof/identification.py`). That of the drag comes from gusts that change within a stretch: they move the vehicle, so
that its speed is not independent of the error that they cause.
"""

_LEAST_ERROR_HIDDEN = 0.01
"""The same if outputs are missing in the log: the thrust of simulated multirotors then comes out 1 to 2 % too small."""

_LEAST_LATENCY_ERROR_STEPS = 0.2
"""Least standard error of the latency in steps of the model: outputs that are held for a step are interpolated."""

LONGEST_WARM_UP_LAGS = 10.0
"""Time before a stretch in which the actuators take on their speeds, over their lag."""

# Wind of a stretch is held, and a log has no ground and no battery beyond its voltage.
_SIMPLIFIED: dict[str, Value] = {"battery_capacity_mah": 0.0, "rotor_ground_effect": 0.0}


@dataclass(frozen=True)
class Subject:
    """The vehicle to identify, as its file describes it.

    Attributes:
        name: of the vehicle.
        forces: part that gives the forces, a class derived from `ModelledForces`.
        forces_values: its parameters.
        dynamics_values: DYNAMICS_PARAMETERS.
        sensor_values: parameters of the sensors, for the positions of IMU and antenna.
        outputs: outputs that drive an actuator.
        motors: outputs that drive a motor.
        mixer: parameters of the firmware.
    """

    name: str
    forces: Any
    forces_values: Values
    dynamics_values: Values
    sensor_values: Values
    outputs: Sequence[int]
    motors: Sequence[int]
    mixer: Mapping[str, float]

    def model(self, changes: Mapping[str, float], *, battery: bool = True) -> VehicleModel:
        """The vehicle with other values of some parameters; `battery`: with its internal resistance."""
        resistance: dict[str, Value] = {} if battery else {"battery_internal_resistance": 0.0}
        forces, dynamics = (
            {**values, **{name: value for name, value in changes.items() if name in values}}
            for values in (self.forces_values, self.dynamics_values)
        )
        simplified = {name: value for name, value in {**_SIMPLIFIED, **resistance}.items() if name in forces}
        return VehicleModel(self.forces, {**forces, **simplified}, dynamics, self.mixer)

    @property
    def has_pitot_tube(self) -> bool:
        """Whether the flow comes from ahead, so that a pitot tube shows the airspeed."""
        return self.forces.VEHICLE_CLASS is VehicleClass.FIXED_WING

    @property
    def mounting(self) -> Mounting:
        """Positions of the sensors."""
        imu, antenna = (
            np.array(cast("list[float]", self.sensor_values.get(name, [0.0] * 3)))
            for name in ("imu_position", "gnss_antenna_position")
        )
        return Mounting(imu, antenna, number(self.dynamics_values, "gravity"))

    @property
    def values(self) -> dict[str, Value]:
        """Values of all parameters of forces and dynamics, and the latency of the IMU."""
        return {LATENCY: self.sensor_values[LATENCY], **self.dynamics_values, **self.forces_values}


@dataclass(frozen=True)
class HeldOut:
    """Stretches not used in the fit.

    Attributes:
        shots: the stretches.
        measured: readings of the IMU (blocks, 6), and velocities with the airspeed (m, 4), as logged.
        before: the same as the model of the vehicle's file gives.
        after: the same as the identified model gives.
    """

    shots: Shots
    measured: tuple[Array, Array]
    before: tuple[Array, Array]
    after: tuple[Array, Array]

    def errors(self, modelled: tuple[Array, Array]) -> Array:
        """Root mean square of measured minus modelled over the deviation of the measured, for READINGS (10,).

        NaN for a reading that is not logged.
        """
        return np.concatenate([errors_of(*both)[1] for both in zip(self.measured, modelled, strict=True)])


@dataclass(frozen=True)
class Identification:
    """Result of an identification.

    Attributes:
        subject: the vehicle.
        logs: the logs.
        estimates: of the parameters that the logs show.
        correlations: of the estimates (n, n).
        refused: parameters that they do not show.
        winds: steady wind north and east in each log (logs, 2), m/s.
        biases: of gyro (rad/s) and accelerometer (m/s^2) in each log (logs, 6).
        stretches: number of stretches in the fit.
        stretch_s: length of each.
        deviations: of the residuals, by READINGS (10,).
        held_out: test of the result.
    """

    subject: Subject
    logs: Sequence[FlightLog]
    estimates: Sequence[Estimated]
    correlations: Array
    refused: Sequence[Refused]
    winds: Array
    biases: Array
    stretches: int
    stretch_s: float
    deviations: Array
    held_out: HeldOut
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def changes(self) -> dict[str, float]:
        """Estimated values by name."""
        return {one.name: one.value for one in self.estimates}


def identify(
    subject: Subject,
    logs: Sequence[FlightLog],
    names: Sequence[str] = (),
    *,
    stretch_s: float = STRETCH_S,
    progress: Callable[[str], None] = lambda _: None,
) -> Identification:
    """Fit parameters of a vehicle to flight logs.

    Args:
        subject: the vehicle.
        logs: the logs.
        names: names of the parameters; empty for those that logs of such a vehicle usually show.
        stretch_s: length of a stretch, s.
        progress: takes a line about each step.

    Raises:
        ParameterError: a name is not allowed.
        FlightLogError: the logs lack channels, show no flight, or show none of the parameters.
    """
    tables = (subject.forces.PARAMETERS, DYNAMICS_PARAMETERS, ParameterTable(SENSOR_PARAMETERS[LATENCY]))
    chosen = fitted(names or _defaults(subject), tables)
    if not names:
        chosen = [one for one in chosen if number(subject.values, one.name) != 0.0]
    scales = {one.name: scale_of(one, subject.values) for one in chosen}
    refused: list[Refused] = []
    hidden = "; ".join(filter(None, (hidden_outputs(log, subject) for log in logs)))
    if hidden:
        turning = [one for one in chosen if needs_moments(one.name)]
        refused += [Refused(one.name, hidden, "a log of the outputs at the rate of the gyro") for one in turning]
        chosen = [one for one in chosen if one not in turning]
    shots = shots_of(
        logs,
        subject.outputs,
        length_s=stretch_s,
        warm_up_s=LONGEST_WARM_UP_LAGS * lag_of(subject),
        origin_altitude=number(subject.dynamics_values, "origin_altitude"),
        with_airspeed=subject.has_pitot_tube,
        with_rates=bool(hidden),
    )
    if len(shots) < _LEAST_STRETCHES:
        raise FlightLogError(
            f"{len(shots)} stretches of {stretch_s:g} s in the air given by "
            f"{', '.join(str(log.file) for log in logs)}; allowed: at least {_LEAST_STRETCHES}"
        )
    shots = shots.taken(_liveliest(shots))
    tested = np.arange(len(shots)) % _HELD_OUT == _HELD_OUT - 1
    work = _Work(subject, shots.taken(np.flatnonzero(~tested)), scales, progress)
    work.scale_thrust(chosen)
    chosen = work.shown(chosen, work.start(chosen), COLOUR, _LARGEST_FIRST_ERROR, refused)
    while True:
        if not chosen:
            raise FlightLogError("; ".join(map(str, refused)))
        estimate = work.fit(chosen)
        left = work.shown(chosen, estimate, 0.0, LARGEST_ERROR, refused)
        if len(left) == len(chosen):
            break
        chosen = left
    covariance = covariance_of(estimate)
    count = len(chosen)
    estimates, deviations = [], np.sqrt(np.diag(covariance))[:count]
    for index, one in enumerate(chosen):
        scale, before = scales[one.name], number(subject.values, one.name)
        value = before + scale * float(estimate.theta[index])
        least = max(_LEAST_ERRORS.get(one.name, _LEAST_ERROR), _LEAST_ERROR_HIDDEN if hidden else 0.0) * abs(value)
        if one.name == LATENCY:
            least = _LEAST_LATENCY_ERROR_STEPS * shots.step_s
        error = max(scale * float(deviations[index]), least)
        estimates.append(Estimated(one, before, value, error))
    of_logs = estimate.theta[count:].reshape(-1, OF_LOG)
    held_out = work.tested(chosen, estimate, shots.taken(np.flatnonzero(tested)))
    notes = notes_on(logs, shots) + unlikely_errors(logs, of_logs)
    if text := unsettled(estimate, [one.name for one in chosen]):
        notes.append(text)
    if np.nanmean(held_out.errors(held_out.after)) > np.nanmean(held_out.errors(held_out.before)):
        notes.append(
            "the estimates explain the stretches not used in the fit worse than the vehicle's file: do not "
            "use them, and fly the manoeuvres in calm air"
        )
    return Identification(
        subject,
        logs,
        estimates,
        covariance[:count, :count] / np.outer(deviations, deviations),
        refused,
        of_logs[:, WIND],
        np.concatenate([of_logs[:, GYRO_BIAS], of_logs[:, ACCEL_BIAS]], axis=1),
        len(work.shots),
        work.shots.steps * work.shots.step_s,
        estimate.deviations,
        held_out,
        tuple(notes),
    )


def unsettled(estimate: Estimate, names: Sequence[str]) -> str:
    """What a search for parameters of these names has left unsettled; empty if it has ended by itself."""
    if estimate.converged:
        return ""
    most, worst = int(np.argmax(estimate.shifts)), np.argsort(-estimate.costs)[:_NAMED_STRETCHES]
    stretches = ", ".join(
        f"{estimate.times_s[one]:.1f} s ({estimate.costs[one] / np.median(estimate.costs):.2g})" for one in worst
    )
    return (
        f"the fit has not converged after {estimate.steps} steps: the last one changed {names[most]} by "
        f"{estimate.shifts[most]:.2g} of its standard error; the stretches that fit worst begin at {stretches}, in "
        "brackets their loss over the median one. Has the vehicle touched something there, or has a sensor failed? Fit "
        "logs without these times, or fewer parameters"
    )


def unlikely_errors(logs: Sequence[FlightLog], of_logs: Array) -> list[str]:
    """Warnings, one a log, about the accelerometer's error (logs, OF_LOG) that most exceeds its usual size."""
    biases = [(ACCEL_BIAS.start + axis, f"a bias along {name}", " m/s^2") for axis, name in enumerate("xyz")]
    scales = [(ACCEL_MATRIX.start + 4 * axis, f"a scale error along {name}", "") for axis, name in enumerate("xyz")]
    notes = []
    for log, errors in zip(logs, of_logs, strict=True):
        place, name, unit = max([*biases, *scales], key=lambda one: abs(float(errors[one[0]])) / PRIOR[one[0]])
        size = abs(float(errors[place])) / float(PRIOR[place])
        if size > LARGEST_SENSOR_ERROR:
            notes.append(
                f"{log.file.name}: the fit needs {name} of {errors[place]:.2g}{unit} in the accelerometer, {size:.0f} "
                "times the usual size: either the model's forces are not those of the vehicle (check mass, propellers, "
                "motors (KQ, R_motor), battery and drag), or the flight was too gentle for its gusts"
            )
    return notes


def _defaults(subject: Subject) -> Sequence[str]:
    if subject.forces.VEHICLE_CLASS not in DEFAULTS:
        kinds = " and ".join(map(in_words, DEFAULTS))
        raise ParameterError(
            f"vehicle '{subject.name}' given, {in_words(subject.forces.VEHICLE_CLASS)}; allowed: {kinds}"
        )
    return DEFAULTS[subject.forces.VEHICLE_CLASS]


def hidden_outputs(log: FlightLog, subject: Subject) -> str:
    """Reason why moments cannot be modelled from a log, as outputs between its samples are missing; empty if they can.

    Raises:
        FlightLogError: the log lacks a channel that is needed, or too much of the motors' mean output is missing.
    """
    log.require(NEEDED)
    period = f"outputs are logged every {1e3 * log.channels['outputs'].period_s:.3g} ms; those in between"
    together, share = hidden_share(log, subject.outputs, subject.motors)
    if together > LARGEST_HIDDEN_SUM:
        raise FlightLogError(
            f"'{log.file}': {period} make up {100.0 * together:.2g} % of the variance of their mean; allowed: at most "
            f"{100.0 * LARGEST_HIDDEN_SUM:g} %, or outputs logged at the rate of the gyro"
        )
    if share <= LARGEST_HIDDEN:
        return ""
    return (
        f"in {log.file.name}, {period} make up {100.0 * share:.2g} % of their variance, and moments take at most "
        f"{100.0 * LARGEST_HIDDEN:g} %"
    )


def lag_of(subject: Subject) -> float:
    """Longest lag of the actuators, s; at least that of a short step."""
    lags = [number(subject.values, name) for name in ("motor_time_constant", "servo_tau") if name in subject.values]
    return max(0.01, *lags)


def _liveliest(shots: Shots) -> np.typing.NDArray[np.int64]:
    """Numbers of the stretches with the most motion, in their order."""
    turning = np.nan_to_num(shots.gyro.std(axis=1)).sum(axis=1)
    motion = turning / 0.5 + shots.accel.std(axis=1).sum(axis=1)
    return np.sort(np.argsort(-motion)[:_MOST_STRETCHES])


def notes_on(logs: Sequence[FlightLog], shots: Shots) -> list[str]:
    """What was left out or assumed, as sentences."""
    notes = [f"{log.file.name}: {note}" for log in logs for note in log.notes]
    if np.isnan(shots.voltage).any():
        notes.append("no battery voltage in a log: the battery counts as full, and an error of it is one of the thrust")
    elif np.isnan(shots.current).any():
        notes.append("no battery current in a log: its voltage counts as constant in each stretch")
    return notes


class _Work:
    """Fits with changing sets of parameters, each from the result of the one before."""

    def __init__(
        self, subject: Subject, shots: Shots, scales: Mapping[str, float], progress: Callable[[str], None]
    ) -> None:
        self.shots = shots
        self._subject, self._scales, self._progress = subject, scales, progress
        self._knows_current = not np.isnan(shots.current).any() and not np.isnan(shots.voltage).any()
        self._theta: dict[str, float] = {}
        of_logs = np.zeros((int(shots.log.max()) + 1, OF_LOG))
        for log, of_log in enumerate(of_logs):
            of_log[WIND] = first_wind(shots.measured[1][shots.log[shots.velocity_of] == log])
        self._of_logs = of_logs.ravel()
        self._local = np.zeros((len(shots), LOCALS))

    def _residuals(self, chosen: Sequence[Parameter], shots: Shots) -> Residuals:
        subject, values, scales = self._subject, self._subject.values, self._scales
        names = [one.name for one in chosen]

        def model_of(theta: Array) -> VehicleModel:
            changes = {
                name: number(values, name) + scales[name] * float(change)
                for name, change in zip(names, theta, strict=True)
            }
            return subject.model(changes, battery=self._knows_current)

        resistance = number(values, "battery_internal_resistance") if self._knows_current else 0.0

        def latency_of(theta: Array) -> float:
            known = number(values, LATENCY)
            return known + scales[LATENCY] * float(theta[names.index(LATENCY)]) if LATENCY in names else known

        return Residuals(shots, model_of, len(chosen), subject.mounting, resistance, latency_of)

    def _unknowns(self, chosen: Sequence[Parameter]) -> Array:
        return np.concatenate([[self._theta.get(one.name, 0.0) for one in chosen], self._of_logs])

    def scale_thrust(self, chosen: Sequence[Parameter]) -> None:
        """Scale the starting thrust, or mass, of a rotorcraft to match the measured specific force.

        The search takes small steps, and might attribute a thrust error of a factor of several to sensor errors.
        """
        name = next((one.name for one in chosen if is_scale(one.name)), "")
        if not name or self._subject.forces.VEHICLE_CLASS is not VehicleClass.ROTORCRAFT:
            return
        before, scale = number(self._subject.values, name), self._scales[name]
        measured = float(np.median(self.shots.accel[:, :, 2]))
        for _ in range(_SCALINGS):
            try:
                (imu, _) = self._residuals(chosen, self.shots).readings(self._unknowns(chosen), self._local)
            except (StateDivergedError, ParameterError):
                return
            ratio = min(max(measured / float(np.median(imu[:, 5])), 0.5), 2.0)
            value = (before + scale * self._theta.get(name, 0.0)) * (1.0 / ratio if name == "mass" else ratio)
            self._theta[name] = (value - before) / scale

    def start(self, chosen: Sequence[Parameter]) -> Estimate:
        """Information about parameters at their values in the vehicle's file.

        Raises:
            FlightLogError: the model cannot fly from there.
        """
        return self._search(chosen).information()

    def _search(self, chosen: Sequence[Parameter]) -> ResidualSearch:
        problem = self._residuals(chosen, self.shots)
        # The search stays clear of the limits, at which some values are of no use.
        least, most = (
            [(getattr(one, side) - number(self._subject.values, one.name)) / self._scales[one.name] for one in chosen]
            for side in ("minimum", "maximum")
        )
        # Outputs before the warm-up are not at hand.
        most = [
            min(one, self.shots.warm_up * self.shots.step_s / self._scales[LATENCY]) if each.name == LATENCY else one
            for one, each in zip(most, chosen, strict=True)
        ]
        rest = np.full(len(self._of_logs), math.inf)
        bounds = (np.concatenate([least, -rest]), np.concatenate([most, rest]))
        try:
            return ResidualSearch(problem, self._unknowns(chosen), self._local, bounds)
        except StateDivergedError as error:
            raise FlightLogError(
                f"the vehicle '{self._subject.name}' cannot fly the outputs of the logs: {error}; are they those of "
                "another vehicle, or in another order?"
            ) from error

    def fit(self, chosen: Sequence[Parameter]) -> Estimate:
        """Fit these parameters."""
        estimate = fit(self._search(chosen), self._progress)
        self._theta = dict(zip([one.name for one in chosen], estimate.theta.tolist(), strict=False))
        self._of_logs, self._local = estimate.theta[len(chosen) :], estimate.local
        return estimate

    def shown(
        self, chosen: Sequence[Parameter], estimate: Estimate, colour: float, limit: float, refused: list[Refused]
    ) -> list[Parameter]:
        """The parameters that the logs show; the others are added to `refused`.

        One after the other, the parameter with the greatest relative error is left out, until all are below the
        `limit`. `colour` multiplies white errors; 0: the errors follow from the scores of the stretches.
        """
        left = list(range(len(chosen)))
        if colour == 0.0:
            self._check_fit(estimate)
            left = [index for index in left if not self._is_disturbed(chosen[index].name, estimate, refused)]
        rest = list(range(len(chosen), len(estimate.theta)))
        while left:
            own = estimate.part(left + rest)
            covariance = covariance_of(own) if colour == 0.0 else white_covariance(own) * colour**2
            count = len(left)
            errors = np.sqrt(np.diag(covariance))[:count]
            sizes = np.array(
                [
                    max(least_size_of(chosen[index].name), abs(self._relative(chosen[index], estimate.theta[index])))
                    for index in left
                ]
            )
            shares = errors / sizes
            worst = int(np.argmax(shares))
            if shares[worst] <= limit:
                break
            correlations = np.abs(covariance[worst, :count]) / (errors * errors[worst])
            correlations[worst] = 0.0
            name = chosen[left[worst]].name
            reason = f"its standard error would be {_percent(shares[worst])} of its value"
            partner = int(np.argmax(correlations))
            if count > 1 and correlations[partner] > 0.95:
                reason += f", as the logs do not tell it from {chosen[left[partner]].name}"
            refused.append(Refused(name, reason, MANOEUVRES.get(name, "")))
            del left[worst]
        return [chosen[index] for index in left]

    def _check_fit(self, estimate: Estimate) -> None:
        """Refuse a model that does not fly as the vehicle did.

        Raises:
            FlightLogError: it leaves most of a rate unexplained.
        """
        if self.shots.rates is not None:
            return
        shares = estimate.deviations[:3] / np.maximum(self.shots.gyro.reshape(-1, 3).std(axis=0), 1e-12)
        worst = int(np.argmax(shares))
        if shares[worst] > LARGEST_UNEXPLAINED:
            raise FlightLogError(
                f"the model of '{self._subject.name}' leaves {100.0 * min(1.0, shares[worst]):.0f} % of the "
                f"{READINGS[worst]} unexplained, at most {100.0 * LARGEST_UNEXPLAINED:.0f} % allowed: has the vehicle "
                "crashed, or are the outputs those of another vehicle, or in another order?"
            )

    def _is_disturbed(self, name: str, estimate: Estimate, refused: list[Refused]) -> bool:
        """Whether disturbances, not the outputs, make up too much of the motion that shows a parameter."""
        reading = reading_of(name)
        if reading is None:
            return False
        measured = np.concatenate([self.shots.gyro, self.shots.accel], axis=2)[:, :, reading]
        unexplained = float(estimate.deviations[reading]) ** 2 - white_variance(measured)
        # Thrust and mass scale the whole reading, also that of a hover; the others its changes.
        size = math.sqrt(float((measured**2).mean())) if is_scale(name) else float(measured.std())
        share = math.sqrt(max(0.0, unexplained)) / max(size, 1e-12)
        if share <= LARGEST_DISTURBANCE:
            return False
        reason = f"gusts and vibration make up {100.0 * share:.0f} % of the {READINGS[reading]}, at most "
        reason += f"{100.0 * LARGEST_DISTURBANCE:.0f} % allowed"
        refused.append(Refused(name, reason, MANOEUVRES.get(name, "")))
        return True

    def _relative(self, one: Parameter, theta: float) -> float:
        """Value over its size in the file."""
        return number(self._subject.values, one.name) / self._scales[one.name] + float(theta)

    def tested(self, chosen: Sequence[Parameter], estimate: Estimate, shots: Shots) -> HeldOut:
        """Fly the stretches that took no part, with the vehicle before and after."""
        after = self._flown(chosen, estimate.theta, estimate.deviations, shots)
        theta = estimate.theta.copy()
        theta[: len(chosen)] = 0.0
        before = self._flown(chosen, theta, estimate.deviations, shots)
        return HeldOut(shots, shots.measured, before, after)

    def _flown(self, chosen: Sequence[Parameter], theta: Array, deviations: Array, shots: Shots) -> tuple[Array, Array]:
        """Readings of the model, from the states at the starts that fit it best."""
        problem = self._residuals(chosen, shots)
        problem.deviations = deviations.copy()
        search = ResidualSearch(problem, theta, np.zeros((len(shots), LOCALS)), (theta, theta))
        search.settle()
        return problem.modelled(theta, search.local)


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %" if share < 10.0 else "more than ten times"

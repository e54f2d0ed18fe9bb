"""Trim: attitude and inputs of steady flight, straight or in a turn, level, climbing or descending.

Beard and McLain, Small Unmanned Aircraft, section 5.3 and appendix F: in still air, given the airspeed V, the
flight-path angle gamma and the radius R of the turn, the state moves as

    position' = (V cos gamma cos chi, V cos gamma sin chi, -V sin gamma),   chi' = psi' = V cos gamma / R
    phi' = theta' = 0,   p' = q' = r' = 0,   (p, q, r) = psi' (-sin theta, sin phi cos theta, cos phi cos theta)

Unknown are the Euler angles and the inputs. Two things differ from the book's search over alpha, beta and phi. Forces
and moments are solved together with the climb angle, so theta = alpha + gamma, which holds for wings level only, is not
assumed. The remaining freedom (sideslip) is fixed by turn coordination: no force along body y. This applies to
both multirotors and aeroplanes; a hovering multirotor heads north.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rosflight_py_sim.ground.extras import missing_extra
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.physics.rotations import quaternion_from_euler, rotate_to_body
from rosflight_py_sim.physics.steady_model import Array, SteadyModel

CONVERGED = 1e-9
"""Largest residual of a trimmed state: forces over weight, angular accelerations in rad/s^2."""

STEEPEST = math.radians(85.0)
"""Largest bank, pitch and crab angle in the search: Euler angles are singular at 90 degrees."""

AT_LIMIT = 1e-3
"""Share of an input's range within which it counts as at its limit (the search stays inside)."""

_STARTING_INCIDENCES = tuple(math.radians(angle) for angle in (0.0, 3.0, -3.0, 8.0, 15.0))
_NO_ACCELERATIONS = 6 * (0.0,)
_ANGLES = ("bank", "pitch", "crab angle")
_DOWNWARD = 2
_UNMET = ("forward", "to the right", "downward", "in roll", "in pitch", "in yaw", "of side force", "in heading")


class TrimError(ParameterError):
    """Flight condition that the vehicle cannot hold; the text names the condition and what limits it."""


@dataclass(frozen=True)
class FlightCondition:
    """Flight condition: angles in rad, radius in m (inf for straight flight, positive to the right), altitude in m.

    The altitude counts from the origin of the inertial frame. Raises ParameterError for a value out of range.
    """

    airspeed: float
    flight_path_angle: float = 0.0
    turn_radius: float = math.inf
    altitude: float = 0.0

    def __post_init__(self) -> None:
        for name, value, sound, allowed in (
            ("airspeed", self.airspeed, 0.0 <= self.airspeed < math.inf, "at least 0 m/s, finite"),
            ("flight-path-angle", self.flight_path_angle, abs(self.flight_path_angle) <= STEEPEST, "-85 to 85 degrees"),
            ("turn-radius", self.turn_radius, abs(self.turn_radius) > 0.0, "metres other than 0, or inf"),
            ("altitude", self.altitude, math.isfinite(self.altitude), "metres, finite"),
        ):
            if not sound:
                given = math.degrees(value) if name == "flight-path-angle" else value
                raise ParameterError(f"{name} {given:g} given; allowed: {allowed}")

    @property
    def turn_rate(self) -> float:
        """Rate of the course (rad/s), positive to the right."""
        return self.airspeed * math.cos(self.flight_path_angle) / self.turn_radius

    @property
    def velocity_ned(self) -> Array:
        """Velocity (3,) on a northward course, m/s."""
        climb = self.flight_path_angle
        return self.airspeed * np.array([math.cos(climb), 0.0, -math.sin(climb)])

    def __str__(self) -> str:
        """The condition as text, for errors."""
        return (
            f"airspeed {self.airspeed:g} m/s, flight-path angle {math.degrees(self.flight_path_angle):g} deg, "
            f"turn radius {self.turn_radius:g} m, altitude {self.altitude:g} m"
        )


@dataclass(frozen=True)
class Trim:
    """A trimmed state.

    Attributes:
        condition: the flight condition requested.
        truth: (19,) on a northward course above the origin; its accelerations are those of the turn.
        inputs: (n,) in the order of the model's inputs.
        euler: roll, pitch, yaw, rad; yaw is the angle from the course to the nose.
        alpha, beta: angle of attack and sideslip angle, rad (eq. 2.8); 0 without airspeed.
        residual: largest residual of the equations, see CONVERGED.
    """

    condition: FlightCondition
    truth: Array
    inputs: Array
    euler: tuple[float, float, float]
    alpha: float
    beta: float
    residual: float


def trim(model: SteadyModel, condition: FlightCondition) -> Trim:
    """The steady flight of `model` in `condition`.

    The search starts from several angles of attack; where a wing can carry the vehicle both unstalled and stalled, the
    solution with the smallest angle of attack is returned.

    Raises:
        TrimError: the condition cannot be held; the text gives what limits it.
        ParameterError: scipy is not installed; the text names the extra.
    """
    equations = _SteadyFlight(model, condition)
    incidences = _STARTING_INCIDENCES if condition.airspeed > 0.0 else (0.0,)
    starts = [equations.start(incidence, suited=True) for incidence in incidences]
    starts += [equations.start(0.0, suited=False)]
    found = [_least(equations.residual, start, equations) for start in starts]
    trimmed = [equations.result(one.x) for one in found if np.max(np.abs(one.fun)) < CONVERGED]
    if not trimmed:
        nearest = min(found, key=lambda one: float(one.cost))
        raise TrimError(f"{condition}: cannot be held; {equations.obstacle(nearest.x)}")
    # Of solutions that agree to rounding, the first counts.
    return min(trimmed, key=lambda one: round(abs(one.alpha), 6))


def _least(residual: Callable[[Array], Array], start: Array, equations: _SteadyFlight) -> Any:
    """scipy's solution from `start` for the last unknowns of the equations, as many as `start` has."""
    try:
        from scipy.optimize import least_squares  # imported here because it takes a quarter of a second
    except ImportError as error:
        raise missing_extra("the search for a trim", error, "trim") from error

    last = slice(-len(start), None)
    return least_squares(
        residual,
        start,
        bounds=(equations.lower[last], equations.upper[last]),
        x_scale=equations.scale[last],
        jac="3-point",
        ftol=1e-15,
        xtol=1e-15,
        gtol=1e-15,
        max_nfev=100,
    )


class _SteadyFlight:
    """Equations of steady flight, in roll, pitch, yaw and the inputs."""

    def __init__(self, model: SteadyModel, condition: FlightCondition) -> None:
        self.model = model
        self.condition = condition
        angles = 3 * [STEEPEST]
        self.lower = np.array([-a for a in angles] + [i.minimum for i in model.inputs])
        self.upper = np.array(angles + [i.maximum for i in model.inputs])
        self.scale = np.array([0.1, 0.1, 0.1, *(0.1 * (i.maximum - i.minimum) for i in model.inputs)])
        self._velocity_ned = tuple(condition.velocity_ned.tolist())
        self._turn_rate = condition.turn_rate
        # The turn's acceleration: velocity turned by the course rate.
        self._eastward = self._turn_rate * self._velocity_ned[0]
        self._weight = max(model.gravity, 1e-3)

    def start(self, incidence: float, suited: bool) -> Array:
        """Start of a search: the bank of a coordinated level turn, this angle of attack, and the inputs.

        `suited` inputs minimise the residual at this attitude. Without them the first step follows the moments and may
        leave the angle of attack far off.
        """
        lateral = self.condition.velocity_ned[0] * self.condition.turn_rate
        pitch = incidence + self.condition.flight_path_angle if self.condition.airspeed > 0.0 else 0.0
        attitude = np.clip([math.atan2(lateral, self._weight), pitch, 0.0], -0.99 * STEEPEST, 0.99 * STEEPEST)
        inputs = np.array([i.start for i in self.model.inputs])
        if suited:
            inputs = _least(lambda x: self.residual(np.append(attitude, x)), inputs, self).x
        return np.append(attitude, inputs)

    def truth(self, unknowns: Array) -> Array:
        """Truth vector (19,), without accelerations, at these angles."""
        roll, pitch, yaw = unknowns[:3].tolist()
        quaternion = quaternion_from_euler(roll, pitch, yaw)
        velocity = rotate_to_body(*quaternion, *self._velocity_ned)
        level, turn = math.cos(pitch), self._turn_rate
        rates = -math.sin(pitch) * turn, math.sin(roll) * level * turn, math.cos(roll) * level * turn
        return np.array([0.0, 0.0, -self.condition.altitude, *quaternion, *velocity, *rates, *_NO_ACCELERATIONS])

    def residual(self, unknowns: Array) -> Array:
        """Accelerations in excess of the turn's, body axes, over g; angular ones in rad/s^2; side force over weight.

        In hover also the heading (rad), which no force determines.
        """
        truth, weight = self.truth(unknowns), self._weight
        north, east, down, *angular = self.model.derivative(truth, unknowns[3:]).tolist()[7:]
        w, x, y, z = truth[3:7].tolist()
        excess = rotate_to_body(w, x, y, z, north / weight, (east - self._eastward) / weight, down / weight)
        side = float(truth[14]) - rotate_to_body(w, x, y, z, 0.0, 0.0, self.model.gravity)[1]
        heading = 0.0 if self.condition.airspeed > 0.0 else unknowns[2]
        return np.array([*excess, *angular, side / weight, heading])

    def result(self, unknowns: Array) -> Trim:
        truth = self.truth(unknowns)
        self.model.derivative(truth, unknowns[3:])
        u, v, w = (float(component) for component in truth[7:10])
        roll, pitch, yaw = (float(angle) for angle in unknowns[:3])
        return Trim(
            condition=self.condition,
            truth=truth,
            inputs=np.array(unknowns[3:]),
            euler=(roll, pitch, yaw),
            alpha=math.atan2(w, u),
            beta=math.atan2(v, math.hypot(u, w)),
            residual=float(np.max(np.abs(self.residual(unknowns)))),
        )

    def obstacle(self, unknowns: Array) -> str:
        """Reason why the best solution found is not steady flight."""
        unknowns_named = [*((name, True) for name in _ANGLES), *((i.name, i.is_angle) for i in self.model.inputs)]
        near = AT_LIMIT * (self.upper - self.lower)
        stopped: dict[str, list[str]] = {}
        for (name, is_angle), value, margin, *limits in zip(
            unknowns_named, unknowns, near, self.lower, self.upper, strict=True
        ):
            for limit in limits:
                if abs(value - limit) < margin:
                    text = f"{math.degrees(limit):.4g} deg" if is_angle else f"{limit:.4g}"
                    stopped.setdefault(text, []).append(name)
        stops = [f"{', '.join(names)} at the limit of {limit}" for limit, names in stopped.items()]
        residual = self.residual(unknowns)
        worst = int(np.argmax(np.abs(residual)))
        if not stops and worst == _DOWNWARD and residual[worst] > 0.0:
            stops.append("the lift does not suffice")
        unit = "rad/s^2" if 3 <= worst < 6 else "g"
        alpha = math.degrees(self.result(unknowns).alpha)
        return (
            f"{' and '.join(stops) or 'no input is at its limit'}; the best state found, at an angle of attack of "
            f"{alpha:.1f} deg, still accelerates by {residual[worst]:.3g} {unit} {_UNMET[worst]}"
        )

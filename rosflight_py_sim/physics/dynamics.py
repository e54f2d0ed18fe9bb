"""A vehicle's motion: rigid body, gravity and ground contact, stepped with a given wrench."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.physics.contact import (
    ANCHORED,
    DOES_NOT_ROLL,
    EAST,
    NORTH,
    POINT_SIZE,
    ROLLING,
    deepest_penetration,
    fastest_contact_rate,
    update_anchors,
)
from rosflight_py_sim.physics.rigid_body import derivative
from rosflight_py_sim.physics.truth_step import (
    LARGEST_BODY_RATE,
    LARGEST_POSITION,
    LARGEST_VELOCITY,
    QUANTITIES,
    advance,
    load_state,
    store_state,
)

FEET_AND_ROTOR_TIPS: list[float] = [
    *(0.2, 0.2, 0.1, 0.2, -0.2, 0.1, -0.2, 0.2, 0.1, -0.2, -0.2, 0.1),
    *(0.2, 0.2, -0.1, 0.2, -0.2, -0.1, -0.2, 0.2, -0.1, -0.2, -0.2, -0.1),
]

INITIAL_POSITION = Parameter(
    "initial_position",
    [0.0, 0.0],
    "where the vehicle stands at the start: north and east of the origin",
    "m",
    minimum=-LARGEST_POSITION,
    maximum=LARGEST_POSITION,
    length=2,
    read_only=True,
)

DYNAMICS_PARAMETERS = ParameterTable(
    Parameter("mass", 3.5, "mass of the vehicle", "kg", minimum=0.0, above_minimum=True, required=True),
    Parameter("Jxx", 0.08, "inertia about the body x axis", "kg m^2", minimum=0.0, above_minimum=True, required=True),
    Parameter("Jyy", 0.08, "inertia about the body y axis", "kg m^2", minimum=0.0, above_minimum=True, required=True),
    Parameter("Jzz", 0.12, "inertia about the body z axis", "kg m^2", minimum=0.0, above_minimum=True, required=True),
    Parameter("Jxy", 0.0, "element xy of the inertia matrix (the matrix takes it as it is, without a minus)", "kg m^2"),
    Parameter("Jxz", 0.0, "element xz of the inertia matrix (the matrix takes it as it is, without a minus)", "kg m^2"),
    Parameter("Jyz", 0.0, "element yz of the inertia matrix (the matrix takes it as it is, without a minus)", "kg m^2"),
    Parameter("gravity", 9.81, "acceleration of free fall", "m/s^2", minimum=0.0),
    INITIAL_POSITION,
    Parameter("ground_contact", True, "whether there is ground to stand on"),
    Parameter("ground_altitude", 0.0, "height of the ground above the origin of the inertial frame", "m"),
    Parameter(
        "contact_points",
        FEET_AND_ROTOR_TIPS,
        "points that touch the ground, x y z after x y z in body axes from the centre of mass; "
        "the default is a small multirotor's four feet and four rotor tips",
        "m",
    ),
    Parameter(
        "contact_frequency",
        20.0,
        "stiffness of each point, as the natural frequency of the vehicle bouncing on four of them",
        "Hz",
        minimum=1.0,
        maximum=200.0,
    ),
    Parameter(
        "contact_damping_ratio",
        0.7,
        "damping of each point, as the damping ratio of that bounce",
        minimum=0.0,
        maximum=2.0,
    ),
    Parameter("contact_friction", 0.6, "Coulomb friction coefficient of the points on the ground", minimum=0.0),
    Parameter(
        "contact_rolling_friction",
        [],
        "friction coefficient of each point along body x, for wheels; points beyond the end of the list do not roll",
        minimum=0.0,
    ),
)


class StateDivergedError(ArithmeticError):
    """The state stopped being finite, or left what a vehicle can do; `quantity` says which part, `value` its value."""

    def __init__(self, quantity: str, value: float) -> None:
        super().__init__(f"{quantity} has diverged: {value:g}")
        self.quantity = quantity
        self.value = value


class VehicleDynamics:
    """Integrates a rigid vehicle on and above flat ground.

    The inertia matrix is J = [[Jxx, Jxy, Jxz], [Jxy, Jyy, Jyz], [Jxz, Jyz, Jzz]]: the parameters are the elements of
    the matrix itself, as in ROSflight's standalone_dynamics. Beard and McLain write -Jxz there: a Jxz from the book
    changes sign.

    `values` holds DYNAMICS_PARAMETERS. Raises ParameterError for an inertia matrix that is not positive definite and
    for contact points that are incomplete or on which the vehicle cannot come to rest.
    """

    truth: NDArray[np.float64]
    """(19,) truth state, see the package; changed in place by `step`."""
    initial_truth: NDArray[np.float64]
    """(19,) the vehicle at rest on the ground at `initial_position`, settled (at height 0 where there is no ground)."""

    def __init__(self, values: Values) -> None:
        mass = number(values, "mass")
        inertia = inertia_matrix(values)
        self._points = contact_points(values)
        stiffness = mass * (2.0 * math.pi * number(values, "contact_frequency")) ** 2 / 4.0
        damping = 2.0 * number(values, "contact_damping_ratio") * math.sqrt(stiffness * mass / 4.0)
        self._ground = np.array(
            [stiffness, damping, number(values, "contact_friction"), number(values, "ground_altitude")]
        )
        standing = len(self._points) > 0
        radius = float(np.max(np.linalg.norm(self._points[:, :3], axis=1))) if standing else 0.0
        rate = fastest_contact_rate(mass, inertia, self._points, stiffness, damping) if standing else 0.0
        self._body = np.array(
            [mass, number(values, "gravity"), *inertia.ravel(), *np.linalg.inv(inertia).ravel(), radius, rate]
        )
        self._work = np.zeros((6, 13))
        self._wrench = np.zeros(6)
        self.truth = np.zeros(19)
        self.truth[3] = 1.0
        self._resting_depth = 0.0
        if standing:
            self._settle(values)
        self._move_to(np.array(values["initial_position"], dtype=np.float64))
        self.initial_truth = self.truth.copy()

    def step(self, wrench: NDArray[np.float64], dt: float) -> None:
        """Advance by dt (s, > 0) with `wrench` (6,) held: N and N m in body axes, without gravity and contact.

        Accelerations are those of the new state under the same wrench. Raises StateDivergedError and keeps the last
        good state when a quantity, or the wrench, is not finite, or beyond the limits of `truth_step.py`.
        """
        self._wrench[:] = wrench
        diverged = advance(self.truth, self._wrench, dt, self._body, self._points, self._ground, self._work)
        if diverged:
            self._fail(diverged)

    def set_truth(self, truth: NDArray[np.float64]) -> None:
        """Take over a state (19,); its accelerations are computed anew, under the wrench of the last step.

        A vehicle that is deeper in the ground than it rests is lifted to that depth, so that it does not shoot up.
        Raises ValueError for a state that `checked_truth` refuses; nothing is changed then.
        """
        new = checked_truth(truth)
        self.truth[:] = new
        self._lift()
        self._points[:, ANCHORED] = 0.0
        self._refresh()

    def start_over(self) -> None:
        """Go back to `initial_truth`, under no wrench."""
        self._wrench[:] = 0.0
        self.set_truth(self.initial_truth)

    def adopt(self, other: VehicleDynamics) -> None:
        """Go on from the state of another vehicle, of the same kind or with changed parameters."""
        self._wrench[:] = other._wrench
        self.truth[:] = other.truth
        self._lift()
        if np.array_equal(self._points[:, :3], other._points[:, :3]):
            self._points[:, NORTH:ROLLING] = other._points[:, NORTH:ROLLING]
        else:
            self._points[:, ANCHORED] = 0.0
        self._refresh()

    def _refresh(self) -> None:
        """Anchor what touches the ground and compute the accelerations."""
        load_state(self.truth, self._work[0])
        touching = len(self._points) > 0
        if touching:
            update_anchors(self._work[0], self._points, self._ground)
        derivative(self._work[0], self._wrench, self._body, touching, self._points, self._ground, self._work[2])
        diverged = store_state(self._work[0], self._work[2], self.truth)
        if diverged:
            self._fail(diverged)

    def _fail(self, diverged: int) -> None:
        name, first, last = QUANTITIES[diverged]
        if name in ("force", "moment"):
            part = self._wrench[first:last]
        elif diverged >= 5:
            part = self._work[2, first - 6 : last - 6]
        else:
            part = self._work[0, first:last]
        worst = float(part[np.argmax(np.where(np.isfinite(part), np.abs(part), math.inf))])
        self._points[:, ANCHORED] = 0.0
        self._wrench[:] = 0.0
        raise StateDivergedError(name, worst)

    def _lift(self) -> None:
        if len(self._points) == 0:
            return
        load_state(self.truth, self._work[0])
        depth = deepest_penetration(self._work[0], self._points, self._ground)
        if depth > 2.0 * self._resting_depth + 1e-6:
            self.truth[2] -= depth - self._resting_depth

    def _settle(self, values: Values) -> None:
        """Let the vehicle come to rest from level, just touching: that is the initial state."""
        load_state(self.truth, self._work[0])
        self.truth[2] -= deepest_penetration(self._work[0], self._points, self._ground)
        self._refresh()
        still = np.zeros(6)
        for _ in range(12000):
            self.step(still, 0.005)
            if np.max(np.abs(self.truth[7:19])) < 1e-10:
                break
        else:
            raise ParameterError(
                f"parameter 'contact_points': {values['contact_points']!r} given; allowed: points on which the vehicle "
                "comes to rest within a minute"
            )
        self.truth[7:13] = 0.0
        load_state(self.truth, self._work[0])
        self._resting_depth = max(0.0, deepest_penetration(self._work[0], self._points, self._ground))

    def _move_to(self, position: NDArray[np.float64]) -> None:
        """Shift the vehicle, and what it is anchored to, to another place (2,) on the ground."""
        self._points[:, NORTH : EAST + 1] += position - self.truth[:2]
        self.truth[:2] = position
        self._refresh()


def checked_truth(truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """A copy of a truth state (19,), its quaternion normalised.

    Raises ValueError with the reason for a state that is not finite, beyond the limits of `truth_step.py`, or whose
    quaternion is 1 % or more off unit length.
    """
    new = np.array(truth, dtype=np.float64)
    if new.shape != (19,):
        raise ValueError(f"a truth state has 19 elements, {new.shape} given")
    limits = {"position": LARGEST_POSITION, "velocity": LARGEST_VELOCITY, "body rate": LARGEST_BODY_RATE}
    for name, first, last in QUANTITIES[1:5]:
        part = new[first:last]
        if not np.all(np.isfinite(part)):
            raise ValueError(f"{name} is not finite: {part.tolist()}")
        if np.max(np.abs(part)) > limits.get(name, math.inf):
            raise ValueError(f"{name} is beyond {limits[name]:g}: {part.tolist()}")
    norm = float(np.linalg.norm(new[3:7]))
    if abs(norm - 1.0) >= 0.01:
        raise ValueError(f"the quaternion has length {norm:.6g}; allowed: 1, at most 1 % off")
    new[3:7] /= norm
    return new


_INERTIA = ("Jxx", "Jyy", "Jzz", "Jxy", "Jxz", "Jyz")


def inertia_matrix(values: Values) -> NDArray[np.float64]:
    """Inertia matrix (3, 3), kg m^2, from Jxx ... Jyz.

    Raises ParameterError when it is not positive definite. That no principal moment may exceed the sum of the others is
    not asked for: published vehicles, ROSflight's anaconda among them, break it slightly.
    """
    xx, yy, zz, xy, xz, yz = (number(values, name) for name in _INERTIA)
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    principal = np.linalg.eigvalsh(matrix)
    given = ", ".join(f"{name} {number(values, name):g}" for name in _INERTIA)
    if principal[0] <= 0.0:
        raise ParameterError(
            f"parameters of inertia: {given} kg m^2 given; allowed: a positive definite matrix "
            f"(its smallest principal moment is {principal[0]:g})"
        )
    return matrix


def contact_points(values: Values) -> NDArray[np.float64]:
    """Contact points (n, 7) of `contact.py`, none without ground contact; ParameterError for a broken list."""
    if not values["ground_contact"]:
        return np.zeros((0, POINT_SIZE))
    flat = np.array(values["contact_points"], dtype=np.float64)
    if len(flat) == 0 or len(flat) % 3 != 0:
        raise ParameterError(
            f"parameter 'contact_points': {len(flat)} numbers given; allowed: x y z for each point, at least one point"
        )
    points = np.zeros((len(flat) // 3, POINT_SIZE))
    points[:, :3] = flat.reshape(-1, 3)
    rolling = np.array(values["contact_rolling_friction"], dtype=np.float64)
    if len(rolling) > len(points):
        raise ParameterError(
            f"parameter 'contact_rolling_friction': {len(rolling)} numbers given; allowed: at most {len(points)}, one "
            "for each of contact_points"
        )
    points[:, ROLLING] = DOES_NOT_ROLL
    points[: len(rolling), ROLLING] = rolling
    return points

"""Rigid-body motion of a vehicle with gravity, added mass and contact, stepped under a given wrench."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.kernels.chain import ChainLink, copy_numbers
from rosflight_py_sim.kernels.jit import bound
from rosflight_py_sim.physics.brakes import BRAKE_PARAMETERS, Brakes
from rosflight_py_sim.physics.contact import (
    ANCHOR_SIZE,
    DOES_NOT_ROLL,
    EAST,
    NORTH,
    ROLLING,
    Surface,
    deepest_penetration,
    release,
    update_anchors,
)
from rosflight_py_sim.physics.contact_points import CONTACT_PARAMETERS, contact_points, overlapped_solid
from rosflight_py_sim.physics.contact_rate import fastest_contact_rate, stiffness_and_damping
from rosflight_py_sim.physics.earth import EARTH_PARAMETERS, earth_of
from rosflight_py_sim.physics.hydrodynamics import (
    ADDED_MASS,
    HULL,
    MODES,
    RATIOS,
    SEA,
    WATER_CURRENT,
    WATER_PARAMETERS,
    water_numbers,
)
from rosflight_py_sim.physics.immersion import immersed_part
from rosflight_py_sim.physics.inertia import INERTIA_PARAMETERS, inertia_matrix
from rosflight_py_sim.physics.rigid_body import INERTIA, MASS, derivative
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.physics.solids import Solids, solids_of
from rosflight_py_sim.physics.steering import STEERING_PARAMETERS, Steering
from rosflight_py_sim.physics.surface_mix import take_pulses
from rosflight_py_sim.physics.truth_step import (
    CONTACT_RATE,
    LARGEST_BODY_RATE,
    LARGEST_POSITION,
    LARGEST_VELOCITY,
    QUANTITIES,
    SETTLING_STEP_S,
    TOO_COSTLY,
    TOO_LONG,
    Hold,
    advance,
    come_to_rest,
    load_state,
    store_state,
)
from rosflight_py_sim.physics.waves import SEA_SIZE
from rosflight_py_sim.world import WORLD, World, world_of

INITIAL_POSITION = Parameter(
    "initial_position",
    [0.0, 0.0],
    "Start position: north and east of the origin",
    "m",
    minimum=-LARGEST_POSITION,
    maximum=LARGEST_POSITION,
    length=2,
    read_only=True,
)

INITIAL_ALTITUDE = Parameter(
    "initial_altitude",
    0.0,
    "Start height of the centre of mass above the origin if starts_on_ground is false; overridden by a world's "
    "underwater start if use_world_start is true",
    "m",
    minimum=-LARGEST_POSITION,
    maximum=LARGEST_POSITION,
    read_only=True,
)

INITIAL_HEADING = Parameter(
    "initial_heading",
    0.0,
    "Start heading, clockwise from north; relative to the world's start as initial_position is",
    "deg",
    minimum=-360.0,
    maximum=360.0,
    read_only=True,
)

# By the number of earlier wrenches that each uses.
_HOLDS = ("zero_order", "first_order", "second_order")

_BODY_PARAMETERS = INERTIA_PARAMETERS + ParameterTable(
    INITIAL_POSITION.overridden("relative to the world's start if use_world_start is true and the world defines one"),
    INITIAL_ALTITUDE,
    INITIAL_HEADING,
    Parameter("use_world_start", True, "Whether the vehicle starts relative to the world's start", read_only=True),
    Parameter("starts_on_ground", True, "Start at rest on the ground", read_only=True),
    Parameter(
        "wrench_hold",
        "zero_order",
        "Wrench over a step: zero_order holds it constant; first_order extrapolates it linearly from the last two, "
        "second_order by a parabola from the last three",
        choices=_HOLDS,
    ),
)

DYNAMICS_PARAMETERS = (
    EARTH_PARAMETERS
    + _BODY_PARAMETERS
    + WATER_PARAMETERS
    + ParameterTable(WORLD)
    + CONTACT_PARAMETERS
    + STEERING_PARAMETERS
    + BRAKE_PARAMETERS
)

SETTLING_S = 60.0
SETTLING_EFFORT = 2_000_000
"""Limits of simulated time (s) and effort for a vehicle to come to rest on the ground. The effort is the number of
integration steps times the number of points plus 8: the body itself costs as much as 8 points. The vehicles of this
package need 2.5 s and 40,000; the limit is a quarter of a second of computing with compiled kernels.
"""

STANDING_S = 10.0
"""Limit of simulated time (s) for a vehicle at its start to come to rest under the first wrench."""

_NO_SLIDING = 1e6
_STILL, _CALM = np.zeros(3), np.zeros(SEA_SIZE)


class StateDivergedError(ArithmeticError):
    """State that is not finite or beyond plausible limits; `quantity` names the part, `value` its value."""

    def __init__(self, quantity: str, value: float) -> None:
        super().__init__(f"{quantity} has diverged: {value:g}")
        self.quantity = quantity
        self.value = value


class VehicleDynamics:
    """Integrates a rigid vehicle in air or water, on and above ground, between walls and objects.

    The inertia matrix is J = [[Jxx, Jxy, Jxz], [Jxy, Jyy, Jyz], [Jxz, Jyz, Jzz]]: the parameters are the elements of
    the matrix itself, as in ROSflight's standalone_dynamics. Beard and McLain write -Jxz there: a Jxz from the book
    changes sign. Added mass is additional, see `rigid_body.py`.

    `values` contains DYNAMICS_PARAMETERS. Raises ParameterError for an inertia matrix that is not positive definite,
    for an added mass that is not symmetric and positive semidefinite,
    for contact points that are incomplete, on which the vehicle does not come to rest within SETTLING_S and
    SETTLING_EFFORT, or on which its motion is faster than LARGEST_CONTACT_RATE of `contact_rate.py`, for an invalid
    world, for a start inside an object, which the error names, and for a start with a state beyond the limits of
    `truth_step.py`.
    """

    truth: NDArray[np.float64]
    """(19,) truth state, see the package; changed in place by `step`."""
    initial_truth: NDArray[np.float64]
    """(19,) the vehicle at its start: settled on the ground, or level at its initial altitude."""
    steering: Steering
    """The steered wheels; they keep their angle until the next call of `steering.follow`."""
    brakes: Brakes
    """The wheels' brakes; they keep their command until the next call of `brakes.follow`."""

    def __init__(self, values: Values) -> None:
        mass = number(values, "mass")
        inertia = inertia_matrix(values)
        world = world_of(values)
        self._points = contact_points(values)
        self.steering = Steering(values, self._points)
        self.brakes = Brakes(values, self._points)
        rate = fastest_contact_rate(values)
        radius = float(np.max(np.linalg.norm(self._points[:, :3], axis=1), initial=0.0))
        stiffness, damping = stiffness_and_damping(values)
        self._surface = Surface(
            stiffness=stiffness, damping=damping, friction=number(values, "contact_friction"), radius=radius
        )
        self._body = np.array([mass, *inertia.ravel(), *np.linalg.inv(inertia).ravel(), rate])
        self._earth = earth_of(values)
        self._water = water_numbers(values)
        self._work = np.zeros((8, 13))
        self._wrench, self._felt = np.zeros(6), np.zeros(6)
        self._hold = Hold(order=_HOLDS.index(cast("str", values["wrench_hold"])), differences=0, last_dt=0.0)
        self.truth = np.zeros(19)
        self.truth[3] = 1.0
        self._resting_depth = 0.0
        self._stands = self._at_start = False
        self._anchors = np.zeros((0, len(self._points), ANCHOR_SIZE))
        self._given = _BODY_PARAMETERS.given(values)
        with self._divergence_refused():
            self._start(values, world, solids_of(values, world))
        self._hold.differences, self._at_start = 0, self._stands
        self.initial_truth = self.truth.copy()

    @contextmanager
    def _divergence_refused(self) -> Iterator[None]:
        """Refuse the parameters if the state diverges while they take effect."""
        try:
            yield
        except StateDivergedError as error:
            raise ParameterError(
                f"parameters {self._given} given: {error}; allowed: values with which the state stays finite and "
                "within its limits"
            ) from error

    def _start(self, values: Values, world: World, solids: Solids) -> None:
        """Place the vehicle at its start with only the floor present, then add the other solids."""
        place = np.array([*values["initial_position"], -number(values, "initial_altitude")])  # type: ignore[misc]
        yaw = math.radians(number(values, "initial_heading"))
        if world.start is not None and values["use_world_start"]:
            yaw += world.start.yaw
            north, east, down = world.start.position_ned
            place[:2] += north, east
            place[2] = down if world.water is not None else place[2]
        self.truth[3], self.truth[6] = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
        self._stands = stands = len(self._points) > 0 and bool(values["starts_on_ground"])
        self._surround(solids.floor)
        if stands:
            self._settle(values)
            self._move_to(place[:2])
        else:
            self.truth[:3] = place
        self._surround(solids)
        self._refresh()
        overlapped = overlapped_solid(
            self._work[0], self._points, solids.without_floor if stands else solids, self._resting_depth
        )
        if overlapped:
            where = f" of the world '{world.name}'" if world.name else ""
            raise ParameterError(
                f"parameter 'initial_position': {values['initial_position']!r} given: the vehicle would start inside "
                f"the {overlapped}{where}; allowed: a free position"
            )

    def _surround(self, solids: Solids) -> None:
        """Replace the solids; anchors on those that remain are kept."""
        anchors = np.zeros((len(solids.names), len(self._points), ANCHOR_SIZE))
        release(self.truth, anchors)
        anchors[: len(self._anchors)] = self._anchors
        self._solids, self._anchors = solids, anchors
        self._models = (
            self.truth,
            self._body,
            self._earth,
            self._water,
            self._points,
            self._solids.rows,
            self._anchors,
            self._surface,
            self._work,
            self._wrench,
            self._felt,
            self._hold,
        )
        self._integrate = bound(advance, *self._models)

    def link(self, wrench: NDArray[np.float64], dt: float) -> ChainLink | None:
        """Link of a chain for steps of `dt` under the wrench in an array (6,), which works on it by its memory.

        None for a vehicle that has not moved from its start. Added mass needs `water_links` before this link.
        """
        if self._at_start:
            return None
        return ChainLink(bound(advance, *self._models, wrench, dt), lambda _, diverged: self._fail(diverged))

    def water_links(self, current_ned: NDArray[np.float64]) -> Sequence[ChainLink]:
        """Links of a chain by which added mass has the current of the calm water in an array (3,), m/s."""
        if not len(self._water):
            return []
        self._water[SEA:ADDED_MASS] = _CALM
        return [ChainLink(bound(copy_numbers, current_ned, self._water[WATER_CURRENT:SEA]))]

    def wheel_links(self, pulse_us: NDArray[np.int64]) -> Sequence[ChainLink]:
        """Links of a chain in place of `follow_outputs`, for the pulse widths of the outputs in an array (14,), us."""
        pwm_us = np.zeros(len(pulse_us))
        followed = [one.bound_follow(pwm_us) for one in (self.steering, self.brakes) if one.is_used]
        return [ChainLink(run) for run in (bound(take_pulses, pulse_us, pwm_us), *followed)] if followed else []

    def step(
        self,
        wrench: NDArray[np.float64],
        dt: float,
        current_ned: NDArray[np.float64] = _STILL,
        sea: NDArray[np.float64] = _CALM,
        push_ned: NDArray[np.float64] | None = None,
    ) -> None:
        """Advance by dt (s, > 0) under `wrench` (6,), N and N m in body axes, without gravity and contact.

        The wrench is held over the step or, as `wrench_hold` says, extrapolated from this and the last one or two.
        The first step after a new state, or after a change of parameters, always holds it. `current_ned` (3,), m/s, is
        the velocity of the water, with that of the waves; `sea` (10,) as in `waves.py`. Both affect added mass only and
        count as steady within the step. Accelerations are those of the new state under the last wrenches, see `advance`
        in `truth_step.py`.

        `push_ned` (3,), N, is the constant force of other vehicles at the centre of mass. One half of its impulse
        changes the velocity before the step and the other half after it, which gives the motion under a constant force;
        the impulses of two vehicles are equal and opposite however these turn within the step.

        A vehicle that stands at its start first comes to rest under the first wrench, within STANDING_S, so that it is
        in equilibrium with the wind from then on. If it does not come to rest, it moves off from where it stands.

        Raises StateDivergedError and keeps the last good state when a quantity, or the wrench, is not finite, or beyond
        the limits of `truth_step.py`.
        """
        if len(self._water):
            self._water[WATER_CURRENT:SEA], self._water[SEA:ADDED_MASS] = current_ned, sea
        if self._at_start:
            self._stand(wrench)
        if push_ned is None:
            self._advance(wrench, dt)
        else:
            self._advance_pushed(wrench, dt, push_ned)

    def _advance_pushed(self, wrench: NDArray[np.float64], dt: float, push_ned: NDArray[np.float64]) -> None:
        before = self.truth.copy()
        self.truth[7:13] += self._acceleration_under(push_ned) * (0.5 * dt)
        try:
            self._advance(wrench, dt)
        except StateDivergedError:
            self.truth[:] = before
            raise
        acceleration = self._acceleration_under(push_ned)
        self.truth[7:13] += acceleration * (0.5 * dt)
        self.truth[13:19] += acceleration

    def _acceleration_under(self, force_ned: NDArray[np.float64]) -> NDArray[np.float64]:
        """Linear and angular acceleration (6,), body axes, that a force (3,) at the centre of mass, NED, adds."""
        force = np.array(rotate_to_body(*self.truth[3:7].tolist(), *force_ned.tolist()))
        if not len(self._water):
            return np.concatenate([force / self._body[MASS], np.zeros(3)])
        load_state(self.truth, self._work[0])
        wet = immersed_part(self._work[0], self._water[HULL : HULL + 6], self._water[SEA:ADDED_MASS])[0]
        modes = self._water[MODES:RATIOS].reshape(6, 6)
        added: NDArray[np.float64] = (modes[:, :3] @ force / (1.0 + wet * self._water[RATIOS:])) @ modes
        return added

    def _advance(self, wrench: NDArray[np.float64], dt: float) -> None:
        diverged = self._integrate(wrench, dt)
        if diverged:
            self._fail(diverged)

    def set_truth(self, truth: NDArray[np.float64]) -> None:
        """Set the state (19,); its accelerations are recomputed under the wrench of the last step.

        A vehicle deeper in the ground than its resting depth is lifted to that depth, so that the contact springs do
        not throw it up. Raises ValueError, and changes nothing, for a state that `checked_truth` rejects or that
        overlaps a wall or an object.
        """
        new = checked_truth(truth)
        self._check_tumbling(new[10:13])
        self._lift(new)
        load_state(new, self._work[0])
        overlapped = overlapped_solid(self._work[0], self._points, self._solids.without_floor, self._resting_depth)
        if overlapped:
            raise ValueError(f"the vehicle would be inside the {overlapped}")
        self.truth[:] = new
        release(new, self._anchors)
        self._hold.differences, self._at_start = 0, False
        self._refresh()

    @property
    def follows_outputs(self) -> bool:
        """Whether outputs of the flight controller turn or brake wheels."""
        return self.steering.is_used or self.brakes.is_used

    def follow_outputs(self, pwm_us: Sequence[float]) -> None:
        """Turn and brake the wheels according to the pulse widths of the 14 outputs, us."""
        if self.steering.is_used:
            self.steering.follow(pwm_us)
        if self.brakes.is_used:
            self.brakes.follow(pwm_us)

    def start_over(self) -> None:
        """Reset to `initial_truth`, with zero wrench and straight wheels that no output brakes."""
        self._wrench[:] = 0.0
        self.steering.turn(0.0)
        self.brakes.release()
        self.set_truth(self.initial_truth)
        self._at_start = self._stands

    def adopt(self, other: VehicleDynamics) -> None:
        """Continue from the state of another vehicle, of the same kind or with changed parameters.

        Raises ParameterError if the accelerations of that state are not finite with this vehicle's parameters, or if
        contact is switched on inside a wall or an object.
        """
        self._wrench[:] = other._wrench
        self._at_start = other._at_start
        self.steering.turn(other.steering.command)
        self.brakes.adopt(other.brakes)
        self.truth[:] = other.truth
        self._lift(self.truth)
        if len(self._water) and len(other._water):
            now = slice(WATER_CURRENT, ADDED_MASS)
            self._water[now] = other._water[now]
        # The parameter `world` is fixed, so the world is the same.
        if np.array_equal(self._points[:, :3], other._points[:, :3]):
            self._anchors[:] = other._anchors
        elif len(other._points):
            release(self.truth, self._anchors)
        else:
            load_state(self.truth, self._work[0])
            overlapped = overlapped_solid(self._work[0], self._points, self._solids.without_floor, self._resting_depth)
            if overlapped:
                raise ParameterError(
                    f"parameter 'ground_contact': True given; the vehicle is inside the {overlapped}; allowed: False "
                    "until it has left"
                )
            release(self.truth, self._anchors)
        with self._divergence_refused():
            self._refresh()

    def _check_tumbling(self, rates: NDArray[np.float64]) -> None:
        """Refuse body rates (3,), rad/s, that torque-free rotation may carry beyond LARGEST_BODY_RATE.

        It keeps the energy w^T J w / 2, so that the rate reaches at most sqrt(w^T J w / smallest principal moment).
        """
        inertia = self._body[INERTIA : INERTIA + 9].reshape(3, 3)
        highest = math.sqrt(rates @ inertia @ rates / np.linalg.eigvalsh(inertia)[0])
        if highest > LARGEST_BODY_RATE:
            raise ValueError(
                f"the body rate {rates.tolist()} rad/s may reach {highest:.6g} rad/s as the vehicle tumbles; allowed: "
                f"{LARGEST_BODY_RATE:g}"
            )

    def _refresh(self) -> None:
        """Anchor the points in contact and compute the accelerations."""
        load_state(self.truth, self._work[0])
        touching = len(self._points) > 0
        contact = self._points, self._solids.rows, self._anchors, self._surface
        if touching:
            update_anchors(self._work[0], *contact)
        derivative(self._work[0], self._wrench, self._body, self._earth, self._water, touching, *contact, self._work[2])
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
        release(self.truth, self._anchors)
        self._wrench[:] = 0.0
        self._hold.differences = 0
        raise StateDivergedError(name, worst)

    def _lift(self, truth: NDArray[np.float64]) -> None:
        """Lift a vehicle that is deep in the ground to its resting depth, in its truth state (19,)."""
        if len(self._points) == 0:
            return
        depth = self._depth(truth)
        if depth > 2.0 * self._resting_depth + 1e-6:
            truth[2] -= depth - self._resting_depth

    def _depth(self, truth: NDArray[np.float64]) -> float:
        """Depth of the deepest point in the floor or ground (m)."""
        load_state(truth, self._work[0])
        return deepest_penetration(self._work[0], self._points, self._solids.floor.rows)

    def _settle(self, values: Values) -> None:
        """Compute the initial state: the vehicle settles from level attitude, just touching the ground."""
        self.truth[2] -= self._depth(self.truth)
        self._refresh()
        if exceeded := self._come_to_rest(np.zeros(6), SETTLING_S):
            raise _unsettled(values, len(self._points), exceeded)
        self._resting_depth = max(0.0, self._depth(self.truth))

    def _stand(self, wrench: NDArray[np.float64]) -> None:
        """Let the vehicle at its start come to rest under a wrench; leave it as it is where that does not happen.

        If it slides or rolls away under the wrench, it leans on its gear as if it could not, and moves off from there.
        """
        self._at_start = False
        truth, anchors, rolling = self.truth.copy(), self._anchors.copy(), self._points[:, ROLLING].copy()
        friction = self._surface.friction
        for grips in (False, True):
            if grips:
                self._surface.friction, self._points[:, ROLLING] = _NO_SLIDING, DOES_NOT_ROLL
            try:
                moves = self._come_to_rest(wrench, STANDING_S)
            except StateDivergedError:
                moves = "the limits of a state"
            if not moves:
                break
            self.truth[:], self._anchors[:] = truth, anchors
        self._surface.friction, self._points[:, ROLLING] = friction, rolling
        self._hold.differences = 0

    def _come_to_rest(self, wrench: NDArray[np.float64], limit_s: float) -> str:
        """Move under a constant wrench until nothing moves any more; return the limit that is exceeded, if any."""
        rate = float(self._body[CONTACT_RATE])
        stiffness, damping = self._surface.stiffness, self._surface.damping
        stiffest = rate * (min(rate, stiffness / damping) if damping > 0.0 else rate)
        # Far from the origin the springs turn rounding errors of the position into accelerations.
        least = max(1e-10, 4.0 * np.finfo(np.float64).eps * abs(float(self.truth[2])) * stiffest)
        steps = round(limit_s / SETTLING_STEP_S)
        status = come_to_rest(*self._models, wrench, steps, float(SETTLING_EFFORT), least)
        if status == TOO_COSTLY:
            return f"an effort of {SETTLING_EFFORT:,} (integration steps times points)"
        if status > 0:
            self._fail(status)
        return f"{limit_s:g} s" if status == TOO_LONG else ""

    def _move_to(self, position: NDArray[np.float64]) -> None:
        """Shift the vehicle and its anchors to another position (2,), north and east (m)."""
        self._anchors[:, :, NORTH : EAST + 1] += position - self.truth[:2]
        self.truth[:2] = position
        self._refresh()


_OF_SETTLING = tuple(p.name for p in INERTIA_PARAMETERS + CONTACT_PARAMETERS if isinstance(p.default, float))


def _unsettled(values: Values, points: int, limit: str) -> ParameterError:
    given = DYNAMICS_PARAMETERS.given(values, ("gravity", *_OF_SETTLING))
    return ParameterError(
        f"parameters {given} and {points} contact_points given: the vehicle does not come to rest on the ground within "
        f"{limit}; allowed: contact_points on which the vehicle is stable and a contact_damping_ratio that ends its "
        "motion in time, or starts_on_ground false"
    )


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
        size = np.linalg.norm(part) if name == "body rate" else np.max(np.abs(part))
        if size > limits.get(name, math.inf):
            raise ValueError(f"{name} is beyond {limits[name]:g}: {part.tolist()}")
    norm = float(np.linalg.norm(new[3:7]))
    if abs(norm - 1.0) >= 0.01:
        raise ValueError(f"the quaternion has length {norm:.6g}; allowed: 1, at most 1 % off")
    new[3:7] /= norm
    return new

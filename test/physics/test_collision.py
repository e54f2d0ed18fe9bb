"""Collisions of vehicles: momentum, restitution, rest, and the order of the vehicles."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import plain
from rosflight_py_sim.physics.collision import (
    APPROACH,
    COLLISION_PARAMETERS,
    FORCE,
    OVERLAP,
    collide,
    damping_ratio_of,
    restitution_of,
    sphere_of,
)
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.rotations import rotate_to_inertial

DT = 0.0025
NO_WRENCH = np.zeros(6)


class Bodies:
    """Free bodies in weightlessness that collide, stepped as dynamics and encounters step them."""

    def __init__(self, *given: dict[str, Any]) -> None:
        defaults = {**DYNAMICS_PARAMETERS.defaults(), **COLLISION_PARAMETERS.defaults()}
        free = {"mass": 2.0, "gravity": 0.0, "ground_contact": False, "starts_on_ground": False}
        values = [{**defaults, **free, "collision_radius": 0.5, **one} for one in given]
        self.bodies = [VehicleDynamics(one) for one in values]
        self.masses = [float(one["mass"]) for one in values]
        self.spheres = np.array([sphere_of(one) for one in values])
        count = len(values)
        self.forces, self.contacts = np.zeros((count, 3)), np.zeros((count * (count - 1) // 2, 5))
        self.found = 0

    def place(self, index: int, position: Sequence[float], velocity: Sequence[float], rates: Any = (0, 0, 0)) -> None:
        """Place a body, level, with its velocity (NED) and body rates."""
        self.bodies[index].set_truth(np.array([*position, 1, 0, 0, 0, *velocity, *rates, *(0.0,) * 6], dtype=float))

    def step(self, dt: float = DT, wrenches: Sequence[NDArray[np.float64]] = ()) -> None:
        self.found = collide(np.array([one.truth for one in self.bodies]), self.spheres, self.forces, self.contacts, dt)
        for index, body in enumerate(self.bodies):
            push = self.forces[index] if np.any(self.forces[index]) else None
            body.step(wrenches[index] if len(wrenches) else NO_WRENCH, dt, push_ned=push)

    def velocity(self, index: int) -> NDArray[np.float64]:
        truth = self.bodies[index].truth.tolist()
        return np.array(rotate_to_inertial(*truth[3:7], *truth[7:10]))

    @property
    def momentum(self) -> NDArray[np.float64]:
        total: NDArray[np.float64] = sum(
            (mass * self.velocity(index) for index, mass in enumerate(self.masses)), np.zeros(3)
        )
        return total


def head_on(speed: float, dt: float = DT, **given: float) -> tuple[Bodies, float]:
    """Two equal bodies after a head-on collision with this speed of approach, and the coefficient of restitution."""
    two = Bodies(dict(given), dict(given))
    two.place(0, (0.0, 0.0, -10.0), (speed, 0.0, 0.0))
    two.place(1, (1.01, 0.0, -10.0), (0.0, 0.0, 0.0))
    touched = False
    for _ in range(round(1.0 / dt)):
        two.step(dt)
        touched = touched or two.found > 0
        if touched and not two.found:
            break
    assert touched
    assert not two.found
    return two, float(two.velocity(1)[0] - two.velocity(0)[0]) / speed


def test_head_on_collision_of_equal_vehicles_conserves_momentum() -> None:
    two, _ = head_on(3.0)
    # To rounding: impulses are equal and opposite.
    assert two.momentum == pytest.approx([6.0, 0.0, 0.0], abs=1e-13)


def test_elastic_collision_of_equal_vehicles_exchanges_their_velocities() -> None:
    two, restitution = head_on(3.0, collision_restitution=1.0)
    # Contact begins and ends within a step of a collision that takes 20.
    assert restitution == pytest.approx(1.0, abs=0.02)
    assert two.velocity(0) == pytest.approx([0.0, 0.0, 0.0], abs=0.03)
    assert two.velocity(1) == pytest.approx([3.0, 0.0, 0.0], abs=0.03)


@pytest.mark.parametrize("restitution", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("speed", [0.3, 4.0])
def test_vehicles_separate_at_the_given_share_of_the_speed_of_approach(restitution: float, speed: float) -> None:
    # Forces are held for a step of a collision that takes 20: the error is of the order of a twentieth.
    assert head_on(speed, collision_restitution=restitution)[1] == pytest.approx(restitution, abs=0.05)


def test_restitution_converges_with_the_step() -> None:
    errors = [abs(head_on(2.0, dt, collision_restitution=0.5)[1] - 0.5) for dt in (0.005, 0.0025, 0.000625)]
    assert errors[2] < 0.25 * errors[0]


def test_collision_conserves_the_momentum_of_spinning_vehicles_of_different_mass() -> None:
    two = Bodies({"mass": 0.5}, {"mass": 7.0, "collision_restitution": 0.9})
    two.place(0, (0.0, 0.2, -10.0), (6.0, 0.0, 1.0), rates=(3.0, -20.0, 8.0))
    two.place(1, (1.2, 0.0, -10.3), (-1.0, 0.5, 0.0), rates=(-9.0, 2.0, 1.0))
    before = two.momentum
    for _ in range(200):
        two.step()
    assert two.velocity(0)[0] < 0.0
    # The velocity is rotated to body axes and back in each step.
    assert two.momentum == pytest.approx(before, abs=1e-11)


def test_collision_of_any_vehicles_never_adds_energy() -> None:
    four = Bodies(*({"mass": mass, "collision_duration": 0.03} for mass in (0.1, 1.0, 3.0, 20.0)))
    for index, (north, east) in enumerate([(0, 0), (1.3, 0.1), (0.2, 1.4), (1.5, 1.4)]):
        four.place(index, (north, east, -10.0), (1.5 - 2.0 * (north > 1), 1.0 - 2.0 * (east > 1), 0.1 * index))

    def energy() -> float:
        return sum(0.5 * mass * float(np.sum(four.velocity(k) ** 2)) for k, mass in enumerate(four.masses))

    before, contacts = energy(), 0
    for _ in range(400):
        four.step()
        contacts += four.found
    assert contacts
    assert not four.found
    assert energy() < before


def test_vehicles_that_are_pressed_together_come_to_rest_at_the_depth_of_the_spring() -> None:
    two = Bodies({}, {})
    two.place(0, (0.0, 0.0, -10.0), (0.5, 0.0, 0.0))
    two.place(1, (1.02, 0.0, -10.0), (-0.5, 0.0, 0.0))
    pressing = 20.0
    wrenches = [np.array([sign * pressing, 0, 0, 0, 0, 0], dtype=float) for sign in (1, -1)]
    for _ in range(2000):
        two.step(wrenches=wrenches)
    assert two.velocity(0) == pytest.approx([0, 0, 0], abs=1e-9)
    stiffness = 0.5 * 2.0 * (math.pi / 0.05) ** 2
    assert two.contacts[0, OVERLAP] == pytest.approx(pressing / stiffness, rel=1e-6)
    assert two.contacts[0, FORCE] == pytest.approx(pressing, rel=1e-6)
    assert two.contacts[0, APPROACH] == pytest.approx(0.0, abs=1e-9)


def test_accelerometer_feels_the_collision() -> None:
    two = Bodies({}, {})
    two.place(0, (0.0, 0.0, -10.0), (1.0, 0.0, 0.0))
    two.place(1, (0.98, 0.0, -10.0), (0.0, 0.0, 0.0))
    two.step()
    assert two.contacts[0, FORCE] > 0.0
    assert two.bodies[0].truth[13:16] == pytest.approx([-two.contacts[0, FORCE] / 2.0, 0.0, 0.0])
    assert two.bodies[1].truth[13:16] == pytest.approx([two.contacts[0, FORCE] / 2.0, 0.0, 0.0])


def test_underwater_vehicle_moves_less_by_its_added_mass() -> None:
    water: dict[str, Any] = {
        "world": "pool",
        "added_mass": [2.0, 6.0, 10.0, 0.0, 0.0, 0.0],
        "hull_size": [0.2, 0.2, 0.2],
    }
    body = VehicleDynamics(
        {**DYNAMICS_PARAMETERS.defaults(), **water, "mass": 2.0, "contact_points": [], "starts_on_ground": False}
    )
    still = np.zeros(19)
    still[2:4] = 1.0
    body.set_truth(still)
    other = body.truth.copy()
    body.step(NO_WRENCH, DT)
    unpushed = body.truth[7:13].copy()
    body.set_truth(other)
    body.step(NO_WRENCH, DT, push_ned=np.array([8.0, 8.0, 12.0]))
    # Mass and added mass are 4, 8 and 12 kg; the water also turns it, by the square of the velocity.
    gained = body.truth[7:13] - unpushed
    assert gained == pytest.approx([2.0 * DT, 1.0 * DT, 1.0 * DT, 0.0, 0.0, 0.0], rel=1e-3, abs=1e-5)


def test_order_of_the_vehicles_changes_no_force_on_two() -> None:
    generator = np.random.default_rng(4)
    truths = np.zeros((2, 19))
    truths[:, 3] = 1.0
    truths[:, :3], truths[:, 7:10] = generator.normal(0.0, 0.2, (2, 3)), generator.normal(0.0, 3.0, (2, 3))
    spheres = np.array([[0.5, 1.0, 3000.0, 0.2], [0.4, 3.0, 9000.0, 0.3]])
    results = []
    for order in itertools.permutations(range(2)):
        forces, contacts = np.zeros((2, 3)), np.zeros((1, 5))
        assert collide(truths[list(order)], spheres[list(order)], forces, contacts, DT) == 1
        results.append(forces[np.argsort(order)].tobytes())
    assert results[0] == results[1]


def test_vehicles_without_a_radius_and_distant_vehicles_do_not_collide() -> None:
    truths = np.zeros((3, 19))
    truths[:, 3] = 1.0
    truths[2, 0] = 1.0
    spheres = np.array([[0.5, 1.0, 3000.0, 0.2], [0.0, 1.0, 3000.0, 0.2], [0.5, 1.0, 3000.0, 0.2]])
    forces, contacts = np.ones((3, 3)), np.zeros((3, 5))
    assert collide(truths, spheres, forces, contacts, DT) == 0
    assert not np.any(forces)


def test_vehicles_in_one_place_are_pushed_apart_vertically() -> None:
    truths = np.zeros((2, 19))
    truths[:, 3] = 1.0
    forces, contacts = np.zeros((2, 3)), np.zeros((1, 5))
    assert collide(truths, np.array([[0.5, 1.0, 3000.0, 0.2]] * 2), forces, contacts, DT) == 1
    assert forces[0] == pytest.approx([0.0, 0.0, -1500.0])
    assert forces[1] == pytest.approx([0.0, 0.0, 1500.0])


@pytest.mark.parametrize("restitution", [0.15, 0.3, 0.7, 1.0])
def test_damping_ratio_gives_the_restitution(restitution: float) -> None:
    assert restitution_of(damping_ratio_of(restitution)) == pytest.approx(restitution, abs=1e-12)


def test_compiled_and_plain_kernel_agree() -> None:
    generator = np.random.default_rng(8)
    truths = generator.normal(0.0, 0.6, (6, 19))
    truths[:, 3:7] /= np.linalg.norm(truths[:, 3:7], axis=1)[:, None]
    spheres = np.array([[0.6, 1.0, 3000.0, 0.2]] * 6) * generator.uniform(0.8, 1.2, (6, 4))
    results = []
    for function in (collide, plain(collide)):
        forces, contacts = np.zeros((6, 3)), np.zeros((15, 5))
        assert function(truths, spheres, forces, contacts, DT) > 3
        results.append((forces, contacts))
    for compiled, interpreted in zip(*results, strict=True):
        assert compiled == pytest.approx(interpreted, rel=1e-12, abs=1e-12)

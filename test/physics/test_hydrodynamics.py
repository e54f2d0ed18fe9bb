"""Added mass and damping as full matrices, against Fossen's equations in matrix form."""

import numpy as np
import pytest
from underwater import DT, MASS, Underwater, commands, state

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.physics.immersion import immersed_part
from rosflight_py_sim.physics.rotations import quaternion_from_euler, rotate_to_body, rotate_to_inertial

INERTIA = np.array([[0.02, 0.003, -0.004], [0.003, 0.03, 0.002], [-0.004, 0.002, 0.04]])
PRODUCTS = {"Jxy": 0.003, "Jxz": -0.004, "Jyz": 0.002}
DIAGONAL = np.array([1.0, 4.0, 8.0, 0.05, 0.02, 0.1])
CURRENT = np.array([0.3, -0.2, 0.1])


def full_matrix():
    """A symmetric, positive definite added mass with every coupling."""
    factor = np.random.default_rng(1).normal(size=(6, 6)) * np.sqrt(DIAGONAL)[:, None] / 2.0
    return factor @ factor.T


ADDED = full_matrix()


def cross(vector):
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def coriolis(mass, velocity):
    """Fossen's eq. 6.43 (property 6.2) for a mass matrix and a velocity (6,)."""
    linear, angular = cross((mass @ velocity)[:3]), cross((mass @ velocity)[3:])
    return np.block([[np.zeros((3, 3)), -linear], [-linear, -angular]])


def rigid_body():
    mass = np.zeros((6, 6))
    mass[:3, :3], mass[3:, 3:] = MASS * np.eye(3), INERTIA
    return mass


def accelerations(added, truth, wrench, current):
    """Acceleration of the hull and angular acceleration, from (M + A) nu_r' = tau - (C_RB + C_A) nu."""
    turned = np.array(rotate_to_body(*truth[3:7], *current))
    absolute, relative = truth[7:13].copy(), truth[7:13].copy()
    relative[:3] -= turned
    rates = truth[10:13]
    drift = np.array([*-np.cross(rates, turned), 0.0, 0.0, 0.0])
    weight = np.array([*rotate_to_body(*truth[3:7], 0.0, 0.0, MASS * 9.81), 0.0, 0.0, 0.0])
    force = wrench + weight - coriolis(rigid_body(), absolute) @ absolute - coriolis(added, relative) @ relative
    changed = np.linalg.solve(rigid_body() + added, force - rigid_body() @ drift)
    return np.concatenate([changed[:3] + drift[:3] + np.cross(rates, absolute[:3]), changed[3:]])


def states(count):
    rng = np.random.default_rng(2)
    for _ in range(count):
        attitude = quaternion_from_euler(*rng.uniform(-1.5, 1.5, 3))
        # The hull is 0.1 m high and 0.5 m long: dry, partly immersed or submerged.
        yield state(rng.uniform(-0.3, 0.3), attitude, rng.normal(size=3), rng.normal(size=3)), 5.0 * rng.normal(size=6)


@pytest.mark.parametrize("added", [ADDED, np.diag(DIAGONAL)], ids=["full", "diagonal"])
def test_accelerations_solve_fossens_matrix_equation_at_any_immersion(added):
    vehicle = Underwater(added_mass=added.ravel().tolist(), **PRODUCTS)
    shares = set()
    for truth, wrench in states(60):
        vehicle.body.set_truth(truth)
        vehicle.body.step(wrench, 1e-12, CURRENT)
        hull = np.array([0.5, 0.2, 0.1, 0.0, 0.0, 0.0])
        share = immersed_part(truth, hull, np.zeros(10))[0]
        shares.add(min(1, max(-1, round(4.0 * share) - 2)))
        exact = accelerations(share * added, truth, wrench, CURRENT)
        # A step of 1e-12 s moves the state by some 1e-12 of its size.
        assert vehicle.body.truth[13:19] == pytest.approx(exact, rel=1e-9, abs=1e-9 * np.max(np.abs(exact)))
    assert shares == {-1, 0, 1}


def test_six_numbers_are_the_diagonal_of_the_matrix():
    six, all_of_it = (
        Underwater(
            added_mass=one(DIAGONAL), linear_damping=one(DIAGONAL), quadratic_damping=one(3.0 * DIAGONAL), **PRODUCTS
        )
        for one in (np.ndarray.tolist, lambda diagonal: np.diag(diagonal).ravel().tolist())
    )
    for vehicle in (six, all_of_it):
        vehicle.body.set_truth(state(0.02, quaternion_from_euler(0.4, 0.2, 0.1), (1.0, 0.5, -0.3), (0.3, -0.8, 0.5)))
        vehicle.run(2.0)
    assert np.array_equal(six.body.truth, all_of_it.body.truth)


def test_free_body_with_full_added_mass_conserves_momentum_and_energy():
    vehicle = Underwater(added_mass=ADDED.ravel().tolist(), gravity=0.0, **PRODUCTS)
    total = rigid_body() + ADDED

    def conserved(truth):
        momentum = total @ truth[7:13]
        linear = np.array(rotate_to_inertial(*truth[3:7], *momentum[:3]))
        angular = np.array(rotate_to_inertial(*truth[3:7], *momentum[3:])) + np.cross(truth[:3], linear)
        return np.array([*linear, *angular]), 0.5 * truth[7:13] @ momentum

    vehicle.body.set_truth(state(100.0, (1, 0, 0, 0), (0.5, 0.3, -0.2), (0.4, -0.8, 0.6)))
    momentum, energy = conserved(vehicle.body.truth)
    for _ in range(round(30.0 / DT)):
        vehicle.step()
    after, remaining = conserved(vehicle.body.truth)
    # Local errors of order (7.5e-3)^5 / 120, 12000 times, on arms of 100 m.
    assert after == pytest.approx(momentum, abs=1e-6)
    assert remaining == pytest.approx(energy, rel=1e-8)


def test_full_damping_matrices_multiply_velocities_relative_to_the_water():
    rng = np.random.default_rng(3)
    linear, quadratic = (rng.normal(size=(6, 6)) + 5.0 * np.eye(6) for _ in range(2))
    vehicle = Underwater(linear_damping=linear.ravel().tolist(), quadratic_damping=quadratic.ravel().tolist())
    attitude = quaternion_from_euler(0.3, -0.2, 1.0)
    truth = state(5.0, attitude, (0.5, -0.4, 0.3), (0.2, -0.6, 0.4))
    relative = truth[7:13].copy()
    relative[:3] -= rotate_to_body(*attitude, *CURRENT)
    buoyancy = [*rotate_to_body(*attitude, 0.0, 0.0, -MASS * 9.81), 0.0, 0.0, 0.0]
    exact = buoyancy - linear @ relative - quadratic @ (np.abs(relative) * relative)
    assert vehicle.forces.update(truth, CURRENT, commands(), DT) == pytest.approx(exact, rel=1e-12)


def indefinite():
    matrix = np.diag(DIAGONAL)
    matrix[0, 1] = matrix[1, 0] = 3.0
    return matrix


def asymmetric():
    matrix = ADDED.copy()
    matrix[1, 5] += 0.5
    return matrix


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1.0] * 5, "5 numbers given"),
        ([1.0, 1.0, -1.0, 0.0, 0.0, 0.0], "on the diagonal"),
        (indefinite().ravel().tolist(), "positive semidefinite"),
        (asymmetric().ravel().tolist(), "row 2, column 6"),
    ],
)
def test_added_mass_that_no_hull_has_is_refused(given, words):
    with pytest.raises(ParameterError, match=f"'added_mass': .*{words}"):
        Underwater(added_mass=given)


@pytest.mark.parametrize("name", ["linear_damping", "quadratic_damping"])
@pytest.mark.parametrize(("given", "words"), [([1.0] * 7, "7 numbers given"), ([-1.0] * 6, "on the diagonal")])
def test_damping_of_wrong_length_or_sign_is_refused(name, given, words):
    with pytest.raises(ParameterError, match=f"'{name}': .*{words}"):
        Underwater(**{name: given})

"""Rotations against matrices and against each other."""

import math

import numpy as np
import pytest

from rosflight_py_sim.physics import rotations

GENERATOR = np.random.default_rng(1)
QUATERNIONS = [tuple(q / np.linalg.norm(q)) for q in GENERATOR.standard_normal((20, 4))]

# Unit-size numbers through a few tens of roundings.
ROUNDING = 1e-14


def matrix(w: float, x: float, y: float, z: float) -> np.ndarray:
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@pytest.mark.parametrize("q", QUATERNIONS)
def test_vector_turns_as_by_the_rotation_matrix_and_back(q):
    vector = np.array([0.3, -0.7, 0.9])
    turned = rotations.rotate_to_inertial(*q, *vector)
    assert turned == pytest.approx(matrix(*q) @ vector, abs=ROUNDING)
    assert rotations.rotate_to_body(*q, *turned) == pytest.approx(vector, abs=ROUNDING)


def test_product_turns_as_one_rotation_after_the_other():
    a, b = QUATERNIONS[:2]
    assert matrix(*rotations.quaternion_product(*a, *b)) == pytest.approx(matrix(*a) @ matrix(*b), abs=ROUNDING)


@pytest.mark.parametrize("angles", [(0.1, -0.2, 0.3), (-3.0, 1.5, 3.1), (2.0, -1.2, -2.5)])
def test_euler_angles_survive_the_way_through_a_quaternion(angles):
    assert rotations.euler_from_quaternion(*rotations.quaternion_from_euler(*angles)) == pytest.approx(
        angles, abs=1e-13
    )


def test_yaw_of_90_degrees_turns_the_nose_east():
    q = rotations.quaternion_from_euler(0.0, 0.0, math.pi / 2)
    assert rotations.rotate_to_inertial(*q, 1.0, 0.0, 0.0) == pytest.approx((0.0, 1.0, 0.0), abs=ROUNDING)


def test_positive_pitch_lifts_the_nose():
    q = rotations.quaternion_from_euler(0.0, 0.3, 0.0)
    assert rotations.rotate_to_inertial(*q, 1.0, 0.0, 0.0)[2] == pytest.approx(-math.sin(0.3), abs=ROUNDING)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.99e-4, 1.01e-4, 0.5, 3.0])
def test_exponential_map_turns_about_the_vector_by_its_length(angle):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    expected = (math.cos(angle / 2), *(math.sin(angle / 2) * axis))
    assert rotations.quaternion_from_rotation_vector(*(angle * axis)) == pytest.approx(expected, abs=1e-16, rel=1e-14)

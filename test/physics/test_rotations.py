"""The compiled rotations against transforms3d, over random attitudes, and against known ones."""

import math

import numpy as np
import pytest
from transforms3d.euler import euler2quat, quat2euler
from transforms3d.quaternions import axangle2quat, quat2mat

from rosflight_py_sim.physics import rotations

GENERATOR = np.random.default_rng(1)
QUATERNIONS = [q / np.linalg.norm(q) for q in GENERATOR.standard_normal((200, 4))]
# Pitch stays a degree away from +-90 degrees, where roll and yaw are ambiguous.
EULER_ANGLES = GENERATOR.uniform(-1.0, 1.0, (200, 3)) * [math.pi, math.radians(89.0), math.pi]

# Unit-size numbers through a few tens of roundings.
ROUNDING = 1e-14


def test_vector_rotation_matches_rotation_matrix_and_inverts():
    for q in QUATERNIONS:
        vector = GENERATOR.uniform(-1.0, 1.0, 3)
        turned = rotations.rotate_to_inertial(*q, *vector)
        assert turned == pytest.approx(quat2mat(q) @ vector, abs=ROUNDING)
        assert rotations.rotate_to_body(*q, *turned) == pytest.approx(vector, abs=ROUNDING)


def test_quaternion_from_euler_is_fixed_xyz_equal_to_rotating_zyx():
    for roll, pitch, yaw in EULER_ANGLES:
        found = rotations.quaternion_from_euler(roll, pitch, yaw)
        assert found == pytest.approx(euler2quat(roll, pitch, yaw, "sxyz"), abs=ROUNDING)
        assert found == pytest.approx(euler2quat(yaw, pitch, roll, "rzyx"), abs=ROUNDING)


def test_euler_angles_of_quaternion_match_its_matrix():
    for angles in EULER_ANGLES:
        q = euler2quat(*angles, "sxyz")
        found = rotations.euler_from_quaternion(*q)
        # Near a pitch of 90 degrees the arc sine magnifies a rounding by up to 1 / cos(89 deg), 57.
        assert found == pytest.approx(quat2euler(q, "sxyz"), abs=100 * ROUNDING)
        assert found[::-1] == pytest.approx(quat2euler(q, "rzyx"), abs=100 * ROUNDING)
        assert found == pytest.approx(angles, abs=100 * ROUNDING)


def test_yaw_of_90_degrees_points_nose_east():
    q = rotations.quaternion_from_euler(0.0, 0.0, math.pi / 2)
    assert rotations.rotate_to_inertial(*q, 1.0, 0.0, 0.0) == pytest.approx((0.0, 1.0, 0.0), abs=ROUNDING)


def test_positive_pitch_raises_nose():
    q = rotations.quaternion_from_euler(0.0, 0.3, 0.0)
    assert rotations.rotate_to_inertial(*q, 1.0, 0.0, 0.0)[2] == pytest.approx(-math.sin(0.3), abs=ROUNDING)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.99e-4, 1.01e-4, 0.5, 3.0])
def test_exponential_map_rotates_about_vector_by_its_norm(angle):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    expected = axangle2quat(axis, angle, is_normalized=True)
    assert rotations.quaternion_from_rotation_vector(*(angle * axis)) == pytest.approx(expected, abs=1e-16, rel=1e-14)

"""The compiled rotations against transforms3d, over random attitudes, and against known ones."""

import math

import numpy as np
import pytest
from transforms3d.euler import euler2mat, euler2quat, quat2euler
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
        # Near a pitch of 90 degrees transforms3d's matrix magnifies a rounding by up to 1 / cos(89 deg), 57.
        assert found == pytest.approx(quat2euler(q, "sxyz"), abs=100 * ROUNDING)
        assert found[::-1] == pytest.approx(quat2euler(q, "rzyx"), abs=100 * ROUNDING)
        assert found == pytest.approx(angles, abs=100 * ROUNDING)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("from_pole", [0.0, *(10.0**power for power in range(-17, 0))])
def test_euler_angles_turn_back_into_the_same_rotation_near_and_at_vertical(sign, from_pole):
    for roll, _, yaw in EULER_ANGLES:
        q = np.array(rotations.quaternion_from_euler(roll, sign * (0.5 * math.pi - from_pole), yaw))
        found = rotations.euler_from_quaternion(*q)
        # Within 4e-15 of the pole, roll counts as 0, which turns no axis by more than twice that.
        np.testing.assert_allclose(euler2mat(*found, "sxyz"), quat2mat(q), rtol=0.0, atol=2e-14)
        assert -math.pi < found[0] <= math.pi and abs(found[1]) <= math.pi / 2 and -math.pi < found[2] <= math.pi


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_roll_is_zero_at_vertical_and_yaw_is_twice_the_angle_of_z_and_w(sign):
    for roll, _, yaw in EULER_ANGLES:
        for q in (
            np.array(rotations.quaternion_from_euler(roll, sign * math.pi / 2, yaw)),
            np.array(euler2quat(roll, sign * math.pi / 2, yaw, "sxyz")),
            # Neither its sign nor its length matters.
            -3.0 * np.array(rotations.quaternion_from_euler(roll, sign * math.pi / 2, yaw)),
        ):
            found = rotations.euler_from_quaternion(*q)
            assert found[0] == 0.0
            assert found[1] == pytest.approx(sign * math.pi / 2, abs=ROUNDING)
            assert math.remainder(found[2] - 2.0 * math.atan2(q[3], q[0]), math.tau) == pytest.approx(0.0, abs=ROUNDING)
            assert math.remainder(found[2] - (yaw - sign * roll), math.tau) == pytest.approx(0.0, abs=ROUNDING)


def test_rows_of_quaternions_have_the_angles_of_each():
    angles = np.empty((len(QUATERNIONS), 3))
    rotations.euler_from_quaternions(np.array(QUATERNIONS), angles)
    assert [tuple(row) for row in angles.tolist()] == [rotations.euler_from_quaternion(*q) for q in QUATERNIONS]


def test_quaternion_of_a_matrix_is_that_of_its_rotation():
    half_turns = [np.eye(4)[axis] for axis in (1, 2, 3)]
    for q in [*QUATERNIONS, *half_turns, np.array([1.0, 0.0, 0.0, 0.0])]:
        found = np.array(rotations.quaternion_from_matrix(quat2mat(q)))
        np.testing.assert_allclose(found * np.sign(found @ q), q, rtol=0.0, atol=ROUNDING)


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

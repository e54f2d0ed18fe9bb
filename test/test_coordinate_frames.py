"""Conversions of axes follow REP 103, and are their own inverse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from transforms3d.euler import euler2quat
from transforms3d.quaternions import quat2mat

from rosflight_py_sim.ground.coordinate_frames import (
    FRD_IN_FLU,
    OPTICAL_IN_FRD,
    swap_attitude,
    swap_covariance,
    swap_frd_flu,
    swap_mounting,
    swap_ned_enu,
)

Array = NDArray[np.float64]

# Written out from the definition: rows are east, north, up in north, east, down.
ENU_OF_NED = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
FLU_OF_FRD = np.diag([1.0, -1.0, -1.0])

# A few rounding errors of numbers of order 1.
ROUNDING = 1e-14

vectors = arrays(np.float64, 3, elements=st.floats(-1e6, 1e6))
directions = arrays(np.float64, 3, elements=st.floats(-1.0, 1.0))
angles = st.tuples(*[st.floats(-math.pi, math.pi)] * 3)


@settings(deadline=None)
@given(vectors)
def test_vector_conversion_matches_rotation_matrices_and_round_trips(vector: Array) -> None:
    assert np.array_equal(swap_ned_enu(vector), ENU_OF_NED @ vector)
    assert np.array_equal(swap_frd_flu(vector), FLU_OF_FRD @ vector)
    assert np.array_equal(swap_ned_enu(swap_ned_enu(vector)), vector)
    assert np.array_equal(swap_frd_flu(swap_frd_flu(vector)), vector)


@settings(deadline=None)
@given(angles)
def test_attitude_conversion_matches_rotation_matrices_and_round_trips(euler: tuple[float, float, float]) -> None:
    attitude = euler2quat(*euler)
    turned = swap_attitude(attitude)
    assert np.allclose(quat2mat(turned), ENU_OF_NED @ quat2mat(attitude) @ FLU_OF_FRD.T, atol=ROUNDING)
    assert np.allclose(swap_attitude(turned), attitude, atol=ROUNDING)
    assert np.linalg.norm(turned) == pytest.approx(1.0, abs=ROUNDING)


@settings(deadline=None)
@given(angles)
def test_mounting_conversion_matches_rotation_matrices_and_round_trips(euler: tuple[float, float, float]) -> None:
    mounting = euler2quat(*euler)
    assert np.allclose(quat2mat(swap_mounting(mounting)), FLU_OF_FRD @ quat2mat(mounting) @ FLU_OF_FRD.T, atol=ROUNDING)
    assert np.array_equal(swap_mounting(swap_mounting(mounting)), mounting)


@settings(deadline=None)
@given(angles, directions)
def test_body_point_maps_to_same_world_point_in_either_axis_convention(
    euler: tuple[float, float, float], place_frd: Array
) -> None:
    attitude = euler2quat(*euler)
    in_ned = quat2mat(attitude) @ place_frd
    in_enu = quat2mat(swap_attitude(attitude)) @ swap_frd_flu(place_frd)
    assert np.allclose(swap_ned_enu(in_ned), in_enu, atol=4.0 * ROUNDING)


@settings(deadline=None)
@given(arrays(np.float64, (3, 3), elements=st.floats(-10.0, 10.0)))
def test_covariance_transforms_with_its_vector(root: Array) -> None:
    covariance = root @ root.T
    assert np.array_equal(swap_covariance(covariance), ENU_OF_NED @ covariance @ ENU_OF_NED.T)
    assert np.array_equal(swap_covariance(swap_covariance(covariance)), covariance)


@pytest.mark.parametrize(
    ("euler_deg", "nose_enu", "left_enu"),
    [
        ((0.0, 0.0, 0.0), (0, 1, 0), (-1, 0, 0)),  # level, to the north: left is west
        ((0.0, 0.0, 90.0), (1, 0, 0), (0, 1, 0)),  # level, to the east: REP 103's yaw of 0
        ((0.0, 90.0, 0.0), (0, 0, 1), (-1, 0, 0)),  # nose up
        ((90.0, 0.0, 0.0), (0, 1, 0), (0, 0, 1)),  # rolled to the right: the left side is up
    ],
)
def test_reference_attitudes_convert_to_expected_enu_axes(
    euler_deg: tuple[float, float, float], nose_enu: tuple[int, ...], left_enu: tuple[int, ...]
) -> None:
    turn = quat2mat(swap_attitude(euler2quat(*np.radians(euler_deg).tolist())))
    assert np.allclose(turn[:, 0], nose_enu, atol=ROUNDING)
    assert np.allclose(turn[:, 1], left_enu, atol=ROUNDING)


def test_zero_enu_yaw_facing_east_is_identity() -> None:
    assert np.allclose(swap_attitude(euler2quat(0.0, 0.0, 0.5 * math.pi)), (1, 0, 0, 0), atol=ROUNDING)


def test_optical_frame_has_z_forward_x_right_y_down() -> None:
    turn = quat2mat(OPTICAL_IN_FRD)
    assert np.allclose(turn, np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0)]).T, atol=ROUNDING)
    assert np.allclose(quat2mat(FRD_IN_FLU) @ turn, np.array([(0, -1, 0), (0, 0, -1), (1, 0, 0)]).T, atol=ROUNDING)


def test_batch_conversion_equals_one_by_one() -> None:
    generator = np.random.default_rng(3)
    many = generator.normal(size=(4, 5, 3))
    attitudes = generator.normal(size=(7, 4))
    assert np.array_equal(swap_ned_enu(many)[2, 3], swap_ned_enu(many[2, 3]))
    assert np.array_equal(swap_frd_flu(many)[2, 3], swap_frd_flu(many[2, 3]))
    assert np.array_equal(swap_attitude(attitudes)[4], swap_attitude(attitudes[4]))

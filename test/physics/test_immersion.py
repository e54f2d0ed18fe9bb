"""The part of a box that is under water, against closed forms."""

import math

import numpy as np
import pytest

from rosflight_py_sim.physics.immersion import immersed_part
from rosflight_py_sim.physics.rotations import quaternion_from_euler, rotate_to_body, rotate_to_inertial
from rosflight_py_sim.physics.waves import SEA_SIZE

SIZE = np.array([0.4, 0.3, 0.2])
CALM = np.zeros(SEA_SIZE)


def state(down=0.0, quaternion=(1.0, 0.0, 0.0, 0.0)):
    return np.array([3.0, -7.0, down, *quaternion])


def hull(centre=(0.0, 0.0, 0.0), size=SIZE):
    return np.array([*size, *centre])


def random_quaternions(count):
    drawn = np.random.default_rng(4).standard_normal((count, 4))
    return drawn / np.linalg.norm(drawn, axis=1)[:, np.newaxis]


def share_by_corners(down, quaternion):
    """Volume of a box below a plane by inclusion and exclusion of its corners; good away from zeros of the normal."""
    normal = np.abs(rotate_to_body(*quaternion, 0.0, 0.0, 1.0)) * SIZE
    total = 0.0
    for corner in np.ndindex(2, 2, 2):
        depth = down + 0.5 * normal.sum() - np.dot(corner, normal)
        total += (-1) ** sum(corner) * max(0.0, depth) ** 3
    return total / (6.0 * normal.prod())


@pytest.mark.parametrize("down", [-0.1, -0.07, 0.0, 0.03, 0.1])
def test_upright_box_immersion_is_proportional_to_draught(down):
    share, x, y, z = immersed_part(state(down), hull(), CALM)
    draught = down + 0.1
    assert share == pytest.approx(draught / 0.2, abs=1e-15)
    if share > 0.0:
        assert (x, y, z) == pytest.approx((0.0, 0.0, 0.1 - draught / 2.0), abs=1e-15)


def test_immersed_fraction_matches_inclusion_exclusion_at_any_attitude():
    for quaternion in random_quaternions(200):
        down = 0.5 * float(quaternion[0]) * float(np.linalg.norm(SIZE))
        # The alternating sum of cubes loses digits as its divisor, a product of three components, grows small.
        assert immersed_part(state(down, quaternion), hull(), CALM)[0] == pytest.approx(
            share_by_corners(down, quaternion), abs=1e-9
        )


def test_box_centred_on_the_surface_is_half_immersed():
    for quaternion in random_quaternions(50):
        assert immersed_part(state(0.0, quaternion), hull(), CALM)[0] == pytest.approx(0.5, abs=1e-14)


def test_first_moments_of_wet_and_dry_volume_cancel_about_the_centre():
    centre = np.array([0.02, -0.05, 0.03])
    for quaternion in random_quaternions(50):
        offset = rotate_to_inertial(*quaternion, *centre)[2]
        wet, *wet_middle = immersed_part(state(0.06 - offset, quaternion), hull(centre), CALM)
        # Turned upside down about its middle the box is wet where it was dry.
        dry, *dry_middle = immersed_part(state(-0.06 - offset, quaternion), hull(centre), CALM)
        assert wet + dry == pytest.approx(1.0, abs=1e-14)
        mirrored = 2.0 * centre - np.array(dry_middle)
        assert wet * np.array(wet_middle) + (1.0 - wet) * mirrored == pytest.approx(centre, abs=1e-14)


def test_centre_of_buoyancy_shift_matches_metacentric_formula():
    heel = 1e-4
    _, _, y, _ = immersed_part(state(0.0, quaternion_from_euler(heel, 0.0, 0.0)), hull(), CALM)
    # BM = I / V of the waterplane: L B^3 / 12 over L B T, exact to second order of the heel.
    assert y / heel == pytest.approx(0.3**2 / (12.0 * 0.1), rel=1e-6)


def test_hull_away_from_surface_is_fully_wet_or_fully_dry():
    assert immersed_part(state(1.0), hull((0.1, 0.2, 0.3)), CALM) == (1.0, 0.1, 0.2, 0.3)
    assert immersed_part(state(-1.0), hull((0.1, 0.2, 0.3)), CALM) == (0.0, 0.1, 0.2, 0.3)


def test_zero_size_hull_is_a_point():
    assert immersed_part(state(0.01), hull(size=np.zeros(3)), CALM)[0] == 1.0
    assert immersed_part(state(-0.01), hull(size=np.zeros(3)), CALM)[0] == 0.0


def test_immersed_fraction_increases_monotonically_with_depth():
    for quaternion in random_quaternions(20):
        shares = [immersed_part(state(down, quaternion), hull(), CALM)[0] for down in np.linspace(-0.3, 0.3, 200)]
        assert np.all(np.diff(shares) >= -1e-15)
        assert shares[0] == 0.0
        assert shares[-1] == 1.0
        assert max(np.diff(shares)) < 0.6 / 199 * math.sqrt(3.0) / 0.2

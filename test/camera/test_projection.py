"""Objects appear at the pixels given by the pinhole model."""

import math
from dataclasses import replace

import cv2
import numpy as np
import pytest
from camera_views import camera_named, truth_at

from rosflight_py_sim.camera.faces import faces_of
from rosflight_py_sim.world import Kind, Object, World

PINK = (255, 0, 255)


def crate(position, yaw=0.4):
    return World("", objects=(Object("crate", Kind.BOX, position, yaw, (0.5, 0.3, 0.4), PINK, solid=True),))


def is_pink(picture):
    blue, green, red = (picture[..., k].astype(int) for k in range(3))
    return (blue > 2 * green + 40) & (red > 2 * green + 40)


def depth_within(points, width, height):
    """Smallest distance of each pixel's centre from the edges of the points' hull; negative outside (height, width)."""
    outline = cv2.convexHull(points.astype(np.float32), clockwise=False).reshape(-1, 2).astype(float)
    u, v = np.meshgrid(np.arange(width), np.arange(height))
    depths = []
    for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        along = (b - a) / np.linalg.norm(b - a)
        depths.append(along[0] * (v - a[1]) - along[1] * (u - a[0]))
    return np.min(depths, axis=0)


def test_optical_axis_is_image_centre_and_half_fov_is_image_edge():
    camera = replace(camera_named("front", image_width=320, image_height=240), position_body=(0.0, 0.0, 0.0))
    truth = truth_at((0.0, 0.0, 0.0))
    assert camera.pixel(truth, (5.0, 0.0, 0.0)) == pytest.approx((159.5, 119.5), abs=1e-9)
    right = math.tan(math.radians(40.0))
    # The right edge is half a pixel beyond the centre of the last one.
    assert camera.pixel(truth, (1.0, right, 0.0)) == pytest.approx((319.5, 119.5), abs=1e-9)
    assert all(math.isnan(one) for one in camera.pixel(truth, (-1.0, 0.0, 0.0)))


def test_front_camera_looks_forward_with_up_at_top_and_starboard_at_right():
    u, v = camera_named("front").pixel(truth_at((0.0, 0.0, -10.0)), (5.0, 1.0, -11.0))
    assert u > 160
    assert v < 119


def test_bottom_camera_looks_down_with_forward_at_top_and_starboard_at_right():
    u, v = camera_named("bottom").pixel(truth_at((0.0, 0.0, -10.0)), (1.0, 1.0, 0.0))
    assert u > 160
    assert v < 119


def test_camera_pose_rotates_with_vehicle():
    camera = replace(camera_named("front"), position_body=(1.0, 0.0, 0.5))
    position, turned = camera.pose(truth_at((3.0, 2.0, 1.0), yaw_deg=90.0))
    np.testing.assert_allclose(position, (3.0, 3.0, 1.5), atol=1e-12)
    np.testing.assert_allclose(turned[:, 2], (0.0, 1.0, 0.0), atol=1e-12)


ATTITUDES = [(0.0, 0.0, 0.0), (25.0, 0.0, 0.0), (-10.0, 15.0, 5.0), (0.0, -12.0, -8.0), (170.0, 4.0, 3.0)]


@pytest.mark.parametrize("attitude", ATTITUDES)
@pytest.mark.parametrize("name", ["front", "bottom"])
@pytest.mark.parametrize("antialiasing", [True, False])
def test_box_is_drawn_at_its_projected_corners(picture, name, attitude, antialiasing):
    camera = camera_named(name)
    truth = truth_at((1.0, -2.0, -30.0), *attitude)
    position, turned = camera.pose(truth)
    # 2.2 m along the line of sight, off the picture's middle.
    world = crate(tuple((position + turned @ np.array((0.5, -0.35, 2.2))).tolist()))
    seen = is_pink(picture(world, camera, truth, antialiasing=antialiasing))
    corners = np.concatenate(faces_of(world).corners)
    pixels = np.array([camera.pixel(truth, tuple(corner)) for corner in corners])
    inside = depth_within(pixels, camera.width, camera.height)
    assert seen.sum() > 800
    # Within a pixel of the outline, both colours are correct.
    assert seen[inside > 1.0].all()
    assert not seen[inside < -1.0].any()


def test_faces_point_outward():
    world = crate((3.0, 1.0, -2.0))
    faces = faces_of(world)
    outward = np.einsum("ij,ij->i", faces.normals, faces.centres - np.array((3.0, 1.0, -2.0)))
    assert (outward > 0.1).all()


@pytest.mark.parametrize("kind", [Kind.CYLINDER, Kind.RING])
def test_round_objects_have_the_specified_size(picture, kind):
    size = (1.0, 0.2)
    world = World("", objects=(Object("it", kind, (0.0, 0.0, -0.1), 0.0, size, PINK, solid=True),))
    camera = replace(camera_named("bottom"), position_body=(0.0, 0.0, 0.0))
    height = 2.0 if kind is Kind.CYLINDER else 1.9
    seen = is_pink(
        picture(world, camera, truth_at((0.0, 0.0, -0.2 - height if kind is Kind.CYLINDER else -0.1 - height)))
    )
    rows, columns = np.nonzero(seen)
    # The rim of a cylinder's top is 2 m away; a tube's outline, widest at its middle, is 1.9 m away.
    across = 1.0 * camera.focal_length / height
    assert columns.max() - columns.min() + 1 == pytest.approx(across, abs=2.0)
    assert rows.max() - rows.min() + 1 == pytest.approx(across, abs=2.0)
    middle = seen[119, 159]
    assert middle == (kind is Kind.CYLINDER)

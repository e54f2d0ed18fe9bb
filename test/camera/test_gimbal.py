"""Directions in which a gimbal turns its camera."""

import math

import pytest
from camera_views import camera_named

from rosflight_py_sim.camera import CAMERA_PARAMETERS
from rosflight_py_sim.camera.gimbal import Gimbal
from rosflight_py_sim.ground.parameters import ParameterError


def gimbal(**given):
    return Gimbal(CAMERA_PARAMETERS.checked({"gimbal_outputs": [8, 9, 10], **given}), ["front", "bottom"])


@pytest.mark.parametrize(
    ("pulses", "angles_deg"),
    [
        ((1100, 1100, 1100), (-30, -90, -180)),
        ((1900, 1900, 1900), (30, 20, 180)),
        ((1500, 1500, 1500), (0, -35, 0)),
        ((1700, 1300, 1600), (15, -62.5, 45)),
        # Beyond the ends, and without a pulse, which gives the camera's own angle.
        ((2200, 900, 1500), (30, -90, 0)),
        ((0, 1100, 0), (0, -90, 0)),
    ],
)
def test_pulses_turn_the_camera_in_proportion_within_its_ranges(pulses, angles_deg):
    turned = gimbal().turned(camera_named("front"), [1500.0] * 8 + list(pulses) + [1500.0] * 3)
    assert turned.angles == pytest.approx([math.radians(angle) for angle in angles_deg], abs=1e-12)


def test_axis_without_an_output_keeps_the_cameras_angle():
    camera = camera_named("bottom")
    turned = gimbal(gimbal_outputs=[-1, -1, 4], gimbal_camera="bottom").turned(camera, [1900.0] * 14)
    assert turned.angles == (*camera.angles[:2], math.pi)


def test_without_outputs_no_camera_is_turned():
    assert gimbal(gimbal_outputs=[-1, -1, -1], gimbal_camera="none").camera == ""


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"gimbal_camera": "rear"}, r"'gimbal_camera': 'rear' given; allowed: one of camera_names, \['front'"),
        ({"gimbal_pulses": [1900.0, 1100.0]}, "'gimbal_pulses': .*the longest pulse last"),
        ({"gimbal_outputs": [14, -1, -1]}, "'gimbal_outputs'.*14"),
    ],
)
def test_gimbal_that_cannot_be_is_refused(given, text):
    with pytest.raises(ParameterError, match=text):
        gimbal(**given)

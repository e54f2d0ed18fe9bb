"""Parameters of the cameras, and missing packages."""

import sys

import numpy as np
import pytest
from camera_views import truth_at

from rosflight_py_sim.camera import CAMERA_PARAMETERS, NoPandaError, Renderer, cameras
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.world import World, load_world


def test_single_custom_camera():
    given = {
        "camera_names": ["gimbal"],
        "camera_positions": [0.1, 0.2, 0.3],
        "camera_angles": [0.0, -45.0, 90.0],
        "camera_fields_of_view": [60.0],
        "image_width": 64,
        "image_height": 48,
    }
    (camera,) = cameras(CAMERA_PARAMETERS.checked(given))
    assert (camera.name, camera.position_body, camera.width, camera.height) == ("gimbal", (0.1, 0.2, 0.3), 64, 48)
    _, turned = camera.pose(truth_at((0.0, 0.0, 0.0)))
    np.testing.assert_allclose(turned[:, 2], (0.0, np.sqrt(0.5), np.sqrt(0.5)), atol=1e-12)
    assert camera.focal_length == pytest.approx(32.0 / np.tan(np.radians(30.0)))


def test_empty_camera_list_is_valid():
    none = {"camera_names": [], "camera_positions": [], "camera_angles": [], "camera_fields_of_view": []}
    assert cameras(CAMERA_PARAMETERS.checked(none)) == []


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"camera_names": ["front", "front"]}, "'camera_names'.*distinct names"),
        ({"camera_names": ["front", "no good"]}, "'camera_names'.*no good"),
        ({"camera_names": ["front"]}, "'camera_positions': 6 numbers given; allowed: 3 for each"),
        ({"camera_angles": [0.0] * 5}, "'camera_angles': 5 numbers given.*6"),
        ({"camera_fields_of_view": [80.0]}, "'camera_fields_of_view': 1 numbers given.*2"),
        ({"camera_fields_of_view": [80.0, 180.0]}, "'camera_fields_of_view'.*from 5 to 150 deg"),
        ({"image_width": 0}, "'image_width': 0 given"),
        ({"jpeg_quality": 101}, "'jpeg_quality': 101 given"),
    ],
)
def test_inconsistent_parameters_are_rejected(given, text):
    with pytest.raises(ParameterError, match=text):
        cameras(CAMERA_PARAMETERS.checked(given))


def test_missing_panda3d_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "panda3d", None)
    with pytest.raises(NoPandaError, match=r"Panda3D.*pip install panda3d.*extra 'auv'"):
        Renderer(World(""), 32, 24)


def test_multiple_renderers_share_one_engine_and_release_memory():
    from panda3d.core import GraphicsEngine

    engine = GraphicsEngine.get_global_ptr()
    before = engine.get_num_windows()
    world = load_world("pool")
    for _ in range(3):
        several = [Renderer(world, 32, 24) for _ in range(4)]
        assert engine.get_num_windows() == before + 4
        for renderer in several:
            renderer.close()
    assert engine.get_num_windows() == before

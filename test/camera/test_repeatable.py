"""The same state gives the same bytes: again, in other processes, and without numba."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
from camera_views import camera_named, truth_at

from rosflight_py_sim.camera import Renderer
from rosflight_py_sim.kernels.jit import COMPILED
from rosflight_py_sim.world import load_world

STATES = [
    (("pool", "front"), ((-4.0, 0.0, 2.0), 3.0, -4.0, 5.0)),
    (("pool", "bottom"), ((4.0, 3.5, 0.2), 0.0, 10.0, 40.0)),
    (("pool", "front"), ((-11.0, -7.0, -2.0), 0.0, -20.0, 30.0)),
    (("open_water", "front"), ((2.0, 0.0, 5.0), 0.0, 25.0, 0.0)),
]


def views(width=320, height=240):
    for (name, camera), state in STATES:
        renderer = Renderer(load_world(name), width, height)
        yield renderer.render(camera_named(camera, image_width=width, image_height=height), truth_at(*state)).copy()
        renderer.close()


def digests():
    """Digests of each view and of its JPEG file."""
    files = [(view.tobytes(), cv2.imencode(".jpg", view)[1].tobytes()) for view in views()]
    return [hashlib.sha256(one).hexdigest() for pair in files for one in pair]


def in_another_process(expression, **environment):
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parents[1]), os.environ.get("PYTHONPATH", "")])
    program = f"import json, test_repeatable as t; print(json.dumps({expression}))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_same_state_renders_identical_bytes_again_and_in_another_process():
    first = digests()
    assert first == digests()
    assert first == in_another_process("t.digests()")


def test_image_is_independent_of_previous_images():
    renderer = Renderer(load_world("pool"), 160, 120)
    camera = camera_named("bottom", image_width=160, image_height=120)
    first = renderer.render(camera, truth_at((0.0, 0.0, 2.0))).copy()
    renderer.render(camera, truth_at((5.0, 3.0, 1.0), 10.0, 20.0, 30.0))
    np.testing.assert_array_equal(renderer.render(camera, truth_at((0.0, 0.0, 2.0))), first)
    renderer.close()


def test_rendering_from_new_poses_leaks_no_memory():
    from panda3d.core import TransformState

    renderer = Renderer(load_world("pool"), 32, 24)
    camera = camera_named("front", image_width=32, image_height=24)
    states = []
    for k in range(60):
        renderer.render(camera, truth_at((0.01 * k, 0.0, 2.0), yaw_deg=0.3 * k))
        states.append(TransformState.get_num_states())
    renderer.close()
    # Panda3D would keep each position for a collector that only its own main loop calls.
    assert states[-1] == states[9]


@pytest.mark.skipif(not COMPILED, reason="kernels are plain already")
def test_plain_python_renders_same_image_as_compiled_kernels():
    plain = in_another_process("[v.tolist() for v in t.views(64, 48)]", ROSFLIGHT_PY_SIM_NO_JIT="1")
    # A value halfway between two levels may be rounded either way.
    difference = np.abs(np.array(plain) - np.array(list(views(64, 48)), dtype=int))
    assert difference.max() <= 1
    assert (difference > 0).mean() < 1e-3

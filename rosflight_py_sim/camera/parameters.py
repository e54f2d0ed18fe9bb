"""Parameters of the cameras on a vehicle."""

from __future__ import annotations

import math
import re

from rosflight_py_sim.camera.gimbal import GIMBAL_PARAMETERS
from rosflight_py_sim.camera.pinhole import Camera
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.world import WORLD

CAMERA_PARAMETERS = ParameterTable(
    Parameter("camera_names", ["front", "bottom"], "Names of the cameras, used in topic names", read_only=True),
    Parameter(
        "camera_positions",
        [0.16, 0.0, 0.0, 0.0, 0.0, 0.1],
        "Camera positions, x y z each, in body axes",
        "m",
        minimum=-100.0,
        maximum=100.0,
    ),
    Parameter(
        "camera_angles",
        [0.0, 0.0, 0.0, 0.0, -90.0, 0.0],
        "Camera orientations, roll pitch yaw each: 0 0 0 looks forward, 0 -90 0 looks down with the top of the "
        "image forward",
        "deg",
        minimum=-360.0,
        maximum=360.0,
    ),
    Parameter(
        "camera_fields_of_view",
        [80.0, 80.0],
        "Horizontal field of view of each camera",
        "deg",
        minimum=5.0,
        maximum=150.0,
    ),
    Parameter("image_width", 320, "Width of the images", "pixels", minimum=16, maximum=1920, read_only=True),
    Parameter("image_height", 240, "Height of the images", "pixels", minimum=16, maximum=1080, read_only=True),
    Parameter("frame_rate", 30.0, "Images per simulated second", "Hz", minimum=0.1, maximum=200.0),
    Parameter("jpeg_quality", 90, "Quality of the compressed images", minimum=1, maximum=100),
    Parameter("antialiasing", True, "Antialiasing of edges with four samples per pixel", read_only=True),
    WORLD,
    *GIMBAL_PARAMETERS,
)


def cameras(values: Values) -> list[Camera]:
    """Cameras described by the parameters.

    Raises:
        ParameterError: a name is not valid in a topic, or the lengths of the lists do not match.
    """
    names = [str(name) for name in _list(values, "camera_names")]
    for name in names:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or "__" in name or names.count(name) > 1:
            raise ParameterError(
                f"parameter 'camera_names': {names} given; allowed: distinct names of lower-case letters, digits and "
                "single underscores that start with a letter"
            )
    rows = {
        key: _rows(values, key, count, names)
        for key, count in (("camera_positions", 3), ("camera_angles", 3), ("camera_fields_of_view", 1))
    }
    size = int(number(values, "image_width")), int(number(values, "image_height"))
    found = []
    for k, name in enumerate(names):
        (x, y, z), angles = rows["camera_positions"][k], rows["camera_angles"][k]
        roll, pitch, yaw = (math.radians(angle) for angle in angles)
        field_of_view = math.radians(rows["camera_fields_of_view"][k][0])
        found.append(Camera(name, (x, y, z), (roll, pitch, yaw), field_of_view, *size))
    return found


def _list(values: Values, name: str) -> list[object]:
    value = values[name]
    assert isinstance(value, list)
    return list(value)


def _rows(values: Values, name: str, count: int, cameras: list[str]) -> list[list[float]]:
    numbers = [float(str(one)) for one in _list(values, name)]
    if len(numbers) != count * len(cameras):
        raise ParameterError(
            f"parameter '{name}': {len(numbers)} numbers given; allowed: {count} for each of camera_names, "
            f"{count * len(cameras)}"
        )
    return [numbers[count * k : count * (k + 1)] for k in range(len(cameras))]

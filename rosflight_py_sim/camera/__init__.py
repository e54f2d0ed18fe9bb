"""Camera images of a vehicle: pinhole cameras, rendered on the CPU without a display.

`Renderer` makes images of a `World`; docs/camera.md describes them. No module here imports ROS.
"""

from rosflight_py_sim.camera.faces import Faces, faces_of_triangles
from rosflight_py_sim.camera.gimbal import Gimbal
from rosflight_py_sim.camera.parameters import CAMERA_PARAMETERS, cameras
from rosflight_py_sim.camera.pinhole import Camera
from rosflight_py_sim.camera.renderer import Renderer
from rosflight_py_sim.camera.visibility import NoPandaError

__all__ = [
    "CAMERA_PARAMETERS",
    "Camera",
    "Faces",
    "Gimbal",
    "NoPandaError",
    "Renderer",
    "cameras",
    "faces_of_triangles",
]

"""Pictures as a vehicle's cameras take them: pinhole cameras, drawn without a display on the processor alone.

`Renderer` makes pictures of a `World`; docs/camera.md tells of what they show. Nothing here knows ROS.
"""

from rosflight_py_sim.camera.parameters import CAMERA_PARAMETERS, cameras
from rosflight_py_sim.camera.pinhole import Camera
from rosflight_py_sim.camera.renderer import Renderer
from rosflight_py_sim.camera.visibility import NoPandaError

__all__ = ["CAMERA_PARAMETERS", "Camera", "NoPandaError", "Renderer", "cameras"]

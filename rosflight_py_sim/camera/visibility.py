"""Visible face at each pixel, by Panda3D's software renderer tinydisplay, which needs neither a display nor OpenGL.

Each face is drawn, unlit, in a colour that encodes its number. `shading` computes colour and distance exactly from the
number: tinydisplay itself cannot return distances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.camera.faces import Faces
from rosflight_py_sim.camera.pinhole import Camera

_NEAREST = 0.02
_FARTHEST = 3000.0

# Face numbers are three-byte colours; 0 means no face.
_MOST_FACES = 2**24 - 1

_SETTINGS = """
load-display p3tinydisplay
window-type none
audio-library-name null
notify-level error
garbage-collect-states false
"""


class NoPandaError(RuntimeError):
    """Panda3D is not installed or cannot draw."""


class FacePicture:
    """Draws the face numbers of one world, and of vehicles in it, at one image size.

    All instances share the process's graphics engine; only the buffer being drawn is active.

    Raises:
        NoPandaError: Panda3D is not installed, or cannot draw without a display.
    """

    _pipe: ClassVar[Any] = None

    def __init__(self, faces: Faces, width: int, height: int, vehicles: Sequence[Faces] = ()) -> None:
        """Number the faces: those of the world, then those of each vehicle, which is hidden until it is placed."""
        self._core = core = _load_panda()
        self._size = (width, height)
        self._engine = core.GraphicsEngine.get_global_ptr()
        self._buffer = self._engine.make_output(
            self._offscreen_pipe(),
            "camera",
            0,
            core.FrameBufferProperties(core.FrameBufferProperties.get_default()),
            core.WindowProperties.size(width, height),
            core.GraphicsPipe.BF_refuse_window,
        )
        if self._buffer is None:
            raise NoPandaError("Panda3D's tinydisplay could not create an offscreen buffer")
        self._picture = core.Texture()
        self._buffer.add_render_texture(self._picture, core.GraphicsOutput.RTM_copy_ram, core.GraphicsOutput.RTP_color)
        self._buffer.set_clear_color((0.0, 0.0, 0.0, 0.0))
        self._root = core.NodePath("world")
        self._root.set_attrib(core.ColorAttrib.make_vertex())
        # In a fixed order, because the order decides between faces at the same depth.
        self._root.attach_new_node(_geometry(core, faces, 1)).set_bin("fixed", 0)
        self._vehicles: list[Any] = []
        first = 1 + len(faces.corners)
        for order, one in enumerate(vehicles, start=1):
            node = self._root.attach_new_node(_geometry(core, one, first))
            node.set_bin("fixed", order)
            node.hide()
            self._vehicles.append(node)
            first += len(one.corners)
        self._camera = self._root.attach_new_node(core.Camera("camera"))
        self._lens = core.PerspectiveLens()
        self._lens.set_near_far(_NEAREST, _FARTHEST)
        self._camera.node().set_lens(self._lens)
        self._buffer.make_display_region().set_camera(self._camera)
        self._buffer.set_active(False)

    def place(self, index: int, position_ned: NDArray[np.float64], turned: NDArray[np.float64]) -> None:
        """Show a vehicle at a position (3,), m; `turned` is the rotation matrix (3, 3) from body axes to NED."""
        node = self._vehicles[index]
        node.set_mat(self._matrix(turned[:, 1], turned[:, 0], -turned[:, 2], position_ned))
        node.show()

    def hide(self, index: int) -> None:
        """Leave a vehicle out."""
        self._vehicles[index].hide()

    def draw(
        self, camera: Camera, position_ned: NDArray[np.float64], turned: NDArray[np.float64]
    ) -> NDArray[np.uint32]:
        """Face numbers (height, width), bottom row first, 0 without a face; the highest byte is the opacity.

        `turned` is the rotation matrix (3, 3) from camera axes to NED. The next call overwrites the array.
        """
        width, height = self._size
        horizontal = 0.5 * camera.field_of_view
        vertical = math.atan(math.tan(horizontal) * height / width)
        self._lens.set_fov(math.degrees(2.0 * horizontal), math.degrees(2.0 * vertical))
        self._camera.set_mat(self._matrix(turned[:, 0], turned[:, 2], -turned[:, 1], position_ned))
        self._buffer.set_active(True)
        self._engine.render_frame()
        self._buffer.set_active(False)
        return np.frombuffer(self._picture.get_ram_image(), "<u4").reshape(height, width)

    def close(self) -> None:
        """Release the memory."""
        self._engine.remove_window(self._buffer)
        self._root.remove_node()

    def _matrix(self, *vectors_ned: NDArray[np.float64]) -> Any:
        """Matrix of a node from its axes right, forward, up and its position. Panda3D's world is east, north, up."""
        rows = [_east_north_up(vector) for vector in vectors_ned]
        return self._core.LMatrix4f(
            *(number for row, last in zip(rows, (0, 0, 0, 1), strict=True) for number in (*row, last))
        )

    def _offscreen_pipe(self) -> Any:
        if FacePicture._pipe is None:
            selection = self._core.GraphicsPipeSelection.get_global_ptr()
            FacePicture._pipe = selection.make_pipe("TinyOffscreenGraphicsPipe", "p3tinydisplay")
        if FacePicture._pipe is None:
            raise NoPandaError(
                "Panda3D's tinydisplay, which renders the images, could not be loaded. It needs the library libX11 "
                "(on Debian and Ubuntu: sudo apt-get install libx11-6), but no display"
            )
        return FacePicture._pipe


def _east_north_up(vector: NDArray[np.float64]) -> tuple[float, float, float]:
    return float(vector[1]), float(vector[0]), -float(vector[2])


def _geometry(core: Any, faces: Faces, first_number: int) -> Any:
    """All faces as one Panda3D node, numbered from `first_number`."""
    counts = [len(corners) for corners in faces.corners]
    assert first_number + len(counts) <= _MOST_FACES
    total = sum(counts)
    data = core.GeomVertexData("faces", core.GeomVertexFormat.get_v3c4(), core.Geom.UH_static)
    data.set_num_rows(total)
    vertex, colour = core.GeomVertexWriter(data, "vertex"), core.GeomVertexWriter(data, "color")
    triangles = core.GeomTriangles(core.Geom.UH_static)
    first = 0
    for number, corners in enumerate(faces.corners, start=first_number):
        shade = [((number >> shift) & 255) / 255.0 for shift in (16, 8, 0)]
        for corner in corners:
            vertex.add_data3(*_east_north_up(corner))
            colour.add_data4(*shade, 1.0)
        for k in range(1, len(corners) - 1):
            triangles.add_vertices(first, first + k, first + k + 1)
        first += len(corners)
    geometry = core.Geom(data)
    geometry.add_primitive(triangles)
    node = core.GeomNode("faces")
    node.add_geom(geometry)
    return node


def _load_panda() -> Any:
    try:
        from panda3d import core
    except ImportError as error:
        raise NoPandaError(
            f"Panda3D, which renders the images, is not installed ({error}); install it with `pip install panda3d` "
            "(or this package's extra 'auv')"
        ) from error
    if not _load_panda_once:
        core.load_prc_file_data("", _SETTINGS)
        _load_panda_once.append(True)
    return core


_load_panda_once: list[bool] = []

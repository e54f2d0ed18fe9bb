"""Meshes and parts of vehicles as faces for the renderer of the cameras."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rosflight_py_sim.camera import Faces, faces_of_triangles
from rosflight_py_sim.shapes.meshes import Mesh
from rosflight_py_sim.viewer.appearance import DrawnPart
from rosflight_py_sim.world.colours import Colour


def faces_of_mesh(mesh: Mesh, colour: Colour) -> Faces:
    """Faces of a mesh of one colour."""
    return faces_of_triangles(mesh.corners.astype(np.float64), [colour] * len(mesh.triangles))


def faces_of_parts(parts: Sequence[DrawnPart]) -> Faces:
    """Faces of a vehicle's parts, at rest, body axes."""
    corners = [part.mesh.corners.astype(np.float64) + np.array(part.pivot_frd) for part in parts]
    colours = [part.colour for part in parts for _ in part.mesh.triangles]
    return faces_of_triangles(np.concatenate(corners), colours)

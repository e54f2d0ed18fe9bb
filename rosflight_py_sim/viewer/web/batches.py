"""Equal meshes drawn as one: a browser takes a fleet of equal vehicles as a few nodes, each with a pose per vehicle."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import viser
from numpy.typing import NDArray

from rosflight_py_sim.shapes.meshes import Mesh
from rosflight_py_sim.world.colours import Colour

Floats: TypeAlias = NDArray[np.float64]

_LEVEL = (1.0, 0.0, 0.0, 0.0)


@dataclass
class _Batch:
    """Instances of one mesh, by their numbers."""

    name: str
    mesh: Mesh
    colour: Colour
    side: Literal["front", "double"]
    numbers: list[int] = field(default_factory=list)
    node: viser.BatchedMeshHandle | None = None


class Batches:
    """Meshes, of which equal ones are one node of the scene.

    Attributes:
        positions: position of each mesh in the parent's axes (n, 3), m.
        attitudes: quaternion w x y z of each mesh (n, 4).
    """

    def __init__(self, scene: viser.SceneApi, root: str) -> None:
        """Begin without meshes; `root`: name of the parent node."""
        self._scene, self._root = scene, root
        self._batches: dict[tuple[object, ...], _Batch] = {}
        self.positions: Floats = np.zeros((0, 3))
        self.attitudes: Floats = np.zeros((0, 4))

    def add(self, name: str, mesh: Mesh, colour: Colour, *, side: Literal["front", "double"] = "front") -> None:
        """Add a mesh; a batch has the name of its first mesh."""
        key = (mesh.vertices.tobytes(), mesh.triangles.tobytes(), colour, side)
        self._batches.setdefault(key, _Batch(name, mesh, colour, side)).numbers.append(len(self.positions))
        self.positions = np.vstack([self.positions, np.zeros(3)])
        self.attitudes = np.vstack([self.attitudes, _LEVEL])

    def draw(self) -> None:
        """Show the meshes at their poses; those at rest cost nothing."""
        for batch in self._batches.values():
            positions, attitudes = self.positions[batch.numbers], self.attitudes[batch.numbers]
            if batch.node is None:
                batch.node = self._scene.add_batched_meshes_simple(
                    f"{self._root}/{batch.name}",
                    batch.mesh.vertices,
                    batch.mesh.triangles,
                    attitudes,
                    positions,
                    batched_colors=linear_colour(batch.colour),
                    lod="off",
                    flat_shading=True,
                    side=batch.side,
                    cast_shadow=False,
                    receive_shadow=False,
                )
            else:
                batch.node.batched_positions = positions.astype(np.float32)
                batch.node.batched_wxyzs = attitudes.astype(np.float32)


def linear_colour(colour: Colour) -> Colour:
    """A colour for a batch, for which viser expects linear intensities; elsewhere it expects sRGB."""
    shares = (np.array(colour) / 255.0 + 0.055) / 1.055
    red, green, blue = np.rint(255.0 * shares**2.4).astype(int).tolist()
    return red, green, blue


def rotated(vectors: Floats, attitudes: Floats) -> Floats:
    """Vectors (n, 3) rotated by unit quaternions w x y z (n, 4): v + 2 w (u x v) + 2 u x (u x v)."""
    axes = attitudes[:, 1:4]
    across = 2.0 * np.cross(axes, vectors)
    return np.asarray(vectors + attitudes[:, 0:1] * across + np.cross(axes, across))


def products(first: Floats, then: Floats) -> Floats:
    """Products of quaternions w x y z (n, 4): the rotations `then` in the axes that `first` has turned."""
    w, v = first[:, 0:1], first[:, 1:4]
    other_w, other_v = then[:, 0:1], then[:, 1:4]
    scalar = w * other_w - np.sum(v * other_v, axis=1, keepdims=True)
    return np.hstack([scalar, w * other_v + other_w * v + np.cross(v, other_v)])

"""Closed triangle meshes, from which vehicles are built for viewers.

Every mesh is a loft (a skin over rings of corners, closed at both ends) or a revolution (a closed profile swept around
an axis). Coordinates are body axes, forward right down, in m. Triangles are counterclockwise as seen from outside:
the normal (b - a) x (c - a) points outward.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Points = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangle mesh.

    Attributes:
        vertices: float32 (n, 3), m.
        triangles: int32 (m, 3), indices of vertices.
    """

    vertices: NDArray[np.float32]
    triangles: NDArray[np.int32]

    @property
    def corners(self) -> NDArray[np.float32]:
        """Corners of each triangle (m, 3, 3)."""
        return self.vertices[self.triangles]

    @property
    def volume(self) -> float:
        """Enclosed volume, m^3: the sum of the tetrahedra over the origin; negative for an inside-out mesh."""
        a, b, c = np.moveaxis(self.corners.astype(np.float64), 1, 0)
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)

    def moved(self, offset: ArrayLike) -> Mesh:
        """Copy at an offset."""
        return Mesh((self.vertices + np.asarray(offset)).astype(np.float32), self.triangles)

    def mirrored(self) -> Mesh:
        """Mirror image in the plane of symmetry: y changes sign."""
        return Mesh(self.vertices * np.array([1.0, -1.0, 1.0], dtype=np.float32), self.triangles[:, ::-1])


def merged(meshes: Iterable[Mesh]) -> Mesh:
    """Several meshes as one."""
    parts = list(meshes)
    starts = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
    return Mesh(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.triangles + start for part, start in zip(parts, starts, strict=True)]).astype(np.int32),
    )


def _outward(vertices: Points, triangles: Sequence[tuple[int, int, int]]) -> Mesh:
    mesh = Mesh(vertices.astype(np.float32), np.array(triangles, dtype=np.int32))
    centred = Mesh((vertices - vertices.mean(axis=0)).astype(np.float32), mesh.triangles)
    return mesh if centred.volume > 0.0 else Mesh(mesh.vertices, mesh.triangles[:, ::-1])


def _band(first: int, second: int, count: int) -> list[tuple[int, int, int]]:
    """Triangles between two rings of `count` corners whose first vertices are `first` and `second`."""
    triangles = []
    for k in range(count):
        after = (k + 1) % count
        triangles += [
            (first + k, first + after, second + k),
            (first + after, second + after, second + k),
        ]
    return triangles


def loft(rings: Sequence[ArrayLike]) -> Mesh:
    """Skin over convex rings (k, 3) with equal numbers of corners, in order, closed by flat ends."""
    stacked = np.array(rings, dtype=np.float64)
    count, k = stacked.shape[:2]
    triangles = [triangle for i in range(count - 1) for triangle in _band(i * k, (i + 1) * k, k)]
    end = (count - 1) * k
    for i in range(1, k - 1):
        triangles += [(0, i + 1, i), (end, end + i, end + i + 1)]
    return _outward(stacked.reshape(-1, 3), triangles)


def _across(axis: ArrayLike) -> tuple[Points, Points, Points]:
    """Unit vector along `axis`, and two perpendicular ones that complete a right-handed set."""
    along = np.asarray(axis, dtype=np.float64)
    along = along / np.linalg.norm(along)
    other = np.eye(3)[int(np.argmin(np.abs(along)))]
    first = np.cross(along, other)
    first /= np.linalg.norm(first)
    return along, first, np.cross(along, first)


def _circle(centre: ArrayLike, axis: ArrayLike, radius: float, sides: int) -> Points:
    _, first, second = _across(axis)
    angles = 2.0 * math.pi * (np.arange(sides) + 0.5) / sides
    return np.asarray(
        np.asarray(centre) + radius * (np.outer(np.cos(angles), first) + np.outer(np.sin(angles), second))
    )


def box(size: Sequence[float], centre: ArrayLike = (0.0, 0.0, 0.0)) -> Mesh:
    """A box with sizes along x, y and z."""
    x, y, z = (0.5 * one for one in size)
    ring = [(y, z), (-y, z), (-y, -z), (y, -z)]
    return loft([[(end, *corner) for corner in ring] for end in (-x, x)]).moved(centre)


def rod(start: ArrayLike, end: ArrayLike, radius: float, sides: int = 8, end_radius: float | None = None) -> Mesh:
    """A round bar, or a truncated cone with another radius at its end."""
    return spindle(start, end, [(0.0, radius), (1.0, radius if end_radius is None else end_radius)], sides)


def spindle(start: ArrayLike, end: ArrayLike, radii: Sequence[tuple[float, float]], sides: int = 12) -> Mesh:
    """A round body from start to end, with radii at shares of its length, such as a hull with its nose."""
    first, last = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    axis = last - first
    return loft([_circle(first + share * axis, axis, radius, sides) for share, radius in radii])


def hoop(centre: ArrayLike, axis: ArrayLike, outer: float, inner: float, length: float, sides: int = 16) -> Mesh:
    """A duct: a short pipe with the given outer and inner radius and length."""
    return _revolved(centre, axis, [(outer, -0.5), (outer, 0.5), (inner, 0.5), (inner, -0.5)], length, sides)


def torus(centre: ArrayLike, axis: ArrayLike, radius: float, tube: float, sides: int = 32) -> Mesh:
    """A ring: a tube around a circle, both with the given radius."""
    angles = [2.0 * math.pi * k / 8 for k in range(8)]
    return _revolved(centre, axis, [(radius + tube * math.cos(a), math.sin(a)) for a in angles], tube, sides)


def _revolved(
    centre: ArrayLike, axis: ArrayLike, profile: Sequence[tuple[float, float]], length: float, sides: int
) -> Mesh:
    """A closed profile, given by radii at shares of a length along the axis, swept around the axis."""
    along, _, _ = _across(axis)
    rings = [_circle(np.asarray(centre) + share * length * along, axis, radius, sides) for radius, share in profile]
    count = len(rings)
    triangles = [t for i in range(count) for t in _band(i * sides, ((i + 1) % count) * sides, sides)]
    return _outward(np.array(rings).reshape(-1, 3), triangles)


def panel(sections: Sequence[tuple[ArrayLike, float, float]], normal: ArrayLike = (0.0, 0.0, 1.0)) -> Mesh:
    """A wing or fin of sections (leading edge, chord, thickness); chords along -x, thickness along `normal`."""
    up = np.asarray(normal, dtype=np.float64) / np.linalg.norm(np.asarray(normal, dtype=np.float64))
    outline = [(0.0, 0.0), (0.2, 0.5), (0.5, 0.4), (1.0, 0.06), (1.0, -0.06), (0.5, -0.4), (0.2, -0.5)]
    rings = []
    for edge, chord, thickness in sections:
        start = np.asarray(edge, dtype=np.float64)
        rings.append([start + np.array([-share * chord, 0.0, 0.0]) + half * thickness * up for share, half in outline])
    return loft(rings)


def flap(sections: Sequence[tuple[ArrayLike, float, float]], normal: ArrayLike = (0.0, 0.0, 1.0)) -> Mesh:
    """A hinged surface behind a `panel`, from sections (hinge point, chord, thickness) that taper to the back."""
    up = np.asarray(normal, dtype=np.float64) / np.linalg.norm(np.asarray(normal, dtype=np.float64))
    rings = []
    for edge, chord, thickness in sections:
        start = np.asarray(edge, dtype=np.float64)
        back = start + np.array([-chord, 0.0, 0.0])
        thin = 0.15 * thickness
        rings.append([start + 0.5 * thickness * up, back + thin * up, back - thin * up, start - 0.5 * thickness * up])
    return loft(rings)


def propeller(diameter: float, thrust_axis: ArrayLike, spin_axis: ArrayLike, blades: int = 2) -> Mesh:
    """Hub and twisted blades at the origin, with thrust along `thrust_axis` when they turn about `spin_axis`."""
    thrust = np.asarray(thrust_axis, dtype=np.float64)
    spin = np.asarray(spin_axis, dtype=np.float64)
    _, first, second = _across(spin)
    tip = 0.5 * diameter
    hub = 0.1 * tip
    parts = [rod(-0.6 * hub * thrust, 1.2 * hub * thrust, hub, sides=8, end_radius=0.5 * hub)]
    for k in range(blades):
        angle = 2.0 * math.pi * k / blades
        out = math.cos(angle) * first + math.sin(angle) * second
        ahead = np.cross(spin, out)
        rings = []
        for share, chord, pitch in ((0.06, 0.10, 0.9), (0.35, 0.20, 0.5), (0.75, 0.15, 0.3), (1.0, 0.06, 0.2)):
            line = tip * chord * (math.cos(pitch) * ahead + math.sin(pitch) * thrust)
            across = 0.012 * tip * thrust
            middle = share * tip * out
            rings.append([middle + 0.5 * line, middle + across, middle - 0.5 * line, middle - across])
        parts.append(loft(rings))
    return merged(parts)

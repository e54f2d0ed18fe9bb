"""Ellipsoid fit to magnetometer samples: its centre, and the matrix that maps it to a sphere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

GREATEST_AXIS_RATIO = 3.0
"""Ratio of longest to shortest half axis above which a fit is rejected as caused by too few directions."""

LEAST_SAMPLES = 10


@dataclass(frozen=True)
class Ellipsoid:
    """Points x with |matrix @ (x - centre)| = radius.

    Attributes:
        centre: (3,) in the unit of the samples.
        matrix: (3, 3), symmetric, positive definite, of determinant 1.
        radius: geometric mean of the half axes, in the unit of the samples.
    """

    centre: NDArray[np.float64]
    matrix: NDArray[np.float64]
    radius: float

    def on_unit_sphere(self, samples: NDArray[np.float64]) -> NDArray[np.float64]:
        """Samples (n, 3) mapped to about the unit sphere."""
        return np.asarray((samples - self.centre) @ self.matrix / self.radius)


def fit_ellipsoid(samples: NDArray[np.float64]) -> Ellipsoid | None:
    """Algebraic least-squares fit to samples (n, 3); None if they do not determine an ellipsoid.

    The unit vector v that minimises |D v|, D having the rows (x^2, y^2, z^2, 2xy, 2xz, 2yz, 2x, 2y, 2z, 1), gives the
    quadric x'Ax + 2 b'x + c = 0; its centre is -A^-1 b, and A / (b'A^-1 b - c) has the square root that maps it on the
    unit sphere (V. Renaudin, M. Afzal, G. Lachapelle, Complete triaxis magnetometer calibration in the magnetic domain,
    Journal of Sensors, 2010, section 4). Noise of standard deviation s biases the radius by about s^2 / radius^2.
    """
    if len(samples) < LEAST_SAMPLES:
        return None
    middle = samples.mean(axis=0)
    scale = float(np.sqrt(np.mean(np.sum((samples - middle) ** 2, axis=1))))
    if not 0.0 < scale < np.inf:
        return None
    x, y, z = ((samples - middle) / scale).T
    rows = np.stack(
        [x * x, y * y, z * z, 2 * x * y, 2 * x * z, 2 * y * z, 2 * x, 2 * y, 2 * z, np.ones_like(x)], axis=1
    )
    # The smallest eigenvector of D'D is the smallest singular vector of D, at a cost that does not grow with n.
    a, d, f, h, i, j, p, q, r, c = np.linalg.eigh(rows.T @ rows)[1][:, 0]
    quadric, linear = np.array([[a, h, i], [h, d, j], [i, j, f]]), np.array([p, q, r])
    if abs(np.linalg.det(quadric)) < 1e-12:
        return None
    centre = -np.linalg.solve(quadric, linear)
    level = -float(linear @ centre) - c
    if level == 0.0:
        return None
    squares, axes = np.linalg.eigh(quadric / level)
    if squares[0] <= 0.0 or squares[2] > GREATEST_AXIS_RATIO**2 * squares[0]:
        return None
    root = axes @ np.diag(np.sqrt(squares)) @ axes.T
    size = float(np.cbrt(np.linalg.det(root)))
    return Ellipsoid(middle + scale * centre, root / size, scale / size)

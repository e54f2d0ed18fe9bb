"""Fingerprint of this machine's floating-point arithmetic; only with equal ones can flights be bit-identical."""

from __future__ import annotations

import hashlib
import math

import numpy as np

from rosflight_py_sim.kernels.jit import COMPILED


def mark() -> str:
    """Hash of results of mathematical functions in Python and numpy, and of linear algebra."""
    x = np.linspace(0.01, 20.0, 997)
    digest = hashlib.sha256(repr(COMPILED).encode())
    for function in (np.sin, np.cos, np.exp, np.log, np.sqrt, np.arctan, np.tanh):
        digest.update(function(x).tobytes())
    for function in (math.sin, math.cos, math.exp, math.log, math.tan, math.atan, math.tanh, math.asinh):
        digest.update(np.array([function(one) for one in x.tolist()]).tobytes())
    digest.update((x[:900].reshape(30, 30) @ x[90:990].reshape(30, 30)).tobytes())
    inertia = np.array([[1.05, 0.02, -0.06], [0.02, 0.8, 0.01], [-0.06, 0.01, 1.7]])
    for k in range(1, 50):
        matrix = inertia + np.diag([1.0 / k, 0.3 * k, 1.0])
        digest.update(np.linalg.inv(matrix).tobytes() + np.linalg.pinv(matrix[:2]).tobytes())
    digest.update(np.random.default_rng(1).standard_normal(1000).tobytes())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    print(mark())

"""Magnetometer calibration: an ellipsoid fitted to samples in all directions gives MAG_CAL_A* and MAG_*_BIAS."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.ellipsoid import Ellipsoid, fit_ellipsoid
from rosflight_py_sim.firmware.state_machine import Log, Severity

TIME_LIMIT_US = 300_000_000
SAMPLES_PER_DIRECTION = 10
CHECK_EVERY = 50
"""Samples between two coverage checks: a second at the default rate."""

GREATEST_RESIDUAL = 0.2
"""Root mean square distance from the fitted ellipsoid, share of its radius; the simulated sensor gives 0.002."""

_GOLDEN = (1.0 + math.sqrt(5.0)) / 2.0


def _directions() -> NDArray[np.float64]:
    """The corners of a dodecahedron, evenly spread: (20, 3), unit vectors."""
    signs = (-1.0, 1.0)
    corners = [list(corner) for corner in itertools.product(signs, repeat=3)]
    for a, b in itertools.product(signs, repeat=2):
        short, long = a / _GOLDEN, b * _GOLDEN
        corners += [[0.0, short, long], [short, long, 0.0], [long, 0.0, short]]
    return np.array(corners) / math.sqrt(3.0)


DIRECTIONS = _directions()


def covered_directions(unit_samples: NDArray[np.float64]) -> int:
    """Number of the twenty directions with enough samples; each sample counts for the nearest direction."""
    nearest = np.argmax(unit_samples @ DIRECTIONS.T, axis=1)
    counts = np.bincount(nearest, minlength=len(DIRECTIONS))
    return int(np.count_nonzero(counts >= SAMPLES_PER_DIRECTION))


class MagCalibration:
    """Collects samples while the vehicle is rotated, and ends by itself once every direction is covered.

    Parameters change only on success. The calibration is aborted after 300 s.
    """

    def __init__(self, store: Callable[[Mapping[str, float]], None], log: Log) -> None:
        """`store` sets the parameters that result."""
        self._store = store
        self._log = log
        self._samples: list[NDArray[np.float64]] | None = None
        self._start_us = 0
        self._reported = 0

    @property
    def running(self) -> bool:
        """Whether samples are being collected."""
        return self._samples is not None

    def start(self, time_us: int) -> str:
        """Begin, or restart; return an instruction for the user."""
        self._samples, self._start_us, self._reported = [], time_us, 0
        return f"calibrating: rotate the vehicle until all {len(DIRECTIONS)} directions are covered (see the log)"

    def take(self, time_us: int, flux: NDArray[np.float64]) -> None:
        """Process a sample (T, body axes, uncorrected) while running."""
        assert self._samples is not None
        self._samples.append(flux.copy())
        if len(self._samples) % CHECK_EVERY == 0:
            self._report_coverage(np.array(self._samples))
        if self.running and time_us - self._start_us > TIME_LIMIT_US:
            self._samples = None
            text = (
                f"magnetometer calibration aborted: {self._reported} of {len(DIRECTIONS)} directions covered in 300 s"
            )
            self._log(Severity.ERROR, f"{text}; the old values are kept")

    def _report_coverage(self, samples: NDArray[np.float64]) -> None:
        """Finish when all directions are covered, else log the count."""
        fit = fit_ellipsoid(samples)
        if fit is None:
            # Good enough to show progress, not for the final decision.
            offset = samples - 0.5 * (samples.min(axis=0) + samples.max(axis=0))
            unit = offset / np.maximum(np.linalg.norm(offset, axis=1, keepdims=True), 1e-300)
        else:
            unit = fit.on_unit_sphere(samples)
        covered = covered_directions(unit)
        if covered == len(DIRECTIONS) and fit is not None:
            residual = float(np.sqrt(np.mean((np.linalg.norm(unit, axis=1) - 1.0) ** 2)))
            if residual < GREATEST_RESIDUAL:
                self._finish(fit, residual)
                return
        if covered >= self._reported + len(DIRECTIONS) // 5:
            self._reported = covered
            self._log(Severity.INFO, f"magnetometer calibration: {covered} of {len(DIRECTIONS)} directions")

    def _finish(self, fit: Ellipsoid, residual: float) -> None:
        self._samples = None
        values = {f"MAG_CAL_A{i}{j}": float(fit.matrix[i, j]) for i in range(3) for j in range(3)}
        values |= {f"MAG_{axis}_BIAS": float(offset) for axis, offset in zip("XYZ", fit.centre, strict=True)}
        self._store(values)
        offset = ", ".join(f"{1e6 * value:.2f}" for value in fit.centre)
        stretch = np.linalg.eigvalsh(fit.matrix)
        self._log(
            Severity.INFO,
            f"magnetometer calibrated: offset ({offset}) uT, longest to shortest axis {stretch[2] / stretch[0]:.3f}, "
            f"{1e6 * residual * fit.radius:.2f} uT RMS from the ellipsoid",
        )

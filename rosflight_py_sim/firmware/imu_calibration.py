"""Calibration of the IMU: means at rest and level become biases."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.estimator import STANDARD_GRAVITY
from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.firmware.sensors import ACCEL_BIASES, GYRO_BIASES, TEMPERATURE_TERMS
from rosflight_py_sim.firmware.state_machine import Event, Log, Severity

CALIBRATION_SAMPLES = 1000
GREATEST_GYRO_BIAS = 1.0
"""rad/s"""

GREATEST_ACCEL_BIAS = 3.0
"""m/s^2"""

GREATEST_ACCEL_SPREAD = 1.0
"""m/s^2, length of the difference of the greatest and the least block mean while calibrating."""

SPREAD_BLOCK = 50
"""Samples to a block: the noise of single samples would look like movement."""


class ImuCalibration:
    """Averages gyros, or gyros and accelerometer, at rest and level, and stores the means as biases.

    Biases change only when that ends well; `gyro_done` and `accel_done` are called then, before the state machine is
    told.
    """

    def __init__(
        self,
        parameters: FirmwareParameters,
        handle: Callable[[Event], None],
        log: Log,
        gyro_done: Callable[[], None],
        accel_done: Callable[[], None],
    ) -> None:
        self._parameters = parameters
        self._handle = handle
        self._log = log
        self._gyro_done = gyro_done
        self._accel_done = accel_done
        self._gyro: list[NDArray[np.float64]] | None = None
        self._accel: list[NDArray[np.float64]] | None = None

    @property
    def running(self) -> bool:
        """Whether samples are being taken."""
        return self._gyro is not None or self._accel is not None

    def start_gyro(self) -> None:
        """Begin with the gyros."""
        self._gyro = []

    def start(self) -> None:
        """Begin with gyros and accelerometer."""
        self.start_gyro()
        self._accel = []

    def take(self, rotation: NDArray[np.float64], sample: NDArray[np.float64]) -> None:
        """Take one raw sample (accelerometer, gyro, temperature) while running."""
        if self._accel is not None:
            self._accel.append(np.append(rotation @ sample[:3], sample[6]))
            if len(self._accel) == CALIBRATION_SAMPLES:
                samples, self._accel = np.array(self._accel), None
                self._finish_accel(samples)
        if self._gyro is not None:
            self._gyro.append(rotation @ sample[3:6])
            if len(self._gyro) == CALIBRATION_SAMPLES:
                bias, self._gyro = np.mean(self._gyro, axis=0), None
                self._finish_gyro(bias)

    def _finish_gyro(self, bias: NDArray[np.float64]) -> None:
        if np.linalg.norm(bias) >= GREATEST_GYRO_BIAS:
            self._log(Severity.ERROR, "gyro calibration: too much movement")
            self._handle(Event.CALIBRATION_FAILED)
            return
        self._parameters.restore(dict(zip(GYRO_BIASES, map(float, bias), strict=True)))
        self._gyro_done()
        self._handle(Event.CALIBRATION_COMPLETE)

    def _finish_accel(self, samples: NDArray[np.float64]) -> None:
        accel, temperature = samples[:, :3], samples[:, 3]
        blocks = accel.reshape(-1, SPREAD_BLOCK, 3).mean(axis=1)
        if np.linalg.norm(np.ptp(blocks, axis=0)) > GREATEST_ACCEL_SPREAD:
            self._log(Severity.ERROR, "IMU calibration: too much movement")
            return
        per_kelvin = np.array([float(self._parameters[name]) for name in TEMPERATURE_TERMS])
        bias = np.mean(accel, axis=0) - per_kelvin * np.mean(temperature)
        bias[2] += STANDARD_GRAVITY
        # Each component has the parameter's range beside the length.
        if np.linalg.norm(bias) >= GREATEST_ACCEL_BIAS or np.max(np.abs(bias)) > 2.0:
            norm = np.linalg.norm(bias)
            self._log(Severity.ERROR, f"IMU calibration: an accelerometer bias of {norm:.3f} m/s^2; is it level?")
            return
        self._parameters.restore(dict(zip(ACCEL_BIASES, map(float, bias), strict=True)))
        self._accel_done()
        self._log(Severity.INFO, "IMU calibrated")

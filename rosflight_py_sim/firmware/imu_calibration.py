"""IMU calibration: sample means at rest and level become biases."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.estimator import STANDARD_GRAVITY
from rosflight_py_sim.firmware.parameters import FirmwareParameterOutOfRange, FirmwareParameters
from rosflight_py_sim.firmware.quirks import REPAIRED, Quirks
from rosflight_py_sim.firmware.sensors import ACCEL_BIASES, GYRO_BIASES, TEMPERATURE_TERMS
from rosflight_py_sim.firmware.state_machine import Event, Log, Severity
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record

CALIBRATION_SAMPLES = 1001
"""Number of samples, as in ROSflight's firmware, whose count must exceed 1000."""

GREATEST_GYRO_BIAS = 1.0
"""rad/s"""

GREATEST_ACCEL_BIAS = 3.0
"""m/s^2"""

GREATEST_ACCEL_SPREAD = 1.0
"""m/s^2, norm of the per-axis differences of the largest and smallest samples (Sensors::calibrate_accel)."""


@kernel_record
class Collected:
    """Samples that a calibration has taken.

    Attributes:
        accel: number of samples for the accelerometer; -1 while none are taken.
        gyro: number of samples for the gyros; -1 while none are taken.
    """

    accel: int
    gyro: int


@kernel
def collect(
    collected: Collected, accel: NDArray[np.float64], gyro: NDArray[np.float64], sample: NDArray[np.float64]
) -> None:
    """Add a raw sample (7,) to the samples for the accelerometer and the gyros (CALIBRATION_SAMPLES, 7)."""
    if collected.accel >= 0:
        for i in range(7):
            accel[collected.accel, i] = sample[i]
        collected.accel += 1
    if collected.gyro >= 0:
        for i in range(7):
            gyro[collected.gyro, i] = sample[i]
        collected.gyro += 1


class ImuCalibration:
    """Averages gyros, or gyros and accelerometer, at rest and level, and stores the means as biases.

    Biases change only on success; `gyro_done` and `accel_done` are called then, before the state machine's event.

    Attributes:
        memory: samples for the accelerometer and for the gyros, for the kernel `collect`.
    """

    def __init__(
        self,
        parameters: FirmwareParameters,
        handle: Callable[[Event], None],
        log: Log,
        gyro_done: Callable[[], None],
        accel_done: Callable[[], None],
        quirks: Quirks = REPAIRED,
    ) -> None:
        self._parameters = parameters
        self._handle = handle
        self._log = log
        self._gyro_done = gyro_done
        self._accel_done = accel_done
        self._forgets = quirks.calibrations_forget
        self._collected = Collected(accel=-1, gyro=-1)
        self._accel, self._gyro = (np.empty((CALIBRATION_SAMPLES, 7)) for _ in range(2))
        self.memory = self._collected, self._accel, self._gyro

    @property
    def running(self) -> bool:
        """Whether samples are being taken."""
        return self._collected.accel >= 0 or self._collected.gyro >= 0

    def start_gyro(self) -> None:
        """Begin with the gyros."""
        self._collected.gyro = 0
        if self._forgets:
            self._parameters.restore(dict.fromkeys(GYRO_BIASES, 0.0))

    def start(self) -> None:
        """Begin with gyros and accelerometer."""
        self.start_gyro()
        self._collected.accel = 0
        if self._forgets:
            self._parameters.restore(dict.fromkeys(ACCEL_BIASES, 0.0))

    def take(self, rotation: NDArray[np.float64], sample: NDArray[np.float64]) -> None:
        """Take one raw sample (accelerometer, gyro, temperature), of an IMU with this rotation, while running."""
        collected = self._collected
        collect(*self.memory, sample)
        if collected.accel == CALIBRATION_SAMPLES:
            collected.accel = -1
            self._finish_accel(self._accel[:, :3] @ rotation.T, self._accel[:, 6])
        if collected.gyro == CALIBRATION_SAMPLES:
            collected.gyro = -1
            self._finish_gyro(np.mean(self._gyro[:, 3:6] @ rotation.T, axis=0))

    def _finish_gyro(self, bias: NDArray[np.float64]) -> None:
        if np.linalg.norm(bias) >= GREATEST_GYRO_BIAS:
            self._log(Severity.ERROR, "gyro calibration: too much movement")
            self._handle(Event.CALIBRATION_FAILED)
            return
        self._parameters.restore(dict(zip(GYRO_BIASES, map(float, bias), strict=True)))
        self._gyro_done()
        self._handle(Event.CALIBRATION_COMPLETE)

    def _finish_accel(self, accel: NDArray[np.float64], temperature: NDArray[np.float64]) -> None:
        spread = float(np.linalg.norm(np.ptp(accel, axis=0)))
        if spread > GREATEST_ACCEL_SPREAD:
            text = f"IMU calibration: too much movement: the accelerometer spreads by {spread:.2f} m/s^2"
            self._log(Severity.ERROR, f"{text} (allowed: {GREATEST_ACCEL_SPREAD:g})")
            return
        per_kelvin = np.array([float(self._parameters[name]) for name in TEMPERATURE_TERMS])
        bias = np.mean(accel, axis=0) - per_kelvin * np.mean(temperature)
        bias[2] += STANDARD_GRAVITY
        norm = float(np.linalg.norm(bias))
        try:
            if norm >= GREATEST_ACCEL_BIAS:
                raise FirmwareParameterOutOfRange
            self._parameters.restore(dict(zip(ACCEL_BIASES, map(float, bias), strict=True)))
        except FirmwareParameterOutOfRange:
            self._log(
                Severity.ERROR,
                f"IMU calibration: accelerometer bias of {norm:.3f} m/s^2; check that the vehicle is level",
            )
            return
        self._accel_done()
        self._log(Severity.INFO, "IMU calibrated")

"""Drift of the estimated yaw in a recording, and the drift that the gyro's true biases explain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rosflight_py_sim.firmware import ErrorFlag
from rosflight_py_sim.ground import topic_names
from rosflight_py_sim.recording.columns import Array, Columns
from rosflight_py_sim.recording.recorded_vehicle import RecordedVehicle
from rosflight_py_sim.recording.state_log import StateLog

# Time over which the firmware averages the gyros to calibrate them: 1001 samples at 400 Hz.
_CALIBRATION_S = 2.5


@dataclass(frozen=True)
class YawDrift:
    """Change of the error of the estimated yaw, estimate minus truth.

    Attributes:
        first_s: end of the calibration of the IMU, or the first estimate if no calibration was recorded, s.
        last_s: last estimate, s.
        drift: change of the error between these times, rad.
        expected: change that follows from the gyro's true biases, rad; None if they were not recorded.
    """

    first_s: float
    last_s: float
    drift: float
    expected: float | None

    @property
    def text(self) -> str:
        """Cause and size of the drift, as sentences."""
        if self.expected is None:
            expected = f"The expected drift is unknown without {topic_names.TRUTH_IMU_BIAS}."
        else:
            expected = (
                f"Expected: {_degrees(self.expected)}, from the change of the gyro's true biases since then. Errors of "
                "its scale factors and axes add to this when the vehicle turns."
            )
        return (
            "The estimated yaw drifts: the flight controller's estimator has no magnetometer in its loop, and "
            f"integrates the gyro. From {self.first_s:.1f} s to {self.last_s:.1f} s its error changed by "
            f"{_degrees(self.drift)}. {expected}"
        )


def yaw_drift(vehicle: RecordedVehicle, log: StateLog) -> YawDrift | None:
    """Drift of the estimated yaw of a recorded vehicle, whose motion is `log`.

    None without an estimate, and if an external attitude may have corrected it.
    """
    estimated = vehicle.columns(topic_names.ATTITUDE_EULER)
    external = vehicle.recording.named(f"{vehicle.namespace}/{topic_names.EXTERNAL_ATTITUDE}")
    if estimated is None or not len(estimated) or (external is not None and external.messages):
        return None
    roll, pitch, yaw = log.euler.T
    error = np.unwrap(estimated.values["vector.z"]) - np.interp(estimated.time_s, log.time_s, np.unwrap(yaw))
    first_s, last_s = _calibrated_s(vehicle, float(estimated.time_s[0])), float(estimated.time_s[-1])
    first, last = np.interp((first_s, last_s), estimated.time_s, error)
    bias = vehicle.columns(topic_names.TRUTH_IMU_BIAS)
    expected = None
    if bias is not None and len(bias):
        then = np.interp(bias.time_s, log.time_s, roll), np.interp(bias.time_s, log.time_s, pitch)
        expected = _expected_drift(bias, *then, first_s)
    drift = float(last - first)
    return YawDrift(first_s, last_s, drift, expected) if last_s > first_s and np.isfinite(drift) else None


def _calibrated_s(vehicle: RecordedVehicle, otherwise_s: float) -> float:
    """Time at which the flight controller reports no uncalibrated IMU any more, s."""
    status = vehicle.columns(topic_names.STATUS)
    if status is None or not len(status):
        return otherwise_s
    uncalibrated = status.values["error_code"].astype(np.int64) & int(ErrorFlag.UNCALIBRATED_IMU) != 0
    last = np.flatnonzero(uncalibrated)
    return float(status.time_s[min(last[-1] + 1, len(status) - 1)]) if len(last) else otherwise_s


def _expected_drift(bias: Columns, roll: Array, pitch: Array, first_s: float) -> float | None:
    """Integral over time of the yaw rate error (q sin(roll) + r cos(roll)) / cos(pitch), rad.

    q and r are the changes of the pitch and yaw rate biases since the calibration, which removes their mean over its
    samples. R. Beard and T. McLain, Small Unmanned Aircraft, eq. 3.3. None without biases during the calibration.
    """
    time_s, after = bias.time_s, bias.time_s >= first_s
    averaged = (time_s >= first_s - _CALIBRATION_S) & (time_s <= first_s)
    if not averaged.any():
        return None
    q, r = (values - values[averaged].mean() for values in (bias.values[f"angular_velocity.{axis}"] for axis in "yz"))
    rate = ((q * np.sin(roll) + r * np.cos(roll)) / np.cos(pitch))[after]
    return float(np.sum(0.5 * (rate[1:] + rate[:-1]) * np.diff(time_s[after])))


def _degrees(radians: float) -> str:
    return f"{np.degrees(radians):+.1f} deg"

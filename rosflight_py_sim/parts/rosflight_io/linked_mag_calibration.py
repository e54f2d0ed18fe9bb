"""Magnetometer calibration by the companion computer, for a flight controller behind a link.

The dialect has no command for it, so the companion computer collects the measurements and sets the parameters, as
ROSflight's rosflight_io does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware import FirmwareParameters, Refused, Severity
from rosflight_py_sim.firmware.calibrations import MAG_CALIBRATION, no_sample_text
from rosflight_py_sim.firmware.mag_calibration import MagCalibration
from rosflight_py_sim.parts.rosflight_io.any_board import Outcome
from rosflight_py_sim.protocols.rosflight_mavlink.dialect import SmallMag
from rosflight_py_sim.step.part import Log


class CalibratedBoard(Protocol):
    """The flight controller that is calibrated."""

    parameters: FirmwareParameters
    armed: bool

    def set_parameter(self, name: str, value: float) -> Outcome:
        """Set a parameter."""


class LinkedMagCalibration:
    """Calibrates a board's magnetometer by the corrected measurements that it sends."""

    def __init__(self, board: CalibratedBoard, log: Log) -> None:
        self._board, self._log = board, log
        self._calibration = MagCalibration(self._store, self._write)
        self._time_us = 0
        self._sampled = False

    def start(self) -> str:
        """Begin, or restart; return an instruction for the user.

        Raises:
            Refused: armed, or no sample received yet.
        """
        if self._board.armed:
            raise Refused(f"{MAG_CALIBRATION}: refused while armed")
        if not self._sampled:
            raise Refused(no_sample_text(MAG_CALIBRATION))
        return self._calibration.start(self._time_us)

    def take(self, message: SmallMag, now_ns: int) -> None:
        """Process a measurement."""
        self._sampled, self._time_us = True, now_ns // 1000
        if self._calibration.running:
            self._calibration.take(self._time_us, self._uncorrected(message))

    def _uncorrected(self, message: SmallMag) -> NDArray[np.float64]:
        get = self._board.parameters.__getitem__
        matrix = np.array([[float(get(f"MAG_CAL_A{i}{j}")) for j in range(3)] for i in range(3)])
        offset = np.array([float(get(f"MAG_{axis}_BIAS")) for axis in "XYZ"])
        uncorrected: NDArray[np.float64] = np.linalg.solve(matrix, np.array(message)) + offset
        return uncorrected

    def _store(self, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._board.set_parameter(name, value)

    def _write(self, severity: Severity, text: str) -> None:
        if severity >= Severity.ERROR:
            self._log.error(text)
        else:
            self._log.info(text)

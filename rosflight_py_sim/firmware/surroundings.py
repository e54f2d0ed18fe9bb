"""Implementation of the interface that the state machine uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rosflight_py_sim.firmware.rc import Switch
from rosflight_py_sim.firmware.state_machine import Severity

if TYPE_CHECKING:
    from rosflight_py_sim.firmware.firmware import Firmware


class FirmwareSurroundings:
    """The state machine's interface to the parts of the controller."""

    def __init__(self, firmware: Firmware) -> None:
        self._firmware = firmware

    def throttle_stick_is_low(self) -> bool:
        return self._firmware.receiver.throttle_stick_is_low()

    def throttle_is_guarded(self) -> bool:
        switch = self._firmware.receiver.switches[Switch.THROTTLE_OVERRIDE]
        return switch or bool(self._firmware.parameters["TAKE_MIN_THR"])

    def needs_gyro_calibration(self) -> bool:
        return bool(self._firmware.parameters["ARM_CAL_GYRO"])

    def start_gyro_calibration(self) -> None:
        self._firmware.calibrate_gyro()

    def log(self, severity: Severity, text: str) -> None:
        self._firmware.log(severity, text)

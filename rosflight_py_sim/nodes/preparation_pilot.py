"""Scripted pilot that calibrates the IMU and has the flight controller store its parameters."""

from __future__ import annotations

from typing import ClassVar

from rosflight_py_sim.nodes.pilot import Pilot
from rosflight_py_sim.nodes.pilot_script import PilotScript, Script
from rosflight_py_sim.step.topics import StatusReport


class PreparationPilot(Pilot):
    """Calls calibrate_imu, waits for the end of the calibration, and calls param_write."""

    SERVICES: ClassVar[tuple[str, ...]] = ("calibrate_imu", "param_write")

    def flight(self) -> Script:
        """Calibrate even a calibrated IMU, then write the parameters."""
        yield from self.calibration(again=True)
        self.activity = "writing the parameters"
        yield "param_write"
        self.activity = "prepared"

    def on_status(self, status: StatusReport) -> None:
        """Follow the script; a calibrated IMU is counted on, because its calibration is repeated."""
        PilotScript.on_status(self, status)

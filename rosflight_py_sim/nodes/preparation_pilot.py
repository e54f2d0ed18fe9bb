"""Scripted pilot that calibrates the IMU and has the flight controller store its parameters."""

from __future__ import annotations

from std_srvs.srv import Trigger

from rosflight_py_sim.nodes.pilot import Pilot
from rosflight_py_sim.parts.service_script import Script
from rosflight_py_sim.step.ports import calls


class PreparationPilot(Pilot):
    """Calls calibrate_imu, waits for the end of the calibration, and calls param_write."""

    services_called = calls(Trigger, "calibrate_imu", "param_write")

    def flight(self) -> Script:
        """Calibrate even a calibrated IMU, then write the parameters."""
        yield from self.calibration(again=True)
        self.activity = "writing the parameters"
        yield "param_write"
        self.activity = "prepared"

    def end_inputs(self) -> None:
        """End none: the messages of a calibrated IMU are counted on, because its calibration is repeated."""

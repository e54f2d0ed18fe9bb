"""rosflight_io's outputs of the firmware's estimates, outputs and RC channels."""

from __future__ import annotations

from rosflight_py_sim.parts.rosflight_io.interface import RosflightIoInterface
from rosflight_py_sim.step.ports import output
from rosflight_py_sim.step.topics import ATTITUDE, ATTITUDE_EULER, IMU_DATA, OUTPUT_RAW, RC_RAW


class EstimateOutputs(RosflightIoInterface):
    """Outputs of attitude, corrected IMU samples, actuator outputs and RC channels."""

    send_attitude = output(ATTITUDE, lazy=True, when="offers_rosflight_io")
    send_euler = output(ATTITUDE_EULER, lazy=True, when="offers_rosflight_io")
    send_imu = output(IMU_DATA, lazy=True, when="offers_rosflight_io")
    send_output = output(OUTPUT_RAW, when="offers_rosflight_io")
    send_rc = output(RC_RAW, when="offers_rosflight_io")

"""The flight controller that the sil_board node runs: ROSflight's behaviour, parameters and states, without ROS.

`Firmware` is the controller: sensors, RC frames and commands in, PWM out, one `step` an IMU sample, time given from
outside. `FirmwareParameters` are its parameters. Everything else here is a part of them.
"""

from rosflight_py_sim.firmware.canned_mixers import MixerChoice
from rosflight_py_sim.firmware.command import CommandMode, CommandType, Override
from rosflight_py_sim.firmware.firmware import Firmware, Status
from rosflight_py_sim.firmware.mixer import OutputType
from rosflight_py_sim.firmware.parameters import (
    FirmwareParameterOutOfRange,
    FirmwareParameters,
    ParameterFileError,
    UnknownFirmwareParameter,
)
from rosflight_py_sim.firmware.state_machine import ErrorFlag, Severity, State

__all__ = [
    "CommandMode",
    "CommandType",
    "ErrorFlag",
    "Firmware",
    "FirmwareParameterOutOfRange",
    "FirmwareParameters",
    "MixerChoice",
    "OutputType",
    "Override",
    "ParameterFileError",
    "Severity",
    "State",
    "Status",
    "UnknownFirmwareParameter",
]

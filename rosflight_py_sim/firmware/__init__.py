"""Flight controller of the sil_board node: ROSflight's behaviour, parameters and states, without ROS.

`Firmware` is the controller: sensors, RC frames and commands in, PWM out, one `step` per IMU sample; the caller
supplies the time. `FirmwareParameters` are its parameters; `Board` stores them and reboots the controller. The other
modules are parts of these.
"""

from rosflight_py_sim.firmware.board import Board
from rosflight_py_sim.firmware.board_command import BoardCommand
from rosflight_py_sim.firmware.canned_mixers import MixerChoice
from rosflight_py_sim.firmware.command import BY_SWITCH, CommandMode, CommandType, Override
from rosflight_py_sim.firmware.firmware import Firmware
from rosflight_py_sim.firmware.mixer import OutputType
from rosflight_py_sim.firmware.mixing_report import mixing_report
from rosflight_py_sim.firmware.parameter_file import ParameterFileError
from rosflight_py_sim.firmware.parameters import (
    FIRMWARE_PARAMETERS,
    STRICT_FIRMWARE_FILES,
    FirmwareParameterOutOfRange,
    FirmwareParameters,
    UnknownFirmwareParameter,
)
from rosflight_py_sim.firmware.quirks import AS_ROSFLIGHT, REPAIRED, Quirks
from rosflight_py_sim.firmware.state_machine import ErrorFlag, Refused, Severity, State, error_reasons
from rosflight_py_sim.firmware.status import Status, state_text

__all__ = [
    "AS_ROSFLIGHT",
    "BY_SWITCH",
    "FIRMWARE_PARAMETERS",
    "REPAIRED",
    "STRICT_FIRMWARE_FILES",
    "Board",
    "BoardCommand",
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
    "Quirks",
    "Refused",
    "Severity",
    "State",
    "Status",
    "UnknownFirmwareParameter",
    "error_reasons",
    "mixing_report",
    "state_text",
]

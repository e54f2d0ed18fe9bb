"""Commands of the companion computer to the board, with ROSflight's numbers."""

from __future__ import annotations

from enum import IntEnum


class BoardCommand(IntEnum):
    """A command; the board acknowledges it."""

    RC_CALIBRATION = 0
    ACCEL_CALIBRATION = 1
    GYRO_CALIBRATION = 2
    BARO_CALIBRATION = 3
    AIRSPEED_CALIBRATION = 4
    READ_PARAMS = 5
    WRITE_PARAMS = 6
    SET_PARAM_DEFAULTS = 7
    REBOOT = 8
    REBOOT_TO_BOOTLOADER = 9
    SEND_VERSION = 10
    RESET_ORIGIN = 11
    SEND_ALL_CONFIG_INFOS = 12


def command_name(command: int) -> str:
    """Name of a command in words; its number if there is no such command."""
    known = command in list(BoardCommand)
    return BoardCommand(command).name.lower().replace("_", " ") if known else f"command {command}"

"""Flight logs of ROSflight, PX4 and ArduPilot, told apart by their contents."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from rosflight_py_sim.identification.ardupilot_log import DATAFLASH, read_ardupilot
from rosflight_py_sim.identification.flight_log import FlightLog, FlightLogError
from rosflight_py_sim.identification.px4_log import ULOG, read_px4
from rosflight_py_sim.identification.rosflight_log import read_rosflight


def read_log(path: Path, motors: Collection[int]) -> FlightLog:
    """Read a flight log.

    Args:
        path: the file, or a folder of `ros2 bag record -s mcap`.
        motors: outputs of the vehicle that drive a motor; the others drive servos.

    Raises:
        FlightLogError: the path does not exist, or is no flight log.
    """
    try:
        head = b"" if path.is_dir() else _head(path)
    except OSError as error:
        raise FlightLogError(f"cannot read '{path}': {error.strerror}") from error
    if head.startswith(ULOG):
        return read_px4(path, motors)
    if head.startswith(DATAFLASH):
        return read_ardupilot(path)
    return read_rosflight(path, motors)


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(16)

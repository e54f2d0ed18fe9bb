"""Flight logs of ArduPilot: dataflash files, read by pymavlink.

Messages and fields are those of ArduPilot (ardupilot.org, onboard message log messages): forward, right, down and NED,
angles in deg, times in us since the start. Logs of versions before 3.4 may have times in ms, events without a time,
outputs named Ch1 to Ch12, voltage and current in hundredths of a unit, and the estimator message EKF1.
"""

from __future__ import annotations

import math
import re
import struct
from collections import defaultdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from rosflight_py_sim.ground.extras import missing_extra
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.identification.flight_log import Array, FlightLog, FlightLogError, north_east_down
from rosflight_py_sim.identification.logged_vehicle import vehicle_of_ardupilot
from rosflight_py_sim.physics.atmosphere import density

DATAFLASH = b"\xa3\x95\x80"
"""First bytes of a dataflash file: head of a message, and the number of the message FMT."""

# ArduPilot's events: armed, disarmed.
_ARMED, _DISARMED = 10, 11

_FIELDS: dict[str, tuple[str, ...]] = {
    "IMU": ("GyrX", "GyrY", "GyrZ", "AccX", "AccY", "AccZ"),
    "ATT": ("Roll", "Pitch", "Yaw"),
    "XKF1": ("VN", "VE", "VD", "PN", "PE", "PD"),
    "NKF1": ("VN", "VE", "VD", "PN", "PE", "PD"),
    "EKF1": ("VN", "VE", "VD", "PN", "PE", "PD"),
    "RCOU": tuple(f"C{number + 1}" for number in range(OUTPUTS)),
    "BAT": ("Volt", "Curr"),
    "CURR": ("Volt", "Curr"),
    "ARSP": ("Airspeed",),
    "GPS": ("Lat", "Lng", "Alt", "Status"),
    "ARM": ("ArmState",),
    "EV": ("Id",),
}
"""Messages that are read, with the fields that are used."""

_INSTANCES = ("I", "C", "Instance")
"""Fields that number the instances of a sensor or estimator."""

_VEHICLE = re.compile(r"^(Ardu\w+|APM:\w+|Rover|Blimp|AntennaTracker)\b")

_FIX = 3
"""GPS.Status of a fix in three dimensions."""


def read_ardupilot(path: Path) -> FlightLog:
    """Read a dataflash file.

    Raises:
        FlightLogError: the file is damaged.
        ParameterError: pymavlink is not installed; the text names the extra.
    """
    try:
        from pymavlink.DFReader import DFReader_binary
    except ImportError as error:
        raise missing_extra("an ArduPilot log", error, "identify") from error
    log = FlightLog(path, "ArduPilot")
    times: dict[str, list[float]] = defaultdict(list)
    rows: dict[str, list[list[float]]] = defaultdict(list)
    parameters: dict[str, float] = {}
    try:
        reader = DFReader_binary(str(path), zero_time_base=False)
        time_s = 0.0
        while (message := reader.recv_match(type=[*_FIELDS, "MSG", "PARM"])) is not None:
            if message.get_type() == "PARM":
                parameters[str(message.Name)] = float(message.Value)
            elif message.get_type() == "MSG":
                _take_text(str(message.Message), log)
            else:
                time_s = _take(message, time_s, times, rows)
        _set_date(log, reader)
    except (
        struct.error,
        TypeError,
        ValueError,
        KeyError,
        IndexError,
        AttributeError,
        ArithmeticError,
        EOFError,
        OSError,
    ) as error:
        raise FlightLogError(f"'{path}' is a damaged dataflash file: {error or type(error).__name__}") from error
    program, _, frame = log.vehicle.partition(", ")
    log.kind = vehicle_of_ardupilot(program.replace("APM:", "Ardu"), frame, parameters)
    found = {kind: (np.array(times[kind]), np.array(rows[kind], np.float64)) for kind in rows}
    _fill(log, found)
    return log


def _take_text(text: str, log: FlightLog) -> None:
    """Take the program's name, and its frame, from a text such as "ArduCopter V4.5.7" or "Frame: QUAD/X"."""
    if not log.vehicle and (named := _VEHICLE.match(text)):
        log.vehicle = named[0]
    elif text.startswith("Frame: ") and "," not in log.vehicle:
        log.vehicle += f", {text.removeprefix('Frame: ').lower()}"


def _take(message: Any, latest_s: float, times: dict[str, list[float]], rows: dict[str, list[list[float]]]) -> float:
    """Store a message; return its time, or `latest_s` if it has none, s."""
    kind, fields = message.get_type(), message.get_fieldnames()
    first = next((name for name in _INSTANCES if name in fields), None)
    if first is not None and getattr(message, first) != 0:
        return latest_s
    # In old GPS messages, TimeMS is GPS time and T is the autopilot's time.
    clock = next((name for name in ("TimeUS", "T", "TimeMS") if name in fields), "")
    time_s = latest_s if not clock else float(getattr(message, clock)) * (1e-6 if clock == "TimeUS" else 1e-3)
    # Boards with few outputs have fewer fields.
    names = [name.replace("C", "Ch") if kind == "RCOU" and "Ch1" in fields else name for name in _FIELDS[kind]]
    # Old CURR messages also have the throttle, and voltage and current in hundredths.
    scale = 0.01 if kind == "CURR" and any(one.startswith("Thr") for one in fields) else 1.0
    rows[kind].append([scale * float(getattr(message, name)) if name in fields else 0.0 for name in names])
    times[kind].append(time_s)
    return time_s


def _set_date(log: FlightLog, reader: Any) -> None:
    """Date from the GNSS time, without which the reader counts from the start of the board."""
    timebase = float(getattr(reader.clock, "timebase", 0.0))
    if timebase > 1e9:
        log.date = f"{datetime.fromtimestamp(timebase, timezone.utc):%Y-%m-%d}"


def _fill(log: FlightLog, found: dict[str, tuple[Array, Array]]) -> None:
    def add(name: str, kind: str, columns: slice) -> None:
        if kind in found:
            log.add(name, found[kind][0], found[kind][1][:, columns])

    add("gyro", "IMU", slice(0, 3))
    add("accel", "IMU", slice(3, 6))
    if "ATT" in found:
        time_s, angles = found["ATT"]
        log.add("attitude", time_s, quaternions(np.radians(angles)))
    estimator = next((kind for kind in ("XKF1", "NKF1", "EKF1") if kind in found), "")
    add("velocity", estimator, slice(0, 3))
    add("position", estimator, slice(3, 6))
    if "GPS" in found:
        place = found["GPS"][1]
        fixed = place[:, 3] >= _FIX
        if fixed.any():
            log.altitude = float(place[fixed][0, 2])
            if not estimator:
                log.add("position", found["GPS"][0][fixed], north_east_down(place[fixed, :3]))
    add("outputs", "RCOU", slice(0, OUTPUTS))
    power = "BAT" if "BAT" in found else "CURR"
    if power in found:
        # Without a battery monitor, ArduPilot logs 0 V.
        time_s, values = found[power]
        known = values[:, 0] > 0.0
        log.add("battery", time_s[known], values[known])
    if "ARSP" in found:
        # It is equivalent airspeed, of air at sea level.
        thinner = math.sqrt(density(0.0) / density(log.altitude)) if math.isfinite(log.altitude) else 1.0
        log.add("airspeed", found["ARSP"][0], thinner * found["ARSP"][1])
    if "ARM" in found:
        add("armed", "ARM", slice(0, 1))
    elif "EV" in found:
        time_s, events = found["EV"]
        own = np.isin(events[:, 0], [_ARMED, _DISARMED])
        time_s, armed = time_s[own], np.asarray(events[own, 0] == _ARMED, np.float64)
        if len(armed):
            # From the start of the log to the first event, the state is the opposite of that event.
            first_s = min(times[0] for times, _ in found.values())
            log.add("armed", np.r_[min(first_s, time_s[0] - 1e-3), time_s], np.r_[1.0 - armed[0], armed])


def quaternions(angles: Array) -> Array:
    """Quaternions w x y z (n, 4) of roll, pitch and yaw (n, 3), rad."""
    half = 0.5 * angles
    (cr, cp, cy), (sr, sp, sy) = np.cos(half).T, np.sin(half).T
    return np.stack(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ],
        axis=1,
    )

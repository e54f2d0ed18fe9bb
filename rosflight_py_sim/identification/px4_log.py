"""Flight logs of PX4: ULog files, read by pyulog.

Topics and fields are those of PX4's messages (docs.px4.io, uORB message reference): forward, right, down and NED,
quaternions w x y z, times in us since the start.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from rosflight_py_sim.ground.extras import missing_extra
from rosflight_py_sim.ground.pulse_width import MOTOR, OUTPUTS, SERVO
from rosflight_py_sim.identification.flight_log import Array, FlightLog, FlightLogError, north_east_down
from rosflight_py_sim.identification.logged_vehicle import vehicle_of_px4

ULOG = b"ULog\x01\x12\x35"
"""First bytes of a ULog file."""

_ARMED = 2
"""vehicle_status.arming_state of an armed vehicle."""

_MICROSECOND = 1e-6

_VELOCITY_PERIOD_S = 0.1
"""Least time between velocities, s: the estimator's are not independent, so that more of them show no more."""


def read_px4(path: Path, motors: Collection[int]) -> FlightLog:
    """Read a ULog file; `motors` are the outputs that drive a motor.

    Raises:
        FlightLogError: the file is damaged.
        ParameterError: pyulog is not installed; the text names the extra.
    """
    try:
        from pyulog import ULog
        from pyulog.exceptions import ULogException
    except ImportError as error:
        raise missing_extra("a PX4 log", error, "identify") from error
    try:
        # pyulog's own messages about damaged parts would come without the name of the file.
        file = ULog(str(path), disable_str_exceptions=True)
    except (
        ULogException,
        struct.error,
        TypeError,
        ValueError,
        KeyError,
        IndexError,
        ArithmeticError,
        EOFError,
        OSError,
        UnicodeError,
    ) as error:
        raise FlightLogError(f"'{path}' is a damaged ULog file: {error or type(error).__name__}") from error
    log = FlightLog(path, "PX4")
    if file.file_corruption:
        log.notes.append("a part of the file is damaged and left out")
    topics = _Topics(file, log)
    _fill(log, topics, file.initial_parameters, motors)
    return log


class _Topics:
    """Topics of a file, the first instance of each."""

    def __init__(self, file: Any, log: FlightLog) -> None:
        self._first: dict[str, Any] = {}
        for one in sorted(file.data_list, key=lambda each: each.multi_id):
            self._first.setdefault(one.name, one.data)
        self._log = log

    def fields(self, topic: str, *names: str, time: str = "timestamp") -> tuple[Array, Array] | None:
        """Times (n,), s, and fields (n, fields) of a topic; None if it or one of the fields is not logged."""
        found = self._first.get(topic)
        if found is None or any(name not in found for name in (time, *names)):
            return None
        values = np.stack([np.asarray(found[name], np.float64) for name in names], axis=1)
        return np.asarray(found[time], np.float64) * _MICROSECOND, values


def _fill(log: FlightLog, topics: _Topics, parameters: Mapping[str, float], motors: Collection[int]) -> None:
    def add(name: str, found: tuple[Array, Array] | None) -> None:
        if found is not None:
            log.add(name, *found)

    sensed = "sensor_combined"
    add("gyro", topics.fields(sensed, *_elements("gyro_rad", 3)))
    add("accel", topics.fields(sensed, *_elements("accelerometer_m_s2", 3)))
    add("attitude", topics.fields("vehicle_attitude", *_elements("q", 4)))
    battery = topics.fields("battery_status", "voltage_v", "current_a")
    if battery is not None:
        # PX4 gives a current of -1 that is not known.
        battery[1][battery[1][:, 1] < 0.0, 1] = np.nan
    add("battery", battery)
    add("airspeed", topics.fields("airspeed", "true_airspeed_m_s"))
    state = topics.fields("vehicle_status", "arming_state")
    if state is not None:
        log.add("armed", state[0], state[1] == _ARMED)
    kind = topics.fields("vehicle_status", "vehicle_type") or topics.fields("vehicle_status", "is_rotary_wing")
    log.kind = vehicle_of_px4(parameters, int(kind[1][-1, 0]) if kind is not None else 0)
    log.vehicle = log.kind.name if log.kind else ""
    _add_place(log, topics)
    _add_outputs(log, topics, motors)


def _add_place(log: FlightLog, topics: _Topics) -> None:
    estimated = topics.fields("vehicle_local_position", "vx", "vy", "vz", "x", "y", "z")
    if estimated is not None:
        time_s, values = estimated
        rows = np.unique(np.floor((time_s - time_s[0]) / _VELOCITY_PERIOD_S), return_index=True)[1]
        log.add("velocity", time_s[rows], values[rows, :3])
        log.add("position", time_s, values[:, 3:])
        altitude = topics.fields("vehicle_local_position", "ref_alt")
        if altitude is not None and np.isfinite(altitude[1]).any():
            log.altitude = float(altitude[1][np.isfinite(altitude[1])][-1])
    for topic in ("vehicle_gps_position", "sensor_gps"):
        fixes = topics.fields(topic, "time_utc_usec")
        if fixes is not None and fixes[1].max() > 0.0:
            first = float(fixes[1][fixes[1] > 0.0][0]) * _MICROSECOND
            log.date = f"{datetime.fromtimestamp(first, timezone.utc):%Y-%m-%d}"
            break
    if estimated is None:
        for topic, places in (
            ("vehicle_gps_position", ("latitude_deg", "longitude_deg", "altitude_msl_m")),
            ("vehicle_gps_position", ("lat", "lon", "alt")),
        ):
            fixes = topics.fields(topic, "vel_n_m_s", "vel_e_m_s", "vel_d_m_s", *places)
            if fixes is not None:
                scale = np.array([1e-7, 1e-7, 1e-3]) if places[0] == "lat" else np.ones(3)
                place = fixes[1][:, 3:] * scale
                log.add("velocity", fixes[0], fixes[1][:, :3])
                log.add("position", fixes[0], north_east_down(place))
                log.altitude = float(place[0, 2])
                break


def _add_outputs(log: FlightLog, topics: _Topics, motors: Collection[int]) -> None:
    pulses = topics.fields("actuator_outputs", *_elements("output", OUTPUTS))
    commands = topics.fields("actuator_motors", *_elements("control", 12))
    # A simulated vehicle's outputs are no pulse widths, but from -1 to 1. With the profile "high rate", PX4 logs pulse
    # widths at 10 Hz, and the commands of motors and servos at the rate of the controller.
    if pulses is not None and np.nanmax(pulses[1]) > 2.0 and (commands is None or len(commands[0]) <= len(pulses[0])):
        log.add("outputs", *pulses)
        return
    if commands is None:
        return
    time_s, control = commands
    values = np.full((len(time_s), OUTPUTS), MOTOR.zero_us)
    servos = topics.fields("actuator_servos", *_elements("control", 8))
    values[:, :12] = MOTOR.zero_us + MOTOR.reach_us * np.nan_to_num(control)
    others = [output for output in range(OUTPUTS) if output not in motors]
    if servos is not None and len(motors):
        # Motors come first in PX4, then servos; those of the vehicle's file take the remaining outputs.
        held = np.clip(np.searchsorted(servos[0], time_s, side="right") - 1, 0, None)
        for place, output in enumerate(others[:8]):
            values[:, output] = SERVO.zero_us + SERVO.reach_us * np.nan_to_num(servos[1][held, place])
    log.add("outputs", time_s, values)
    log.notes.append("the outputs are those of actuator_motors and actuator_servos: pulse widths are logged less often")


def _elements(name: str, count: int) -> list[str]:
    return [f"{name}[{index}]" for index in range(count)]

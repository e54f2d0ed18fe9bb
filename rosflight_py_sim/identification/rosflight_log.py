"""Flight logs of ROSflight: recordings of its topics, of a real vehicle or of a simulation.

The topics are those that rosflight_io publishes. A recording of a simulation has the true state, too, which is not
used: the log shows what a log of a real vehicle would. Times are the stamps of the messages.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from rosflight_py_sim.ground import topic_names
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.pulse_width import MOTOR, OUTPUTS, SERVO
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.identification.flight_log import Array, FlightLog, FlightLogError, north_east_down
from rosflight_py_sim.recording.columns import Columns, NoColumnsError, columns
from rosflight_py_sim.recording.known_topics import require_type
from rosflight_py_sim.recording.mcap_file import NotMcapError, Recording, read_recording
from rosflight_py_sim.recording.recorded_vehicle import facts_of

_IMU_DATA, _OUTPUT_RAW, _GNSS = "imu/data", "output_raw", "gnss"

_TYPES = {
    _IMU_DATA: "sensor_msgs/msg/Imu",
    topic_names.PWM_OUTPUT: "rosflight_msgs/msg/PwmOutput",
    _OUTPUT_RAW: "rosflight_msgs/msg/OutputRaw",
    _GNSS: "rosflight_msgs/msg/GNSS",
    "sim/sensors/gnss": "rosflight_msgs/msg/GNSS",
    topic_names.CORRECTED_BATTERY: "rosflight_msgs/msg/BatteryStatus",
    "sim/sensors/battery": "rosflight_msgs/msg/BatteryStatus",
    topic_names.CORRECTED_AIRSPEED: "rosflight_msgs/msg/Airspeed",
    topic_names.STATUS: "rosflight_msgs/msg/Status",
}
"""Topics that are read, with their types."""


def read_rosflight(path: Path, motors: Collection[int]) -> FlightLog:
    """Read a recording; `motors` are the outputs that drive a motor.

    Raises:
        FlightLogError: it cannot be read, or has no topics of ROSflight.
    """
    wanted = tuple(f"/{name}" for name in _TYPES)
    try:
        recording = read_recording(path, lambda name, _: sys.maxsize if name.endswith(wanted) else 0)
    except NotMcapError as error:
        raise FlightLogError(f"{error}; allowed: MCAP recordings, PX4 logs (.ulg) and ArduPilot logs (.bin)") from error
    namespaces = sorted(
        name.removesuffix(f"/{_IMU_DATA}")
        for name in recording.topics
        if name.endswith(f"/{_IMU_DATA}") and not name.endswith(f"/{topic_names.IMU}") and recording.named(name)
    )
    if not namespaces:
        raise FlightLogError(f"'{path}' has no messages of ROSflight's {_IMU_DATA}")
    namespace = namespaces[0]
    facts = facts_of(recording, namespace)
    log = FlightLog(path, "ROSflight", vehicle=facts.get("vehicle", ""), date=_date(path))
    if len(namespaces) > 1:
        log.notes.append(f"several vehicles, of which {namespace or '/'} is read; others: {', '.join(namespaces[1:])}")
    if recording.trouble:
        log.notes.append(f"incomplete: {recording.trouble}")
    _fill(log, recording, namespace, motors)
    return log


def _date(path: Path) -> str:
    """Date of the file's last change."""
    return f"{datetime.fromtimestamp(path.stat().st_mtime, timezone.utc):%Y-%m-%d}"


def _fill(log: FlightLog, recording: Recording, namespace: str, motors: Collection[int]) -> None:
    def found(*names: str) -> tuple[Array, Columns] | None:
        for name in names:
            topic = recording.named(f"{namespace}/{name}")
            if topic is None:
                continue
            try:
                require_type(topic, _TYPES[name])
                one = columns(topic)
            except NoColumnsError as error:
                log.notes.append(str(error))
                continue
            stamps = [one.values[f"header.stamp.{part}"] for part in ("sec", "nanosec")]
            return stamps[0] + stamps[1] / NANOSECONDS, one
        return None

    if (imu := found(_IMU_DATA)) is not None:
        time_s, one = imu
        log.add("gyro", time_s, one.stack(*(f"angular_velocity.{axis}" for axis in "xyz")))
        log.add("accel", time_s, one.stack(*(f"linear_acceleration.{axis}" for axis in "xyz")))
        log.add("attitude", time_s, one.stack(*(f"orientation.{axis}" for axis in "wxyz")))
    if (pulses := found(topic_names.PWM_OUTPUT)) is not None:
        log.add("outputs", pulses[0], _outputs(pulses[1]))
    elif (raw := found(_OUTPUT_RAW)) is not None:
        is_motor = np.isin(np.arange(OUTPUTS), list(motors))
        commands = _outputs(raw[1])
        zero, reach = (np.where(is_motor, one, other) for one, other in zip(MOTOR, SERVO, strict=True))
        log.add("outputs", raw[0], zero + reach * commands)
    if (fixes := found(_GNSS, "sim/sensors/gnss")) is not None:
        time_s, one = fixes
        log.add("velocity", time_s, one.stack("vel_n", "vel_e", "vel_d"))
        place = one.stack("lat", "lon", "alt")
        log.altitude = float(place[0, 2])
        log.add("position", time_s, north_east_down(place))
    if (battery := found(topic_names.CORRECTED_BATTERY, "sim/sensors/battery")) is not None:
        log.add("battery", battery[0], battery[1].stack("voltage", "current"))
    if (airspeed := found(topic_names.CORRECTED_AIRSPEED)) is not None:
        log.add("airspeed", airspeed[0], airspeed[1].stack("velocity"))
    if (status := found(topic_names.STATUS)) is not None:
        log.add("armed", status[0], status[1].stack("armed"))


def _outputs(one: Columns) -> Array:
    """Values of the outputs (n, OUTPUTS)."""
    values = one.values["values"]
    if values.ndim != 2 or values.shape[1] != OUTPUTS:
        raise ParameterError(f"{values.shape[1:]} values in a message of the outputs; allowed: {OUTPUTS}")
    return values

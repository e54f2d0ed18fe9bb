"""A recorded autopilot flight as a log, for the autopilot's own report."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosflight_py_sim import topic_names
from rosflight_py_sim.autopilot.mission_phase import MissionPhase
from rosflight_py_sim.missions.autopilot.flight import autopilot_class
from rosflight_py_sim.missions.autopilot.log import UNKNOWN_ERRORS, FlightLog
from rosflight_py_sim.recording.mcap_file import Recording, Topic
from rosflight_py_sim.recording.recorded_vehicle import RecordedVehicle
from rosflight_py_sim.recording.state_log import Array


def recorded_flight(one: RecordedVehicle) -> tuple[FlightLog, Array] | None:
    """Log and planned path (m, 3) of the recorded mission; None if no mission, or only part of it, was recorded."""
    if one.vehicle is None or not one.vehicle.autopilot:
        return None
    phases = autopilot_class(one.vehicle).PHASES
    flown_phases = _phases(one, phases)
    path = _path(one)
    setpoint = one.held(topic_names.SETPOINT, *(f"pose.position.{axis}" for axis in "xyz"))
    battery = one.held(topic_names.TRUTH_BATTERY, "voltage", "current")
    if flown_phases is None or path is None or setpoint is None or battery is None:
        return None
    errors = one.held(topic_names.STATUS, "error_code")
    if errors is None:
        errors = np.full((len(one.time_s), 1), UNKNOWN_ERRORS)
    log = FlightLog(one.vehicle.actuators, phases, max(1, len(one.time_s)))
    columns = (
        one.time_s.tolist(),
        one.truth,
        setpoint,
        one.commands(),
        one.wind_ned,
        battery,
        flown_phases,
        errors[:, 0],
    )
    for time_s, truth, wanted, commands, wind, (voltage, current), phase, error_code in zip(*columns, strict=True):
        # As in the report of a flight, the log begins with the mission.
        if phase is not None and phase:
            log.append(time_s, truth, tuple(wanted), commands, wind, voltage, current, phase, error_code)
    return (log, path) if len(log) > 1 else None


def _phases(one: RecordedVehicle, phases: type[MissionPhase]) -> list[MissionPhase | None] | None:
    """The mission's phase at each time of the vehicle."""
    topic = one.recording.named(f"{one.namespace}/{topic_names.AUTOPILOT_PHASE}")
    if topic is None:
        return None
    by_label = {phase.label: phase for phase in phases}
    labelled = [by_label.get(message.data) for message in decoded(topic)]
    rows = np.searchsorted(topic.kept_s, one.time_s + 1e-9, side="right") - 1
    return [labelled[row] if row >= 0 else None for row in rows.tolist()]


def _path(one: RecordedVehicle) -> Array | None:
    topic = one.recording.named(f"{one.namespace}/{topic_names.AUTOPILOT_PATH}")
    if topic is None or not topic.messages:
        return None
    places = [stamped.pose.position for stamped in decoded(topic)[-1].poses]
    return np.array([(place.x, place.y, place.z) for place in places]) if len(places) > 1 else None


def decoded(topic: Topic) -> list[Any]:
    """Kept messages of a topic, deserialised; empty if their type cannot be read."""
    from mcap.exceptions import McapError
    from mcap.records import Schema
    from mcap_ros2.decoder import DecoderFactory

    schema = Schema(id=1, name=topic.type_name, encoding=topic.schema_encoding, data=topic.definition.encode())
    decode = DecoderFactory().decoder_for(topic.encoding, schema)
    if decode is None:
        return []
    try:
        return [decode(message) for message in topic.messages]
    except (McapError, ValueError, IndexError, KeyError):
        return []


def warnings_of(recording: Recording) -> list[tuple[float, str, str]]:
    """Logged warnings and errors of the nodes: time (s), node, text."""
    topic = recording.named("/rosout")
    if topic is None:
        return []
    messages = decoded(topic)
    times = topic.kept_s.tolist()
    return [(time_s, one.name, one.msg) for time_s, one in zip(times, messages, strict=False) if one.level >= _WARN]


# rcl_interfaces/msg/Log.
_WARN = 30

"""Topics that reports and replays show, with their types and the fields that are used."""

from __future__ import annotations

from rosflight_py_sim.ground import topic_names
from rosflight_py_sim.recording.columns import Columns, NoColumnsError, columns
from rosflight_py_sim.recording.mcap_file import Topic

TRUTH_FIELDS = (
    *(f"pose.position.{axis}" for axis in "xyz"),
    *(f"pose.orientation.{axis}" for axis in "wxyz"),
    *(f"twist.{part}.{axis}" for part in ("linear", "angular") for axis in "xyz"),
    *(f"acceleration.{part}.{axis}" for part in ("linear", "angular") for axis in "xyz"),
)
"""Fields of a true state, in the order of the truth vector (19)."""

_VECTOR = tuple(f"vector.{axis}" for axis in "xyz")

KNOWN_TOPICS: dict[str, tuple[str, tuple[str, ...]]] = {
    topic_names.TRUTH_STATE: ("rosflight_msgs/msg/SimState", TRUTH_FIELDS),
    topic_names.TRUTH_WIND: ("geometry_msgs/msg/Vector3Stamped", _VECTOR),
    topic_names.PWM_OUTPUT: ("rosflight_msgs/msg/PwmOutput", ("values",)),
    topic_names.TRUTH_IMU_BIAS: ("sensor_msgs/msg/Imu", tuple(f"angular_velocity.{axis}" for axis in "xyz")),
    topic_names.STATUS: ("rosflight_msgs/msg/Status", ("error_code",)),
    topic_names.SETPOINT: ("geometry_msgs/msg/PoseStamped", ("pose.position.z",)),
    topic_names.RANGE: ("sensor_msgs/msg/Range", ("range",)),
    topic_names.ATTITUDE_EULER: ("geometry_msgs/msg/Vector3Stamped", _VECTOR),
    topic_names.CORRECTED_AIRSPEED: ("rosflight_msgs/msg/Airspeed", ("velocity",)),
    topic_names.CORRECTED_BARO: ("rosflight_msgs/msg/Barometer", ("altitude",)),
    topic_names.TRUTH_BATTERY: ("rosflight_msgs/msg/BatteryStatus", ("voltage", "current")),
    topic_names.CORRECTED_BATTERY: ("rosflight_msgs/msg/BatteryStatus", ("voltage", "current")),
    topic_names.IMU: (
        "sensor_msgs/msg/Imu",
        tuple(f"{part}.{axis}" for part in ("angular_velocity", "linear_acceleration") for axis in "xyz"),
    ),
}
"""Relative name of a topic to its type and the fields that are used."""


def known_columns(name: str, topic: Topic) -> Columns:
    """Decode the kept messages of a topic, whose relative name is in KNOWN_TOPICS.

    Raises:
        NoColumnsError: the topic has another type, its type lacks a field, or a message does not match its type.
    """
    expected, fields = KNOWN_TOPICS[name]
    require_type(topic, expected)
    found = columns(topic)
    lacking = [field for field in fields if field not in found.values]
    if lacking:
        raise NoColumnsError(f"{topic.name}: its type {topic.type_name} has no field {lacking[0]} in the recording")
    return found


def require_type(topic: Topic, expected: str) -> None:
    """Check the type of a topic.

    Raises:
        NoColumnsError: it has another one.
    """
    if topic.type_name != expected:
        raise NoColumnsError(f"{topic.name} has the type {topic.type_name or 'unknown'}; expected: {expected}")

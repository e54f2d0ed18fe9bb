"""Events of a recorded flight."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path as PathMessage
from rcl_interfaces.msg import Log
from rclpy.serialization import serialize_message
from rosflight_msgs.msg import Status
from std_msgs.msg import String

from rosflight_py_sim.commands.replay import kept_of
from rosflight_py_sim.interfaces.message_definitions import message_definition, type_name_of
from rosflight_py_sim.recording.mcap_file import Recording, Topic
from rosflight_py_sim.recording.recorded_vehicle import RecordedVehicle
from rosflight_py_sim.viewer.recorded_events import recorded_events

ZERO_S = 100.0


def topic(name: str, *messages: tuple[float, Any]) -> Topic:
    type_name = type_name_of(type(messages[0][1]))
    made = Topic(name, type_name, "cdr", "ros2msg", message_definition(type_name))
    made.messages = [serialize_message(message) for _, message in messages]
    made.kept = list(range(len(messages)))
    made.log_ns = np.array([round((ZERO_S + time_s) * 1e9) for time_s, _ in messages])
    return made


def route(*places: tuple[float, float, float]) -> PathMessage:
    path = PathMessage()
    for north, east, down in places:
        pose = PoseStamped()
        pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = north, east, down
        path.poses.append(pose)
    return path


def test_events_of_a_recording_are_those_of_the_flight() -> None:
    topics = [
        topic("/quad/status", (0.0, Status()), (1.0, Status(armed=True)), (1.1, Status(armed=True)), (40.0, Status())),
        topic("/quad/autopilot/phase", (0.0, String(data="wait")), (2.0, String(data="take-off"))),
        topic("/quad/autopilot/route", (2.0, route((5.0, 0.0, 0.0), (20.0, 0.0, 0.0)))),
        topic("/quad/sim/failures", (30.0, String(data="sensors: gnss jammed"))),
        topic(
            "/rosout",
            (3.0, Log(level=20, name="quad.sil_board", msg="armed")),
            (4.0, Log(level=30, name="quad.sil_board", msg="low voltage")),
            (5.0, Log(level=30, name="other.sil_board", msg="of another vehicle")),
        ),
    ]
    recording = Recording(Path("flight.mcap"), 0, topics={one.name: one for one in topics})
    time_s = ZERO_S + np.arange(0.0, 20.0, 0.1)
    truth = np.zeros((len(time_s), 19))
    truth[:, 0] = time_s - ZERO_S
    empty = np.zeros((len(time_s), 14))
    vehicle = RecordedVehicle(recording, "/quad", None, time_s, truth, empty[:, :3], empty)
    assert [(round(one.time_s, 6), one.text) for one in recorded_events(vehicle, ZERO_S)] == [
        (1.0, "armed"),
        (2.0, "mission: take-off"),
        (4.0, "sil_board: low voltage"),
        (5.0, "waypoint 1 passed at 0.0 m"),
        (30.0, "failures of sensors: gnss jammed"),
        (40.0, "disarmed"),
    ]


def test_replay_loads_the_topics_of_events() -> None:
    for name in ("/status", "/quad/autopilot/phase", "/autopilot/route", "/sim/failures", "/rosout"):
        assert kept_of(name, "any") > 0
    assert kept_of("/camera/front/image_raw", "sensor_msgs/msg/Image") == 0

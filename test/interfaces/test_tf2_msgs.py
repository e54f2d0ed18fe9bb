"""tf2_msgs, which pip installs without a ROS 2 distribution, matches the original on the wire."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from compiled_types import compiled_hash
from geometry_msgs.msg import TransformStamped
from rclpy.serialization import deserialize_message, serialize_message
from tf2_msgs.msg import TFMessage

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.interfaces.transform_wire import tf_message_type

FOLDER = Path(__file__).parents[2] / "tf2_msgs"

# As used by other software with ROS 2 from jazzy on, for example in key expressions of rmw_zenoh.
PUBLISHED_HASH = "e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"


def test_type_has_published_hash() -> None:
    assert compiled_hash("tf2_msgs/msg/TFMessage") == f"RIHS01_{PUBLISHED_HASH}"


def test_message_serialization_round_trips() -> None:
    message = TFMessage(transforms=[TransformStamped(child_frame_id="base_link")])
    assert deserialize_message(serialize_message(message), TFMessage) == message


def test_colcon_ignores_the_package() -> None:
    assert (FOLDER / "COLCON_IGNORE").is_file()


def test_missing_tf2_msgs_error_is_one_line_with_install_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tf2_msgs.msg", None)
    with pytest.raises(ParameterError, match="tf2_msgs, the message of /tf, is not installed") as caught:
        tf_message_type()
    assert "\n" not in str(caught.value)

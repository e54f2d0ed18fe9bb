"""Text of message types, as stored in recordings."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest
import rosflight_msgs.msg
from mcap_ros2.decoder import DecoderFactory
from rclpy.serialization import serialize_message

from rosflight_py_sim.interfaces.message_definitions import is_stamped, message_class, message_definition, type_name_of

PACKAGES = ("rosflight_msgs", "std_msgs", "geometry_msgs", "sensor_msgs", "nav_msgs", "diagnostic_msgs")
OWN = [f"rosflight_msgs/msg/{name}" for name, _ in inspect.getmembers(rosflight_msgs.msg, inspect.isclass)]
FURTHER = [
    "rcl_interfaces/msg/Log",
    "rcl_interfaces/msg/ParameterEvent",
    "diagnostic_msgs/msg/DiagnosticArray",
    "nav_msgs/msg/Path",
    "sensor_msgs/msg/CompressedImage",
    "rosgraph_msgs/msg/Clock",
]


class _Schema:
    """The attributes of a schema that mcap_ros2 uses."""

    def __init__(self, name: str, text: str) -> None:
        self.id, self.name, self.encoding, self.data = 1, name, "ros2msg", text.encode()


@pytest.mark.parametrize("name", [*OWN, *FURTHER])
def test_definition_text_suffices_to_decode_the_message(name: str) -> None:
    decode = DecoderFactory().decoder_for("cdr", _Schema(name, message_definition(name)))  # type: ignore[arg-type]
    assert decode is not None
    message = decode(serialize_message(message_class(name)()))
    assert list(message_class(name).get_fields_and_field_types()) == [
        field for field in message.__slots__ if not field.startswith("_")
    ]


@pytest.mark.parametrize("name", [*OWN, *FURTHER])
def test_generated_definition_describes_same_fields_as_original(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = serialize_message(message_class(name)())
    original = DecoderFactory().decoder_for("cdr", _Schema(name, message_definition(name)))  # type: ignore[arg-type]
    # As if the .msg files were not installed.
    monkeypatch.setattr(Path, "is_file", lambda path: False)
    made = DecoderFactory().decoder_for("cdr", _Schema(name, message_definition(name)))  # type: ignore[arg-type]
    assert original is not None and made is not None
    assert str(made(content)) == str(original(content))


def test_type_names_map_to_classes_and_back() -> None:
    for package in PACKAGES:
        module = importlib.import_module(f"{package}.msg")
        for name, cls in inspect.getmembers(module, inspect.isclass):
            assert type_name_of(cls) == f"{package}/msg/{name}"
            assert message_class(f"{package}/msg/{name}") is cls


def test_missing_message_type_is_named() -> None:
    with pytest.raises(ImportError, match="not_there"):
        message_definition("not_there/msg/Thing")
    with pytest.raises(ImportError, match="package 'std_msgs' has no std_msgs/msg/Thing"):
        message_definition("std_msgs/msg/Thing")


def test_stamped_messages_are_those_with_leading_header() -> None:
    assert is_stamped(message_class("rosflight_msgs/msg/SimState"))
    assert not is_stamped(message_class("rosgraph_msgs/msg/Clock"))
    assert not is_stamped(message_class("std_msgs/msg/Header"))

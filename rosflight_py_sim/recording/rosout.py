"""Log messages of the nodes, from a recording."""

from __future__ import annotations

from typing import Any

from rosflight_py_sim.recording.mcap_file import Recording, Topic

WARN, ERROR = 30, 40
"""Levels of rcl_interfaces/msg/Log, whose constants are bytes in some distributions."""


def warnings_of(recording: Recording) -> list[tuple[float, str, str]]:
    """Logged warnings and errors of the nodes: time (s), node, text."""
    topic = recording.named("/rosout")
    if topic is None:
        return []
    found = []
    for time_s, message in zip(topic.kept_s.tolist(), decoded(topic), strict=False):
        # The recording itself defines the message's fields.
        level, node, text = (getattr(message, field, None) for field in ("level", "name", "msg"))
        if isinstance(level, int) and level >= WARN and isinstance(node, str) and isinstance(text, str):
            found.append((time_s, node, text))
    return found


def decoded(topic: Topic) -> list[Any]:
    """Kept messages of a topic, deserialised; empty if their type cannot be read."""
    from mcap.records import Schema
    from mcap_ros2.decoder import DecoderFactory

    schema = Schema(id=1, name=topic.type_name, encoding=topic.schema_encoding, data=topic.definition.encode())
    try:
        decode = DecoderFactory().decoder_for(topic.encoding, schema)
        return [] if decode is None else [decode(message) for message in topic.messages]
    # The library raises errors of many types for a definition or a message that is not valid.
    except Exception:
        return []

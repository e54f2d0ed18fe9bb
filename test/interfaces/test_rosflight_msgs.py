"""rosflight_msgs matches the types of ROSflight's own nodes, field by field and hash by hash."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
import yaml
from compiled_types import compiled_hash
from rclpy.node import Node

RECORD: dict[str, dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[1] / "data" / "rosflight_msgs_type_hashes.yaml").read_text(encoding="utf-8")
)
MESSAGES = [name for name in RECORD if name.startswith("rosflight_msgs/msg/")]
SERVICES = [name for name in RECORD if name.startswith("rosflight_msgs/srv/")]

# type_description_interfaces/msg/FieldType
PLAIN_TYPES = {"uint8": 3, "int16": 4, "uint16": 5, "int32": 6, "uint32": 7, "int64": 8}
PLAIN_TYPES |= {"float32": 10, "float64": 11, "bool": 15, "string": 17}
NESTED_TYPE, ARRAY, BOUNDED_SEQUENCE, UNBOUNDED_SEQUENCE = 1, 48, 96, 144


def interface_class(name: str) -> Any:
    package, kind, short_name = name.split("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), short_name)


def all_fields() -> dict[str, dict[str, str]]:
    """Fields of every recorded type, and of the three messages that each service consists of."""
    fields = {name: entry["fields"] for name, entry in RECORD.items() if "fields" in entry}
    for name in SERVICES:
        fields[f"{name}_Request"] = RECORD[name]["request"]
        fields[f"{name}_Response"] = RECORD[name]["response"]
        fields[f"{name}_Event"] = {
            "info": "service_msgs/msg/ServiceEventInfo",
            "request": f"{name}_Request[<=1]",
            "response": f"{name}_Response[<=1]",
        }
        fields[name] = {
            "request_message": f"{name}_Request",
            "response_message": f"{name}_Response",
            "event_message": f"{name}_Event",
        }
    return fields


def field_type(text: str) -> dict[str, int | str]:
    match = re.fullmatch(r"([\w/]+)(?:\[(<=)?(\d*)\])?", text)
    assert match is not None, text
    element, bounded, length = match.groups()
    offset = 0
    if text.endswith("]"):
        offset = BOUNDED_SEQUENCE if bounded else ARRAY if length else UNBOUNDED_SEQUENCE
    return {
        "type_id": PLAIN_TYPES.get(element, NESTED_TYPE) + offset,
        "capacity": int(length or 0),
        "string_capacity": 0,
        "nested_type_name": "" if element in PLAIN_TYPES else element,
    }


def rihs01(name: str) -> str:
    """Type hash by REP 2011: SHA-256 of the description of the type and of all types below it, in JSON."""
    fields = all_fields()

    def description(type_name: str) -> dict[str, Any]:
        described = [{"name": field, "type": field_type(text)} for field, text in fields[type_name].items()]
        return {"type_name": type_name, "fields": described}

    referenced: dict[str, dict[str, Any]] = {}
    waiting = [description(name)]
    while waiting:
        for field in waiting.pop()["fields"]:
            nested = field["type"]["nested_type_name"]
            if nested and nested not in referenced:
                referenced[nested] = description(nested)
                waiting.append(referenced[nested])
    whole = {
        "type_description": description(name),
        "referenced_type_descriptions": [referenced[key] for key in sorted(referenced)],
    }
    return "RIHS01_" + hashlib.sha256(json.dumps(whole).encode()).hexdigest()


@pytest.fixture
def node() -> Iterator[Node]:
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("type_hash_reader", context=context)
    yield node
    node.destroy_node()
    rclpy.try_shutdown(context=context)


def test_record_contains_all_messages_and_services() -> None:
    assert (len(MESSAGES), len(SERVICES)) == (15, 4)


def test_sim_state_hash_matches_kilted_wire_hash() -> None:
    seen = "RIHS01_1197dc9ef12f9ec55907ce155008a69dfe1331ef805c1bbe2ac87e1eecbd506c"
    assert RECORD["rosflight_msgs/msg/SimState"]["hash"] == seen


@pytest.mark.parametrize("name", MESSAGES + SERVICES)
def test_compiled_type_has_recorded_hash(name: str) -> None:
    assert compiled_hash(name) == RECORD[name]["hash"]


@pytest.mark.parametrize("name", MESSAGES + SERVICES)
def test_recorded_hash_matches_recorded_fields(name: str) -> None:
    assert rihs01(name) == RECORD[name]["hash"]


def test_publishers_announce_recorded_hashes(node: Node) -> None:
    publishers = {name: node.create_publisher(interface_class(name), name.replace("/", "_"), 1) for name in MESSAGES}
    announced: dict[str, str] = {}
    deadline = time.monotonic() + 10.0
    while len(announced) < len(publishers) and time.monotonic() < deadline:
        for name, publisher in publishers.items():
            for endpoint in node.get_publishers_info_by_topic(publisher.topic_name):
                announced[name] = str(endpoint.topic_type_hash)
        time.sleep(0.01)
    assert announced == {name: RECORD[name]["hash"] for name in MESSAGES}


@pytest.mark.parametrize("name", MESSAGES)
def test_message_has_recorded_fields_in_order(name: str) -> None:
    assert list(interface_class(name).get_fields_and_field_types()) == list(RECORD[name]["fields"])


@pytest.mark.parametrize("name", MESSAGES)
def test_message_has_exactly_the_recorded_constants(name: str) -> None:
    message_class = interface_class(name)
    constants = [key for key in type(message_class).__prepare__(name, ()) if key.isupper()]
    assert {key: getattr(message_class, key) for key in constants} == RECORD[name].get("constants", {})


@pytest.mark.parametrize("name", MESSAGES)
def test_new_message_is_zero_initialised(name: str) -> None:
    message = interface_class(name)()
    for field in RECORD[name]["fields"]:
        value = getattr(message, field)
        if field in ("header", "pose", "twist", "acceleration", "attitude", "angular_velocity"):
            assert value == type(value)()
        elif isinstance(value, str):
            assert value == ""
        else:
            assert sum(value) == 0 if hasattr(value, "__len__") else value == 0

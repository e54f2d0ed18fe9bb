"""Encoded messages: the fast encoding equals rclpy's, byte for byte."""

from __future__ import annotations

import struct
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nav_msgs.msg import Path
from rclpy.serialization import deserialize_message, serialize_message
from rosflight_msgs.msg import Error, RGBCamera
from rosgraph_msgs.msg import Clock
from rosidl_parser.definition import Array, BasicType
from sensor_msgs.msg import JointState, TimeReference

from rosflight_py_sim.ground.stamps import stamp_ns
from rosflight_py_sim.step.topics import PWM_OUTPUT, STEP_TOPICS, TRUTH_STATE, PulseWidths
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.step.wire import WireFormat, WireFormatError, encode_clock

_INTEGERS = {
    "boolean": st.booleans(),
    "uint8": st.integers(0, 2**8 - 1),
    "uint16": st.integers(0, 2**16 - 1),
    "int16": st.integers(-(2**15), 2**15 - 1),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
}
_NUMBERS = {**_INTEGERS, "float": st.floats(width=32, allow_nan=False), "double": st.floats(allow_nan=False)}
_SIZES = {"boolean": 1, "uint8": 1, "uint16": 2, "int16": 2, "int32": 4, "int64": 8, "float": 4, "double": 8}
_TIMES = st.integers(0, 2**31 * 10**9 - 1)


def formats() -> dict[str, WireFormat]:
    """Wire format of every topic whose message is a header and numbers."""
    stamped = {
        row.name: row
        for row in STEP_TOPICS
        if "header" in row.message_type.get_fields_and_field_types()
        and row.message_type not in (Error, JointState, Path, TimeReference)
    }
    return {name: WireFormat(row.message_type, row.frame_id) for name, row in stamped.items()}


FORMATS = formats()


def primitives(message_type: Any) -> list[str]:
    """Names of the primitive types after the header, flattened, in order."""
    names: list[str] = []
    for slot in message_type.SLOT_TYPES:
        if isinstance(slot, BasicType):
            names.append(slot.typename)
        elif isinstance(slot, Array):
            names += [slot.value_type.typename] * slot.size
        elif slot.name != "Header":
            names += primitives(getattr(import_module(".".join(slot.namespaces)), slot.name))
    return names


def fill(message: Any, numbers: list[Any]) -> None:
    """Set the fields after the header from the front of `numbers`, and remove these numbers."""
    for field, slot in zip(message.get_fields_and_field_types(), message.SLOT_TYPES, strict=True):
        if isinstance(slot, BasicType):
            setattr(message, field, numbers.pop(0))
        elif isinstance(slot, Array):
            setattr(message, field, [numbers.pop(0) for _ in range(slot.size)])
        elif slot.name != "Header":
            fill(getattr(message, field), numbers)


def padding(kinds: list[str], frame_id: str) -> list[int]:
    """Indices of the alignment bytes, which rclpy leaves uninitialised."""
    places: list[int] = []
    offset = 12 + len(frame_id) + 1
    for kind in kinds:
        size = _SIZES[kind]
        places += [4 + offset + k for k in range(-offset % size)]
        offset += -offset % size + size
    return places


def serialised(wire: WireFormat, time_ns: int, frame_id: str, numbers: list[Any]) -> bytes:
    message = wire.message_type()
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(time_ns, 10**9)
    message.header.frame_id = frame_id
    fill(message, list(numbers))
    coded = bytearray(serialize_message(message))
    for place in padding(primitives(wire.message_type), frame_id):
        coded[place] = 0
    return bytes(coded)


def test_wire_formats_of_the_whole_graph_are_found() -> None:
    types = {wire.message_type.__name__ for wire in FORMATS.values()}
    assert types >= {"SimState", "WrenchStamped", "Vector3Stamped", "PwmOutput", "RCRaw", "Imu", "Command", "Status"}


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_encoding_matches_rclpy_and_decoding_inverts_it(name: str, data: Any) -> None:
    wire = FORMATS[name]
    time_ns = data.draw(_TIMES)
    numbers = [data.draw(_NUMBERS[primitive]) for primitive in primitives(wire.message_type)]
    assert wire.fields == len(numbers)
    encoded = wire.encode(time_ns, *numbers)
    frame_id = deserialize_message(encoded, wire.message_type).header.frame_id
    assert encoded == serialised(wire, time_ns, frame_id, numbers)
    assert wire.decode(encoded) == (*divmod(time_ns, 10**9), *numbers)
    assert stamp_ns(encoded) == time_ns


@pytest.mark.parametrize("name", FORMATS)
def test_messages_with_frame_ids_of_any_length_are_decoded(name: str) -> None:
    wire = FORMATS[name]
    kinds = {"boolean": bool, "float": float, "double": float}
    numbers = [kinds.get(kind, int)(k % 100) for k, kind in enumerate(primitives(wire.message_type))]
    for length in range(20):
        message = serialised(wire, 1_234_567_890, "x" * length, numbers)
        assert wire.decode(message) == (1, 234_567_890, *numbers)


@pytest.mark.parametrize("name", FORMATS)
def test_truncated_messages_are_rejected(name: str) -> None:
    wire = FORMATS[name]
    numbers = [False if kind == "boolean" else 0 for kind in primitives(wire.message_type)]
    message = wire.encode(5, *numbers)
    for length in range(len(message)):
        with pytest.raises(WireFormatError, match=wire.message_type.__name__):
            wire.decode(message[:length])


def test_big_endian_messages_are_rejected() -> None:
    message = b"\x00\x00" + TRUTH_STATE.encode(VehicleState(5))[2:]
    with pytest.raises(WireFormatError, match=r"SimState: encapsulation b'\\x00\\x00' is not little-endian"):
        TRUTH_STATE.decode(message)


def test_frame_id_longer_than_the_message_is_rejected() -> None:
    message = bytearray(TRUTH_STATE.encode(VehicleState(5)))
    message[12:16] = struct.pack("<I", 2**32 - 1)
    with pytest.raises(WireFormatError, match="SimState"):
        TRUTH_STATE.decode(bytes(message))


@pytest.mark.parametrize("message_type", [Error, RGBCamera, Clock])
def test_types_without_header_and_fixed_size_have_no_wire_format(message_type: Any) -> None:
    with pytest.raises(WireFormatError):
        WireFormat(message_type)


def test_out_of_range_number_is_rejected() -> None:
    with pytest.raises(struct.error):
        PWM_OUTPUT.encode(PulseWidths(0, [70_000] * 14))


@settings(deadline=None)
@given(time_ns=_TIMES)
def test_clock_encoding_matches_rclpy(time_ns: int) -> None:
    message = Clock()
    message.clock.sec, message.clock.nanosec = divmod(time_ns, 10**9)
    assert encode_clock(time_ns) == bytes(serialize_message(message))

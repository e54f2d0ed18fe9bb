"""ArduPilot's servo frames and reply lines, byte for byte."""

from __future__ import annotations

import dataclasses
import json
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosflight_py_sim.protocols.ardupilot_json import (
    BatteryStatus,
    FrameLengthError,
    FrameRateError,
    MagicError,
    ProtocolError,
    Reply,
    ReplyError,
    ServoFrame,
    Windvane,
    decode_frame,
    decode_reply,
    encode_frame,
    encode_reply,
)

PAGE_EXAMPLE = (
    b'\n{"timestamp":2500,"imu":{"gyro":[0,0,0],"accel_body":[0,0,0]},'
    b'"position":[0,0,0],"attitude":[0,0,0],"velocity":[0,0,0]}\n'
)
ZERO = (0.0, 0.0, 0.0)
AT_REST = Reply(1.0, ZERO, (0.0, 0.0, -9.81), ZERO, ZERO, quaternion=(1.0, 0.0, 0.0, 0.0))
FULL = Reply(
    timestamp=0.0025,
    gyro=(0.125, -0.25, 0.5),
    accel_body=(1.0, 2.0, -9.75),
    position_ned=(1.5, -2.5, -10.25),
    velocity_ned=(3.0, -4.0, 0.75),
    attitude=(0.25, -0.125, 1.5),
    quaternion=(0.5, -0.5, 0.5, -0.5),
    ranges=(1.25, 2.5, 3.75, 4.0, 5.0, 6.0),
    windvane=Windvane(0.75, 6.5),
    velocity_wind=(3.25, 0.0, -0.75),
    airspeed=18.5,
    rc_us=tuple(range(1000, 2200, 100)),
    battery=BatteryStatus(50.5, 64.25),
    rpm=(1000.0, 2000.5, 0.0, -1.0),
    geodetic=(-35.363261, 149.165230, 584.5),
    no_lockstep=True,
)

# Exactly representable in 9 digits, the precision of all fields but time and position.
single = st.floats(-1e4, 1e4, width=32).map(lambda x: float(f"{x:.9g}"))
exact = st.floats(-1e7, 1e7)
us = st.integers(0, 65535)


def vectors(of: Any, length: int = 3) -> Any:
    return st.tuples(*[of] * length)


frames = st.builds(
    ServoFrame,
    st.integers(1, 65535),
    st.integers(0, 2**32 - 1),
    st.sampled_from((16, 32)).flatmap(lambda n: vectors(us, n)),
)
replies = st.builds(
    Reply,
    st.floats(0, 1e8),
    vectors(single),
    vectors(single),
    vectors(exact),
    vectors(single),
    rpm=st.lists(single, max_size=4).map(tuple),
    geodetic=st.none() | vectors(exact),
    no_lockstep=st.none() | st.booleans(),
    attitude=st.none() | vectors(single),
    quaternion=vectors(single, 4),
    ranges=st.lists(single, max_size=6).map(tuple),
    windvane=st.none() | st.builds(Windvane, single, single),
    velocity_wind=st.none() | vectors(single),
    airspeed=st.none() | single,
    rc_us=st.lists(us, max_size=12).map(tuple),
    battery=st.none() | st.builds(BatteryStatus, single, single),
)


def test_frame_of_16_channels_matches_documented_bytes() -> None:
    pwm = tuple(range(1000, 1016))
    golden = bytes.fromhex("1a48b00401020000") + b"".join(p.to_bytes(2, "little") for p in pwm)
    assert len(golden) == 40
    assert decode_frame(golden) == ServoFrame(1200, 513, pwm)
    assert encode_frame(ServoFrame(1200, 513, pwm)) == golden


def test_frame_of_32_channels_matches_documented_bytes() -> None:
    pwm = tuple(range(1000, 1032))
    golden = bytes.fromhex("81739001ffffffff") + b"".join(p.to_bytes(2, "little") for p in pwm)
    assert len(golden) == 72
    assert decode_frame(golden) == ServoFrame(400, 2**32 - 1, pwm)
    assert encode_frame(ServoFrame(400, 2**32 - 1, pwm)) == golden


@given(frames)
def test_frame_round_trips(frame: ServoFrame) -> None:
    assert decode_frame(encode_frame(frame)) == frame


@pytest.mark.parametrize("length", [0, 1, 7, 8, 39, 41, 72, 1500])
def test_frame_of_wrong_length_is_rejected_with_both_lengths(length: int) -> None:
    datagram = (struct.pack("<HHI", 18458, 400, 1) + bytes(1500))[:length]
    with pytest.raises(
        FrameLengthError, match=rf"{length} bytes.*40 bytes with magic 18458.*72 bytes with magic 29569"
    ):
        decode_frame(datagram)


def test_frame_of_32_channels_with_16_channel_magic_is_rejected() -> None:
    datagram = encode_frame(ServoFrame(400, 1, (1000,) * 32))
    with pytest.raises(FrameLengthError):
        decode_frame(struct.pack("<H", 18458) + datagram[2:])


def test_big_endian_frame_is_rejected_by_its_magic() -> None:
    with pytest.raises(MagicError, match=r"magic 6728; allowed: .*18458"):
        decode_frame(struct.pack(">HHI16H", 18458, 400, 1, *[1000] * 16))


def test_zero_frame_rate_is_rejected() -> None:
    with pytest.raises(FrameRateError, match="frame_rate 0; allowed: 1 to 65535 Hz"):
        decode_frame(encode_frame(ServoFrame(0, 1, (1000,) * 16)))


@given(st.binary(max_size=100))
def test_arbitrary_bytes_are_a_frame_or_a_protocol_error(datagram: bytes) -> None:
    try:
        frame = decode_frame(datagram)
    except ProtocolError:
        return
    assert encode_frame(frame) == datagram


@pytest.mark.parametrize(
    "frame",
    [
        ServoFrame(400, 1, (1000,) * 14),
        ServoFrame(70000, 1, (1000,) * 16),
        ServoFrame(400, -1, (1000,) * 16),
        ServoFrame(400, 1, (-1,) * 16),
    ],
)
def test_invalid_frame_is_not_encoded(frame: ServoFrame) -> None:
    with pytest.raises(ProtocolError):
        encode_frame(frame)


def test_documented_example_line_is_decoded() -> None:
    assert decode_reply(PAGE_EXAMPLE) == Reply(2500.0, ZERO, ZERO, ZERO, ZERO, attitude=ZERO)


def test_encoded_documented_example_differs_only_in_field_order() -> None:
    line = encode_reply(decode_reply(PAGE_EXAMPLE))
    assert sorted(line) == sorted(PAGE_EXAMPLE)
    assert json.loads(line) == json.loads(PAGE_EXAMPLE)


def test_line_with_every_field_has_expected_bytes() -> None:
    assert encode_reply(FULL) == (
        b'\n{"timestamp":0.0025000000000000001,"imu":{"gyro":[0.125,-0.25,0.5],"accel_body":[1,2,-9.75]},'
        b'"position":[1.5,-2.5,-10.25],"latitude":-35.363261000000001,"longitude":149.16523000000001,"altitude":584.5,'
        b'"velocity":[3,-4,0.75],"attitude":[0.25,-0.125,1.5],'
        b'"quaternion":[0.5,-0.5,0.5,-0.5],"rng_1":1.25,"rng_2":2.5,"rng_3":3.75,"rng_4":4,"rng_5":5,"rng_6":6,'
        b'"windvane":{"direction":0.75,"speed":6.5},"velocity_wind":[3.25,0,-0.75],"airspeed":18.5,'
        b'"rc":{"rc_1":1000,"rc_2":1100,"rc_3":1200,"rc_4":1300,"rc_5":1400,"rc_6":1500,"rc_7":1600,"rc_8":1700,'
        b'"rc_9":1800,"rc_10":1900,"rc_11":2000,"rc_12":2100},"battery":{"voltage":50.5,"current":64.25},'
        b'"rpm":{"rpm_1":1000,"rpm_2":2000.5,"rpm_3":0,"rpm_4":-1},"no_lockstep":true}\n'
    )


def test_latitude_longitude_and_altitude_may_replace_the_position() -> None:
    line = encode_reply(dataclasses.replace(AT_REST, position_ned=None, geodetic=(51.5, -0.125, 11.0)))
    assert b'},"latitude":51.5,"longitude":-0.125,"altitude":11,"velocity":[0,0,0],' in line
    assert b"position" not in line
    assert decode_reply(line).position_ned is None


@given(replies)
def test_reply_round_trips(reply: Reply) -> None:
    assert decode_reply(encode_reply(reply)) == reply


@given(st.floats(0, 1e8), vectors(exact))
def test_time_and_position_keep_full_precision(timestamp: float, position: tuple[float, float, float]) -> None:
    read = decode_reply(encode_reply(dataclasses.replace(AT_REST, timestamp=timestamp, position_ned=position)))
    assert (read.timestamp, read.position_ned) == (timestamp, position)


@given(vectors(st.floats(-1e4, 1e4)))
def test_other_numbers_keep_single_precision(velocity: tuple[float, float, float]) -> None:
    read = decode_reply(encode_reply(dataclasses.replace(AT_REST, velocity_ned=velocity)))
    # Nine significant digits are within half a unit of the ninth.
    assert read.velocity_ned == pytest.approx(velocity, rel=5e-9, abs=0.0)


@given(replies)
def test_line_has_no_spaces_and_no_numbers_starting_with_a_point(reply: Reply) -> None:
    line = encode_reply(reply)
    assert line.count(b"\n") == 2 and line[:2] == b"\n{" and line[-2:] == b"}\n"
    assert b" " not in line and all(mark + b"." not in line for mark in (b",", b":", b"[", b"-"))


def number_behind(line: bytes, section: str, name: str) -> float:
    """The first number after the first occurrence of a name: ArduPilot's method, which ignores quotes."""
    text = line.decode()
    at = text.index(section) + len(section) if section else 0
    at = text.index(name, at) + len(name) + 2
    text = text[at:].lstrip("[")
    length = next(i for i, c in enumerate(text) if c not in "+-.0123456789e")
    return float(text[:length])


@given(replies)
def test_first_occurrence_of_each_name_is_its_own_field(reply: Reply) -> None:
    line, strict = encode_reply(reply), json.loads(encode_reply(reply))
    for section, value in strict.items():
        members = value if isinstance(value, dict) else {section: value}
        for name, member in members.items():
            if isinstance(member, bool):
                continue
            first = member[0] if isinstance(member, list) else member
            assert number_behind(line, section if isinstance(value, dict) else "", name) == first, name


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 1e9, -1e300])
@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(Reply)])
def test_number_that_would_abort_ardupilot_is_never_encoded(field: str, number: float) -> None:
    value = getattr(FULL, field)
    if isinstance(value, bool):
        return
    if isinstance(value, float):
        bad: Any = number
    elif isinstance(value, tuple):
        bad = (*value[:-1], number)
    else:
        bad = dataclasses.replace(value, **{dataclasses.fields(value)[-1].name: number})
    with pytest.raises(ReplyError, match="allowed: finite numbers"):
        encode_reply(dataclasses.replace(FULL, **{field: bad}))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"quaternion": None}, "without attitude and quaternion"),
        ({"position_ned": None}, "without position and without latitude, longitude and altitude"),
        ({"ranges": (1.0,) * 7}, "7 ranges; allowed: at most 6"),
        ({"rpm": (1.0,) * 5}, "5 rotor speeds; allowed: at most 4"),
        ({"rc_us": (1500,) * 13}, "13 RC channels; allowed: at most 12"),
    ],
)
def test_undocumented_reply_values_are_not_encoded(change: dict[str, Any], text: str) -> None:
    with pytest.raises(ReplyError, match=text):
        encode_reply(dataclasses.replace(AT_REST, **change))


@given(replies, st.data())
def test_corrupted_line_is_a_reply_or_a_reply_error(reply: Reply, data: st.DataObject) -> None:
    line = bytearray(encode_reply(reply))
    for _ in range(data.draw(st.integers(1, 4))):
        line[data.draw(st.integers(0, len(line) - 1))] = data.draw(st.sampled_from(b'\n"{}[]:,.-+0919eEtN \xff'))
    try:
        read = decode_reply(bytes(line))
    except ReplyError:
        return
    position = (*(read.position_ned or ()), *(read.geodetic or ()))
    assert all(math.isfinite(v) for v in (read.timestamp, *position, *read.velocity_ned))


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (b"\n{", b"{", "line feed"),
        (b"}\n", b"}", "line feed"),
        (b'"timestamp":1,', b"", "'timestamp': None; allowed: a number"),
        (b'"timestamp":1,', b'"timestamp":true,', "'timestamp': True; allowed: a number"),
        (b'"timestamp":1,', b'"timestamp":NaN,', "NaN is not a number in JSON"),
        (b'"position":[0,0,0]', b'"position":[0,0]', "'position': .*a list of 3 numbers"),
        (b'"position"', b'"place"', "without position and without latitude"),
        (b'"position"', b'"latitude":1,"position"', "line with latitude alone; allowed: latitude, longitude, altitude"),
        (b'"position"', b'"no_lockstep":1,"position"', "'no_lockstep': 1; allowed: true or false"),
        (b'"gyro":[0,0,0],', b"", "'imu': .*an object with gyro and accel_body"),
        (b'"quaternion":[1,0,0,0]', b'"rng_2":1', "without attitude and quaternion"),
        (b'"quaternion"', b'"rng_2":1,"quaternion"', "'rng_1' is missing, but a later one is given"),
        (b'"quaternion"', b'"rc":{"rc_2":1500},"quaternion"', "'rc': .*rc_1"),
        (b'"quaternion"', b'"quaternion', "is not JSON"),
        (b'"timestamp":1,', b'"timestamp":1e999,', "'timestamp': inf; allowed: a number of a magnitude below 1e"),
        (b'"velocity":[0,', b'"velocity":[1' + b"0" * 400 + b",", "'velocity': .*a list of 3 numbers of a magnitude"),
        (b'"timestamp":1,', b'"timestamp":1,"timestamp":2,', "duplicate name"),
        (b'"quaternion"', b'"x":' + b"[" * 100_000 + b',"quaternion"', "is not JSON"),
        (b'"timestamp"', '"\N{MICRO SIGN}":1,"timestamp"'.encode(), "is not JSON"),
    ],
)
def test_malformed_line_is_rejected_with_reason(old: bytes, new: bytes, text: str) -> None:
    line = encode_reply(AT_REST)
    assert line.count(old) == 1
    with pytest.raises(ReplyError, match=text):
        decode_reply(line.replace(old, new))

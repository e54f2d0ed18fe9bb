"""ROSflight's MAVLink dialect: table of messages and frames."""

from __future__ import annotations

import math

import pytest
from mavlink_client import DEFINITIONS, frame

from rosflight_py_sim.protocols.rosflight_mavlink import dialect
from rosflight_py_sim.protocols.rosflight_mavlink.dialect import LAYOUTS, ParamType
from rosflight_py_sim.protocols.rosflight_mavlink.frames import Frame, FrameReader, encode_frame
from rosflight_py_sim.protocols.rosflight_mavlink.values import (
    ParamTypeError,
    StatusLines,
    parameter_bits,
    parameter_value,
    status_texts,
    text_of,
)

# Length and CRC_EXTRA by message id, from rosflight_firmware's comms/mavlink/v1.0/rosflight/rosflight.h.
LENGTHS_AND_CRCS = {
    0: (9, 50),
    20: (20, 214),
    21: (2, 159),
    22: (25, 220),
    23: (23, 168),
    31: (32, 246),
    65: (42, 118),
    111: (16, 34),
    180: (43, 90),
    181: (36, 67),
    182: (12, 218),
    183: (12, 206),
    184: (12, 169),
    187: (13, 60),
    188: (1, 249),
    189: (2, 113),
    190: (64, 181),
    191: (11, 12),
    192: (50, 134),
    193: (70, 1),
    195: (16, 65),
    196: (16, 10),
    197: (66, 221),
    199: (8, 48),
    253: (51, 83),
}

COMMAND = dialect.OffboardControl(2, 0x3C0, (0.0, 0.0, -0.5, 0.25, -0.25, 0.125, 0.0, 0.0, 0.0, 0.0))


def test_lengths_and_checksums_that_follow_from_the_table_are_those_of_rosflights_headers() -> None:
    assert {n: (one.size, one.crc_extra) for n, one in LAYOUTS.numbered.items()} == LENGTHS_AND_CRCS


def test_names_are_those_of_the_dialect() -> None:
    assert {one.name: one.number for one in LAYOUTS.of.values()} == {
        name: one.number for name, one in DEFINITIONS.items()
    }


def test_frame_equals_that_of_an_independent_program() -> None:
    own = encode_frame(Frame(COMMAND, 7, 1, 50))
    assert own == frame("OFFBOARD_CONTROL", 7, mode=2, ignore=0x3C0, u=list(COMMAND.u))
    fix = dialect.RosflightGnss(1, 2, 3, 4, 40.5, -111.5, 1387.0, 1.0, 2.0, 3.0, 0.5, 0.25, 0.125, 99)
    names = dialect.RosflightGnss._fields
    assert encode_frame(Frame(fix, 0, 1, 50)) == frame("ROSFLIGHT_GNSS", **dict(zip(names, fix, strict=True)))


@pytest.mark.parametrize("cls", LAYOUTS.of, ids=lambda cls: cls.__name__)
def test_every_message_is_read_as_it_was_written(cls: type) -> None:
    layout = LAYOUTS.of[cls]
    # Small bytes of all fields are ordinary numbers, so the comparison has no NaN.
    message = layout.unpack(bytes(k % 100 + 1 for k in range(layout.size)))
    (read,) = FrameReader().frames(encode_frame(Frame(message, 255, 3, 250)))
    assert read == Frame(message, 255, 3, 250)


def test_frames_are_found_between_other_bytes_and_across_pieces() -> None:
    data = b"noise\xfe" + encode_frame(Frame(COMMAND, 0, 1, 50)) + b"\xfe\xfe" + encode_frame(Frame(COMMAND, 1, 1, 50))
    whole = [one.sequence for one in FrameReader().frames(data)]
    reader = FrameReader()
    assert whole == [one.sequence for k in range(len(data)) for one in reader.frames(data[k : k + 1])] == [0, 1]
    assert reader.counters["frames"] == 2


@pytest.mark.parametrize("place", range(51))
def test_damaged_byte_costs_one_frame_only(place: int) -> None:
    frames = [encode_frame(Frame(COMMAND, k, 1, 50)) for k in range(3)]
    damaged = bytearray(frames[1])
    damaged[place] ^= 0x41
    reader = FrameReader()
    found = [one.sequence for one in reader.frames(frames[0] + bytes(damaged) + frames[2])]
    assert found == [0, 2]
    assert sum(reader.counters.values()) > reader.counters["frames"] == 2


def test_what_is_not_a_frame_is_counted_by_kind() -> None:
    reader = FrameReader()
    ordinary = encode_frame(Frame(dialect.RosflightCmd(10), 0, 1, 50))
    wrong = ordinary[:-1] + bytes([ordinary[-1] ^ 1])
    unknown = ordinary[:5] + b"\x07" + ordinary[6:]
    long = b"\xfe\x02" + ordinary[2:]
    assert [list(reader.frames(one)) for one in (b"abc", wrong, unknown, long)] == [[]] * 4
    kinds = "stray_bytes", "wrong_checksum", "unknown_message", "wrong_length"
    assert all(reader.counters[kind] for kind in kinds) and not reader.counters["frames"]


def test_number_beyond_single_precision_becomes_infinite() -> None:
    (read,) = FrameReader().frames(encode_frame(Frame(dialect.SmallMag(1e300, -1e300, 0.0), 0, 1, 1)))
    assert read.message == (math.inf, -math.inf, 0.0)


@pytest.mark.parametrize("value", [0, 1, -1, 255, -(2**31), 2**31 - 1, -8_000_000, 0.5, -0.25])
def test_parameter_is_read_as_it_was_written(value: float) -> None:
    bits = parameter_bits(value)
    kind = ParamType.INT32 if isinstance(value, int) else ParamType.REAL32
    read = parameter_value(bits, kind)
    assert read == value and type(read) is type(value)


def test_other_type_of_a_parameter_is_refused() -> None:
    with pytest.raises(ParamTypeError, match=r"parameter type 4 given; allowed: 6 \(INT32\) or 9 \(REAL32\)"):
        parameter_value(bytes(4), 4)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("armed", [b"armed"]),
        (
            "cannot arm: the throttle override switch is off (and TAKE_MIN_THR is 0)",
            [b"cannot arm: the throttle override switch is off ", b"(and TAKE_MIN_THR is 0)"],
        ),
        ("saved to /" + 60 * "a", [b"saved to ", b"/" + 49 * b"a", 11 * b"a"]),
    ],
)
def test_long_text_takes_several_status_texts_which_a_reader_joins(text: str, pieces: list[bytes]) -> None:
    assert status_texts(text) == pieces
    lines = StatusLines()
    assert [lines.add(one.ljust(50, b"\0")) for one in pieces] == [*[None] * (len(pieces) - 1), text]
    assert lines.last == text
    lines.forget()
    assert lines.last == ""


def test_text_of_a_field_ends_at_the_first_zero() -> None:
    assert text_of(b"version\0\0") == "version" and text_of(b"x" * 50) == "x" * 50

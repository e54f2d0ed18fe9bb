"""The AUV protocol's messages, byte for byte, and its axes and units."""

from __future__ import annotations

import math
import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosflight_py_sim.physics.rotations import quaternion_from_euler, rotate_to_inertial
from rosflight_py_sim.protocols import ProtocolError
from rosflight_py_sim.protocols.auv_zeromq import (
    CommandLengthError,
    Images,
    ImagesError,
    Telemetry,
    TelemetryError,
    ThrusterCommand,
    clamped,
    decode_images,
    decode_telemetry,
    decode_thrusters,
    encode_images,
    encode_telemetry,
    encode_thrusters,
    telemetry,
)

LEVEL = (1.0, 0.0, 0.0, 0.0)

ids = st.integers(0, 255)
powers = st.none() | st.integers(-128, 127).filter(lambda power: power != -127)
single = st.floats(allow_nan=False, allow_infinity=False, width=32)
angle = st.floats(-math.pi, math.pi)


def attitude(*, roll: float = 0.0, pitch: float = 0.0, yaw: float = 0.0) -> tuple[float, float, float, float]:
    """Quaternion of angles in degrees."""
    w, x, y, z = quaternion_from_euler(math.radians(roll), math.radians(pitch), math.radians(yaw))
    return w, x, y, z


def test_thruster_message_is_id_and_four_signed_bytes() -> None:
    assert encode_thrusters(ThrusterCommand(3, 75, -50, 0, None)) == bytes((3, 75, 206, 0, 129))
    assert decode_thrusters(bytes((200, 100, 156, 1, 255))) == ThrusterCommand(200, 100, -100, 1, -1)


@pytest.mark.parametrize("place", range(4))
def test_minus_127_leaves_the_thruster_unchanged(place: int) -> None:
    message = struct.pack("<Bbbbb", 0, *(-127 if i == place else 10 for i in range(4)))
    assert decode_thrusters(message).powers == tuple(None if i == place else 10 for i in range(4))


@given(st.builds(ThrusterCommand, ids, powers, powers, powers, powers))
def test_thruster_command_round_trips(command: ThrusterCommand) -> None:
    assert decode_thrusters(encode_thrusters(command)) == command


@given(st.binary(min_size=5, max_size=5))
def test_every_five_byte_message_is_a_command(message: bytes) -> None:
    assert encode_thrusters(decode_thrusters(message)) == message


@given(st.binary(max_size=64).filter(lambda message: len(message) != 5))
def test_message_of_other_length_is_rejected(message: bytes) -> None:
    with pytest.raises(CommandLengthError, match=f"of {len(message)} bytes; allowed: 5"):
        decode_thrusters(message)


@pytest.mark.parametrize(
    "command", [ThrusterCommand(256, 0, 0, 0, 0), ThrusterCommand(0, 128, 0, 0, 0), ThrusterCommand(0, 0, -127, 0, 0)]
)
def test_unencodable_command_is_rejected(command: ThrusterCommand) -> None:
    with pytest.raises(ProtocolError, match="ThrusterCommand"):
        encode_thrusters(command)


def test_100_000_random_messages_are_commands_or_rejected() -> None:
    seeded = random.Random(4)
    refused = 0
    for _ in range(100_000):
        message = seeded.randbytes(seeded.choice((0, 1, 4, 5, 5, 5, 6, 40)))
        try:
            assert encode_thrusters(decode_thrusters(message)) == message
        except CommandLengthError:
            refused += 1
    assert refused == pytest.approx(62_500, abs=1000)  # five of eight lengths; six standard deviations


def test_powers_are_clamped_to_full_power() -> None:
    given_powers = [-128, -126, -101, -100, -1, 0, 99, 100, 101, 126, 127]
    assert [clamped(power) for power in given_powers] == [-100, -100, -100, -100, -1, 0, 99, 100, 100, 100, 100]


def test_telemetry_message_is_id_and_six_little_endian_singles() -> None:
    parts = encode_telemetry(7, Telemetry(1.0, -2.0, 0.5, 180.0, -0.25, 0.0))
    assert parts == [b"\x07", bytes.fromhex("0000803f 000000c0 0000003f 00003443 000080be 00000000")]


@given(ids, st.builds(Telemetry, single, single, single, single, single, single))
def test_telemetry_round_trips(auv_id: int, where: Telemetry) -> None:
    assert decode_telemetry(encode_telemetry(auv_id, where)) == (auv_id, where)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e39])
@pytest.mark.parametrize("place", range(6))
def test_telemetry_that_does_not_fit_a_single_is_not_sent(bad: float, place: int) -> None:
    with pytest.raises(TelemetryError, match="allowed: finite"):
        encode_telemetry(0, Telemetry(*(bad if i == place else 1.0 for i in range(6))))


@pytest.mark.parametrize("parts", [[], [b"\0"], [b"\0", b"\0" * 23], [b"\0\0", b"\0" * 24], [b"\0", b"\0" * 24, b""]])
def test_message_parts_that_are_not_telemetry_are_rejected(parts: list[bytes]) -> None:
    with pytest.raises(TelemetryError, match=r"allowed: \[1, 24\]"):
        decode_telemetry(parts)


@pytest.mark.parametrize(("z_up", "z"), [(True, -2.0), (False, 2.0)])
def test_x_is_east_y_is_north_and_z_is_measured_from_the_surface(z_up: bool, z: float) -> None:
    assert telemetry((3.0, 4.0, 2.0), LEVEL, z_up=z_up) == Telemetry(4.0, 3.0, z, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("angles", "expected"),
    [
        ({"yaw": 90.0}, (90.0, 0.0, 0.0)),
        ({"yaw": -90.0}, (-90.0, 0.0, 0.0)),
        ({"pitch": 30.0}, (0.0, 30.0, 0.0)),
        ({"roll": 20.0}, (0.0, 0.0, 20.0)),
        ({"roll": 20.0, "pitch": -30.0, "yaw": 135.0}, (135.0, -30.0, 20.0)),
        ({"roll": 20.0, "pitch": 90.0, "yaw": 135.0}, (115.0, 90.0, 0.0)),
        ({"roll": 20.0, "pitch": -90.0, "yaw": 135.0}, (155.0, -90.0, 0.0)),
    ],
)
def test_angles_are_in_degrees_and_yaw_is_clockwise(
    angles: dict[str, float], expected: tuple[float, float, float]
) -> None:
    seen = telemetry((0.0, 0.0, 0.0), attitude(**angles))
    # Rounding of a dozen operations on doubles.
    assert (seen.yaw, seen.pitch, seen.roll) == pytest.approx(expected, abs=1e-12)


def test_angle_signs_match_nose_and_starboard_motion() -> None:
    nose_up = rotate_to_inertial(*attitude(pitch=10.0), 1.0, 0.0, 0.0)
    starboard_down = rotate_to_inertial(*attitude(roll=10.0), 0.0, 1.0, 0.0)
    nose_to_the_east = rotate_to_inertial(*attitude(yaw=10.0), 1.0, 0.0, 0.0)
    assert nose_up[2] < 0.0 < starboard_down[2]
    assert nose_to_the_east[1] > 0.0


@given(st.floats(0.0, 1e-5))
def test_half_turn_is_plus_180_from_either_side(short_by: float) -> None:
    for yaw in (180.0 - short_by, -180.0 + short_by):
        _, seen = decode_telemetry(encode_telemetry(0, telemetry((0.0, 0.0, 0.0), attitude(yaw=yaw))))
        assert -180.0 < seen.yaw <= 180.0
        # The spacing of singles just below 180.
        assert abs(math.remainder(seen.yaw - yaw, 360.0)) <= 2.0**-16


@given(roll=angle, pitch=st.floats(-1.5, 1.5), yaw=angle)
def test_attitude_round_trips(roll: float, pitch: float, yaw: float) -> None:
    asked = quaternion_from_euler(roll, pitch, yaw)
    _, seen = decode_telemetry(encode_telemetry(0, telemetry((0.0, 0.0, 0.0), asked)))
    assert -180.0 < seen.yaw <= 180.0
    again = attitude(roll=seen.roll, pitch=seen.pitch, yaw=seen.yaw)
    # A single misses an angle of up to 180 deg by 8e-6 deg, which turns the quaternion by half of that.
    assert abs(sum(a * b for a, b in zip(asked, again, strict=True))) == pytest.approx(1.0, abs=1e-12)


@given(ids, st.builds(Images, st.binary(min_size=1), st.binary(min_size=1)))
def test_images_round_trip(auv_id: int, images: Images) -> None:
    parts = encode_images(auv_id, images)
    assert parts == [bytes((auv_id,)), images.front, images.bottom]
    assert decode_images(parts) == (auv_id, images)


@pytest.mark.parametrize("images", [Images(b"", b"x"), Images(b"x", b"")])
def test_incomplete_image_pair_is_not_sent(images: Images) -> None:
    with pytest.raises(ImagesError, match="allowed: none empty"):
        encode_images(0, images)


@pytest.mark.parametrize("parts", [[], [b"\0", b"a"], [b"", b"a", b"b"], [b"\0", b"a", b""], [b"\0", b"a", b"b", b"c"]])
def test_message_parts_that_are_not_images_are_rejected(parts: list[bytes]) -> None:
    with pytest.raises(ImagesError, match="two images"):
        decode_images(parts)

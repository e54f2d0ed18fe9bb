"""ZMTP 3.0, byte for byte as in ZeroMQ RFC 23, and its limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosflight_py_sim.protocols.zmtp import (
    GREETING,
    Decoder,
    Frame,
    ZmtpError,
    encode_frame,
    encode_message,
    pong_for,
    ready,
    refusal,
    socket_type_of,
    subscription_of,
)

LONGEST = 1000


def decoded(data: bytes, piece: int = 1 << 20) -> list[Frame]:
    """Frames of a connection's bytes, which arrive in pieces."""
    decoder, frames = Decoder(LONGEST), []
    for begin in range(0, len(data), piece):
        decoder.feed(data[begin : begin + piece])
        while (frame := decoder.next_frame()) is not None:
            frames.append(frame)
    return frames


def test_greeting_is_that_of_the_rfc() -> None:
    signature, version = b"\xff" + bytes(8) + b"\x7f", b"\3\0"
    assert signature + version + b"NULL" + bytes(16 + 32) == GREETING
    assert len(GREETING) == 64


def test_ready_is_that_of_the_rfc() -> None:
    assert ready("PULL") == b"\x04\x1a\x05READY\x0bSocket-Type\x00\x00\x00\x04PULL"
    (frame,) = decoded(GREETING + ready("PULL"))
    assert socket_type_of(frame) == "PULL"


def test_socket_type_is_found_among_other_properties() -> None:
    body = b"\5READY" + b"\x08Identity\0\0\0\0" + b"\x0bsocket-type\0\0\0\3SUB" + b"\1X\0\0\0\1y"
    assert socket_type_of(Frame(body, is_command=True)) == "SUB"


@pytest.mark.parametrize(
    "frame",
    [
        Frame(b"\5READY"),
        Frame(b"", is_command=True),
        Frame(b"\5READY", is_command=True),
        Frame(b"\5READY\x0bSocket-Type\0\0", is_command=True),
        Frame(b"\4PING\0\0", is_command=True),
    ],
)
def test_connection_must_begin_with_a_socket_type(frame: Frame) -> None:
    with pytest.raises(ZmtpError, match="READY"):
        socket_type_of(frame)


@given(
    st.lists(st.builds(Frame, st.binary(max_size=LONGEST), st.booleans(), st.booleans()), max_size=5),
    st.integers(1, 300),
)
def test_frames_are_the_same_however_their_bytes_are_cut(frames: list[Frame], piece: int) -> None:
    assert decoded(GREETING + b"".join(map(encode_frame, frames)), piece) == frames


def test_all_parts_but_the_last_of_a_message_say_that_more_follow() -> None:
    assert encode_message([b"\0", b"ab"]) == b"\x01\x01\x00\x00\x02ab"
    assert encode_message([b"x" * 256]) == b"\x02" + (256).to_bytes(8, "big") + b"x" * 256


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"GET / HTTP/1.1", "not ZeroMQ: first byte 71; allowed: 255"),
        (GREETING[:10] + b"\1", r"ZMTP version 1; allowed: 3 \(libzmq 4\) or newer"),
        (GREETING[:12] + b"CURVE".ljust(20, b"\0"), "security mechanism 'CURVE'; allowed: 'NULL'"),
        (GREETING + b"\x08\0", "frame with flags 8; allowed: 0 to 7"),
        (GREETING + b"\x02" + b"\xff" * 8, f"frame of {2**64 - 1} bytes; allowed: {LONGEST}"),
    ],
)
def test_other_bytes_are_refused_as_soon_as_they_arrive(data: bytes, text: str) -> None:
    with pytest.raises(ZmtpError, match=text):
        decoded(data, piece=1)


def test_topics_of_messages_and_of_commands() -> None:
    assert subscription_of(Frame(b"\1\7")) == (b"\7", True)
    assert subscription_of(Frame(b"\0\7")) == (b"\7", False)
    assert subscription_of(Frame(b"\x09SUBSCRIBE\7", is_command=True)) == (b"\7", True)
    assert subscription_of(Frame(b"\6CANCEL", is_command=True)) == (b"", False)
    for other in (Frame(b""), Frame(b"\2\7"), Frame(b"\4PING\0\0", is_command=True)):
        assert subscription_of(other) is None


def test_ping_is_answered_with_its_context() -> None:
    assert pong_for(Frame(b"\4PING\0\x0aabc", is_command=True)) == b"\x04\x08\4PONGabc"
    assert pong_for(Frame(b"\4PING\0\x0aabc")) == b""


def test_refusal_fits_into_its_length_byte() -> None:
    (frame,) = decoded(GREETING + refusal("x" * 300 + "é"))
    assert frame == Frame(b"\5ERROR\xff" + b"x" * 255, is_command=True)

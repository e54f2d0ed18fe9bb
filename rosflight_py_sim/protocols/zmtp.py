"""ZMTP 3.0, the wire protocol of ZeroMQ over TCP, without sockets: greeting, frames, commands and subscriptions.

A connection begins with a greeting of 64 bytes and the command READY of both sides; frames follow. Only the security
mechanism NULL is supported. Source: ZeroMQ RFC 23, ZMTP 3.0 (rfc.zeromq.org/spec/23), and RFC 37, ZMTP 3.1, whose
commands SUBSCRIBE, CANCEL and PING are understood as well.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from rosflight_py_sim.protocols import ProtocolError

_MECHANISM = b"NULL".ljust(20, b"\0")

GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\3\0" + _MECHANISM + bytes(32)
"""Signature, version 3.0, mechanism, role and padding."""

_VERSION_AT = 10
_OLDEST_VERSION = 3
_MECHANISM_AT = 12

_MORE, _LONG, _COMMAND = 1, 2, 4
_FLAGS = _MORE | _LONG | _COMMAND
_LONG_LENGTH = struct.Struct(">Q")
_VALUE_LENGTH = struct.Struct(">I")
_LONGEST_SHORT_FRAME = 255

# Length of the time-to-live at the begin of a PING, and greatest length of the context after it.
_TIME_TO_LIVE = 2
_LONGEST_CONTEXT = 16

_CANCEL, _SUBSCRIBE = _CHANGES = 0, 1


class ZmtpError(ProtocolError):
    """Bytes that are not ZMTP 3 with the mechanism NULL, or a frame that is too long."""


@dataclass(frozen=True)
class Frame:
    """A frame: a command, or a part of a message.

    Attributes:
        body: its bytes.
        more: whether further parts of the message follow.
        is_command: whether it is a command.
    """

    body: bytes
    more: bool = False
    is_command: bool = False


class Decoder:
    """Splits the bytes of one direction of a connection into frames.

    It holds at most one incomplete frame and the bytes of the last `feed`.
    """

    def __init__(self, longest: int) -> None:
        """Accept frames of at most `longest` bytes."""
        self._longest = longest
        self._received = bytearray()
        self._greeted = False

    def feed(self, received: bytes) -> None:
        """Append received bytes."""
        self._received += received

    def next_frame(self) -> Frame | None:
        """The next complete frame; None until more bytes arrive.

        Raises:
            ZmtpError: the bytes are not ZMTP 3, or the frame is too long.
        """
        received = self._received
        if not self._greeted:
            _check_greeting(received)
            if len(received) < len(GREETING):
                return None
            del received[: len(GREETING)]
            self._greeted = True
        if not received:
            return None
        flags = received[0]
        if flags & ~_FLAGS:
            raise ZmtpError(f"frame with flags {flags}; allowed: 0 to {_FLAGS}")
        begin = 1 + (_LONG_LENGTH.size if flags & _LONG else 1)
        if len(received) < begin:
            return None
        length = _LONG_LENGTH.unpack_from(received, 1)[0] if flags & _LONG else received[1]
        if length > self._longest:
            raise ZmtpError(f"frame of {length} bytes; allowed: {self._longest}")
        if len(received) < begin + length:
            return None
        body = bytes(received[begin : begin + length])
        del received[: begin + length]
        return Frame(body, bool(flags & _MORE), bool(flags & _COMMAND))


def encode_frame(frame: Frame) -> bytes:
    """Bytes of a frame."""
    flags = _MORE * frame.more | _COMMAND * frame.is_command
    if len(frame.body) <= _LONGEST_SHORT_FRAME:
        return bytes((flags, len(frame.body))) + frame.body
    return bytes((flags | _LONG,)) + _LONG_LENGTH.pack(len(frame.body)) + frame.body


def encode_message(parts: Sequence[bytes]) -> bytes:
    """Bytes of a message of one or several parts."""
    last = len(parts) - 1
    return b"".join(encode_frame(Frame(part, more=number < last)) for number, part in enumerate(parts))


def ready(socket_type: str) -> bytes:
    """Bytes of the command READY of a socket of this type."""
    name, value = b"Socket-Type", socket_type.encode()
    return _command(b"READY", bytes((len(name),)) + name + _VALUE_LENGTH.pack(len(value)) + value)


def refusal(reason: str) -> bytes:
    """Bytes of the command ERROR, which ends the connection, with a reason of at most 255 characters."""
    text = reason.encode("ascii", "replace")[:_LONGEST_SHORT_FRAME]
    return _command(b"ERROR", bytes((len(text),)) + text)


def socket_type_of(frame: Frame) -> str:
    """Socket type that the first frame of a peer, its command READY, states.

    Raises:
        ZmtpError: the frame is not the command READY with a socket type.
    """
    name, rest = _split_command(frame)
    if name != b"READY":
        raise ZmtpError("first frame is not the command READY")
    while rest:
        key, rest = rest[1 : 1 + rest[0]], rest[1 + rest[0] :]
        if len(rest) < _VALUE_LENGTH.size:
            break
        end = _VALUE_LENGTH.size + _VALUE_LENGTH.unpack_from(rest)[0]
        value, rest = rest[_VALUE_LENGTH.size : end], rest[end:]
        if key.lower() == b"socket-type":
            return value.decode("ascii", "replace")
    raise ZmtpError("command READY without a socket type")


def pong_for(frame: Frame) -> bytes:
    """Bytes of the reply to a command PING; empty for any other frame."""
    name, rest = _split_command(frame)
    if name != b"PING":
        return b""
    return _command(b"PONG", rest[_TIME_TO_LIVE : _TIME_TO_LIVE + _LONGEST_CONTEXT])


def subscription_of(frame: Frame) -> tuple[bytes, bool] | None:
    """Topic of a subscription, and whether it begins (or ends); None for any other frame."""
    if frame.is_command:
        name, topic = _split_command(frame)
        return (topic, name == b"SUBSCRIBE") if name in (b"SUBSCRIBE", b"CANCEL") else None
    if not frame.body or frame.body[0] not in _CHANGES:
        return None
    return frame.body[1:], frame.body[0] == _SUBSCRIBE


def _check_greeting(received: bytes | bytearray) -> None:
    """Check as many bytes of the greeting as have arrived."""
    if received and received[0] != GREETING[0]:
        raise ZmtpError(f"not ZeroMQ: first byte {received[0]}; allowed: {GREETING[0]}")
    if len(received) > _VERSION_AT and received[_VERSION_AT] < _OLDEST_VERSION:
        raise ZmtpError(f"ZMTP version {received[_VERSION_AT]}; allowed: {_OLDEST_VERSION} (libzmq 4) or newer")
    end = _MECHANISM_AT + len(_MECHANISM)
    if len(received) >= end and received[_MECHANISM_AT:end] != _MECHANISM:
        name = bytes(received[_MECHANISM_AT:end]).rstrip(b"\0").decode("ascii", "replace")
        raise ZmtpError(f"security mechanism {name!r}; allowed: 'NULL'")


def _command(name: bytes, rest: bytes) -> bytes:
    return encode_frame(Frame(bytes((len(name),)) + name + rest, is_command=True))


def _split_command(frame: Frame) -> tuple[bytes, bytes]:
    """Name and remaining bytes of a command; the name of any other frame is empty."""
    if not frame.is_command or not frame.body:
        return b"", b""
    end = 1 + frame.body[0]
    return frame.body[1:end], frame.body[end:]

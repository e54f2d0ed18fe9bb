"""The AUV protocol over ZeroMQ: a message of five bytes moves the thrusters, telemetry and images come in frames.

All of it is little-endian. docs/auv_zeromq.md lists this module's decisions where the protocol's page is ambiguous. Its
axes: x east, y north, z up from the surface of the water; angles in degrees, yaw clockwise from north.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.protocols.protocol_error import ProtocolError

Vector3: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]

KEEP = -127
"""Power that leaves a thruster at its last one."""

FULL_POWER = 100

LARGEST_ID = 255

_THRUSTERS = struct.Struct("<Bbbbb")
_TELEMETRY = struct.Struct("<6f")
_LARGEST_SINGLE = (2.0 - 2.0**-23) * 2.0**127

# A yaw this near to -180 deg would become just that in single precision.
_LAST_BEFORE_HALF_TURN = -180.0 + 2.0**-17


class CommandLengthError(ProtocolError):
    """A thruster message that is not five bytes long."""


class TelemetryError(ProtocolError):
    """Telemetry that must not be sent, or frames that are none."""


class ImagesError(ProtocolError):
    """Images that must not be sent, or frames that are none."""


@dataclass(frozen=True)
class ThrusterCommand:
    """Thruster command of a client for one AUV; a power is from -128 to 127 but not -127, or None for no change.

    Attributes:
        auv_id: which AUV, 0 to 255.
        left: power of the left thruster, percent; + is forward.
        right: of the right one; + is forward.
        side: of the one athwart.
        vertical: of the vertical one; + is up.
    """

    auv_id: int
    left: int | None
    right: int | None
    side: int | None
    vertical: int | None

    @property
    def powers(self) -> tuple[int | None, int | None, int | None, int | None]:
        """Left, right, side, vertical."""
        return self.left, self.right, self.side, self.vertical


def decode_thrusters(message: bytes) -> ThrusterCommand:
    """Command of a message.

    Raises:
        CommandLengthError: not five bytes.
    """
    if len(message) != _THRUSTERS.size:
        raise CommandLengthError(
            f"thruster message of {len(message)} bytes; allowed: {_THRUSTERS.size} (id, left, right, side, vertical)"
        )
    auv_id, *powers = _THRUSTERS.unpack(message)
    return ThrusterCommand(auv_id, *(None if power == KEEP else power for power in powers))


def encode_thrusters(command: ThrusterCommand) -> bytes:
    """Message of a command.

    Raises:
        ProtocolError: a number beyond its field.
    """
    if KEEP in command.powers:
        raise ProtocolError(f"{command}: {KEEP} given; allowed: None for a thruster that keeps its power")
    powers = (KEEP if power is None else power for power in command.powers)
    try:
        return _THRUSTERS.pack(command.auv_id, *powers)
    except struct.error as error:
        raise ProtocolError(f"{command}: {error}") from error


def clamped(power: int) -> int:
    """The power that a thruster can give, from -100 to 100, nearest to one that was asked for."""
    return max(-FULL_POWER, min(FULL_POWER, power))


@dataclass(frozen=True)
class Telemetry:
    """Position and attitude of an AUV.

    Attributes:
        x: to the east of the middle, m.
        y: to the north of it, m.
        z: above the surface, m; below it where z points down.
        yaw: clockwise from north, deg, in (-180, 180].
        pitch: nose up, deg, in [-90, 90].
        roll: starboard side down, deg, in [-180, 180].
    """

    x: float
    y: float
    z: float
    yaw: float
    pitch: float
    roll: float


def telemetry(position_ned: Vector3, quaternion: Quaternion, *, z_up: bool = True) -> Telemetry:
    """Telemetry of a position (m, from the surface) and attitude (w x y z, body to NED).

    Straight up and down, yaw and roll cannot be told apart, and only their difference or sum means anything.
    """
    north, east, down = position_ned
    roll, pitch, yaw = (math.degrees(angle) for angle in euler_from_quaternion(*quaternion))
    return Telemetry(
        east, north, 0.0 - down if z_up else down, 180.0 if yaw < _LAST_BEFORE_HALF_TURN else yaw, pitch, roll
    )


def encode_telemetry(auv_id: int, where: Telemetry) -> list[bytes]:
    """The two frames of a telemetry message: id, six singles.

    Raises:
        TelemetryError: a number that is not finite, or too large for a single.
    """
    numbers = (where.x, where.y, where.z, where.yaw, where.pitch, where.roll)
    # The comparison is false for NaN, too.
    if not all(abs(number) <= _LARGEST_SINGLE for number in numbers):
        raise TelemetryError(f"{where}; allowed: finite numbers of at most {_LARGEST_SINGLE:g}")
    return [bytes((auv_id,)), _TELEMETRY.pack(*numbers)]


def decode_telemetry(frames: Sequence[bytes]) -> tuple[int, Telemetry]:
    """AUV and telemetry of a message.

    Raises:
        TelemetryError: not two frames of 1 and 24 bytes.
    """
    lengths = [len(frame) for frame in frames]
    if lengths != [1, _TELEMETRY.size]:
        raise TelemetryError(f"telemetry of frames of {lengths} bytes; allowed: [1, {_TELEMETRY.size}]")
    return frames[0][0], Telemetry(*_TELEMETRY.unpack(frames[1]))


@dataclass(frozen=True)
class Images:
    """Camera images of an AUV as JPEG: ahead, and straight down with the image's top forward."""

    front: bytes
    bottom: bytes


def encode_images(auv_id: int, images: Images) -> list[bytes]:
    """The three frames of an image message: id, front, bottom.

    Raises:
        ImagesError: an image is missing.
    """
    if not images.front or not images.bottom:
        raise ImagesError(f"images of {len(images.front)} and {len(images.bottom)} bytes; allowed: both")
    return [bytes((auv_id,)), images.front, images.bottom]


def decode_images(frames: Sequence[bytes]) -> tuple[int, Images]:
    """AUV and images of a message.

    Raises:
        ImagesError: not three frames, the first of one byte, the others not empty.
    """
    lengths = [len(frame) for frame in frames]
    if len(lengths) != 3 or lengths[0] != 1 or 0 in lengths:
        raise ImagesError(f"images of frames of {lengths} bytes; allowed: 1 byte and two images")
    return frames[0][0], Images(frames[1], frames[2])

"""AUV protocol over ZeroMQ: thruster commands of five bytes; telemetry and images as multipart messages.

All numbers are little-endian. Axes are x east, y north, z up from the water's surface; angles are in degrees, yaw is
clockwise from north. docs/auv_zeromq.md lists this module's decisions where the protocol's page is ambiguous.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.protocols import ProtocolError

Vector3: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]

KEEP = -127
"""Power value that means: keep the thruster's power."""

FULL_POWER = 100

LARGEST_ID = 255

_THRUSTERS = struct.Struct("<Bbbbb")

COMMAND_LENGTH = _THRUSTERS.size
"""Bytes of a thruster message."""

_TELEMETRY = struct.Struct("<6f")
_LARGEST_SINGLE = (2.0 - 2.0**-23) * 2.0**127

# A yaw this near to -180 deg would be rounded to -180 in single precision.
_LAST_BEFORE_HALF_TURN = -180.0 + 2.0**-17


class CommandLengthError(ProtocolError):
    """Thruster message that is not five bytes long."""


class TelemetryError(ProtocolError):
    """Telemetry that must not be sent, or message parts that are not telemetry."""


class ImagesError(ProtocolError):
    """Images that must not be sent, or message parts that are not images."""


@dataclass(frozen=True)
class ThrusterCommand:
    """Thruster command of a client for one AUV; each power is from -128 to 127 except -127, or None for no change.

    Attributes:
        auv_id: id of the AUV, 0 to 255.
        left: power of the left thruster, percent, positive forward.
        right: power of the right thruster, percent, positive forward.
        side: power of the side thruster, percent.
        vertical: power of the vertical thruster, percent, positive up.
    """

    auv_id: int
    left: int | None
    right: int | None
    side: int | None
    vertical: int | None

    @property
    def powers(self) -> tuple[int | None, int | None, int | None, int | None]:
        """Powers of left, right, side and vertical thruster."""
        return self.left, self.right, self.side, self.vertical


def decode_thrusters(message: bytes) -> ThrusterCommand:
    """Thruster command of a message.

    Raises:
        CommandLengthError: not five bytes.
    """
    if len(message) != COMMAND_LENGTH:
        raise CommandLengthError(wrong_length(message))
    auv_id, *powers = _THRUSTERS.unpack(message)
    return ThrusterCommand(auv_id, *(None if power == KEEP else power for power in powers))


def wrong_length(message: bytes) -> str:
    """Reason for which a message of another length is refused."""
    return f"thruster message of {len(message)} bytes; allowed: {COMMAND_LENGTH} (id, left, right, side, vertical)"


def encode_thrusters(command: ThrusterCommand) -> bytes:
    """Message of a thruster command.

    Raises:
        ProtocolError: a number does not fit into its field.
    """
    if KEEP in command.powers:
        raise ProtocolError(f"{command}: power {KEEP} given; to keep a thruster's power, give None")
    powers = (KEEP if power is None else power for power in command.powers)
    try:
        return _THRUSTERS.pack(command.auv_id, *powers)
    except struct.error as error:
        raise ProtocolError(f"{command}: {error}") from error


def clamped(power: int) -> int:
    """Power limited to -100 to 100."""
    return max(-FULL_POWER, min(FULL_POWER, power))


@dataclass(frozen=True)
class Telemetry:
    """Position and attitude of an AUV.

    Attributes:
        x: distance east of the origin, m.
        y: distance north of the origin, m.
        z: height above the surface, m, or depth if z points down.
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

    At a pitch of +-90 deg, only the difference or the sum of yaw and roll is defined.
    """
    north, east, down = position_ned
    roll, pitch, yaw = (math.degrees(angle) for angle in euler_from_quaternion(*quaternion))
    return Telemetry(
        east, north, 0.0 - down if z_up else down, 180.0 if yaw < _LAST_BEFORE_HALF_TURN else yaw, pitch, roll
    )


def encode_telemetry(auv_id: int, where: Telemetry) -> list[bytes]:
    """Parts of a telemetry message: id, and six single-precision numbers.

    Raises:
        TelemetryError: a number is not finite, or too large for single precision.
    """
    numbers = (where.x, where.y, where.z, where.yaw, where.pitch, where.roll)
    # The comparison is also false for NaN.
    if not all(abs(number) <= _LARGEST_SINGLE for number in numbers):
        raise TelemetryError(f"{where}; allowed: finite numbers of at most {_LARGEST_SINGLE:g}")
    return [bytes((auv_id,)), _TELEMETRY.pack(*numbers)]


def decode_telemetry(parts: Sequence[bytes]) -> tuple[int, Telemetry]:
    """Id of the AUV, and its telemetry, from a message.

    Raises:
        TelemetryError: not two message parts of 1 and 24 bytes.
    """
    lengths = [len(part) for part in parts]
    if lengths != [1, _TELEMETRY.size]:
        raise TelemetryError(f"telemetry parts of {lengths} bytes; allowed: [1, {_TELEMETRY.size}]")
    return parts[0][0], Telemetry(*_TELEMETRY.unpack(parts[1]))


@dataclass(frozen=True)
class Images:
    """JPEG images of an AUV's cameras: forward, and straight down with the image's top forward."""

    front: bytes
    bottom: bytes


def encode_images(auv_id: int, images: Images) -> list[bytes]:
    """Parts of an image message: id, front image, bottom image.

    Raises:
        ImagesError: an image is missing.
    """
    if not images.front or not images.bottom:
        raise ImagesError(f"images of {len(images.front)} and {len(images.bottom)} bytes; allowed: none empty")
    return [bytes((auv_id,)), images.front, images.bottom]


def decode_images(parts: Sequence[bytes]) -> tuple[int, Images]:
    """Id of the AUV, and its images, from a message.

    Raises:
        ImagesError: not three message parts, the first of one byte and the others not empty.
    """
    lengths = [len(part) for part in parts]
    if len(lengths) != 3 or lengths[0] != 1 or 0 in lengths:
        raise ImagesError(f"image parts of {lengths} bytes; allowed: 1 byte and two images")
    return parts[0][0], Images(parts[1], parts[2])

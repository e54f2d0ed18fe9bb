"""ArduPilot's JSON SITL interface: binary servo frames from ArduPilot, one line of JSON in answer to each.

Source: ArduPilot, libraries/SITL/examples/JSON/readme.md. ArduPilot reads the line by looking for the first occurrence
of each name and taking the number behind it, so the order of the fields, the absence of spaces and the set of fields
(the same in every line) matter more than JSON would have it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

Vector3: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]

CHANNELS_OF_MAGIC = {18458: 16, 29569: 32}
"""Magic number of a frame to the number of its channels."""

MOST_RANGES = 6
MOST_RC_CHANNELS = 12

LARGEST_NUMBER = 1e9
"""Numbers of a line add up, by magnitude, to less: ArduPilot ends with a floating-point exception on absurd ones."""

_HEAD = struct.Struct("<HHI")
_FRAMES = {magic: struct.Struct(f"<HHI{channels}H") for magic, channels in CHANNELS_OF_MAGIC.items()}
_MAGIC_OF_CHANNELS = {channels: magic for magic, channels in CHANNELS_OF_MAGIC.items()}
_ALLOWED = " or ".join(f"{_FRAMES[m].size} bytes with magic {m} ({n} channels)" for m, n in CHANNELS_OF_MAGIC.items())


class ProtocolError(ValueError):
    """What was received or is to be sent is not of the protocol; the text says what was wrong and what is allowed."""


class FrameLengthError(ProtocolError):
    """A datagram that is shorter or longer than the frame its magic number announces."""


class MagicError(ProtocolError):
    """A datagram that does not begin with a magic number of ArduPilot."""


class FrameRateError(ProtocolError):
    """A frame whose rate is 0."""


class ReplyError(ProtocolError):
    """A reply that must not be sent, or a line that is no reply."""


@dataclass(frozen=True)
class ServoFrame:
    """What ArduPilot sends.

    Attributes:
        frame_rate: rate at which ArduPilot wants to be answered, Hz of simulated time, 1 to 65535.
        frame_count: rises by 1 with each answer; the same count again is a repetition.
        pwm_us: pulse width of each servo output, us, 16 or 32 of them; 0: no output yet.
    """

    frame_rate: int
    frame_count: int
    pwm_us: tuple[int, ...]


def decode_frame(datagram: bytes) -> ServoFrame:
    """Servo frame of a datagram.

    Raises:
        FrameLengthError: too short, or not as long as its magic number says.
        MagicError: neither of the two magic numbers.
        FrameRateError: the frame rate is 0.
    """
    if len(datagram) < _HEAD.size:
        raise FrameLengthError(f"servo frame of {len(datagram)} bytes; allowed: {_ALLOWED}")
    magic = int.from_bytes(datagram[:2], "little")
    layout = _FRAMES.get(magic)
    if layout is None:
        raise MagicError(f"servo frame with magic {magic}; allowed: {_ALLOWED}")
    if len(datagram) != layout.size:
        raise FrameLengthError(f"servo frame of {len(datagram)} bytes with magic {magic}; allowed: {_ALLOWED}")
    _, frame_rate, frame_count, *pwm_us = layout.unpack(datagram)
    if frame_rate == 0:
        raise FrameRateError(f"servo frame {frame_count} with frame_rate 0; allowed: 1 to 65535 Hz")
    return ServoFrame(frame_rate, frame_count, tuple(pwm_us))


def encode_frame(frame: ServoFrame) -> bytes:
    """Datagram of a servo frame, as ArduPilot sends it.

    Raises:
        ProtocolError: neither 16 nor 32 channels, or a number beyond its field (uint16; the count uint32).
    """
    magic = _MAGIC_OF_CHANNELS.get(len(frame.pwm_us))
    if magic is None:
        raise ProtocolError(f"servo frame with {len(frame.pwm_us)} channels; allowed: 16 or 32")
    try:
        return _FRAMES[magic].pack(magic, frame.frame_rate, frame.frame_count, *frame.pwm_us)
    except struct.error as error:
        raise ProtocolError(f"servo frame {frame}: {error}") from error


@dataclass(frozen=True)
class Windvane:
    """Apparent wind.

    Attributes:
        direction: where it comes from, rad, clockwise from the nose.
        speed: m/s.
    """

    direction: float
    speed: float


@dataclass(frozen=True)
class Battery:
    """Voltage (V) and current (A)."""

    voltage: float
    current: float


# Not frozen: one is made at every step, and that would take 4 us in the place of 1.
@dataclass(slots=True)
class Reply:
    """What ArduPilot is answered; a field that is None, or empty, is left out.

    Of attitude and quaternion one must be there; ArduPilot prefers the quaternion.

    Attributes:
        timestamp: time of the physics, s, from about 0 on (ArduPilot adds up the differences).
        gyro: angular rate in body axes (forward, right, down), rad/s.
        accel_body: specific force in body axes, m/s^2: 0, 0, -9.81 at rest.
        position_ned: north, east, down from home, m.
        velocity_ned: velocity over ground, north, east, down, m/s.
        attitude: roll, pitch, yaw, rad.
        quaternion: w x y z, body to NED.
        ranges: distance of each range finder, rng_1 first, m; at most 6.
        windvane: apparent wind.
        velocity_wind: velocity of the air over ground, north, east, down, m/s.
        airspeed: m/s.
        rc_us: pulse width of each RC channel, rc_1 first, us; at most 12.
        battery: voltage and current.
    """

    timestamp: float
    gyro: Vector3
    accel_body: Vector3
    position_ned: Vector3
    velocity_ned: Vector3
    attitude: Vector3 | None = None
    quaternion: Quaternion | None = None
    ranges: tuple[float, ...] = ()
    windvane: Windvane | None = None
    velocity_wind: Vector3 | None = None
    airspeed: float | None = None
    rc_us: tuple[int, ...] = ()
    battery: Battery | None = None


# Time and position keep every bit of a double. ArduPilot holds all else in single precision, which 9 digits carry
# whole, and the shortest text that gives a double back (as json.dumps writes) takes ten times as long.
_EXACT = "%.17g"
_SINGLE = "%.9g"


def _list(count: int, number: str = _SINGLE) -> str:
    return f"[{','.join([number] * count)}]"


@lru_cache(maxsize=64)
def _template(
    attitude: bool,
    quaternion: bool,
    ranges: int,
    windvane: bool,
    velocity_wind: bool,
    airspeed: bool,
    rc_channels: int,
    battery: bool,
) -> str:
    """Format of a line with these fields.

    Raises:
        ReplyError: neither attitude nor quaternion, or too many ranges or RC channels.
    """
    if not (attitude or quaternion):
        raise ReplyError("reply without attitude and quaternion; one of them must be there")
    if ranges > MOST_RANGES:
        raise ReplyError(f"reply with {ranges} ranges; allowed: at most {MOST_RANGES}")
    if rc_channels > MOST_RC_CHANNELS:
        raise ReplyError(f"reply with {rc_channels} RC channels; allowed: at most {MOST_RC_CHANNELS}")
    # The first occurrence of a name wins, so a name stands before those that it is a part of.
    fields = [
        f'"timestamp":{_EXACT}',
        f'"imu":{{"gyro":{_list(3)},"accel_body":{_list(3)}}}',
        f'"position":{_list(3, _EXACT)}',
        f'"velocity":{_list(3)}',
    ]
    if attitude:
        fields.append(f'"attitude":{_list(3)}')
    if quaternion:
        fields.append(f'"quaternion":{_list(4)}')
    fields += [f'"rng_{i + 1}":{_SINGLE}' for i in range(ranges)]
    if windvane:
        fields.append(f'"windvane":{{"direction":{_SINGLE},"speed":{_SINGLE}}}')
    if velocity_wind:
        fields.append(f'"velocity_wind":{_list(3)}')
    if airspeed:
        fields.append(f'"airspeed":{_SINGLE}')
    if rc_channels:
        fields.append('"rc":{' + ",".join(f'"rc_{i + 1}":%d' for i in range(rc_channels)) + "}")
    if battery:
        fields.append(f'"battery":{{"voltage":{_SINGLE},"current":{_SINGLE}}}')
    return "\n{" + ",".join(fields) + "}\n"


def encode_reply(reply: Reply) -> bytes:
    """Line of a reply, as one datagram: preceded and ended by a line feed, without a space.

    Raises:
        ReplyError: neither attitude nor quaternion, too many ranges or RC channels, or numbers that are not finite or
            absurdly large.
    """
    template = _template(
        reply.attitude is not None,
        reply.quaternion is not None,
        len(reply.ranges),
        reply.windvane is not None,
        reply.velocity_wind is not None,
        reply.airspeed is not None,
        len(reply.rc_us),
        reply.battery is not None,
    )
    numbers: list[float] = [
        reply.timestamp,
        *reply.gyro,
        *reply.accel_body,
        *reply.position_ned,
        *reply.velocity_ned,
        *(reply.attitude or ()),
        *(reply.quaternion or ()),
        *reply.ranges,
    ]
    if reply.windvane is not None:
        numbers += (reply.windvane.direction, reply.windvane.speed)
    numbers += reply.velocity_wind or ()
    if reply.airspeed is not None:
        numbers.append(reply.airspeed)
    numbers += reply.rc_us
    if reply.battery is not None:
        numbers += (reply.battery.voltage, reply.battery.current)
    # The comparison is false for NaN, too.
    if not sum(map(abs, numbers)) < LARGEST_NUMBER:
        raise ReplyError(f"{reply}; allowed: finite numbers of a magnitude below {LARGEST_NUMBER:g} in all")
    return (template % tuple(numbers)).encode("ascii")


def decode_reply(datagram: bytes) -> Reply:
    """Reply of a line, read as strict JSON.

    Fields that this module does not know are left alone.

    Raises:
        ReplyError: not one line of JSON between line feeds, a mandatory field is missing, or a field is not what it
            should be.
    """
    if not (datagram.startswith(b"\n") and datagram.endswith(b"\n")):
        raise ReplyError(f"line {datagram[:40]!r}...; allowed: preceded and ended by a line feed")
    try:
        line = json.loads(datagram, parse_constant=_no_number)
    except ValueError as error:
        raise ReplyError(f"line {datagram[:40]!r}... is no JSON: {error}") from error
    if not isinstance(line, dict):
        raise ReplyError(f"line {datagram[:40]!r}...; allowed: a JSON object")
    imu = _object(line, "imu", ("gyro", "accel_body"))
    windvane = _object(line, "windvane", ("direction", "speed")) if "windvane" in line else None
    battery = _object(line, "battery", ("voltage", "current")) if "battery" in line else None
    if "attitude" not in line and "quaternion" not in line:
        raise ReplyError("line without attitude and quaternion; one of them must be there")
    return Reply(
        timestamp=_number(line, "timestamp"),
        gyro=_vector(imu, "gyro", 3),
        accel_body=_vector(imu, "accel_body", 3),
        position_ned=_vector(line, "position", 3),
        velocity_ned=_vector(line, "velocity", 3),
        attitude=_vector(line, "attitude", 3) if "attitude" in line else None,
        quaternion=_vector(line, "quaternion", 4) if "quaternion" in line else None,
        ranges=tuple(_number(line, name) for name in _counted(line, "rng_", MOST_RANGES)),
        windvane=None if windvane is None else Windvane(_number(windvane, "direction"), _number(windvane, "speed")),
        velocity_wind=_vector(line, "velocity_wind", 3) if "velocity_wind" in line else None,
        airspeed=_number(line, "airspeed") if "airspeed" in line else None,
        rc_us=_rc(line),
        battery=None if battery is None else Battery(_number(battery, "voltage"), _number(battery, "current")),
    )


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _object(line: Mapping[str, Any], name: str, members: tuple[str, ...]) -> Mapping[str, Any]:
    value = line.get(name)
    if not isinstance(value, dict) or not all(member in value for member in members):
        raise ReplyError(f"'{name}': {value!r}; allowed: an object with {' and '.join(members)}")
    return value


def _number(line: Mapping[str, Any], name: str) -> float:
    value = line.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ReplyError(f"'{name}': {value!r}; allowed: a number")
    return float(value)


def _vector(line: Mapping[str, Any], name: str, length: int) -> Any:
    value = line.get(name)
    numbers = isinstance(value, list) and all(type(v) in (int, float) for v in value)
    if not isinstance(value, list) or not numbers or len(value) != length:
        raise ReplyError(f"'{name}': {value!r}; allowed: a list of {length} numbers")
    return tuple(float(v) for v in value)


def _rc(line: Mapping[str, Any]) -> tuple[int, ...]:
    if "rc" not in line:
        return ()
    rc = _object(line, "rc", ("rc_1",))
    return tuple(round(_number(rc, name)) for name in _counted(rc, "rc_", MOST_RC_CHANNELS))


def _counted(line: Mapping[str, Any], prefix: str, most: int) -> list[str]:
    """Names prefix1, prefix2, ... of a line, which must have no gap."""
    present = [f"{prefix}{i + 1}" in line for i in range(most)]
    count = present.index(False) if False in present else most
    if any(present[count:]):
        raise ReplyError(f"there is no '{prefix}{count + 1}', but one beyond it; allowed: no gaps")
    return [f"{prefix}{i + 1}" for i in range(count)]

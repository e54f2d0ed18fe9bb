"""Replies to ArduPilot, one line of JSON each.

ArduPilot does not parse JSON: it searches for the first occurrence of each name and reads the number after it.
Therefore the order of the fields is fixed, lines contain no spaces, and every line has the same fields.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, TypeGuard

from rosflight_py_sim.protocols import ProtocolError

Vector3: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]

MOST_RANGES = 6
MOST_RC_CHANNELS = 12
MOST_ROTORS = 4

LARGEST_NUMBER = 1e9
"""Upper limit for the sum of the magnitudes of a line's numbers: absurd numbers crash ArduPilot with a floating-point
exception."""


class ReplyError(ProtocolError):
    """Reply that must not be sent, or line that is not a reply."""


@dataclass(frozen=True)
class Windvane:
    """Apparent wind.

    Attributes:
        direction: direction from which the air flows, clockwise from the nose, rad.
        speed: m/s.
    """

    direction: float
    speed: float


@dataclass(frozen=True)
class BatteryStatus:
    """Voltage (V) and current (A)."""

    voltage: float
    current: float


# Not frozen: creating a frozen one takes 4 us instead of 1, in every step.
@dataclass(slots=True)
class Reply:
    """Reply to ArduPilot; fields that are None or empty are omitted.

    Attitude, quaternion or both are required; ArduPilot prefers the quaternion. So are position_ned, geodetic or both;
    ArduPilot up to 4.6 reads only the position, newer ones prefer geodetic.

    Attributes:
        timestamp: simulated time, s, starting near 0 (ArduPilot adds up the differences).
        gyro: angular rate in body axes (forward, right, down), rad/s.
        accel_body: specific force in body axes, m/s^2: 0, 0, -9.81 at rest.
        position_ned: north, east, down from home, m; None for none.
        velocity_ned: velocity over ground, north, east, down, m/s.
        attitude: roll, pitch, yaw, rad.
        quaternion: w x y z, body to NED.
        ranges: distances of the range finders from rng_1 on, m; at most 6.
        windvane: apparent wind.
        velocity_wind: velocity of the air over ground, north, east, down, m/s.
        airspeed: m/s.
        rc_us: pulse widths of the RC channels from rc_1 on, us; at most 12.
        battery: voltage and current.
        geodetic: latitude and longitude (deg) and altitude above mean sea level (m).
        rpm: rotor speeds from rpm_1 on, revolutions per minute; at most 4.
        no_lockstep: whether ArduPilot continues without a reply, after 0.1 s.
    """

    timestamp: float
    gyro: Vector3
    accel_body: Vector3
    position_ned: Vector3 | None
    velocity_ned: Vector3
    attitude: Vector3 | None = None
    quaternion: Quaternion | None = None
    ranges: tuple[float, ...] = ()
    windvane: Windvane | None = None
    velocity_wind: Vector3 | None = None
    airspeed: float | None = None
    rc_us: tuple[int, ...] = ()
    battery: BatteryStatus | None = None
    geodetic: Vector3 | None = None
    rpm: tuple[float, ...] = ()
    no_lockstep: bool | None = None


# Time and position are exact to the last bit of a double. ArduPilot stores the other numbers in single precision, for
# which 9 digits are exact; the shortest exact text of a double takes 2.5 times as long to format (json.dumps: 3 times).
# orjson and msgspec take a third of the time, which would save 1 % of a step: too little for another dependency.
_EXACT = "%.17g"
_SINGLE = "%.9g"


_GEODETIC = ("latitude", "longitude", "altitude")
_NO_POSITION = "reply without position and without latitude, longitude and altitude; one of the two is required"


def _list(count: int, number: str = _SINGLE) -> str:
    return f"[{','.join([number] * count)}]"


@lru_cache(maxsize=64)
def _template(
    position: bool,
    geodetic: bool,
    attitude: bool,
    quaternion: bool,
    ranges: int,
    windvane: bool,
    velocity_wind: bool,
    airspeed: bool,
    rc_channels: int,
    battery: bool,
    rotors: int,
    no_lockstep: bool | None,
) -> str:
    """Format of a line with these fields.

    Raises:
        ReplyError: neither attitude nor quaternion, neither position nor geodetic, or too many ranges, RC channels or
            rotors.
    """
    if not (position or geodetic):
        raise ReplyError(_NO_POSITION)
    if not (attitude or quaternion):
        raise ReplyError("reply without attitude and quaternion; allowed: one of them, or both")
    if ranges > MOST_RANGES:
        raise ReplyError(f"reply with {ranges} ranges; allowed: at most {MOST_RANGES}")
    if rc_channels > MOST_RC_CHANNELS:
        raise ReplyError(f"reply with {rc_channels} RC channels; allowed: at most {MOST_RC_CHANNELS}")
    if rotors > MOST_ROTORS:
        raise ReplyError(f"reply with {rotors} rotor speeds; allowed: at most {MOST_ROTORS}")
    # ArduPilot uses the first occurrence of a name, so a name precedes longer names that contain it.
    fields = [
        f'"timestamp":{_EXACT}',
        f'"imu":{{"gyro":{_list(3)},"accel_body":{_list(3)}}}',
        *([f'"position":{_list(3, _EXACT)}'] if position else ()),
        *([f'"{name}":{_EXACT}' for name in _GEODETIC] if geodetic else ()),
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
    if rotors:
        fields.append('"rpm":{' + ",".join(f'"rpm_{i + 1}":{_SINGLE}' for i in range(rotors)) + "}")
    if no_lockstep is not None:
        fields.append(f'"no_lockstep":{json.dumps(no_lockstep)}')
    return "\n{" + ",".join(fields) + "}\n"


def encode_reply(reply: Reply) -> bytes:
    """Line of a reply as one datagram, with a line feed before and after it and without spaces.

    Raises:
        ReplyError: neither attitude nor quaternion, too many ranges or RC channels, or numbers that are not finite or
            absurdly large.
    """
    template = _template(
        reply.position_ned is not None,
        reply.geodetic is not None,
        reply.attitude is not None,
        reply.quaternion is not None,
        len(reply.ranges),
        reply.windvane is not None,
        reply.velocity_wind is not None,
        reply.airspeed is not None,
        len(reply.rc_us),
        reply.battery is not None,
        len(reply.rpm),
        reply.no_lockstep,
    )
    numbers: list[float] = [
        reply.timestamp,
        *reply.gyro,
        *reply.accel_body,
        *(reply.position_ned or ()),
        *(reply.geodetic or ()),
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
    numbers += reply.rpm
    # The comparison is also false for NaN.
    if not sum(map(abs, numbers)) < LARGEST_NUMBER:
        raise ReplyError(f"{reply}; allowed: finite numbers whose magnitudes sum to less than {LARGEST_NUMBER:g}")
    return (template % tuple(numbers)).encode("ascii")


def decode_reply(datagram: bytes) -> Reply:
    """Reply of a line, read as strict JSON; unknown fields are ignored.

    Raises:
        ReplyError: not one line of JSON between line feeds, a mandatory field is missing, or a field is invalid.
    """
    if not (datagram.startswith(b"\n") and datagram.endswith(b"\n")):
        raise ReplyError(f"line {datagram[:40]!r}...; allowed: a line with a line feed before and after it")
    try:
        line = json.loads(datagram.decode("ascii"), parse_constant=_no_number, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise ReplyError(f"line {datagram[:40]!r}... is not JSON: {error}") from error
    if not isinstance(line, dict):
        raise ReplyError(f"line {datagram[:40]!r}...; allowed: a JSON object")
    imu = _object(line, "imu", ("gyro", "accel_body"))
    windvane = _object(line, "windvane", ("direction", "speed")) if "windvane" in line else None
    battery = _object(line, "battery", ("voltage", "current")) if "battery" in line else None
    if "position" not in line and not any(name in line for name in _GEODETIC):
        raise ReplyError(_NO_POSITION)
    if "attitude" not in line and "quaternion" not in line:
        raise ReplyError("line without attitude and quaternion; allowed: one of them, or both")
    return Reply(
        timestamp=_number(line, "timestamp"),
        gyro=_vector(imu, "gyro", 3),
        accel_body=_vector(imu, "accel_body", 3),
        position_ned=_vector(line, "position", 3) if "position" in line else None,
        velocity_ned=_vector(line, "velocity", 3),
        attitude=_vector(line, "attitude", 3) if "attitude" in line else None,
        quaternion=_vector(line, "quaternion", 4) if "quaternion" in line else None,
        ranges=tuple(_number(line, name) for name in _counted(line, "rng_", MOST_RANGES)),
        windvane=None if windvane is None else Windvane(_number(windvane, "direction"), _number(windvane, "speed")),
        velocity_wind=_vector(line, "velocity_wind", 3) if "velocity_wind" in line else None,
        airspeed=_number(line, "airspeed") if "airspeed" in line else None,
        rc_us=_rc(line),
        battery=None if battery is None else BatteryStatus(_number(battery, "voltage"), _number(battery, "current")),
        geodetic=_geodetic(line),
        rpm=_rpm(line),
        no_lockstep=_boolean(line, "no_lockstep") if "no_lockstep" in line else None,
    )


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")


def _distinct(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Members of an object as a dict; duplicate names are refused: JSON uses the last one, ArduPilot the first."""
    if len(names := dict(members)) < len(members):
        raise ValueError(f"duplicate name in {[name for name, _ in members]}")
    return names


def _object(line: Mapping[str, Any], name: str, members: tuple[str, ...]) -> Mapping[str, Any]:
    value = line.get(name)
    if not isinstance(value, dict) or not all(member in value for member in members):
        raise ReplyError(f"'{name}': {value!r}; allowed: an object with {' and '.join(members)}")
    return value


_BOUND = f" of a magnitude below {LARGEST_NUMBER:g}"


def _is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number that ArduPilot can process; JSON allows 1e999, and Python counts true as a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < LARGEST_NUMBER


def _number(line: Mapping[str, Any], name: str) -> float:
    value = line.get(name)
    if not _is_number(value):
        raise ReplyError(f"'{name}': {value!r}; allowed: a number{_BOUND}")
    return float(value)


def _vector(line: Mapping[str, Any], name: str, length: int) -> Any:
    value = line.get(name)
    if not isinstance(value, list) or len(value) != length or not all(map(_is_number, value)):
        raise ReplyError(f"'{name}': {value!r}; allowed: a list of {length} numbers{_BOUND}")
    return tuple(float(v) for v in value)


def _geodetic(line: Mapping[str, Any]) -> Vector3 | None:
    given = [name for name in _GEODETIC if name in line]
    if len(given) < len(_GEODETIC):
        if given:
            raise ReplyError(f"line with {' and '.join(given)} alone; allowed: {', '.join(_GEODETIC)}, or none of them")
        return None
    latitude, longitude, altitude = (_number(line, name) for name in _GEODETIC)
    return latitude, longitude, altitude


def _boolean(line: Mapping[str, Any], name: str) -> bool:
    value = line[name]
    if not isinstance(value, bool):
        raise ReplyError(f"'{name}': {value!r}; allowed: true or false")
    return value


def _rc(line: Mapping[str, Any]) -> tuple[int, ...]:
    if "rc" not in line:
        return ()
    rc = _object(line, "rc", ("rc_1",))
    return tuple(round(_number(rc, name)) for name in _counted(rc, "rc_", MOST_RC_CHANNELS))


def _rpm(line: Mapping[str, Any]) -> tuple[float, ...]:
    if "rpm" not in line:
        return ()
    rpm = _object(line, "rpm", ("rpm_1",))
    return tuple(_number(rpm, name) for name in _counted(rpm, "rpm_", MOST_ROTORS))


def _counted(line: Mapping[str, Any], prefix: str, most: int) -> list[str]:
    """Names prefix1, prefix2, ... in a line; gaps are refused."""
    present = [f"{prefix}{i + 1}" in line for i in range(most)]
    count = present.index(False) if False in present else most
    if any(present[count:]):
        raise ReplyError(f"'{prefix}{count + 1}' is missing, but a later one is given; allowed: no gaps")
    return [f"{prefix}{i + 1}" for i in range(count)]

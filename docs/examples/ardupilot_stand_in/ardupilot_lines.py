"""Reader of the simulator's replies: each is parsed as strict JSON and by ArduPilot's own search.

ArduPilot does not parse JSON. It searches for the first occurrence of a name, skips the quotation mark and the colon
after it, and reads the number or the list of numbers that follows. Both ways must give the same values.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

Vector: TypeAlias = tuple[float, ...]
Values: TypeAlias = dict[str, "float | Vector"]

LARGEST = 1e9
"""Limit of plausible numbers; ArduPilot ends with a floating-point exception beyond it."""


class LineError(AssertionError):
    """A datagram that ArduPilot or a JSON parser would misread."""


class _Key(NamedTuple):
    section: str
    name: str
    numbers: int
    required: bool = False

    @property
    def path(self) -> str:
        return f"{self.section}.{self.name}" if self.section else self.name


_KEYS = (
    _Key("", "timestamp", 1, required=True),
    _Key("", "latitude", 1),
    _Key("", "longitude", 1),
    _Key("", "altitude", 1),
    _Key("imu", "gyro", 3, required=True),
    _Key("imu", "accel_body", 3, required=True),
    _Key("", "position", 3, required=True),
    _Key("", "attitude", 3),
    _Key("", "quaternion", 4),
    _Key("", "velocity", 3, required=True),
    *(_Key("", f"rng_{i}", 1) for i in range(1, 7)),
    _Key("windvane", "direction", 1),
    _Key("windvane", "speed", 1),
    _Key("", "airspeed", 1),
    _Key("", "velocity_wind", 3),
    *(_Key("rc", f"rc_{i}", 1) for i in range(1, 13)),
    _Key("battery", "voltage", 1),
    _Key("battery", "current", 1),
    *(_Key("rpm", f"rpm_{i}", 1) for i in range(1, 5)),
)
_KNOWN = {key.path: key for key in _KEYS}

_NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_ONE = re.compile(_NUMBER)
_LISTS = {n: re.compile(rb"\[" + rb",".join([rb" *(" + _NUMBER + rb")"] * n) + rb"\]") for n in (3, 4)}


def read_as_json(datagram: bytes) -> Values:
    """Every number of the datagram by the path of its name, from a strict parser.

    Raises:
        LineError: not one object on its own line, white space, a repeated name, or a number that is not finite.
    """
    if not (datagram.startswith(b"\n{") and datagram.endswith(b"}\n")):
        raise LineError(f"not a line feed, an object and a line feed: {datagram!r}")
    if len(datagram.split()) != 1:
        raise LineError(f"white space within: {datagram!r}")
    try:
        line = json.loads(datagram, object_pairs_hook=_no_name_twice, parse_constant=_refused)
    except ValueError as error:
        raise LineError(f"not JSON, {error}: {datagram!r}") from error
    values: Values = {}
    for name, value in line.items():
        if isinstance(value, dict):
            values.update((f"{name}.{member}", _numbers(each)) for member, each in value.items())
        else:
            # ArduPilot's only booleans; its search for numbers skips them.
            if name in ("no_lockstep", "no_time_sync") and isinstance(value, bool):
                continue
            values[name] = _numbers(value)
    return values


def _no_name_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError(f"a name is repeated: {[name for name, _ in pairs]}")
    return made


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is not a JSON number")


def _numbers(value: object) -> float | Vector:
    if isinstance(value, list):
        return tuple(_number(each) for each in value)
    return _number(value)


def _number(value: object) -> float:
    if type(value) not in (int, float) or not abs(value) < LARGEST:  # type: ignore[arg-type]
        raise LineError(f"{value!r} is not a number, or too large")
    return float(value)  # type: ignore[arg-type]


def read_as_ardupilot(datagram: bytes) -> Values:
    """Every number that ArduPilot's search finds, by the same paths.

    Raises:
        LineError: a required name is missing, or a list has the wrong length.
    """
    values: Values = {}
    for key in _KEYS:
        start = datagram.find(key.section.encode())
        if start >= 0:
            start = datagram.find(key.name.encode(), start + len(key.section))
        if start < 0:
            if key.required:
                raise LineError(f"ArduPilot finds no {key.path}: {datagram!r}")
            continue
        # ArduPilot skips two characters without checking them.
        start += len(key.name) + 2
        if key.numbers == 1:
            found = _ONE.match(datagram, start)
            values[key.path] = float(found.group()) if found else 0.0
        else:
            found = _LISTS[key.numbers].match(datagram, start)
            if found is None:
                raise LineError(f"ArduPilot finds no {key.numbers} numbers at {key.path}: {datagram!r}")
            values[key.path] = tuple(map(float, found.groups()))
    return values


@dataclass
class Reading:
    """A reply on which both ways of reading agree.

    Attributes:
        timestamp: s.
        gyro: rad/s, body axes.
        accel_body: m/s^2, body axes.
        position: m, NED.
        velocity: m/s, NED.
        quaternion: w x y z, body to NED.
        others: optional values, by their paths.
    """

    timestamp: float
    gyro: Vector
    accel_body: Vector
    position: Vector
    velocity: Vector
    quaternion: Vector
    others: Values = field(default_factory=dict)

    @property
    def euler(self) -> tuple[float, float, float]:
        """Roll, pitch and yaw, rad."""
        w, x, y, z = self.quaternion
        return (
            math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
            math.asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x)))),
            math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
        )


class LineReader:
    """Reads the replies of one flight in both ways.

    Attributes:
        fields: paths in the first reply; every later reply must have the same.
    """

    def __init__(self) -> None:
        self.fields: frozenset[str] = frozenset()

    def read(self, datagram: bytes) -> Reading:
        """Read a reply.

        Raises:
            LineError: the two ways disagree, the fields have changed, or attitude and quaternion contradict each other.
        """
        values = read_as_json(datagram)
        found = read_as_ardupilot(datagram)
        if values != found:
            different = sorted(n for n in {*values, *found} if values.get(n) != found.get(n))
            raise LineError(f"JSON and ArduPilot disagree on {', '.join(different)}: {datagram!r}")
        if self.fields != values.keys():
            if self.fields:
                raise LineError(f"the fields have changed in flight: {sorted(self.fields ^ values.keys())}")
            self.fields = frozenset(values)
        reading = Reading(*(values.pop(n) for n in _ALWAYS), values.pop("quaternion", ()), values)  # type: ignore[arg-type]
        _check_attitude(reading)
        return reading


_ALWAYS = ("timestamp", "imu.gyro", "imu.accel_body", "position", "velocity")


def _check_attitude(reading: Reading) -> None:
    """Check that there is a quaternion, which ArduPilot prefers, of length 1, equal to the Euler angles."""
    if not reading.quaternion or abs(sum(q * q for q in reading.quaternion) - 1.0) > 1e-6:
        raise LineError(f"quaternion {reading.quaternion}, which is not a rotation")
    attitude = reading.others.get("attitude")
    if attitude is None:
        return
    assert isinstance(attitude, tuple)
    # Near pitch angles of 90 degrees, nine digits of the quaternion do not determine roll and yaw.
    if abs(attitude[1]) < 1.5:
        for given, computed in zip(attitude, reading.euler, strict=True):
            if abs(math.remainder(given - computed, math.tau)) > 1e-5:
                raise LineError(f"attitude {attitude} beside quaternion {reading.quaternion}, which is {reading.euler}")

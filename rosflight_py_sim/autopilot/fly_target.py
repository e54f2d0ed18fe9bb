"""Target state of a vehicle: one lateral, one speed and one vertical target."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TypeAlias


class TargetError(ValueError):
    """Invalid target; the text names the value given and the values allowed."""


@dataclass(frozen=True, slots=True)
class PositionTarget:
    """Fly to a position (m from home) and stay there: a fixed wing circles, a multirotor hovers.

    With `overfly`, a fixed wing passes over the position before it circles. Targets that differ only in this are equal.
    """

    north_m: float
    east_m: float
    overfly: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class CourseTarget:
    """Fly over ground in this direction, rad from north towards east.

    `curvature` (1/m, positive to the right) is the curvature of the path being followed; it is fed forward.
    """

    course_rad: float
    curvature: float = 0.0


@dataclass(frozen=True, slots=True)
class HeadingTarget:
    """Point the nose in this direction, rad from north towards east; the vehicle drifts with the wind."""

    heading_rad: float


@dataclass(frozen=True, slots=True)
class RollTarget:
    """Hold this roll angle, rad, right side down positive."""

    roll_rad: float


@dataclass(frozen=True, slots=True)
class AirspeedTarget:
    """Fly at this airspeed, m/s, greater than 0."""

    airspeed: float


@dataclass(frozen=True, slots=True)
class PitchTarget:
    """Hold this pitch angle, rad, nose up positive."""

    pitch_rad: float


@dataclass(frozen=True, slots=True)
class AltitudeTarget:
    """Fly at this height above home, m."""

    altitude_m: float


@dataclass(frozen=True, slots=True)
class ClimbTarget:
    """Climb at this rate, m/s, positive up."""

    climb: float


@dataclass(frozen=True, slots=True)
class ThrottleTarget:
    """Hold this throttle, 0 to 1; 0 is a glide."""

    throttle: float


Lateral: TypeAlias = PositionTarget | CourseTarget | HeadingTarget | RollTarget
Speed: TypeAlias = AirspeedTarget | PitchTarget
Vertical: TypeAlias = AltitudeTarget | ClimbTarget | ThrottleTarget


@dataclass(frozen=True, slots=True)
class FlyTarget:
    """One target of each kind. Home is the origin of NED.

    An airspeed can be combined with all three vertical targets; a pitch angle only with altitude and throttle, because
    a climb is flown by pitch.
    """

    lateral: Lateral
    speed: Speed
    vertical: Vertical

    def __post_init__(self) -> None:
        """Check the target.

        Raises:
            TargetError: a pitch angle with a climb, a number that is not finite, an airspeed that is not positive, or a
                throttle outside 0 to 1.
        """
        if isinstance(self.speed, PitchTarget) and isinstance(self.vertical, ClimbTarget):
            raise TargetError(
                "pitch with climb given; allowed: pitch with altitude or throttle, airspeed with altitude, climb or "
                "throttle"
            )
        for part in (self.lateral, self.speed, self.vertical):
            for name in part.__slots__:
                value = getattr(part, name)
                if not math.isfinite(value):
                    raise TargetError(f"{name} {value!r} given; allowed: a finite number")
        if isinstance(self.speed, AirspeedTarget) and self.speed.airspeed <= 0.0:
            raise TargetError(f"airspeed {self.speed.airspeed:g} m/s given; allowed: greater than 0 m/s")
        if isinstance(self.vertical, ThrottleTarget) and not 0.0 <= self.vertical.throttle <= 1.0:
            raise TargetError(f"throttle {self.vertical.throttle:g} given; allowed: from 0 to 1")

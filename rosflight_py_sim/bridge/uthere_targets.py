"""Commands of Ground Control as targets in NED and SI units."""

from __future__ import annotations

import math

from rosflight_py_sim.autopilot.fly_target import (
    AirspeedTarget,
    AltitudeTarget,
    ClimbTarget,
    CourseTarget,
    FlyTarget,
    HeadingTarget,
    Lateral,
    PitchTarget,
    PositionTarget,
    RollTarget,
    Speed,
    ThrottleTarget,
    Vertical,
)
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.autopilot.waypoint_route import RouteWaypoint
from rosflight_py_sim.bridge.uthere_units import UthereUnits
from rosflight_py_sim.protocols.uthere import Fly, FlyTo, WaypointAdd

_FULL_THROTTLE = 100.0


def target_of_fly(command: Fly, units: UthereUnits) -> FlyTarget:
    """Target of fly(); the parser ensures one target of each kind.

    Raises:
        TargetError: a target that no vehicle can follow, such as an airspeed of 0.
    """
    return FlyTarget(_lateral(command, units), _speed(command, units), _vertical(command, units))


def target_of_fly_to(command: FlyTo, units: UthereUnits) -> FlyTarget:
    """Target of fly_to(): a position to hold.

    Raises:
        TargetError: as `target_of_fly`.
    """
    north, east, down = _position_ned(command, units)
    return FlyTarget(PositionTarget(north, east), AirspeedTarget(command.airspeed * units.speed), AltitudeTarget(-down))


def waypoint_of(command: WaypointAdd, units: UthereUnits) -> RouteWaypoint:
    """Waypoint for the buffer.

    Raises:
        TargetError: as `target_of_fly`.
    """
    airspeed = command.airspeed * units.speed
    return RouteWaypoint(command.waypointid, command.nextwaypointid, _position_ned(command, units), airspeed)


def _position_ned(command: FlyTo | WaypointAdd, units: UthereUnits) -> Vector3:
    height = command.altitude * units.altitude
    return *units.position(command.latitude, command.longitude, height), -height


def _lateral(command: Fly, units: UthereUnits) -> Lateral:
    if command.latitude is not None and command.longitude is not None:
        height = (command.altitude or 0.0) * units.altitude
        return PositionTarget(*units.position(command.latitude, command.longitude, height))
    if command.course is not None:
        return CourseTarget(_direction(command.course))
    if command.heading is not None:
        return HeadingTarget(_direction(command.heading))
    assert command.roll is not None
    return RollTarget(math.radians(command.roll))


def _speed(command: Fly, units: UthereUnits) -> Speed:
    if command.airspeed is not None:
        return AirspeedTarget(command.airspeed * units.speed)
    assert command.pitch is not None
    return PitchTarget(math.radians(command.pitch))


def _vertical(command: Fly, units: UthereUnits) -> Vertical:
    if command.altitude is not None:
        return AltitudeTarget(command.altitude * units.altitude)
    if command.climb is not None:
        return ClimbTarget(command.climb * units.climb)
    assert command.throttle is not None
    return ThrottleTarget(command.throttle / _FULL_THROTTLE)


def _direction(degrees: float) -> float:
    """-pi to pi, rad."""
    return math.remainder(math.radians(degrees), 2.0 * math.pi)

"""Conversion between Ground Control's units and positions and SI and NED; the variables of a plane."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace

import numpy as np
import pymap3d
import pytest
from transforms3d.euler import euler2quat
from transforms3d.quaternions import quat2mat

from rosflight_py_sim.autopilot.fly_target import (
    AirspeedTarget,
    AltitudeTarget,
    ClimbTarget,
    CourseTarget,
    FlyTarget,
    HeadingTarget,
    PitchTarget,
    PositionTarget,
    RollTarget,
    TargetError,
    ThrottleTarget,
)
from rosflight_py_sim.bridge.uthere_targets import target_of_fly, target_of_fly_to, waypoint_of
from rosflight_py_sim.bridge.uthere_units import UTHERE_UNIT_PARAMETERS, UthereUnits
from rosflight_py_sim.bridge.uthere_variables import VARIABLES, vehicle_variables, vertical_error
from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.protocols.uthere import Fly, FlyTo, WaypointAdd
from test.bridge.uthere_bench import flying_snapshot


def units(**given: Value) -> UthereUnits:
    return UthereUnits(UTHERE_UNIT_PARAMETERS.checked({f"uthere.{name}": value for name, value in given.items()}))


FEET = units()

FLY = {
    "course": (
        Fly(course=350.0, airspeed=20.0, altitude=100.0),
        FlyTarget(CourseTarget(math.radians(-10.0)), AirspeedTarget(20.0), AltitudeTarget(30.48)),
    ),
    "heading": (
        Fly(heading=-90.0, airspeed=20.0, climb=-10.0),
        FlyTarget(HeadingTarget(math.radians(-90.0)), AirspeedTarget(20.0), ClimbTarget(-3.048)),
    ),
    "roll": (
        Fly(roll=-15.0, pitch=10.0, throttle=65.0),
        FlyTarget(RollTarget(math.radians(-15.0)), PitchTarget(math.radians(10.0)), ThrottleTarget(0.65)),
    ),
}


@pytest.mark.parametrize("case", FLY)
def test_fly_converts_to_target_in_si_units(case: str) -> None:
    command, target = FLY[case]
    found = target_of_fly(command, FEET)
    for part, expected in (
        (found.lateral, target.lateral),
        (found.speed, target.speed),
        (found.vertical, target.vertical),
    ):
        assert type(part) is type(expected)
        assert dataclasses.astuple(part) == pytest.approx(dataclasses.astuple(expected), rel=1e-12)


def test_position_is_north_and_east_of_home() -> None:
    home = FEET.home
    target = target_of_fly(
        Fly(latitude=home.latitude_deg, longitude=home.longitude_deg, airspeed=20.0, altitude=0.0), FEET
    )
    assert isinstance(target.lateral, PositionTarget)
    # Rounding errors of earth-fixed coordinates.
    assert (target.lateral.north_m, target.lateral.east_m) == pytest.approx((0.0, 0.0), abs=1e-6)


@pytest.mark.parametrize("offset", [(300.0, -400.0, -120.0), (-5000.0, 9000.0, -50.0), (0.0, 0.0, -300.0)])
def test_reported_position_converts_back_to_same_target(offset: tuple[float, float, float]) -> None:
    north, east, down = offset
    place = FEET.geodetic(*offset)
    command = FlyTo(None, place.latitude_deg, place.longitude_deg, -down / 0.3048, 20.0)
    target = target_of_fly_to(command, FEET)
    assert isinstance(target.lateral, PositionTarget)
    # At 10 km, the height above the ellipsoid is 8 m more than that above the tangent plane: a centimetre sideways.
    assert (target.lateral.north_m, target.lateral.east_m) == pytest.approx((north, east), abs=0.015)
    waypoint = waypoint_of(
        WaypointAdd(1, 2, None, *(command.latitude, command.longitude, command.altitude, 20.0)), FEET
    )
    assert waypoint.position_ned == pytest.approx((north, east, down), abs=0.015)


def test_geodetic_positions_match_reference_library() -> None:
    home = FEET.home
    expected = pymap3d.ned2geodetic(250.0, -130.0, -80.0, *home)
    assert FEET.geodetic(250.0, -130.0, -80.0) == pytest.approx(tuple(map(float, expected)), rel=1e-12)


@pytest.mark.parametrize(("unit", "metres_a_second"), [("m/s", 1.0), ("kn", 1852.0 / 3600.0), ("mph", 0.44704)])
def test_airspeed_uses_the_configured_unit(unit: str, metres_a_second: float) -> None:
    target = target_of_fly(Fly(course=0.0, airspeed=20.0, altitude=100.0), units(airspeed_unit=unit, altitude_unit="m"))
    assert target.speed == AirspeedTarget(pytest.approx(20.0 * metres_a_second))
    assert target.vertical == AltitudeTarget(100.0)
    values = vehicle_variables(flying_snapshot(), units(airspeed_unit=unit), [4])
    for name in ("airspeed", "groundspeed"):
        assert values[name] == pytest.approx(18.0 / metres_a_second)


def test_zero_airspeed_is_rejected() -> None:
    with pytest.raises(TargetError):
        target_of_fly(Fly(course=0.0, airspeed=0.0, altitude=1.0), FEET)
    with pytest.raises(TargetError):
        waypoint_of(WaypointAdd(1, 2, None, 40.0, -111.0, 100.0, 0.0), FEET)


def test_variables_follow_table_order() -> None:
    assert list(vehicle_variables(flying_snapshot(), FEET, [4])) == list(VARIABLES)


def test_variables_in_a_turn_in_wind_have_documented_units_and_signs() -> None:
    snapshot = flying_snapshot()
    # North-west over ground at 20 m/s, nose to the west, in a wind of 5 m/s from the south.
    roll, pitch, yaw = math.radians(30.0), math.radians(5.0), math.radians(-90.0)
    quaternion = euler2quat(roll, pitch, yaw)
    rotation = quat2mat(quaternion)
    velocity_ned = np.array([20.0 * math.sqrt(0.5), -20.0 * math.sqrt(0.5), -3.0])
    snapshot.truth[0:3] = -300.0, 400.0, -100.0
    snapshot.truth[3:7] = quaternion
    snapshot.truth[7:10] = rotation.T @ velocity_ned
    snapshot.truth[10:13] = 0.1, 0.2, -0.3
    snapshot = replace(snapshot, wind_ned=(5.0, 0.0, 0.0))
    values = vehicle_variables(snapshot, FEET, [4])
    expected = {
        "altitude": 100.0 / 0.3048,
        "groundspeed": 20.0,
        "course": 315.0,
        "heading": 270.0,
        "roll": 30.0,
        "pitch": 5.0,
        "climb": 3.0 / 0.3048,
        "airspeed": math.dist(velocity_ned, (5.0, 0.0, 0.0)),
        "throttle": 60.0,
        "yaw_rate": math.degrees(-0.3),
        "range": 500.0 / 0.3048,
        "home_bearing": math.degrees(math.atan2(-400.0, 300.0)) % 360.0,
        "wind_speed": 5.0,
        "wind_direction": 180.0,
        # No acceleration: the component of gravity along the body's down axis.
        "wingload": math.cos(roll) * math.cos(pitch),
        "estimated_heading": 360.0 - math.degrees(0.03),
        "power_battery_voltage": 23.5,
        "armed": 1.0,
        "rc_3": 1000.0,
    }
    assert {name: values[name] for name in expected} == pytest.approx(expected, rel=1e-9)


def test_variables_not_yet_received_are_omitted() -> None:
    without_messages = replace(
        flying_snapshot(),
        airspeed=None,
        battery=None,
        rc_us=(),
        status=None,
        attitude=None,
        gnss=None,
        outputs=(),
    )
    values = vehicle_variables(without_messages, FEET, [4])
    missing = set(VARIABLES) - set(values)
    assert {
        "throttle",
        "power_battery_voltage",
        "measured_airspeed",
        "estimated_roll",
        "gps_fix_type",
        "armed",
        "rc_1",
    } < (missing)
    assert "latitude" in values


@pytest.mark.parametrize("estimated", [(0.2, 0.1, 2.0), (-0.4, 0.3, 0.0)])
def test_vertical_error_is_tilt_between_verticals_at_any_heading(
    estimated: tuple[float, float, float],
) -> None:
    snapshot = flying_snapshot()
    snapshot.truth[3:7] = euler2quat(0.0, 0.0, 1.0)
    roll, pitch, _ = estimated
    error = vertical_error(replace(snapshot, attitude=estimated))
    assert error == pytest.approx(math.acos(math.cos(roll) * math.cos(pitch)), rel=1e-9)
    assert vertical_error(replace(snapshot, attitude=None)) == math.pi

"""Replies to ArduPilot."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from rosflight_py_sim.bridge.ardupilot_reply import REPLY_PARAMETERS, ReplyMaker, apparent_wind
from rosflight_py_sim.bridge.front_end_interface import Snapshot
from rosflight_py_sim.ground.parameters import ParameterError, Value
from rosflight_py_sim.physics.rotations import quaternion_from_euler
from rosflight_py_sim.protocols.ardupilot_json import BatteryStatus, Reply, ReplyError, decode_reply
from rosflight_py_sim.sensing.geodetic import ned_to_geodetic, tangent_plane
from rosflight_py_sim.step.topics import AirspeedSample, RangeSample

PITOT = AirspeedSample(0, 12.0, 80.0, 288.0)

SWITCHES = [p.name.removeprefix("ardupilot.") for p in REPLY_PARAMETERS if p.default is True]


def echo(distance_m: float) -> RangeSample:
    """Measurement of a range finder."""
    return RangeSample(0, 0.1, 0.2, 12.0, distance_m)


def reply_maker(**switches: Value) -> ReplyMaker:
    return ReplyMaker(REPLY_PARAMETERS.checked({f"ardupilot.{name}": on for name, on in switches.items()}))


def snapshot(**inputs: Any) -> Snapshot:
    truth = np.zeros(19)
    truth[3] = 1.0
    return Snapshot(1_000_000_000, truth, (3.0, 4.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, -9.81), **inputs)


def answered(maker: ReplyMaker, shown: Snapshot) -> Reply:
    return decode_reply(maker.line(shown))


def names(line: bytes) -> set[str]:
    """Switches whose fields are in a line."""
    return {name for name in SWITCHES if f'"{name}":'.encode() in line}


def test_every_field_has_a_defined_value_from_the_first_reply_on() -> None:
    maker = reply_maker()
    line = maker.line(snapshot())
    assert names(line) == set(SWITCHES)
    reply = decode_reply(line)
    assert reply.ranges == (0.0,)
    assert reply.airspeed == 0.0
    # ArduPilot takes 0 V for no battery.
    assert reply.battery == BatteryStatus(0.01, 0.0)
    assert reply.rc_us[:4] == (1500, 1500, 1000, 1500)
    later = snapshot(
        ranges=(echo(2.5),), airspeed=PITOT, battery=(24.0, 3.0), rc_us=(1501, 1502, 1503, 1504, 1, 2, 3, 4)
    )
    assert names(maker.line(later)) == set(SWITCHES)


@pytest.mark.parametrize("voltage", [0.0, -3.0, 1e-9])
def test_voltage_of_an_empty_battery_is_positive(voltage: float) -> None:
    assert answered(reply_maker(), snapshot(battery=(voltage, 2.5))).battery == BatteryStatus(0.01, 2.5)


def test_further_ranges_follow_the_first_from_the_first_reply_on() -> None:
    topics = [f"range/{name}" for name in ("front", "right", "back", "left", "up")]
    maker = reply_maker(further_ranges=topics)
    assert answered(maker, snapshot()).ranges == (0.0,) * 6
    line = maker.line(snapshot(ranges=tuple(map(echo, (1.0, 2.0, math.inf, -math.inf, 5.0, 6.0)))))
    assert decode_reply(line).ranges == (1.0, 2.0, 655.0, 0.0, 5.0, 6.0)
    assert b'"rng_6":6,' in line
    for settings, text in (
        ({"further_ranges": [*topics, "range/down"]}, "allowed: at most 5 topics, each once"),
        ({"further_ranges": ["up", "up"]}, "allowed: at most 5 topics, each once"),
        ({"further_ranges": ["up"], "rng_1": False}, "allowed: none while 'ardupilot.rng_1' is false"),
    ):
        with pytest.raises(ParameterError, match=text):
            reply_maker(**settings)  # type: ignore[arg-type]


def test_position_is_in_metres_from_home_unless_a_parameter_says_otherwise() -> None:
    truth = np.zeros(19)
    truth[:4] = 100.0, -200.0, -30.0, 1.0
    shown = Snapshot(0, truth, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, -9.81))
    origin: dict[str, Value] = {"origin_latitude": 40.0, "origin_longitude": -111.0, "origin_altitude": 1000.0}
    replies = [
        decode_reply(ReplyMaker(REPLY_PARAMETERS.checked({**origin, "ardupilot.position": choice})).line(shown))
        for choice in ("ned", "geodetic", "both")
    ]
    assert [reply.position_ned for reply in replies] == [(100.0, -200.0, -30.0), None, (100.0, -200.0, -30.0)]
    assert replies[0].geodetic is None
    expected = ned_to_geodetic(tangent_plane(40.0, -111.0, 1000.0), 100.0, -200.0, -30.0)
    assert expected == pytest.approx((40.0009, -111.00234, 1030.0), abs=0.01)
    assert [reply.geodetic for reply in replies[1:]] == [expected, expected]


def test_true_imu_measures_the_earth_that_is_chosen() -> None:
    place: dict[str, Value] = {"earth": "wgs84", "origin_latitude": 90.0, "origin_altitude": 0.0}
    at_rest = answered(ReplyMaker(REPLY_PARAMETERS.checked(place)), snapshot())
    assert at_rest.gyro == pytest.approx((0.0, 0.0, -7.292115e-5), abs=1e-12)
    assert at_rest.accel_body == pytest.approx((0.0, 0.0, -9.8321), abs=1e-4)
    flat = answered(ReplyMaker(REPLY_PARAMETERS.checked({})), snapshot())
    assert (flat.gyro, flat.accel_body) == ((0.0, 0.0, 0.0), (0.0, 0.0, -9.81))


def test_rotor_speeds_are_in_ardupilots_order_and_unit() -> None:
    assert answered(reply_maker(), snapshot(rotor_speeds=(1.0,) * 14)).rpm == ()
    maker = reply_maker(rpm=[0, 2, 3, 1])
    assert "rotor_speeds" in maker.required_fields
    assert answered(maker, snapshot()).rpm == (0.0,) * 4
    speeds = tuple(2.0 * math.pi * turns for turns in (10.0, 20.0, 30.0, 40.0, *[0.0] * 10))
    assert answered(maker, snapshot(rotor_speeds=speeds)).rpm == pytest.approx((600.0, 1800.0, 2400.0, 1200.0))
    with pytest.raises(ParameterError, match=r"'ardupilot\.rpm': \[0, 1, 2, 3, 4\] given; allowed: at most 4 rotors"):
        reply_maker(rpm=[0, 1, 2, 3, 4])


def test_ardupilot_waits_for_replies_unless_a_parameter_says_otherwise() -> None:
    assert b"no_lockstep" not in reply_maker().line(snapshot())
    assert reply_maker(no_lockstep=True).line(snapshot()).endswith(b',"no_lockstep":true}\n')


def test_measurements_are_forwarded() -> None:
    rc_us = (1100, 1200, 1300, 1400, 1500, 1600, 1700, 1800)
    reply = answered(reply_maker(), snapshot(ranges=(echo(2.5),), airspeed=PITOT, battery=(24.0, 3.0), rc_us=rc_us))
    assert (reply.ranges, reply.airspeed, reply.battery, reply.rc_us) == ((2.5,), 12.0, BatteryStatus(24.0, 3.0), rc_us)


@pytest.mark.parametrize("name", SWITCHES)
def test_each_field_can_be_disabled(name: str) -> None:
    maker = reply_maker(**{name: False})
    assert names(maker.line(snapshot())) == set(SWITCHES) - {name}
    wanted = {"rng_1": "range", "airspeed": "airspeed", "battery": "battery", "rc": "rc"}
    assert maker.required_fields == set(wanted.values()) - {wanted.get(name)}


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_attitude_of_a_vertical_nose_has_no_roll(sign: float) -> None:
    shown = snapshot()
    shown.truth[3:7] = quaternion_from_euler(0.4, sign * math.pi / 2, 1.5)
    reply = answered(reply_maker(), shown)
    # Numbers are sent with at least seven digits behind the point.
    assert reply.attitude == pytest.approx((0.0, sign * math.pi / 2, 1.5 - sign * 0.4), abs=1e-6)


def test_reply_without_any_attitude_is_rejected() -> None:
    with pytest.raises(ParameterError, match=r"'ardupilot\.attitude' and 'ardupilot\.quaternion'"):
        reply_maker(attitude=False, quaternion=False)


@pytest.mark.parametrize(("measured", "sent"), [(math.inf, 655.0), (-math.inf, 0.0), (0.3, 0.3)])
def test_range_readings_are_finite(measured: float, sent: float) -> None:
    assert answered(reply_maker(), snapshot(ranges=(echo(measured),))).ranges == (sent,)


@pytest.mark.parametrize("field", ["airspeed", "battery", "ranges"])
def test_non_finite_measurement_is_never_sent(field: str) -> None:
    bad: dict[str, Any] = {
        "airspeed": PITOT._replace(velocity=math.nan),
        "battery": (24.0, math.nan),
        "ranges": (echo(math.nan),),
    }
    with pytest.raises(ReplyError):
        print(reply_maker().line(snapshot(**{field: bad[field]})))


@pytest.mark.parametrize(
    ("velocity", "wind", "yaw", "direction", "speed"),
    [
        ((0.0, 0.0, 0.0), (-5.0, 0.0, 0.0), 0.0, 0.0, 5.0),  # wind from the north, nose north: head to wind
        ((0.0, 0.0, 0.0), (0.0, -5.0, 0.0), 0.0, math.pi / 2, 5.0),  # from the east: from the right
        ((0.0, 0.0, 0.0), (0.0, -5.0, 0.0), math.pi / 2, 0.0, 5.0),  # nose east
        ((3.0, 0.0, 0.0), (0.0, 4.0, 0.0), 0.0, 2 * math.pi - math.atan2(4.0, 3.0), 5.0),  # from the left
        ((0.0, 0.0, -2.0), (0.0, 0.0, 0.0), 1.0, 0.0, 0.0),  # a calm
    ],
)
def test_apparent_wind_direction_is_clockwise_from_nose_and_points_upwind(
    velocity: tuple[float, float, float], wind: tuple[float, float, float], yaw: float, direction: float, speed: float
) -> None:
    vane = apparent_wind(velocity, wind, yaw)
    assert math.remainder(vane.direction - direction, 2 * math.pi) == pytest.approx(0.0, abs=1e-12)
    assert vane.speed == pytest.approx(speed, abs=1e-12)

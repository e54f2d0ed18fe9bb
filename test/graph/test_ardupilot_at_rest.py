"""Replies to ArduPilot for a vehicle at rest: nothing moves, and the accelerometer reads one g."""

from __future__ import annotations

import math
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from free_ports import free_ports

from rosflight_py_sim.protocols.ardupilot_json import Reply, ServoFrame, decode_reply, encode_frame
from test.graph.ardupilot_client import ArduPilotClient

BREEZE = "sim_has_wind:=true", "use_random_wind:=false", "steady_state_wind:=[3.0, 4.0, 0.0]"
G = 9.81


@pytest.fixture
def first_replies(graph: Callable[..., Any]) -> Iterator[Callable[..., list[Reply]]]:
    """A function that returns the replies to the first n frames of an ArduPilot that is starting."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:

        def run(count: int, *settings: str, vehicle: str, rate: int) -> list[Reply]:
            (port,) = free_ports()
            arguments = [word for one in (f"ardupilot.port:={port}", *settings) for word in ("-p", one)]
            g = graph(*arguments, vehicle_name=vehicle, flight_controller="ardupilot")
            own.setblocking(False)
            answers: list[Reply] = []

            def come() -> bool:
                try:
                    answers.append(decode_reply(own.recv(4096)))
                except BlockingIOError:
                    return False
                return True

            for number in range(1, count + 1):
                # No outputs yet, as ArduPilot sends for its first two thousand frames.
                own.sendto(encode_frame(ServoFrame(rate, number, (0,) * 16)), ("127.0.0.1", port))
                g.spin_until(come, f"an answer to frame {number}")
            return answers

        yield run


def assert_at_rest(replies: list[Reply], *, drift_m: float, rate: float, force: float) -> None:
    north, east, down = replies[0].position_ned
    for reply in replies:
        assert math.dist(reply.position_ned, (north, east, down)) <= drift_m
        assert max(map(abs, reply.gyro)) <= rate
        assert abs(math.hypot(*reply.accel_body) - G) <= force
        assert max(map(abs, reply.velocity_ned)) <= max(rate, 1e-9)


@pytest.mark.parametrize("rate", [400, 1200])
@pytest.mark.parametrize("vehicle", ["multirotor", "anaconda"])
def test_vehicle_is_stationary_from_first_reply_on(
    first_replies: Callable[..., list[Reply]], vehicle: str, rate: int
) -> None:
    # The vehicle starts in equilibrium. The remaining error is rounding; the force has nine digits.
    assert_at_rest(first_replies(rate // 4, vehicle=vehicle, rate=rate), drift_m=1e-9, rate=1e-9, force=1e-7)


@pytest.mark.parametrize("vehicle", ["multirotor", "anaconda"])
def test_wind_onset_disturbs_parked_vehicle_for_less_than_a_second(
    first_replies: Callable[..., list[Reply]], vehicle: str
) -> None:
    replies = first_replies(400, *BREEZE, vehicle=vehicle, rate=200)
    # A wind of 5 m/s deflects the springs by two millimetres, and the plane shakes on its wheels.
    assert_at_rest(replies, drift_m=0.005, rate=0.1, force=0.2)
    assert_at_rest(replies[200:], drift_m=1e-4, rate=1e-4, force=1e-3)


def test_copter_that_has_landed_does_not_slide_in_wind(
    graph: Callable[..., Any],
) -> None:
    (port,) = free_ports()
    wind = "sim_has_wind:=true", "use_random_wind:=false", "steady_state_wind:=[0.0, 8.0, 0.0]"
    arguments = [word for one in (f"ardupilot.port:={port}", *wind) for word in ("-p", one)]
    client = ArduPilotClient(graph(*arguments, flight_controller="ardupilot"), port)
    client.rate = 200
    places = []
    for step in range(600):
        # The rotors still carry 0.7 of the weight, as before ArduCopter's landing detector has reduced the throttle.
        reply = client.step(round(1000 + min(step, 100) / 100 * 400))
        places.append(reply.position_ned)
    client.close()
    # The springs under the skids give way by millimetres.
    assert max(math.dist(place, places[0]) for place in places) < 0.02
    assert math.dist(places[-1], places[300]) < 1e-3


def test_imu_from_sensors_is_noisy_and_biased(first_replies: Callable[..., list[Reply]]) -> None:
    replies = first_replies(200, "ardupilot.imu:=sensors", vehicle="multirotor", rate=400)
    rolls = [reply.gyro[0] for reply in replies]
    assert max(rolls) - min(rolls) > 0.01
    # The noise is about two steps of the gyro's resolution.
    assert len(set(rolls)) > 10


def test_reply_includes_wind_and_available_sensors(first_replies: Callable[..., list[Reply]]) -> None:
    reply = first_replies(40, *BREEZE, vehicle="anaconda", rate=400)[-1]
    assert reply.velocity_wind == pytest.approx((3.0, 4.0, 0.0), abs=1e-6)
    assert reply.rc_us == ()
    # Sensor noise is small compared with these bounds.
    assert reply.ranges is not None and reply.ranges[0] < 1.0
    assert reply.battery is not None and reply.battery.voltage == pytest.approx(24.0, abs=3.0)


def test_rotor_speeds_and_latitude_are_there_where_they_are_asked_for(graph: Callable[..., Any]) -> None:
    (port,) = free_ports()
    settings = (
        f"ardupilot.port:={port}",
        "ardupilot.position:=both",
        "ardupilot.rpm:=[0, 2, 3, 1]",
        "ardupilot.outputs:=['1', '4', '2', '3', '', '', '', '', '', '', '', '', '', '']",
    )
    arguments = [word for one in settings for word in ("-p", one)]
    client = ArduPilotClient(graph(*arguments, vehicle_name="multirotor", flight_controller="ardupilot"), port)
    try:
        first = client.step()
        assert first.rpm == (0.0,) * 4
        assert first.geodetic == pytest.approx((40.2463724, -111.6474138, 1387.1), abs=0.1)
        # Motors 1 to 4 with increasing throttle, for ten motor time constants.
        for _ in range(120):
            client.count += 1
            pwm = (1050, 1100, 1150, 1200, *[1000] * 12)
            client.send_bytes(encode_frame(ServoFrame(client.rate, client.count, pwm)))
            reply = client.reply()
    finally:
        client.close()
    assert 100.0 < reply.rpm[0] < reply.rpm[1] < reply.rpm[2] < reply.rpm[3] < 10_000.0

"""Several front-ends in one bridge: one commands a vehicle, the others observe it."""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pymap3d
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rosflight_msgs.msg import PwmOutput, SimState

from rosflight_py_sim.graph.fleet import Member, fleet
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.registry import registered
from rosflight_py_sim.ground.stamps import NANOSECONDS, time_ns_of
from rosflight_py_sim.interfaces.diagnostics import DIAGNOSTICS_QOS
from rosflight_py_sim.protocols.auv_zeromq import ThrusterCommand, decode_images, decode_telemetry, encode_thrusters
from rosflight_py_sim.protocols.uthere import Data
from rosflight_py_sim.step.topics import PWM_OUTPUT, TRUTH_STATE
from rosflight_py_sim.vehicles import CAMERA, vehicle
from test.graph.front_end_clients import AuvClient, Ports, ardupilot_client, uthere_program

FOOT = 0.3048


@pytest.fixture
def closing() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def ports() -> Ports:
    return Ports()


def counters(graph: Any, front_end: str) -> Any:
    return graph.node("bridge").front_ends[front_end].counters


def test_three_protocols_report_the_same_truth_at_each_time(
    graph: Callable[..., Any], ports: Ports, closing: ExitStack
) -> None:
    wind = ("-p", "sim_has_wind:=true", "-p", "steady_state_wind:=[2.0, -3.0, 0.0]")
    flown = graph(*ports.arguments, *wind, flight_controller="ardupilot", observers=["uthere", "auv_zeromq"])
    copter = ardupilot_client(flown, ports, closing)
    program = uthere_program(ports, closing)
    auv = AuvClient(closing, ports)
    truths: list[SimState] = flown.collect_messages(TRUTH_STATE)
    program.send("data_request(variable=all, interval=0.02)")
    flown.spin_until(lambda: counters(flown, "uthere")["packets"], "the data request")
    # All times are whole milliseconds, to which uThere's data are rounded.
    copter.rate = 200
    # Telemetry is lost until ZeroMQ's subscription is established.
    flown.spin_until(lambda: [*auv.collected(auv.telemetry)] or not copter.step(1700), "telemetry")

    replies = {}
    for _ in range(200):
        reply = copter.step(1700)
        replies[time_ns(reply.timestamp)] = reply.position_ned
    flown.idle(0.2)

    truth = {time_ns_of(one.header.stamp): position(one) for one in truths}
    assert truth[max(replies)][1] < -0.05, "the wind has moved the vehicle"
    assert replies == {time: truth[time] for time in replies}

    # ZeroMQ telemetry has no time: single precision, one message per step.
    shown = [where for _, where in (decode_telemetry(one) for one in auv.collected(auv.telemetry))]
    last = [truth[time] for time in sorted(truth)][-len(shown) :]
    assert len(shown) >= len(replies)
    assert [(one.y, one.x, -one.z) for one in shown] == [tuple(np.float32(axis) for axis in one) for one in last]

    seen: dict[int, dict[str, float]] = {}
    for data in program.replies():
        assert isinstance(data, Data)
        seen.setdefault(time_ns(data.time_s), {}).update(data.values)
    common = sorted(seen.keys() & replies.keys())
    assert len(common) >= len(replies) // 8 - 1
    values = flown.node("bridge").values
    origin = [values[f"origin_{axis}"] for axis in ("latitude", "longitude", "altitude")]
    for time in common:
        one = seen[time]
        ned = pymap3d.geodetic2ned(one["latitude"], one["longitude"], FOOT * one["altitude_msl"], *origin)
        # Seven decimal places: 5.6 mm of latitude.
        assert ned == pytest.approx(truth[time], abs=0.006)
        assert FOOT * one["altitude"] == pytest.approx(-truth[time][2], abs=1e-6)


def test_commands_from_observers_are_rejected_and_counted(
    graph: Callable[..., Any], ports: Ports, closing: ExitStack
) -> None:
    flown = graph(
        *ports.arguments,
        *("-p", "uthere.reply_errors:=true"),
        flight_controller="ardupilot",
        observers=["uthere", "auv_zeromq"],
    )
    copter = ardupilot_client(flown, ports, closing)
    program = uthere_program(ports, closing)
    auv = AuvClient(closing, ports)
    pulses: list[PwmOutput] = flown.collect_messages(PWM_OUTPUT)

    program.send("fly_engage(plane=12345)")
    auv.thrusters.send(encode_thrusters(ThrusterCommand(0, 100, 100, 100, 100)))

    def refused() -> bool:
        assert copter.step(1150)
        return bool(counters(flown, "uthere")["refused_commands"] and counters(flown, "auv_zeromq")["refused_commands"])

    flown.spin_until(refused, "two refusals")
    flown.spin_until(lambda: program.listener in select.select([program.listener], [], [], 0)[0], "the reply")
    assert program.packets() == ["error(plane 12345: commanded by ardupilot)"]
    assert counters(flown, "auv_zeromq")["commands"] == 0
    assert {pulse for message in pulses[1:] for pulse in message.values} <= {1000, 1150}
    status = diagnostics(flown)
    flown.spin_until(lambda: "bridge: auv_zeromq" in status, "diagnostics")
    assert status["bridge: ardupilot"].message == "1 vehicle commanded"
    assert status["bridge: auv_zeromq"].message == "1 vehicle observed"
    assert {one.key: one.value for one in status["bridge: auv_zeromq"].values}["refused_commands"] == "1"


def test_ardupilot_as_observer_gets_no_reply(graph: Callable[..., Any], ports: Ports, closing: ExitStack) -> None:
    flown = graph(*ports.arguments, observers=["ardupilot"])
    copter = ardupilot_client(flown, ports, closing)
    copter.send(1900)
    flown.spin_until(lambda: counters(flown, "ardupilot")["refused_commands"], "the refusal")
    before = flown.time_s
    flown.spin_until(lambda: flown.time_s > before + 0.3, "advancing time")
    assert copter.received() is None


def test_ports_of_every_front_end_are_logged_at_the_start(
    graph: Callable[..., Any], ports: Ports, capfd: pytest.CaptureFixture[str]
) -> None:
    flown = graph(*ports.arguments, observers=["ardupilot", "uthere", "auv_zeromq"])
    flown.idle(0.2)
    logged = capfd.readouterr().err
    assert (
        f"ArduPilot on UDP 127.0.0.1:{ports.ardupilot}, whose frames are refused: commanded by its flight controller"
        in logged
    )
    assert (
        f"plane 12345 on UDP and TCP 127.0.0.1:{ports.uthere_in}; replies and data to UDP port {ports.uthere_out} of "
        "each program" in logged
    )
    for port in (ports.image, ports.thruster, ports.telemetry):
        assert f" on port {port}" in logged


def test_observers_do_not_change_the_flight(graph: Callable[..., Any], ports: Ports, closing: ExitStack) -> None:
    def flight(*observers: str) -> list[tuple[int, tuple[float, ...]]]:
        flown = graph(*ports.arguments, "-p", "step_size:=0.005", observers=observers)
        truths: list[SimState] = flown.collect_messages(TRUTH_STATE)
        flown.spin_until(lambda: flown.time_s > 2.0, "two seconds")
        flown.close()
        states = [(time_ns_of(one.header.stamp), position(one)) for one in truths]
        # The first states may be published before the subscription is matched.
        return [one for one in states if 500_000_000 <= one[0] < 1_750_000_000]

    alone, observed = flight(), flight("uthere", "auv_zeromq", "ardupilot")
    assert len(alone) == 250
    assert alone == observed


def test_camera_images_are_served_for_a_vehicle_flown_by_ardupilot(
    graph: Callable[..., Any], ports: Ports, closing: ExitStack
) -> None:
    member = Member(vehicle("bluerov2").carrying(CAMERA, True))
    flown = graph(
        *ports.arguments,
        *("-p", "world:=pool"),
        vehicles=[member],
        flight_controller="ardupilot",
        observers=["auv_zeromq"],
    )
    sub = ardupilot_client(flown, ports, closing)
    auv = AuvClient(closing, ports)
    images: list[list[bytes]] = []

    def pictured() -> bool:
        sub.step(1500)
        images.extend(auv.collected(auv.images))
        return bool(images)

    flown.spin_until(pictured, "a picture")
    auv_id, pictures = decode_images(images[0])
    assert auv_id == 0
    assert pictures.front.startswith(b"\xff\xd8")
    assert pictures.bottom.startswith(b"\xff\xd8")


def test_telemetry_is_sent_while_uthere_flies(graph: Callable[..., Any], ports: Ports, closing: ExitStack) -> None:
    flown = graph(
        *ports.arguments,
        *("-p", "uthere.reply_errors:=true"),
        vehicle_name="anaconda",
        flight_controller="uthere",
        observers=["auv_zeromq"],
    )
    program = uthere_program(ports, closing)
    auv = AuvClient(closing, ports)
    shown: list[Any] = []

    def telemetry() -> bool:
        shown.extend(decode_telemetry(one)[1] for one in auv.collected(auv.telemetry))
        return len(shown) > 100

    flown.spin_until(telemetry, "telemetry")
    program.send("fly_engage(plane=12345)")
    flown.spin_until(lambda: counters(flown, "uthere")["commands"], "the command")
    flown.idle(0.1)
    # On the ground the plane refuses for its own reason, not because another front-end commands it.
    assert not any("commanded by" in text for text in program.packets())
    assert flown.node("bridge").front_ends["uthere"].observed == {}


def test_each_vehicle_is_commanded_by_the_configured_front_end(
    graph: Callable[..., Any], ports: Ports, closing: ExitStack
) -> None:
    members = fleet(vehicle("multirotor"), count=2, spacing=None, seed=0)
    flown = graph(
        *ports.arguments,
        *("-p", "commanders:=[ardupilot, auv_zeromq]"),
        vehicles=members,
        flight_controller="ardupilot",
        observers=["auv_zeromq"],
    )
    copter = ardupilot_client(flown, ports, closing)
    auv = AuvClient(closing, ports)
    assert flown.node("bridge").front_ends["auv_zeromq"].observed == {0: "ardupilot"}
    auv.thrusters.send(encode_thrusters(ThrusterCommand(0, 40, 40, 40, 40)))
    flown.spin_until(lambda: copter.step(1150) and counters(flown, "auv_zeromq")["commands"], "the command")
    second: list[PwmOutput] = flown.collect_messages(PWM_OUTPUT, at="/multirotor_2")
    flown.spin_until(lambda: copter.step(1150) and second, "pulses of the second vehicle")
    assert set(second[-1].values) >= {1700}


@pytest.mark.parametrize(
    ("arguments", "options", "text"),
    [
        (
            ("-p", "commanders:=[uthere]"),
            {"flight_controller": "ardupilot"},
            "parameter 'commanders': 'uthere' given, which front_ends does not list; allowed: none, ardupilot",
        ),
        (
            ("-p", "commanders:=[ardupilot, none]"),
            {"flight_controller": "ardupilot"},
            "parameter 'commanders': ['ardupilot', 'none'] given; allowed: one for each of 1 vehicles, or an empty "
            "list",
        ),
        (
            ("-p", "front_ends:=[uthere, uthere]"),
            {"flight_controller": "ardupilot"},
            "parameter 'front_ends': ['uthere', 'uthere'] given; allowed: at least one, each once",
        ),
        (
            (),
            {"observers": ["mavlink"]},
            "observers: 'mavlink' given; allowed with flight controller 'sil_board': "
            f"{', '.join(registered('front_ends'))}, each once",
        ),
        (
            (),
            {"flight_controller": "uthere", "observers": ["uthere"]},
            "observers: 'uthere' given; allowed with flight controller 'uthere': "
            f"{', '.join(name for name in registered('front_ends') if name != 'uthere')}, each once",
        ),
    ],
)
def test_conflicting_front_ends_are_rejected(
    graph: Callable[..., Any], arguments: tuple[str, ...], options: dict[str, Any], text: str
) -> None:
    with pytest.raises(ParameterError) as error:
        graph(*arguments, **options)
    assert text in str(error.value)


def diagnostics(graph: Any) -> dict[str, Any]:
    """Newest status of each entry; updated while the graph runs."""
    status: dict[str, Any] = {}

    def take(message: DiagnosticArray) -> None:
        status.update({one.name.removeprefix("/"): one for one in message.status})

    graph.tester.create_subscription(DiagnosticArray, "/diagnostics", take, DIAGNOSTICS_QOS)
    return status


def position(state: SimState) -> tuple[float, float, float]:
    return state.pose.position.x, state.pose.position.y, state.pose.position.z


def time_ns(seconds: float) -> int:
    return round(seconds * NANOSECONDS)

"""Steps that follow the external program: step size, restart, several vehicles, diagnostics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from free_ports import free_ports
from rcl_interfaces.msg import Log
from sensor_msgs.msg import Range

from rosflight_py_sim.graph.fleet import fleet
from rosflight_py_sim.interfaces.diagnostics import DIAGNOSTICS_QOS
from rosflight_py_sim.protocols.ardupilot_json import Reply
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.vehicles import vehicle
from test.graph.ardupilot_client import ArduPilotClient

# The minimum that the parameter allows, to keep the test short.
SILENCE_S = 1.2


@pytest.fixture
def port() -> int:
    """An unused UDP port p; p + 10 is unused, too."""
    return free_ports(2, apart=10)[0]


@pytest.fixture
def make(graph: Callable[..., Any], port: int) -> Callable[..., Any]:
    """A function that makes a graph flown by ArduPilot."""

    def make(*arguments: str, **options: Any) -> Any:
        own = ["-p", f"ardupilot.port:={port}", "-p", f"ardupilot.silence:={SILENCE_S}", *arguments]
        return graph(*own, flight_controller="ardupilot", **options)

    return make


@pytest.fixture
def new_client(port: int) -> Iterator[Callable[..., ArduPilotClient]]:
    """A function that makes a client of a graph."""
    made: list[ArduPilotClient] = []

    def new(graph: Any, number: int = 0) -> ArduPilotClient:
        made.append(ArduPilotClient(graph, port + 10 * number))
        return made[-1]

    yield new
    for client in made:
        client.close()


def fly(client: ArduPilotClient, seconds: float, us: int) -> Reply:
    """Fly for this long and return the last reply."""
    reply = client.step(us)
    end = reply.timestamp + seconds
    while reply.timestamp < end:
        reply = client.step(us)
    return reply


def test_frame_rate_sets_step_size_from_first_frame_and_on_change(
    make: Callable[..., Any], new_client: Callable[..., ArduPilotClient]
) -> None:
    bridged = make()
    client = new_client(bridged)
    time_s = 0.0
    for rate in (1200, 400, 50, 1000):
        client.rate = rate
        # ardupilot.max_step limits the step.
        step_s = round(min(1 / rate, 0.005), 9)
        for _ in range(3):
            reply = client.step()
            assert reply.timestamp == pytest.approx(time_s + step_s, abs=1e-12)
            time_s = reply.timestamp
        assert bridged.values_of("time_manager")["step_size"] == pytest.approx(step_s, abs=1e-9)


def test_frame_rate_overrides_externally_set_step_size(
    make: Callable[..., Any], new_client: Callable[..., ArduPilotClient]
) -> None:
    bridged = make()
    client = new_client(bridged)
    client.step()
    bridged.set_parameter("time_manager", "step_size", 0.01)
    client.step()
    time_s = client.step().timestamp
    assert client.step().timestamp == pytest.approx(time_s + 0.0025, abs=1e-9)


def test_unanswered_step_size_request_is_warned_about(
    make: Callable[..., Any], new_client: Callable[..., ArduPilotClient]
) -> None:
    bridged = make()
    logged: list[Log] = bridged.collect_messages("/rosout", Log)
    client = new_client(bridged)
    client.step()
    # The reply arrives before the time manager has received the step's truth state.
    bridged.idle(0.1)
    bridged.remove(bridged.node("time_manager"))
    client.rate = 500
    client.count += 1
    client.send()
    text = "no reply to the step-size request (0.002 s) on /sim/step_size_request"
    bridged.spin_until(lambda: any(line.msg.startswith(text) for line in logged), "the warning")
    assert client.received() is None


def test_restarted_ardupilot_finds_vehicle_at_start_without_time_reset(
    make: Callable[..., Any], new_client: Callable[..., ArduPilotClient]
) -> None:
    bridged = make("-p", "battery_capacity_mah:=1000.0")
    first = new_client(bridged)
    first.rate = 200
    start = first.step()
    before = fly(first, 1.5, 1700)
    forces = bridged.node("forces_and_moments")
    drawn_ah = forces.model.charge_drawn_ah
    assert before.position_ned[2] < start.position_ned[2] - 1.0
    second = new_client(bridged)
    second.count, second.rate = -1, 200
    bridged.idle(SILENCE_S + 0.1)
    # Channels of 0, as ArduPilot begins: no output yet.
    after = second.step(0)
    assert after.timestamp == pytest.approx(before.timestamp + 0.005, abs=1e-9)
    assert after.position_ned == pytest.approx(start.position_ned, abs=1e-6)
    assert after.velocity_ned == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)
    assert after.quaternion == pytest.approx((1.0, 0.0, 0.0, 0.0), abs=1e-6)
    # rad/s; rotors at idle have some millionths.
    assert np.max(forces.model.rotor_speeds) < 1e-3
    assert forces.model.charge_drawn_ah < 1e-3 * drawn_ah
    counters = bridged.node("bridge").front_ends["ardupilot"].counters
    assert counters["restarts"] == 1
    # The vehicle flies as before.
    assert fly(second, 1.5, 1700).position_ned[2] == pytest.approx(before.position_ned[2], abs=0.05)


def test_active_ardupilot_keeps_its_vehicle_when_another_connects(
    make: Callable[..., Any], new_client: Callable[..., ArduPilotClient]
) -> None:
    bridged = make("-p", "ardupilot.silence:=30.0")
    first, second = new_client(bridged), new_client(bridged)
    for _ in range(20):
        time_s = first.step(1200).timestamp
    for _ in range(5):
        second.send(2000)
        bridged.idle(0.3)
        first.send(1200)
        first.answer()
    counters = bridged.node("bridge").front_ends["ardupilot"].counters
    assert (counters["refused_frames"], counters["restarts"]) == (5, 0)
    assert first.step(1200).timestamp == pytest.approx(time_s + 0.0025, abs=1e-9)


def test_each_vehicle_is_flown_by_its_ardupilot_at_the_fastest_step_rate(
    make: Callable[..., Any], new_client: Callable[..., ArduPilotClient]
) -> None:
    bridged = make(vehicles=fleet(vehicle("multirotor"), count=2, spacing=20.0, seed=0))
    assert [n.get_name() for n in bridged.nodes].count("bridge") == 1
    clients = [new_client(bridged, number) for number in (0, 1)]
    clients[1].rate = 500
    replies: list[Reply] = []
    for _ in range(600):
        for client, us in zip(clients, (1000, 1700), strict=True):
            client.count += 1
            client.send(us)
        answers = [client.reply() for client in clients]
        assert answers[0].timestamp == answers[1].timestamp
        if replies:
            assert answers[0].timestamp <= replies[0].timestamp + 0.0025 + 1e-9
        replies = answers
    last = clients[0].count
    assert replies[0].timestamp == pytest.approx(last * 0.002, abs=2 * 0.0005)
    assert replies[0].position_ned[2] == pytest.approx(-0.12, abs=0.01)
    assert replies[1].position_ned[2] < -0.6
    assert replies[1].position_ned[1] == pytest.approx(20.0, abs=0.05)


def test_diagnostics_show_state_peer_and_counters(
    make: Callable[..., Any], new_client: Callable[..., ArduPilotClient], port: int
) -> None:
    bridged = make()
    diagnostic_messages: list[DiagnosticArray] = bridged.collect_messages(
        "/diagnostics", DiagnosticArray, DIAGNOSTICS_QOS
    )
    client, second = new_client(bridged), new_client(bridged)

    def status(name: str) -> DiagnosticStatus:
        return next(s for message in reversed(diagnostic_messages) for s in message.status if s.name == name)

    def state() -> str:
        is_reported = any(s.name == "bridge" for message in diagnostic_messages for s in message.status)
        return str(status("bridge: vehicle").message) if is_reported else ""

    bridged.spin_until(lambda: state() == "waiting", "waiting")
    assert status("bridge: vehicle").hardware_id == f"ArduPilot on UDP 127.0.0.1:{port}"
    assert status("bridge: vehicle").level == DiagnosticStatus.WARN

    def fly_until(wanted: str, also: Callable[[], None] = lambda: None) -> None:
        # Each step has a time limit of its own.
        for _ in range(1000):
            client.step()
            # Reports come once per second of system time.
            bridged.idle(0.02)
            also()
            if state() == wanted:
                return
        pytest.fail(f"never {wanted}")

    fly_until("flying")
    assert status("bridge: vehicle").level == DiagnosticStatus.OK
    second.count = 1
    fly_until("refused", second.send)
    values = {v.key: v.value for v in status("bridge: ardupilot").values}
    counters = {name: int(values[name]) for name in bridged.node("bridge").front_ends["ardupilot"].COUNTERS}
    assert 0 < counters["steps"] <= client.count
    assert counters["refused_frames"] > 0
    assert counters["restarts"] == 0


def test_replies_carry_sensor_and_rc_data(make: Callable[..., Any], new_client: Callable[..., ArduPilotClient]) -> None:
    bridged = make("-p", "ardupilot.rc:=true")
    client = new_client(bridged)
    first, reply = client.step(), fly(client, 0.3, 1200)
    assert len(first.ranges) == len(reply.ranges) == 1
    assert first.rc_us == reply.rc_us == (1500, 1500, 1000, 1500, 1000, 2000, 2000, 1500)
    # A full battery of six cells under little load.
    assert reply.battery is not None and 22.0 < reply.battery.voltage < 26.0
    assert reply.airspeed is not None and reply.windvane is not None
    assert bridged.call("toggle_arm").success
    assert fly(client, 0.1, 1200).rc_us[4] == 2000


def test_further_range_finders_are_those_of_topics_of_the_vehicle(
    make: Callable[..., Any], new_client: Callable[..., ArduPilotClient]
) -> None:
    members = fleet(vehicle("multirotor"), count=2, spacing=20.0, seed=0)
    topics = "multirotor_2.ardupilot.further_ranges:=[range/front, range/back]"
    bridged = make("-p", topics, vehicles=members)
    clients = [new_client(bridged, number) for number in (0, 1)]

    def step() -> list[Reply]:
        for client in clients:
            client.count += 1
            client.send()
        return [client.reply() for client in clients]

    assert [len(reply.ranges) for reply in step()] == [1, 3]
    senders = [
        bridged.tester.create_publisher(Range, f"/multirotor_2/range/{name}", CHAIN) for name in ("front", "back")
    ]
    for sender in senders:
        bridged.spin_until(sender.get_subscription_count, "the bridge's subscription")
    senders[1].publish(Range(range=7.5))
    bridged.idle(0.1)
    step()
    first, second = step()
    assert len(first.ranges) == 1
    assert second.ranges[1:] == (0.0, 7.5)
    assert second.ranges[0] == pytest.approx(first.ranges[0], abs=0.3)
    senders[0].publish(Range(range=math.inf))
    bridged.idle(0.1)
    step()
    # Beyond the range of ArduPilot's drivers.
    assert step()[1].ranges[1:] == (655.0, 7.5)


def test_replies_carry_the_further_range_finders_of_the_sensors(
    make: Callable[..., Any], new_client: Callable[..., ArduPilotClient]
) -> None:
    settings = {
        "ardupilot.further_ranges": "[sim/sensors/rng_3, sim/sensors/rng_2]",
        "further_sensors": "[rng_2, rng_3]",
        # Both look at the ground from 0.5 m above the centre of mass: straight down and 30 deg below the horizon.
        "rng_2_position": "[0.0, 0.0, -0.5]",
        "rng_2_direction": "[0.0, 0.0, 1.0]",
        "rng_3_position": "[0.0, 0.0, -0.5]",
        "rng_3_direction": "[0.0, 1.7320508, 1.0]",
        **{f"{name}_{noise}": "0.0" for name in ("rng_2", "rng_3") for noise in ("stdev", "field_of_view")},
    }
    bridged = make(*(word for name, value in settings.items() for word in ("-p", f"{name}:={value}")))
    client = new_client(bridged)
    reply = fly(client, 0.3, 1000)
    assert len(reply.ranges) == 3
    _, slanting, down = reply.ranges
    # The resolution of each distance is 1 cm.
    assert down == pytest.approx(0.5 - reply.position_ned[2], abs=0.01)
    assert slanting == pytest.approx(2.0 * down, abs=0.02)


def test_same_frames_yield_identical_replies(
    make: Callable[..., Any], new_client: Callable[..., ArduPilotClient]
) -> None:
    settings = {
        "ardupilot.imu": "sensors",
        "ardupilot.rc": "true",
        "sim_has_wind": "true",
        "turbulence_model": "dryden_8785c",
    }
    arguments = [word for name, value in settings.items() for word in ("-p", f"{name}:={value}")]
    flights: list[list[bytes]] = []
    for _ in range(2):
        bridged = make(*arguments)
        client = new_client(bridged)
        answers = []
        for step in range(250):
            client.count = step
            client.rate = 400 if step < 100 else 800
            client.send(1650 + step % 50)
            answers.append(client.answer())
        flights.append(answers)
        bridged.close()
    assert flights[0] == flights[1]
    assert len(set(flights[0])) == 250

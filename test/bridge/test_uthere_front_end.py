"""Commands of programs to uThere's Ground Control, and its replies."""

from __future__ import annotations

import contextlib
import math
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from rosflight_py_sim.bridge.uthere_front_end import UthereFrontEnd
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.protocols.uthere import LARGEST_REPLY, ClientIpList, Data, DataAll, ErrorReply, PlaneList
from test.bridge.logged_lines import LoggedLines
from test.bridge.uthere_bench import PERIOD_NS, READY, Program, UthereBench

MakeBench = Callable[..., UthereBench]

PAGE = (
    "request_plane_list",
    "data_request(plane=12345,variable=airspeed,interval = 0.5)",
    "data_request(plane=12345,variable=latitude,interval = 0.5) ",
    "data_request(plane=12345,variable=longitude,interval = 0.5) ",
    "data_request(plane=12345,variable=altitude,interval = 0.5) ",
    "data_request(plane=12345,variable=course,interval = 0.5) ",
    "data_request(plane=12345,variable=power_battery_voltage,interval = 0.5) ",
    "data_request(plane=12345,variable=all, interval = 0.5)",
    "data_pause",
    "data_resume",
    "data_remove(plane=12345,variable=longitude)",
    "data_clear",
    "fly_to(plane=12345,latitude=75.13345,longitude=-123.4556,altitude=123,airspeed=21) ",
    "waypoint_clear_all",
    "waypoint_add(waypointid=14, nextwaypointid=16, plane=102, latitude=75.13345,longitude=-123.4556,altitude=123,"
    "airspeed=21) ",
    "waypoint_add(waypointid=12, nextwaypointid=14, plane=102, latitude=75.13345,longitude=-123.4556,altitude=123,"
    "airspeed=21) ",
    "fly_to_waypoint(12)",
    "fly_engage(plane=12345)",
    "fly(plane=12345,roll=-15,pitch=10.3,throttle=65)",
    "fly(plane=12345,heading=265,airspeed=19.5,climb=5.0)",
    "fly_disenage(plane=12345)",
    "fly_disengage(plane=12345)",
    "request_client_ip_list",
)
"""Every example of the protocol's page, unchanged, in a sensible order. The waypoint to fly to, and the fly_engage that
fly() requires, are additions of the tests."""


@pytest.fixture
def make() -> Iterator[MakeBench]:
    """A function that makes benches; they end with the test."""
    with contextlib.ExitStack() as closing:
        yield lambda *arguments, **settings: UthereBench(closing, *arguments, **settings)


@pytest.fixture
def bench(make: MakeBench) -> UthereBench:
    """One plane, 12345, in the air."""
    made = make()
    made.step()
    return made


@pytest.fixture
def program(bench: UthereBench) -> Program:
    return bench.program()


def received_values(program: Program) -> dict[str, float]:
    """Names and values of all data received."""
    return {name: value for reply in program.replies() for name, value in reply.values.items()}  # type: ignore[union-attr]


def test_every_documented_line_is_accepted(make: MakeBench) -> None:
    bench = make(2, {"plane_2.uthere.plane_id": 102})
    bench.step()
    program = bench.program()
    for line in PAGE:
        program.send(line)
        bench.read(1)
    assert program.replies() == [PlaneList((12345, 102)), ClientIpList(("127.0.0.1",))]
    assert bench.front_end.counters["commands"] == len(PAGE)
    assert bench.front_end.counters["refused_commands"] == 0
    assert bench.log.warnings == []


def test_commands_in_one_packet_run_in_order_despite_errors_between_them(bench: UthereBench, program: Program) -> None:
    program.send("request_plane_list; what\nfly(;request_client_ip_list()")
    bench.read(1)
    replies = program.replies()
    assert [type(reply) for reply in replies] == [PlaneList, ClientIpList, ErrorReply, ErrorReply]
    assert "line 1, column 21: there is no command 'what'" in replies[2].reason  # type: ignore[union-attr]
    assert "line 2" in replies[3].reason  # type: ignore[union-attr]


def test_data_is_sent_at_simulated_interval_with_unix_time(make: MakeBench) -> None:
    bench = make()
    program = bench.program()
    program.send("data_request(plane=12345,variable=airspeed,interval=0.1)")
    bench.serve_until(lambda: bench.front_end.counters["packets"])
    bench.step(101)
    data = program.packets()
    assert data == [f"data({1_208_472_993 + 0.1 * k:.3f}, plane=12345, airspeed=18)" for k in range(11)]


def test_interval_is_at_least_a_fiftieth_of_a_second(bench: UthereBench, program: Program) -> None:
    program.send("data_request(plane=12345,variable=roll,interval=0)")
    bench.read(1)
    bench.step(100)
    # One more if the first packet precedes the interval's grid.
    assert len(program.packets()) in (50, 51)


def test_pause_keeps_subscriptions_remove_drops_one_and_clear_drops_all(bench: UthereBench, program: Program) -> None:
    for variable in ("latitude", "longitude", "all"):
        program.send(f"data_request(variable={variable},interval=0.05)")
    bench.read(3)
    bench.step()
    assert len(program.packets()) == 3
    program.send("data_pause()")
    bench.read(1)
    bench.step(20)
    assert program.packets() == []
    program.send("DATA_RESUME")
    bench.read(1)
    bench.step(5)
    assert len(program.packets()) >= 3
    program.send("data_remove(plane = 12345 , variable = longitude)")
    bench.read(1)
    bench.step(5)
    assert [type(reply) for reply in program.replies()] == [Data, DataAll]
    program.send("data_clear")
    bench.read(1)
    bench.step(20)
    assert program.packets() == []


def test_each_client_receives_only_what_it_requested(bench: UthereBench) -> None:
    programs = [bench.program(f"127.0.0.{k}") for k in range(2, 6)]
    silent = bench.program("127.0.0.9")
    for k, program in enumerate(programs):
        program.send(*["data_request(variable=roll,interval=0.1)"] * k, "request_plane_list")
    bench.read(6 + 4)
    bench.step(11)
    # On the interval's grid, whenever it was requested.
    assert [len(program.packets()) for program in programs] == [1, 3, 3, 3]
    assert silent.packets() == []
    silent.send("request_client_ip_list")
    bench.read(1)
    assert silent.replies() == [ClientIpList((*(program.address for program in programs), "127.0.0.9"))]


def test_replies_go_to_sender_address_regardless_of_source_port(bench: UthereBench) -> None:
    program = bench.program("127.0.0.3")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.3", 0))
        other.setblocking(False)
        other.sendto(b"request_plane_list", ("127.0.0.1", bench.port_in))
        bench.read(1)
        with pytest.raises(BlockingIOError):
            other.recv(100)
    assert program.replies() == [PlaneList((12345,))]


def test_command_without_plane_applies_to_all_and_with_plane_to_that_one(make: MakeBench) -> None:
    bench = make(3, {"plane_1.uthere.plane_id": 7}, plane_id=99)
    bench.step()
    program = bench.program()
    program.send("data_request(variable=roll,interval=0.1);data_request(plane=101,variable=pitch,interval=0.1)")
    bench.read(1)
    bench.step()
    replies = [reply for reply in program.replies() if isinstance(reply, Data)]
    assert [(reply.plane, *reply.values) for reply in replies] == [
        (7, "roll"),
        (100, "roll"),
        (101, "roll"),
        (101, "pitch"),
    ]
    program.send("fly_engage(plane=100)")
    bench.read(1)
    program.send("fly(roll=10,pitch=2,throttle=60)")
    bench.read(1)
    bench.step()
    assert [bench.front_end.activity(vehicle) for vehicle in range(3)] == ["waypoint", "packet target", "waypoint"]
    errors = [reply.reason for reply in program.replies() if isinstance(reply, ErrorReply)]
    assert [text.split(":")[0] for text in errors] == ["plane 7", "plane 101"]


@pytest.mark.parametrize(("most", "packets_of_all"), [(LARGEST_REPLY, 1), (1400, 2)])
def test_data_all_starts_as_documented_and_is_one_packet_up_to_configured_size(
    make: MakeBench, most: int, packets_of_all: int
) -> None:
    bench = make(udp_max_packet=most)
    program = bench.program()
    # As many digits as possible.
    bench.snapshots[0].truth[:] += 0.0123456789
    program.send("data_request(plane=12345,variable=all,interval=1)")
    bench.read(1)
    bench.step()
    packets = program.packets()
    assert len(packets) == packets_of_all
    assert all(len(packet) <= most for packet in packets)
    assert all("latitude=" in packet for packet in packets[:1])
    assert packets[0].startswith("data_all(")
    names = [part.split("=")[0] for packet in packets for part in packet.rstrip(")").split(", ")[1:]]
    assert names[:5] == ["plane", "latitude", "longitude", "altitude", "airspeed"]
    variables = [name for name in names if name != "plane"]
    assert len(variables) == len(set(variables)) > 60


def test_ports_are_available_as_variables(bench: UthereBench, program: Program) -> None:
    program.send("data_request(variable=udp_port_in,interval=1);data_request(variable=udp_port_out,interval=1)")
    bench.read(1)
    bench.step(2)
    assert received_values(program) == {"udp_port_in": bench.port_in, "udp_port_out": bench.port_out}


def test_every_variable_of_data_all_can_be_requested_individually(bench: UthereBench, program: Program) -> None:
    program.send("data_request(variable=all,interval=1)")
    bench.read(1)
    bench.step(2)
    everything = received_values(program)
    program.send("data_clear", *(f"data_request(variable={name},interval=1)" for name in everything))
    bench.read(1 + len(everything))
    bench.step(110)
    assert received_values(program).keys() == everything.keys()


@pytest.mark.parametrize("command", ["data_request(variable=airspeeed,interval=1)", "data_remove(variable=roll)"])
def test_unknown_variable_is_counted_and_reported(bench: UthereBench, program: Program, command: str) -> None:
    program.send(command)
    bench.read(1)
    assert bench.front_end.counters["unknown_variable"] == 1
    (error,) = program.replies()
    assert isinstance(error, ErrorReply)


def test_each_rejected_command_is_answered_with_one_line(make: MakeBench) -> None:
    bench = make()
    bench.step()
    program = bench.program()
    program.send("what", "fly_engage(plane=3)", "fly(roll=1,pitch=1,throttle=1)", "fly_to_waypoint(3)")
    bench.read(4)
    replies = program.replies()
    assert [type(reply) for reply in replies] == [ErrorReply] * 4


def test_error_replies_can_be_disabled(make: MakeBench) -> None:
    bench = make(reply_errors=False)
    program = bench.program()
    program.send("what", "fly_engage(plane=3)", b"\xff\xfe\x00", "fly_engage")
    bench.read(4)
    assert program.packets() == []
    counters = bench.front_end.counters
    assert (counters["bad_commands"], counters["unknown_plane"], counters["refused_commands"]) == (2, 1, 1)
    # Warnings are rate-limited: only the first one within a second is logged.
    assert len(bench.log.warnings) == 1


def test_one_client_can_subscribe_to_at_most_256_variables(make: MakeBench) -> None:
    bench = make(5)
    bench.step()
    program, other = bench.program(), bench.program("127.0.0.2")
    names = bench.front_end.planes[0].names[:52]
    for name in names:
        program.send(f"data_request(variable={name},interval=1)")
    bench.read(len(names))
    assert bench.front_end.counters["too_many_subscriptions"] == 5 * 52 - 256
    assert all(isinstance(reply, ErrorReply) for reply in program.replies())
    other.send("data_request(variable=roll,interval=1)")
    bench.read(1)
    bench.step(101)
    assert len(other.packets()) == 10


def test_packets_of_one_client_and_of_all_are_bounded_per_simulated_second_and_the_bound_is_reported(
    bench: UthereBench,
) -> None:
    programs = [bench.program(f"127.0.2.{k}") for k in range(3)]
    names = bench.front_end.planes[0].names[:30]
    for program in programs:
        program.send(*(f"data_request(variable={name},interval=0.02)" for name in names))
    bench.read(3 * 30)
    # 10 variables at 50 Hz each for two clients.
    reasons = [[reply.reason for reply in program.replies()] for program in programs]  # type: ignore[union-attr]
    assert [len(one) for one in reasons] == [20, 20, 30]
    assert reasons[0][0].startswith("more than 500 packets per second; variable=all")
    assert reasons[2][0].startswith("more than 1000 packets per second to all clients together")
    assert bench.front_end.counters["too_high_rate"] == 70
    bench.step(200)
    assert bench.front_end.counters["data_packets"] == pytest.approx(2000, rel=0.02)
    # Cleared subscriptions make room.
    programs[0].send("data_clear")
    programs[2].send(f"data_request(variable={names[0]},interval=0.02)")
    bench.read(2)
    assert not programs[2].replies()


def test_data_of_a_client_that_sends_nothing_for_ten_simulated_minutes_end(bench: UthereBench) -> None:
    silent, lively = bench.program("127.0.0.2"), bench.program("127.0.0.3")
    for program in (silent, lively):
        program.send("data_request(variable=roll,interval=50)")
    bench.read(2)
    for _ in range(7):
        bench.time_ns += 99_000_000_000
        bench.step()
        lively.send("request_plane_list")
        bench.read(1)
    assert bench.front_end.counters["expired_clients"] == 1
    last = silent.replies()[-1]
    assert isinstance(last, ErrorReply)
    assert "nothing received from it for 600 s of simulated time" in last.reason
    lively.packets()
    bench.time_ns += 99_000_000_000
    bench.step()
    assert silent.packets() == []
    assert len(lively.packets()) == 1


def test_64_clients_receive_data_and_one_without_subscriptions_makes_room(bench: UthereBench) -> None:
    programs = [bench.program(f"127.0.1.{k}") for k in range(65)]
    for program in programs[:64]:
        program.send("data_request(variable=roll,interval=1)")
        bench.read(1)
    programs[64].send("request_plane_list")
    bench.read(1)
    (refusal,) = programs[64].replies()
    assert isinstance(refusal, ErrorReply)
    assert refusal.reason.startswith("64 other clients receive data")
    assert bench.front_end.counters["too_many_clients"] == 1
    programs[0].send("data_clear")
    bench.read(1)
    programs[64].send("request_client_ip_list")
    bench.read(1)
    (listed,) = programs[64].replies()
    assert isinstance(listed, ClientIpList)
    assert len(listed.addresses) == 64
    assert "127.0.1.0" not in listed.addresses


def test_fly_enters_packet_target_mode_and_timeout_leaves_it(bench: UthereBench, program: Program) -> None:
    assert bench.front_end.activity(0) == "waypoint"
    program.send("fly_engage(plane=12345)", "fly(plane=12345,roll=-15,pitch=2,throttle=65)")
    bench.read(2)
    bench.step(2)
    assert bench.front_end.activity(0) == "packet target"
    assert bench.commands[0] is not None
    program.send("data_request(variable=control_operate_mode,interval=0.02)")
    bench.read(1)
    bench.step(2)
    assert received_values(program) == {"control_operate_mode": 24}
    bench.step(200)
    assert bench.front_end.activity(0) == "return home"


# System time for which a program is suspended, s, and simulated time that would pass meanwhile, s.
SUSPENDED_S, MEANWHILE_S = 0.5, 3.0


@pytest.mark.parametrize("time_mode", ["lockstep", "gated"])
def test_suspended_program_keeps_the_plane_while_time_can_wait(make: MakeBench, time_mode: str) -> None:
    bench = make(time_mode=time_mode)
    program = bench.program()
    bench.step(2)
    program.send("fly_engage(plane=12345)", "fly(plane=12345,roll=-15,pitch=2,throttle=65)")
    bench.read(2)
    bench.step(2)
    late = threading.Timer(SUSPENDED_S, program.send, ["fly(plane=12345,roll=15,pitch=2,throttle=65)"])
    late.start()
    # At full speed these steps take some milliseconds; the program has two seconds of simulated time to send fly().
    bench.step(round(MEANWHILE_S / (1e-9 * PERIOD_NS)))
    late.join()
    assert bench.front_end.activity(0) == "packet target"
    # The time limit still holds.
    bench.step(201)
    assert bench.front_end.activity(0) == "return home"


def test_no_commands_during_rc_override_or_without_flight_controller(
    bench: UthereBench,
) -> None:
    assert bench.commands[0] is not None
    bench.snapshots[0] = replace(bench.snapshots[0], status=READY._replace(rc_override=1))
    bench.step()
    assert bench.commands[0] is None
    assert bench.front_end.activity(0) == "manual"
    bench.snapshots[0] = replace(bench.snapshots[0], status=None)
    bench.step()
    assert bench.commands[0] is None


def test_non_finite_state_is_neither_flown_nor_sent(bench: UthereBench, program: Program) -> None:
    bench.snapshots[0].truth[1] = math.nan
    program.send("data_request(variable=all,interval=0.1)")
    bench.read(1)
    bench.step(2)
    assert bench.commands[0] is None
    values = received_values(program)
    assert "latitude" not in values
    assert "power_battery_voltage" in values


def test_data_continues_after_time_goes_backwards(bench: UthereBench, program: Program) -> None:
    program.send("data_request(variable=roll,interval=1)")
    bench.read(1)
    bench.step(150)
    assert len(program.packets()) == 2
    bench.time_ns = 5 * PERIOD_NS
    bench.step(110)
    assert len(program.packets()) == 2


def test_port_in_use_is_reported(bench: UthereBench) -> None:
    values = UthereFrontEnd.PARAMETERS.checked(
        {"uthere.udp_port_in": bench.port_in, "uthere.udp_port_out": bench.port_out}
    )
    second = UthereFrontEnd(values, LoggedLines())
    with pytest.raises(ParameterError, match=f"127.0.0.1:{bench.port_in} given, which cannot be used"):
        second.open()
    second.close()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"udp_port_in": 9, "udp_port_out": 9}, "9 given for both; allowed: two ports"),
        ({"plane_id": 2**31 - 1}, "which gives vehicle 'b' 2147483648; allowed: at most 2147483646 for 2 vehicles"),
        ({"altitude_unit": "yd"}, "'yd' given; allowed: text, one of ft, m"),
        ({"ap_target_from_packet_timeout": 0.5}, "0.5 given; allowed: number, from 1 to 10 s"),
    ],
)
def test_inconsistent_settings_are_rejected(settings: dict[str, object], words: str) -> None:
    given = {f"uthere.{name}": value for name, value in settings.items()}
    with pytest.raises(ParameterError, match=words):
        UthereFrontEnd(UthereFrontEnd.PARAMETERS.checked(given), LoggedLines(), ("a", "b"))  # type: ignore[arg-type]


def test_plane_number_given_twice_is_refused_by_the_planes_names(make: MakeBench) -> None:
    with pytest.raises(
        ParameterError, match=r"'uthere\.plane_id': 12347 given for vehicles 'plane_1' and 'plane_3'; allowed: another"
    ):
        make(3, {"plane_1.uthere.plane_id": 12347})


def test_commanded_planes_are_numbered_before_observed_ones(make: MakeBench) -> None:
    bench = make(4, observed={0: "ardupilot", 2: "auv_zeromq"})
    assert [plane.number for plane in bench.front_end.planes] == [12347, 12345, 12348, 12346]
    bench.step()
    program = bench.program()
    program.send("request_plane_list; fly_engage(plane=12347)")
    bench.read(1)
    listed, refused = program.replies()
    assert listed == PlaneList((12345, 12346, 12347, 12348))
    assert refused == ErrorReply("plane 12347: commanded by ardupilot")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"altitude": -500}, "altitude -500 ft given, allowed: 32.81 to 984.3 ft"),
        ({"airspeed": 500}, "airspeed 500 m/s given, allowed: 10 to 35 m/s"),
        ({"altitude": "nan"}, "altitude='nan' given; allowed: number from -100000 to 100000"),
        ({"latitude": 91}, "latitude='91' given; allowed: number from -90 to 90 deg"),
        ({"longitude": -181}, "longitude='-181' given; allowed: number from -180 to 180 deg"),
    ],
)
@pytest.mark.parametrize("command", ["fly_to(", "waypoint_add(waypointid=1, nextwaypointid=-1, "])
def test_refused_waypoint_names_the_value_given_and_those_allowed(
    bench: UthereBench, program: Program, command: str, given: dict[str, object], reason: str
) -> None:
    values = {"plane": 12345, "latitude": 40.25, "longitude": -111.64, "altitude": 300, "airspeed": 18} | given
    program.send(command + ", ".join(f"{name}={value}" for name, value in values.items()) + ")")
    bench.read(1)
    (error,) = program.replies()
    assert isinstance(error, ErrorReply)
    assert reason in error.reason
    assert bench.front_end.counters["refused_commands"] + bench.front_end.counters["bad_commands"] == 1


def test_target_outside_the_cage_is_refused_in_the_units_of_the_protocol(make: MakeBench) -> None:
    bench = make(altitude_unit="m", airspeed_unit="kn", cage_throttle_maximum=0.8)
    bench.step()
    program = bench.program()
    for targets in ("roll=-70, airspeed=90, climb=60", "course=1, pitch=50, throttle=90"):
        program.send(f"fly_engage; fly({targets})")
        bench.read(1)
        bench.step()
    assert [reply.reason.partition("cage: ")[2] for reply in program.replies() if isinstance(reply, ErrorReply)] == [
        "roll 70 deg given, allowed: up to 60.16 deg; airspeed 90 kn given, allowed: 19.44 to 68.03 kn; "
        "climb 60 ft/s given, allowed: -49.21 to 49.21 ft/s",
        "pitch 50 deg given, allowed: -40.11 to 40.11 deg; throttle 90 % given, allowed: up to 80 %",
    ]


def test_cage_limits_change_in_flight_for_all_planes_or_none(make: MakeBench) -> None:
    made = make(2, home_altitude=30.0)
    program = made.program()
    program.send(
        "data_request(variable=cage_altitude_maximum,interval=0.02)",
        "data_request(variable=cage_triggered,interval=0.02)",
    )
    values = dict(made.front_end.values)
    made.front_end.configure({**values, "uthere.cage_altitude_maximum": 30.48})
    made.serve_until(lambda: made.front_end.counters["commands"] >= 2)
    made.step(5)
    assert received_values(program)["cage_altitude_maximum"] == pytest.approx(100.0)
    # The planes fly at 50 m.
    assert [plane.pilot.cage_triggered & 1 for plane in made.front_end.planes] == [1, 1]
    with pytest.raises(ParameterError, match="'cage_altitude_minimum' and 'cage_altitude_maximum': 90 and 30"):
        made.front_end.configure({**values, "uthere.cage_altitude_minimum": 90.0, "uthere.cage_altitude_maximum": 30.0})
    made.step(5)
    assert received_values(program)["cage_altitude_maximum"] == pytest.approx(100.0)

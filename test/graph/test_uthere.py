"""Programs of uThere's Ground Control fly planes in the running graph, in every time mode."""

from __future__ import annotations

import itertools
import math
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from free_ports import free_ports
from rosflight_msgs.msg import Command

from rosflight_py_sim.graph.fleet import fleet
from rosflight_py_sim.ground.stamps import NANOSECONDS, time_ns_of
from rosflight_py_sim.protocols.uthere import Data, PlaneList, parse_reply
from rosflight_py_sim.step.topics import COMMAND, TRUTH_STATE
from rosflight_py_sim.vehicles import vehicle
from test.bridge.test_uthere_front_end import PAGE
from test.bridge.uthere_bench import Program

FOOT = 0.3048
FLOOD = Path(__file__).parents[1] / "tools" / "uthere_flood.py"


class Served:
    """A graph with Ground Control, and a program that keeps the newest data."""

    def __init__(self, graph: Callable[..., Any], *arguments: str, **options: Any) -> None:
        port_in, port_out = free_ports(2)
        ports = ("-p", f"uthere.udp_port_in:={port_in}", "-p", f"uthere.udp_port_out:={port_out}")
        options.setdefault("vehicle_name", "anaconda")
        self.graph = graph(*ports, "-p", "start_date:=1970-01-01", *arguments, flight_controller="uthere", **options)
        self.port_in, self.port_out = port_in, port_out
        self.front_end = self.graph.node("bridge").front_ends["uthere"]
        self.program = Program("127.0.0.1", ("127.0.0.1", port_in), port_out)
        self.data: dict[int, dict[str, float]] = {}
        self.stamps: list[float] = []
        self.others: list[Any] = []

    def collect_replies(self) -> None:
        """Store the received replies."""
        for reply in self.program.replies():
            if isinstance(reply, Data):
                self.data.setdefault(reply.plane, {}).update(reply.values)
                self.stamps.append(reply.time_s)
            else:
                self.others.append(reply)

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Run until a condition on the data holds."""

        def holds() -> object:
            self.collect_replies()
            return condition()

        self.graph.spin_until(holds, what)

    def send(self, *lines: str) -> None:
        """Send lines, and run until they are read."""
        before = self.front_end.counters["packets"]
        self.program.send(*lines)
        self.graph.spin_until(lambda: self.front_end.counters["packets"] >= before + len(lines), f"{lines} read")


@pytest.fixture
def serve(graph: Callable[..., Any]) -> Iterator[Callable[..., Served]]:
    """A function that makes a Served; it ends with the test."""
    made: list[Served] = []

    def make(*arguments: str, **options: Any) -> Served:
        made.append(Served(graph, *arguments, **options))
        return made[-1]

    yield make
    for one in made:
        one.program.close()


def test_plane_takes_off_by_itself_and_follows_streamed_targets(serve: Callable[..., Served]) -> None:
    airspeed, altitude = 5, 60
    # A quarter of the usual number of steps, to keep the test short.
    served = serve("-p", "step_size:=0.01", vehicle_name="multirotor")
    graph = served.graph
    commands: list[Command] = graph.collect_messages(COMMAND)
    graph.arm()
    served.send("data_request(plane=12345,variable=all,interval=0.2)")
    assert graph.call("toggle_override").success
    served.until(lambda: served.data.get(12345, {}).get("control_operate_mode") == 3, "waypoint mode")
    plane = served.data[12345]
    assert plane["altitude"] * FOOT > 4.0
    served.send("fly_engage(plane=12345)")
    streamed = len(served.stamps)

    def flies_west() -> bool:
        nonlocal streamed
        if len(served.stamps) > streamed:
            # At 5 Hz of simulated time, as programs do.
            streamed = len(served.stamps)
            served.program.send(f"fly(plane=12345,course=270,airspeed={airspeed},altitude={altitude})")
        reached = abs(plane["altitude"] - altitude) < 10.0 and abs(plane["airspeed"] - airspeed) < 1.0
        return reached and abs(plane["course"] - 270.0) < 3.0

    served.until(flies_west, "a course to the west at that height and speed")
    assert plane["control_operate_mode"] == 24
    assert plane["ap_target_from_packet_enabled"] == 1
    assert plane["offboard"] == plane["armed"] == 1
    # The program stops sending.
    served.until(lambda: plane["ap_target_from_packet_enabled"] == 0, "the deadman")
    assert int(plane["ap_target_from_packet_cage_triggered_last"]) >> 6 & 1
    assert plane["control_operate_mode"] == 5
    stamps = [time_ns_of(command.header.stamp) / NANOSECONDS for command in commands]
    flown = [stamp for stamp in stamps if stamp > served.stamps[-1] - 5.0]
    # At 100 Hz, whatever the program does.
    assert max(b - a for a, b in itertools.pairwise(flown)) == pytest.approx(0.01, abs=1e-6)


def test_data_matches_truth_at_its_timestamp(serve: Callable[..., Served]) -> None:
    served = serve()
    served.graph.ready()
    truths: dict[int, Any] = {}
    served.graph.tester.create_subscription(
        type(served.graph.truth), TRUTH_STATE.name, lambda m: truths.update({_milliseconds(m.header.stamp): m}), 10
    )
    served.send("data_request(plane=12345,variable=altitude,interval=0.1)")
    reported: dict[int, float] = {}

    def three_heard() -> bool:
        for packet in served.program.packets():
            reply = parse_reply(packet)
            assert isinstance(reply, Data)
            reported[round(1000.0 * reply.time_s)] = reply.values["altitude"]
        return len(reported.keys() & truths.keys()) >= 3

    served.graph.spin_until(three_heard, "data of the times of truths")
    for time_ms in reported.keys() & truths.keys():
        # Seven decimal places of a foot.
        assert reported[time_ms] * FOOT == pytest.approx(-truths[time_ms].pose.position.z, abs=1e-6)
    # On the interval's grid after the first reply.
    assert [time_ms % 100 for time_ms in sorted(reported)[1:]] == [0] * (len(reported) - 1)


def _milliseconds(stamp: Any) -> int:
    return round(time_ns_of(stamp) / 1e6)


@pytest.mark.parametrize("time_mode", ["wall", "paced", "lockstep"])
def test_clients_are_served_in_every_time_mode(serve: Callable[..., Served], time_mode: str) -> None:
    served = serve(time_mode=time_mode, multiplier=1.0)
    commands: list[Command] = served.graph.collect_messages(COMMAND)
    served.graph.spin_until(lambda: served.graph.time_ns > 0, "advancing time")
    assert served.graph.call("toggle_override").success
    served.send("request_plane_list", "data_request(variable=throttle,interval=0.1)")
    served.until(lambda: len(served.stamps) > 5 and len(commands) > 20, "data and commands")
    assert served.others == [PlaneList((12345,))]


def test_requests_without_data_are_answered_while_paused(serve: Callable[..., Served]) -> None:
    served = serve()
    served.graph.ready()
    served.graph.pause()
    served.collect_replies()
    served.program.send("request_plane_list")
    served.until(lambda: served.others, "the plane list")
    assert served.stamps == []


def test_fleet_planes_have_their_own_numbers_and_commands(serve: Callable[..., Served]) -> None:
    members = fleet(vehicle("anaconda"), count=2, spacing=50.0, seed=0)
    served = serve("-p", f"{members[1].namespace}.uthere.plane_id:=102", vehicles=members)
    commands: list[Command] = served.graph.collect_messages(COMMAND, at=f"/{members[1].namespace}")
    served.send("request_plane_list", "data_request(variable=longitude,interval=0.1)")
    served.until(lambda: set(served.data) == {12345, 102} and served.others, "data of both")
    assert served.others == [PlaneList((12345, 102))]
    metres_per_degree = math.radians(6_378_137.0) * math.cos(math.radians(40.2463724))
    east = (served.data[102]["longitude"] - served.data[12345]["longitude"]) * metres_per_degree
    # The radius of curvature of WGS 84 there is a thousandth longer.
    assert east == pytest.approx(50.0, rel=2e-3)
    assert served.graph.call(f"/{members[1].namespace}/toggle_override").success
    served.graph.spin_until(lambda: commands, "commands of the second")


def test_state_and_counters_are_published_in_diagnostics(serve: Callable[..., Served]) -> None:
    # At the pace of the reports, which come once per second of system time.
    served = serve(multiplier=1.0)
    received: list[DiagnosticArray] = served.graph.collect_messages("/diagnostics", DiagnosticArray)
    served.graph.ready()
    served.send("fly_engage", "nonsense", "request_plane_list")

    def reported() -> dict[str, Any]:
        return {status.name: status for message in received for status in message.status}

    def counted() -> dict[str, str]:
        return (
            {value.key: value.value for value in reported()["bridge: uthere"].values}
            if "bridge: uthere" in reported()
            else {}
        )

    served.graph.spin_until(lambda: counted().get("bad_commands") == "1", "the counters")
    assert counted()["refused_commands"] == "1"
    assert counted()["commands"] == "2"
    served.graph.spin_until(lambda: reported()["bridge: vehicle"].message == "manual", "the mode")
    assert reported()["bridge: vehicle"].hardware_id == f"plane 12345 on UDP 127.0.0.1:{served.port_in}"


def test_flood_does_not_starve_simulation_or_other_clients(serve: Callable[..., Served]) -> None:
    served = serve("-p", "step_size:=0.01")
    served.graph.ready()
    served.send("data_request(variable=time,interval=0.1)")
    counters = served.front_end.counters
    flood = subprocess.Popen([sys.executable, str(FLOOD), str(served.port_in), "10000"])
    try:
        served.until(lambda: counters["flooding"], "the flood")
        began, reported = served.graph.time_s, len(served.stamps)
        for number in range(10):
            served.program.send("request_plane_list")
            served.until(lambda n=number: len(served.others) > n, f"reply {number}")
        served.graph.spin_for(1.0)
        assert flood.poll() is None
    finally:
        flood.kill()
        flood.wait()
    served.graph.idle(0.1)
    served.collect_replies()
    # No packet was skipped, and there are as many as fit into the simulated time.
    stamps = served.stamps[reported:]
    assert max(b - a for a, b in itertools.pairwise(stamps)) == pytest.approx(0.1, abs=1e-6)
    assert len(stamps) >= 10.0 * (served.graph.time_s - began) - 2


@pytest.mark.skipif(shutil.which("nc") is None, reason="nc (netcat-openbsd) is not installed")
def test_every_documented_line_works_when_typed_into_netcat(serve: Callable[..., Served], tmp_path: Path) -> None:
    members = fleet(vehicle("anaconda"), count=2, spacing=50.0, seed=0)
    # In real time, because netcat cannot take more data.
    served = serve(
        "-p", f"{members[1].namespace}.uthere.plane_id:=102", "-p", "step_size:=0.01", vehicles=members, multiplier=1.0
    )
    served.graph.spin_until(lambda: served.graph.time_s > 0.1, "advancing time")
    served.program.close()
    there = ["127.0.0.1", str(served.port_in)]
    here = ["127.0.0.1", str(served.port_out)]
    received = tmp_path / "received"
    with received.open("wb") as output:
        listener = subprocess.Popen(["nc", "-u", "-l", *here], stdin=subprocess.DEVNULL, stdout=output)
        sender = subprocess.Popen(["nc", "-u", *there], stdin=subprocess.PIPE)
    try:
        assert sender.stdin is not None
        counters = served.front_end.counters
        for line in PAGE:
            before = counters["packets"]
            sender.stdin.write(f"{line}\n".encode())
            sender.stdin.flush()
            served.graph.spin_until(lambda n=before: counters["packets"] > n, f"{line} read")
        served.graph.spin_until(lambda: b"client_ip_list(127.0.0.1)" in received.read_bytes(), "the last reply")
    finally:
        for program in (sender, listener):
            program.kill()
            program.communicate()
    assert counters["commands"] == len(PAGE)
    assert counters["bad_commands"] == counters["unknown_plane"] == counters["unknown_variable"] == 0
    assert b"plane_list(12345, 102)" in received.read_bytes()

"""Invalid input to uThere's Ground Control is counted, and does not affect other clients."""

from __future__ import annotations

import contextlib
import itertools
import math
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rosflight_py_sim.bridge import fair_inbox
from rosflight_py_sim.protocols.uthere import ErrorReply, PlaneList
from test.bridge.test_uthere_front_end import PAGE
from test.bridge.uthere_bench import Program, UthereBench

FLOOD = Path(__file__).parents[1] / "tools" / "uthere_flood.py"

PACKETS = 40_000
BATCH = 250

# Tolerated growth of memory: the allocator's own.
FLAT_BYTES = 2 << 20


@pytest.fixture
def bench() -> Iterator[UthereBench]:
    """Two planes in the air, with error replies."""
    with contextlib.ExitStack() as closing:
        made = UthereBench(closing, 2)
        made.step()
        yield made


@pytest.fixture
def program(bench: UthereBench) -> Program:
    return bench.program()


BAD = {
    "bytes that are no text": (b"\xff\xfe\x80\x81", "bad_commands"),
    "text that is not ASCII": ("fly(plane=12345,röll=1,pitch=2,throttle=3)", "bad_commands"),
    "half a command": ("fly(plane=12345,roll=-15,pit", "bad_commands"),
    "unknown command": ("land(plane=12345)", "bad_commands"),
    "unknown plane": ("fly_engage(plane=99)", "unknown_plane"),
    "unknown variable": ("data_request(plane=12345,variable=colour,interval=1)", "unknown_variable"),
    "not a number": ("fly(plane=12345,roll=nan,pitch=1,throttle=2)", "bad_commands"),
    "infinite": ("fly(plane=12345,roll=1,pitch=inf,throttle=2)", "bad_commands"),
    "absurd": ("fly(plane=12345,roll=1e300,pitch=1,throttle=2)", "bad_commands"),
    "absurd interval": ("data_request(plane=12345,variable=roll,interval=-1)", "bad_commands"),
    "given twice": ("fly(plane=12345,roll=1,roll=2,pitch=1,throttle=2)", "bad_commands"),
    "two targets of a kind": ("fly(plane=12345,roll=1,course=2,pitch=1,throttle=2)", "bad_commands"),
    "pitch with climb": ("fly(plane=12345,roll=1,pitch=1,climb=2)", "bad_commands"),
    "no airspeed at all": ("fly(plane=12345,roll=1,airspeed=0,climb=2)", "refused_commands"),
    "a place without airspeed": (
        "fly_to(plane=12345,latitude=1,longitude=2,altitude=3,airspeed=0)",
        "refused_commands",
    ),
    "waypoint without airspeed": (
        "waypoint_add(waypointid=1,nextwaypointid=2,plane=12345,latitude=1,longitude=2,altitude=3,airspeed=0)",
        "refused_commands",
    ),
    "unknown waypoint": ("fly_to_waypoint(7)", "refused_commands"),
    "fly() before fly_engage": ("fly(plane=12345,roll=1,pitch=1,throttle=2)", "refused_commands"),
    "beyond what is read": (b"x" * 8193, "too_long"),
    "64 KiB": (b"data_clear;" * 5950, "too_long"),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_input_is_counted_and_changes_nothing(bench: UthereBench, program: Program, case: str) -> None:
    packet, counter = BAD[case]
    other = bench.program("127.0.0.2")
    activity = bench.front_end.activity(0)
    program.send(packet)
    bench.read(1)
    assert bench.front_end.counters[counter] == 1
    bench.step(5)
    assert bench.front_end.activity(0) == activity
    assert len(bench.log.warnings) == 1
    # A packet that is too long to be read gets no reply.
    assert all(isinstance(reply, ErrorReply) for reply in program.replies())
    assert other.packets() == []
    other.send("request_plane_list")
    bench.read(1)
    assert other.replies() == [PlaneList((12345, 12346))]


def test_long_invalid_line_yields_only_a_few_errors(bench: UthereBench, program: Program) -> None:
    program.send("x;" * 4000)
    bench.read(1)
    # One error for each of the commands parsed, and one for all the others.
    assert bench.front_end.counters["bad_commands"] == 1025
    assert len(program.packets()) == 8


def mutated(seed: int, count: int) -> Iterator[bytes]:
    """Lines of the protocol's page, mutated as by bad connections and faulty programs."""
    rng = random.Random(seed)
    lines = [line.encode() for line in PAGE]
    numbers = (b"nan", b"-inf", b"1e400", b"-0", b"99999999999999999999", b"0x10", b"1,5", b"", b"all", b"1e-320")
    for _ in range(count):
        line = bytearray(rng.choice(lines))
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(line) + 1)
            match rng.randrange(6):
                case 0:
                    del line[at:]
                case 1:
                    line[at:at] = rng.randbytes(rng.randrange(1, 5))
                case 2:
                    line.insert(at, rng.choice(b"=,();\n "))
                case 3:
                    line[at:at] = rng.choice(lines)
                case 4:
                    line[at : at + rng.randrange(1, 9)] = rng.choice(numbers)
                case _:
                    line[at:at] = line[: rng.randrange(len(line) + 1)]
        yield bytes(line[:1000])


def test_mutated_packets_cause_no_failure_and_next_client_is_served(
    bench: UthereBench, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No rate limit, so that every packet is read.
    monkeypatch.setattr(fair_inbox, "RATE", 1 << 40)
    monkeypatch.setattr(fair_inbox, "BURST", 1 << 40)
    packets = mutated(6, PACKETS)
    counters = bench.front_end.counters
    began_s, began_bytes, sent = time.monotonic(), 0, 0
    while batch := list(itertools.islice(packets, BATCH)):
        program.send(*batch)
        sent += len(batch)
        bench.step()
        program.packets()
        assert all(command is None or all(map(math.isfinite, command.u)) for command in bench.commands)
        if sent == 20 * BATCH:
            began_bytes = resident_bytes()
    bench.serve_until(lambda: counters["packets"] == sent)
    assert resident_bytes() - began_bytes < FLAT_BYTES
    assert (
        min(counters[kind] for kind in ("commands", "bad_commands", "refused_commands", "unknown_variable"))
        > PACKETS / 200
    )
    assert 0 < len(bench.log.warnings) <= time.monotonic() - began_s + 1.0
    other = bench.program("127.0.0.2")
    other.send("data_request(variable=roll,interval=0.1)")
    bench.read(1)
    bench.step(10)
    assert other.packets()


def test_ten_thousand_packets_per_second_do_not_starve_other_clients(bench: UthereBench) -> None:
    other = bench.program("127.0.0.2")
    counters = bench.front_end.counters
    flood = subprocess.Popen([sys.executable, str(FLOOD), str(bench.port_in), "10000"])
    try:
        bench.serve_until(lambda: counters["too_long"] > 10)
        requests = replies_received = 0
        while not (counters["flooding"] > 1000 and requests >= 50):
            requests += 1
            other.send("request_plane_list")
            # Fails if no reply arrives in time.
            bench.serve_until(lambda: has_plane_list_reply(other))
            replies_received += 1
            bench.step()
            assert flood.poll() is None
    finally:
        flood.kill()
        flood.wait()
    assert requests == replies_received


def has_plane_list_reply(program: Program) -> bool:
    return any(isinstance(reply, PlaneList) for reply in program.replies())


def resident_bytes() -> int:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

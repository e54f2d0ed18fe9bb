"""ArduPilot frames per second through UDP in lockstep, with one process or one per node; and the codec alone."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from benchmarks.free_ports import free_ports
from benchmarks.separate_graph import node_processes
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.protocols.ardupilot_json import BatteryStatus, Reply, Windvane, decode_frame, encode_reply
from rosflight_py_sim.vehicles import vehicle

LIMIT_S = 200.0

_ASKED_EVERY_S = 0.05


@dataclass
class ArduPilotRun:
    """Result of one run.

    Attributes:
        rate: frames, and so steps, per second of system time.
        p50_us: median time from a frame to its answer, us.
        p99_us: 99th percentile of that time, us.
    """

    rate: float
    p50_us: float
    p99_us: float


def composed_run(frame_rate: int, duration_s: float = 5.0, name: str = "multirotor") -> ArduPilotRun:
    """Measure with all nodes in one process."""
    (port,) = free_ports(1)
    graph = ComposedGraph(
        [Member(vehicle(name), flight_controller="ardupilot")],
        settings={"real_time_multiplier": 0.0},
        arguments=["--log-level", "warn", "-p", f"ardupilot.port:={port}"],
    )
    with lean_ardupilot(port, frame_rate, duration_s) as client:
        graph.spin(is_measuring(client))
        figures = figures_of(client)
    graph.close()
    return figures


def separate_run(frame_rate: int, duration_s: float = 5.0, name: str = "multirotor") -> ArduPilotRun:
    """Measure with one process per node."""
    (port,) = free_ports(1)
    with (
        node_processes(vehicle(name), "-p", f"ardupilot.port:={port}", flight_controller="ardupilot"),
        lean_ardupilot(port, frame_rate, duration_s) as client,
    ):
        return figures_of(client)


def codec_us() -> dict[str, float]:
    """Time to parse a frame and to build a reply with all fields, us: the best of several runs."""
    frame = bytes.fromhex("1a48b004") + (7).to_bytes(4, "little") + 16 * b"\xdc\x05"
    reply = Reply(
        timestamp=1234.5025,
        gyro=(0.0123456789, -0.0023456789, 0.0003456789),
        accel_body=(0.123456789, -0.223456789, -9.823456789),
        position_ned=(12.3456789012345, -3.45678901234567, -5.01234567890123),
        velocity_ned=(3.456789012, -0.123456789, 0.0123456789),
        attitude=(0.0123456789, -0.123456789, 1.23456789),
        quaternion=(0.8123456789, 0.0423456789, -0.0523456789, 0.5784567890),
        ranges=(5.01234567,),
        windvane=Windvane(1.23456789, 4.56789012),
        velocity_wind=(3.23456789, 2.23456789, 0.123456789),
        airspeed=5.6789012,
        rc_us=(1500, 1500, 1000, 1500, 1000, 1000, 1500, 1500),
        battery=BatteryStatus(24.8765432, 15.4321098),
    )
    return {"decode": best_us(lambda: decode_frame(frame)), "encode": best_us(lambda: encode_reply(reply))}


def best_us(call: Callable[[], object], calls: int = 20_000, runs: int = 7) -> float:
    """Time per call, us."""
    best = float("inf")
    for _ in range(runs):
        began = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, time.perf_counter() - began)
    return 1e6 * best / calls


def lean_ardupilot(port: int, frame_rate: int, duration_s: float) -> AbstractContextManager[subprocess.Popen[str]]:
    """A measuring ArduPilot in a process of its own."""
    return measuring_client("lean_ardupilot", port, frame_rate, duration_s)


@contextmanager
def measuring_client(module: str, *arguments: float) -> Iterator[subprocess.Popen[str]]:
    """A measuring client, a module of this package, in a process of its own."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)]
    client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield client
    finally:
        client.kill()
        client.wait()


def is_measuring(client: subprocess.Popen[str]) -> Callable[[], bool]:
    """Function that returns whether the client has printed nothing; cheap enough to be called in each step."""
    due_s = 0.0

    def go_on() -> bool:
        nonlocal due_s
        now_s = time.monotonic()
        if now_s < due_s:
            return True
        due_s = now_s + _ASKED_EVERY_S
        return not has_printed(client, 0.0)

    return go_on


def has_printed(client: subprocess.Popen[str], timeout_s: float) -> bool:
    """Whether the client has printed something, or has ended, within the time."""
    assert client.stdout is not None
    return bool(select.select([client.stdout], [], [], timeout_s)[0])


def figures_of(client: subprocess.Popen[str]) -> ArduPilotRun:
    """The client's result, once it is available."""
    assert client.stdout is not None
    line = client.stdout.readline() if has_printed(client, LIMIT_S) else ""
    if not line:
        raise RuntimeError(f"the client of the protocol ended, or printed no result within {LIMIT_S:g} s")
    return ArduPilotRun(**json.loads(line))

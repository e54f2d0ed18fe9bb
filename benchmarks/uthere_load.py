"""Speed of a simulation, as fast as possible, under the load of many or hostile programs of uThere's protocol."""

from __future__ import annotations

import contextlib
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.free_ports import free_ports
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.vehicles import vehicle

CLIENTS, VARIABLES, INTERVAL_S = 62, 68, 0.02
DATAGRAMS_HZ, DATAGRAM = 2000, b"unknown(x=1);" * 630

WARM_UP_S = 2.0

# CPU time of each turn with or without load.
TURN_S = 2.0

_FLOOD = """
import socket, sys, time
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.bind(("127.0.0.9", 0))
datagram = {datagram!r}
due = time.monotonic()
while True:
    for _ in range({burst}):
        sender.sendto(datagram, ("127.0.0.1", {port}))
    due += {burst} / {rate}
    time.sleep(max(0.0, due - time.monotonic()))
"""


@dataclass
class LoadRun:
    """Speed with a load, and its share of the speed without one: median of successive turns.

    Attributes:
        alone: simulated seconds per second of CPU time, without load.
        clients: share of that with CLIENTS clients that request VARIABLES variables every INTERVAL_S s.
        flood: share of that with DATAGRAMS_HZ datagrams a second of unknown commands.
    """

    alone: float
    clients: float
    flood: float


def load_run(turns: int = 5) -> LoadRun:
    """Alternate between no load, many clients and a flood; an anaconda in one process, as fast as possible."""
    with contextlib.ExitStack() as closing:
        port_in, port_out = free_ports(2)
        ports = ["-p", f"uthere.udp_port_in:={port_in}", "-p", f"uthere.udp_port_out:={port_out}"]
        graph = ComposedGraph(
            [Member(vehicle("anaconda"), flight_controller="uthere")],
            settings={"real_time_multiplier": 0.0},
            arguments=["--log-level", "error", *ports],
        )
        closing.callback(graph.close)
        clock = graph.nodes[0].get_clock()
        (bridge,) = (node for node in graph.nodes if node.get_name() == "bridge")
        names = bridge.front_ends["uthere"].planes[0].names[:VARIABLES]  # type: ignore[attr-defined]
        programs = []
        for number in range(CLIENTS):
            program = closing.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            program.bind((f"127.0.1.{number + 1}", port_out))
            program.connect(("127.0.0.1", port_in))
            programs.append(program)

        def speed() -> float:
            began_ns, began_s = clock.now().nanoseconds, time.process_time()
            graph.spin(lambda: time.process_time() - began_s < TURN_S)
            return (clock.now().nanoseconds - began_ns) / NANOSECONDS / (time.process_time() - began_s)

        def spin(seconds: float) -> None:
            began_s = time.monotonic()
            graph.spin(lambda: time.monotonic() - began_s < seconds)

        @contextlib.contextmanager
        def clients() -> Iterator[None]:
            for start in range(0, len(names), 17):
                lines = [f"data_request(variable={name},interval={INTERVAL_S})" for name in names[start : start + 17]]
                for program in programs:
                    program.send("\n".join(lines).encode())
                spin(WARM_UP_S)
            yield
            for program in programs:
                program.send(b"data_clear")
            spin(WARM_UP_S)

        @contextlib.contextmanager
        def flood() -> Iterator[None]:
            code = _FLOOD.format(datagram=DATAGRAM, burst=2, rate=DATAGRAMS_HZ, port=port_in)
            sender = subprocess.Popen([sys.executable, "-c", code])
            spin(WARM_UP_S)
            yield
            sender.kill()
            sender.wait()
            spin(WARM_UP_S)

        spin(WARM_UP_S)
        return _by_turns(turns, speed, clients, flood)


def _by_turns(
    turns: int, speed: Callable[[], float], *loads: Callable[[], contextlib.AbstractContextManager[None]]
) -> LoadRun:
    alone: list[float] = []
    shares: list[list[float]] = [[] for _ in loads]
    for _ in range(turns):
        for load, found in zip(loads, shares, strict=True):
            without = speed()
            alone.append(without)
            with load():
                found.append(speed() / without)
    clients, flood = map(statistics.median, shares)
    return LoadRun(statistics.median(alone), clients, flood)


if __name__ == "__main__":
    print(load_run(int(sys.argv[1]) if len(sys.argv) > 1 else 5))

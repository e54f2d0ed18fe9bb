"""Cost of sending data to programs of uThere's protocol in real time: CPU time of the whole graph."""

from __future__ import annotations

import contextlib
import socket
import statistics
import time
from dataclasses import dataclass

from benchmarks.free_ports import free_ports
from rosflight_py_sim.bridge.uthere_variables import VARIABLES
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.vehicles import vehicle

CLIENTS, NAMES, INTERVAL_S = 4, list(VARIABLES)[:20], 0.1

WARM_UP_S = 4.0

# Length of each turn with or without data: short, as the machine's other load changes within seconds.
TURN_S = 2.0


@dataclass
class DataRun:
    """CPU time in real time.

    Attributes:
        alone: CPU time of the whole graph without clients, as a share of one core.
        total: the same with all clients.
        cost: median difference between successive turns.
        packets_hz: packets sent to the clients per second of simulated time.
    """

    alone: float
    total: float
    cost: float
    packets_hz: float


def data_run(duration_s: float = 20.0) -> DataRun:
    """Alternate between 20 variables every 0.1 s for 4 clients, and none; an anaconda in one process, in real time."""
    with contextlib.ExitStack() as closing:
        port_in, port_out = free_ports(2)
        ports = ["-p", f"uthere.udp_port_in:={port_in}", "-p", f"uthere.udp_port_out:={port_out}"]
        graph = ComposedGraph(
            [Member(vehicle("anaconda"), flight_controller="uthere")],
            settings={"real_time_multiplier": 1.0},
            arguments=["--log-level", "warn", *ports],
        )
        closing.callback(graph.close)
        programs = []
        for number in range(CLIENTS):
            program = closing.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            program.bind((f"127.0.0.{number + 1}", port_out))
            program.connect(("127.0.0.1", port_in))
            programs.append(program)
        clock = graph.nodes[0].get_clock()
        (bridge,) = (node for node in graph.nodes if node.get_name() == "bridge")
        counters = bridge.front_ends["uthere"].counters  # type: ignore[attr-defined]

        def spin(seconds: float) -> float:
            """Share of one core."""
            began_s, began_cpu = time.monotonic(), time.process_time()
            graph.spin(lambda: time.monotonic() - began_s < seconds)
            return (time.process_time() - began_cpu) / (time.monotonic() - began_s)

        def send(*lines: str) -> None:
            for program in programs:
                program.send("\n".join(lines).encode())

        def read() -> None:
            for program in programs:
                program.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        program.recv(2048)

        began_s = time.monotonic()
        graph.spin(lambda: clock.now().nanoseconds == 0 and time.monotonic() - began_s < 60.0)
        spin(WARM_UP_S)
        alone: list[float] = []
        total: list[float] = []
        rates: list[float] = []
        while len(total) * 2 * TURN_S < duration_s:
            alone.append(spin(TURN_S))
            send(*(f"data_request(variable={name},interval={INTERVAL_S})" for name in NAMES))
            sent, began_ns = counters["data_packets"], clock.now().nanoseconds
            total.append(spin(TURN_S))
            rates.append(NANOSECONDS * (counters["data_packets"] - sent) / (clock.now().nanoseconds - began_ns))
            send("data_clear")
            read()
    costs = [b - a for a, b in zip(alone, total, strict=True)]
    return DataRun(*map(statistics.median, (alone, total, costs, rates)))


def main() -> None:
    """Measure once and print."""
    run = data_run()
    print(f"{100 * run.cost:.1f} % of a core beside {100 * run.alone:.0f} %, for {run.packets_hz:.0f} packets/s")


if __name__ == "__main__":
    main()

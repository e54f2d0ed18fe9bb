"""Cost of front-ends that observe a vehicle: CPU time per step of the multirotor's graph, with and without them."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Sequence

from benchmarks.free_ports import free_ports
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.parameters import number
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.vehicles import vehicle

WARM_UP_S = 2.0


def cpu_us(observers: Sequence[str], duration_s: float = 5.0) -> float:
    """CPU time per step, us, as fast as the machine allows; a uThere program requests all variables at 50 Hz."""
    port_in, port_out, *others = free_ports(6)
    names = ("ardupilot.port", "auv_zeromq.image_port", "auv_zeromq.thruster_port", "auv_zeromq.telemetry_port")
    given = {"uthere.udp_port_in": port_in, "uthere.udp_port_out": port_out, **dict(zip(names, others, strict=True))}
    with contextlib.ExitStack() as closing:
        graph = ComposedGraph(
            [Member(vehicle("multirotor"))],
            settings={"real_time_multiplier": 0.0},
            arguments=[
                "--log-level",
                "warn",
                *(word for name, port in given.items() for word in ("-p", f"{name}:={port}")),
            ],
            observers=observers,
        )
        closing.callback(graph.close)
        program = closing.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        program.bind(("127.0.0.1", port_out))
        program.sendto(b"data_request(variable=all, interval=0.02)", ("127.0.0.1", port_in))
        clock = graph.nodes[0].get_clock()
        step_ns = NANOSECONDS * number(graph.values_of("time_manager"), "step_size")

        def run_for(seconds: float) -> float:
            began, began_cpu, began_ns = time.monotonic(), time.process_time(), clock.now().nanoseconds
            graph.spin(lambda: time.monotonic() - began < seconds)
            return 1e6 * (time.process_time() - began_cpu) * step_ns / (clock.now().nanoseconds - began_ns)

        run_for(WARM_UP_S)
        return run_for(duration_s)

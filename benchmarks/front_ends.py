"""Cost of front-ends: CPU time per step of the multirotor's graph with and without them, also flown by ArduPilot."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Sequence

from benchmarks.ardupilot import lean_ardupilot
from benchmarks.free_ports import free_ports
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.parameters import number
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.vehicles import vehicle

WARM_UP_S = 2.0

# Time for which the client of ArduPilot's protocol continues; it ends with the run.
_CLIENT_S = 1e6


def cpu_us(
    observers: Sequence[str], duration_s: float = 5.0, *, frame_rate: int = 0, real_time_multiplier: float = 0.0
) -> float:
    """CPU time per step, us; a uThere program requests all variables at 50 Hz.

    Args:
        observers: front-ends that observe the vehicle.
        duration_s: system time for which to measure, s.
        frame_rate: frames per simulated second of ArduPilot, which flies the vehicle; 0: `sil_board` does.
        real_time_multiplier: pace; 0: as fast as the machine allows.
    """
    port_ardupilot, port_in, port_out, *others = free_ports(6)
    names = ("auv_zeromq.image_port", "auv_zeromq.thruster_port", "auv_zeromq.telemetry_port")
    given = {
        "ardupilot.port": port_ardupilot,
        "uthere.udp_port_in": port_in,
        "uthere.udp_port_out": port_out,
        **dict(zip(names, others, strict=True)),
    }
    with contextlib.ExitStack() as closing:
        graph = ComposedGraph(
            [Member(vehicle("multirotor"), flight_controller="ardupilot" if frame_rate else "")],
            settings={"real_time_multiplier": real_time_multiplier},
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
        if frame_rate:
            closing.enter_context(lean_ardupilot(port_ardupilot, frame_rate, _CLIENT_S))

        def run_for(seconds: float) -> float:
            began, began_cpu, began_ns = time.monotonic(), time.process_time(), graph.time_ns
            graph.spin(lambda: time.monotonic() - began < seconds)
            step_ns = NANOSECONDS * number(graph.values_of("time_manager"), "step_size")
            return 1e6 * (time.process_time() - began_cpu) * step_ns / (graph.time_ns - began_ns)

        graph.spin(lambda: graph.time_ns == 0)
        run_for(WARM_UP_S)
        return run_for(duration_s)

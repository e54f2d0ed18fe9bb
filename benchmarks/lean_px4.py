"""A minimal PX4 that answers each step with outputs, as fast as possible; used by `px4.py`.

    python -m benchmarks.lean_px4 PORT SECONDS

A separate process, so that its Python does not compete with the simulator's. It ignores the measurements. It prints
steps per second and the times from outputs to the next measurements (us) as JSON, and then continues until it is ended.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from array import array
from struct import Struct

from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.protocols.mavlink.common import Heartbeat
from rosflight_py_sim.protocols.mavlink.frames import Frame, Mavlink2
from rosflight_py_sim.protocols.px4_simulator.dialect import AUTOPILOT_PX4, LAYOUTS, HilActuatorControls, HilSensor

WARM_UP_S = 3.0

# Time in which nodes start, and compile kernels if necessary.
START_UP_S = 90.0

_HEADER = Mavlink2.HEADER.size
_OVERHEAD = _HEADER + 2
_TIME_US = Struct("<Q")
_SENSOR = LAYOUTS.of[HilSensor].number


def main() -> None:
    """Measure."""
    port, seconds = int(sys.argv[1]), float(sys.argv[2])
    end_s = time.monotonic() + START_UP_S
    while True:
        try:
            conversation = socket.create_connection(("127.0.0.1", port))
            break
        except ConnectionRefusedError:
            if time.monotonic() > end_s:
                raise
            time.sleep(0.05)
    with conversation:
        conversation.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        conversation.sendall(Mavlink2.encode(LAYOUTS, Frame(Heartbeat(0, AUTOPILOT_PX4), 0, 1, 1)))
        exchange(conversation, WARM_UP_S)
        began_s = time.monotonic()
        times_ns = exchange(conversation, seconds)
        elapsed_s = time.monotonic() - began_s
        waits_us = sorted(ns * 1e-3 for ns in times_ns)
        figures = {
            "rate": len(times_ns) / elapsed_s,
            "p50_us": waits_us[len(waits_us) // 2],
            "p99_us": waits_us[len(waits_us) * 99 // 100],
        }
        print(json.dumps(figures), flush=True)
        exchange(conversation, START_UP_S)


def exchange(conversation: socket.socket, seconds: float) -> array[int]:
    """Answer measurements for a duration; return the times from outputs to the next measurements, ns."""
    times_ns = array("q")
    clock = time.perf_counter_ns
    end_ns = clock() + int(seconds * NANOSECONDS)
    began, data, controls = 0, b"", (0.0,) * 16
    while clock() < end_ns:
        received = conversation.recv(4096)
        if not received:
            return times_ns
        data += received
        place = 0
        while len(data) - place >= _OVERHEAD and len(data) - place >= _OVERHEAD + data[place + 1]:
            if data[place + 7] == _SENSOR:
                if began:
                    times_ns.append(clock() - began)
                (time_us,) = _TIME_US.unpack_from(data, place + _HEADER)
                outputs = Mavlink2.encode(LAYOUTS, Frame(HilActuatorControls(time_us, controls, 1, 1), 0, 1, 1))
                began = clock()
                conversation.sendall(outputs)
            place += _OVERHEAD + data[place + 1]
        data = data[place:]
    return times_ns


if __name__ == "__main__":
    main()

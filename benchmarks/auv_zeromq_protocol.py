"""The AUV protocol's server in the pool: highest speed, also in a flood of commands, and message rates in real time.

    python -m benchmarks.auv_zeromq_protocol PORT RATE

sends thruster messages to PORT at RATE (1/s) until killed.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import zmq

from benchmarks.composed_graph import composed_run
from benchmarks.free_ports import free_ports

WARM_UP_S = 5.0
LIMIT_S = 90
STEPS_PER_S = 400.0


@dataclass
class FreeRun:
    """Real-time factor of a run, and CPU time per simulated second, s."""

    real_time_factor: float
    cpu: float


@dataclass
class FloodedRun:
    """Real-time factors of runs by turns, without clients and in a flood of thruster messages; their ratio."""

    alone: float
    flooded: float
    ratio: float


@dataclass
class HeldRate:
    """Rates that a client receives from a simulation in real time.

    Attributes:
        telemetry_hz: telemetry messages per second of system time.
        interval_ms: 1st and 99th percentile of the interval between telemetry messages, ms.
        image_hz: image messages per second of system time.
    """

    telemetry_hz: float
    interval_ms: tuple[float, float]
    image_hz: float


def free_run(cameras: bool, duration_s: float = 5.0) -> FreeRun:
    """Run as fast as possible, in one process at 400 Hz, without clients."""
    run = composed_run("auv", duration_s=duration_s, cameras=cameras, arguments=_arguments(_free_ports()))
    return FreeRun(run.rate / STEPS_PER_S, 1e-6 * run.cpu_us * STEPS_PER_S)


def flooded_run(messages_hz: float, duration_s: float = 5.0, turns: int = 3) -> FloodedRun:
    """Run as above, without cameras, by turns without clients and with one that floods the thrusters' port.

    Each factor is the best of its turns.
    """
    alone, flooded = [], []
    for _ in range(turns):
        alone.append(free_run(cameras=False, duration_s=duration_s).real_time_factor)
        ports = _free_ports()
        command = [sys.executable, "-m", "benchmarks.auv_zeromq_protocol", str(ports["thruster"]), str(messages_hz)]
        with subprocess.Popen(command) as flood:
            run = composed_run("auv", duration_s=duration_s, cameras=False, arguments=_arguments(ports))
            flood.terminate()
        flooded.append(run.rate / STEPS_PER_S)
    return FloodedRun(max(alone), max(flooded), max(flooded) / max(alone))


def held_rate(cameras: bool, duration_s: float = 10.0) -> HeldRate:
    """Measure the rates that a client in a separate process receives in real time."""
    ports = _free_ports()
    command = [sys.executable, "-m", "rosflight_py_sim", "sim", "--vehicle", "auv"]
    command += ["--camera" if cameras else "--no-camera", "--ros-args", "--log-level", "warn", *_arguments(ports)]
    with subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL) as server:
        try:
            return _received_rates(ports, duration_s)
        finally:
            server.terminate()


def _received_rates(ports: dict[str, int], duration_s: float) -> HeldRate:
    with zmq.Context() as context, context.socket(zmq.SUB) as telemetry, context.socket(zmq.SUB) as images:
        for made, name in ((telemetry, "telemetry"), (images, "image")):
            made.linger = 0
            made.subscribe(b"\0")
            made.connect(f"tcp://127.0.0.1:{ports[name]}")
        if not telemetry.poll(1000 * LIMIT_S):
            raise RuntimeError(f"no telemetry within {LIMIT_S:g} s")
        poller = zmq.Poller()
        poller.register(telemetry)
        poller.register(images)
        times: dict[zmq.Socket[bytes], list[float]] = {telemetry: [], images: []}
        began = time.monotonic() + WARM_UP_S
        while time.monotonic() < began + duration_s:
            for socket, _ in poller.poll(1000):
                socket.recv_multipart()
                if time.monotonic() >= began:
                    times[socket].append(time.monotonic())
    intervals = [1e3 * (b - a) for a, b in pairwise(times[telemetry])]
    low, high = np.percentile(intervals, (1, 99))
    return HeldRate(len(times[telemetry]) / duration_s, (float(low), float(high)), len(times[images]) / duration_s)


def _free_ports() -> dict[str, int]:
    return dict(zip(("image", "thruster", "telemetry"), free_ports(3), strict=True))


def _arguments(ports: dict[str, int]) -> list[str]:
    return [
        "-p",
        "world:=pool",
        *(word for name, port in ports.items() for word in ("-p", f"auv_zeromq.{name}_port:={port}")),
    ]


def main() -> None:
    """Flood a port with thruster messages, in bursts of a millisecond."""
    port, rate = int(sys.argv[1]), float(sys.argv[2])
    burst_s = 1e-3
    with zmq.Context() as context, context.socket(zmq.PUSH) as pusher:
        pusher.linger = 0
        pusher.connect(f"tcp://127.0.0.1:{port}")
        due_s, number = time.monotonic(), 0
        while True:
            for _ in range(round(rate * burst_s)):
                number += 1
                pusher.send(struct.pack("<Bbbbb", 0, number % 100, -(number % 100), 0, 0))
            # Messages missed on a busy machine are not sent later.
            due_s = max(due_s + burst_s, time.monotonic() - 0.1)
            time.sleep(max(0.0, due_s - time.monotonic()))


if __name__ == "__main__":
    main()

"""A uThere front-end fed with snapshots instead of a simulation, and client programs."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from free_ports import free_ports

from rosflight_py_sim.bridge.front_end_interface import OffboardCommand, Snapshot
from rosflight_py_sim.bridge.uthere_front_end import UthereFrontEnd
from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.ground.vehicle_parameters import vehicle_parameters
from rosflight_py_sim.protocols.uthere import Reply, UthereError, parse_reply
from rosflight_py_sim.step.topics import AirspeedSample, GnssSample, StatusReport
from test.bridge.logged_lines import LoggedLines

PERIOD_NS = 10_000_000
START_NS = 1_208_472_993_000_000_000
"""Unix time of simulated time 0."""

# System time, s, after which a missing packet fails the test.
TIMEOUT_S = 30.0

READY = StatusReport(
    0,
    armed=True,
    failsafe=False,
    rc_override=0,
    offboard=True,
    control_mode=0,
    error_code=0,
    num_errors=0,
    loop_time_us=0,
)

FIX = GnssSample(0, 3, 15, 40.2463, -111.6474, 1437.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0)


class Program:
    """A client program at an address of this machine, written with plain sockets."""

    def __init__(self, address: str, there: tuple[str, int], port_out: int) -> None:
        self.address = address
        self._there = there
        self.listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.listener.bind((address, port_out))
        self.listener.setblocking(False)
        self._sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._sender.bind((address, 0))

    def send(self, *lines: str | bytes) -> None:
        """Send each line as a packet."""
        for line in lines:
            self._sender.sendto(line.encode() if isinstance(line, str) else line, self._there)

    def packets(self) -> list[str]:
        """Received packets."""
        found = []
        with contextlib.suppress(BlockingIOError):
            while True:
                found.append(self.listener.recv(1 << 16).decode("ascii"))
        return found

    def replies(self) -> list[Reply]:
        """Received packets, parsed."""
        read = [parse_reply(packet) for packet in self.packets()]
        assert not [one for one in read if isinstance(one, UthereError)]
        return [one for one in read if not isinstance(one, UthereError)]

    def close(self) -> None:
        self.listener.close()
        self._sender.close()


class UthereBench:
    """A front-end whose command periods the test controls.

    Attributes:
        snapshots: snapshot of each vehicle in the next period; level flight at 50 m over home at 18 m/s to the north.
        commands: command to each vehicle in the last period.
    """

    def __init__(
        self,
        closing: contextlib.ExitStack,
        vehicles: int = 1,
        own: Mapping[str, Value] | None = None,
        observed: Mapping[int, str] | None = None,
        time_mode: str = "wall",
        **settings: Value,
    ) -> None:
        self.port_in, self.port_out = free_ports(2)
        given: dict[str, Value] = {"uthere.udp_port_in": self.port_in, "uthere.udp_port_out": self.port_out}
        given |= {f"uthere.{name}": value for name, value in settings.items()} | dict(own or {})
        self.log = LoggedLines()
        names = [f"plane_{i + 1}" for i in range(vehicles)]
        table = UthereFrontEnd.PARAMETERS + vehicle_parameters(UthereFrontEnd.VEHICLE_PARAMETERS, names, given)
        values = {**table.checked(given), "time_mode": time_mode}
        self.front_end = UthereFrontEnd(values, self.log, names, observed or {})
        self.front_end.open()
        closing.callback(self.front_end.close)
        self._closing = closing
        self.time_ns = 0
        self.snapshots = [flying_snapshot() for _ in range(vehicles)]
        self.commands: list[OffboardCommand | None] = [None] * vehicles

    def program(self, address: str = "127.0.0.1") -> Program:
        """A program at this address."""
        made = Program(address, ("127.0.0.1", self.port_in), self.port_out)
        self._closing.callback(made.close)
        return made

    def step(self, periods: int = 1) -> None:
        """Run this many command periods."""
        for _ in range(periods):
            self.front_end.serve_before(self.time_ns)
            for index, snapshot in enumerate(self.snapshots):
                snapshot = replace(snapshot, time_ns=self.time_ns, unix_ns=START_NS + self.time_ns)
                if index in self.front_end.observed:
                    self.front_end.observe(index, snapshot)
                else:
                    self.commands[index] = self.front_end.command(index, snapshot, PERIOD_NS * 1e-9)
            self.time_ns += PERIOD_NS

    def serve_until(self, condition: Callable[[], object]) -> None:
        """Serve without advancing the simulation until a condition holds."""
        end_s = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < end_s, dict(self.front_end.counters)
            self.front_end.serve()

    def read(self, packets: int) -> None:
        """Serve until this many further packets have been read, valid or not."""
        counters = self.front_end.counters
        before = counters["packets"] + counters["too_long"] + counters["flooding"]
        self.serve_until(lambda: counters["packets"] + counters["too_long"] + counters["flooding"] >= before + packets)


def flying_snapshot() -> Snapshot:
    """Level flight at 50 m over home at 18 m/s to the north, in still air."""
    truth = np.zeros(19)
    truth[2], truth[3], truth[7] = -50.0, 1.0, 18.0
    return Snapshot(
        0,
        truth,
        (0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
        (0.0, 0.0, -9.81),
        airspeed=AirspeedSample(0, 18.5, 190.0, 280.0),
        battery=(23.5, 12.5),
        rc_us=(1500, 1500, 1000, 1500, 1000, 1000, 1500, 1500),
        status=READY,
        attitude=(0.01, 0.02, -0.03),
        gnss=FIX,
        outputs=(0.0,) * 4 + (0.6,) + (0.0,) * 9,
    )

"""Fixtures for front-end tests: an `AuvZeromqFrontEnd` fed with snapshots instead of a simulation, and clients."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import pytest
import zmq
from free_ports import free_ports

from rosflight_py_sim.bridge.auv_zeromq_front_end import AuvZeromqFrontEnd
from rosflight_py_sim.bridge.front_end_interface import Snapshot
from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.protocols.auv_zeromq import Telemetry, decode_telemetry
from test.bridge.board_bench import Bench
from test.bridge.logged_lines import LoggedLines

STEP_NS = 2_500_000

# System time, s, after which a missing message fails the test.
TIMEOUT_S = 30.0

Outputs: TypeAlias = "list[list[int]]"
Socket: TypeAlias = "zmq.Socket[bytes]"


class AuvBench:
    """A front-end that the test steps.

    Attributes:
        truth: truth vector of all vehicles; at rest at the surface until the test changes it.
        images: newest JPEG of each camera.
    """

    def __init__(self, closing: contextlib.ExitStack, ports: list[int], vehicles: int = 1, **settings: Value) -> None:
        names = ("image", "thruster", "telemetry")
        self.settings: dict[str, Value] = {
            f"auv_zeromq.{name}_port": port for name, port in zip(names, ports, strict=True)
        }
        self.settings |= {f"auv_zeromq.{name}": value for name, value in settings.items()}
        self.log = LoggedLines()
        self.truth = np.zeros(19)
        self.truth[3] = 1.0
        self.images: Mapping[str, bytes] = {}
        self.vehicles = [f"auv_{i + 1}" for i in range(vehicles)]
        self._steps = 0
        self._closing = closing
        self._context = closing.enter_context(zmq.Context())
        self.open()

    def open(self) -> None:
        """Start or restart the front-end."""
        self.front_end = AuvZeromqFrontEnd(AuvZeromqFrontEnd.PARAMETERS.checked(self.settings), self.log, self.vehicles)
        self.front_end.open()
        self._closing.callback(self.front_end.close)

    def port(self, name: str) -> int:
        return int(str(self.settings[f"auv_zeromq.{name}_port"]))

    def pusher(self) -> Socket:
        """A client's socket for thruster commands."""
        return self._connected(zmq.PUSH, "thruster")

    def subscriber(self, port: str, auv_id: int = 0, options: Mapping[int, int] | None = None) -> Socket:
        """A client's socket for images or telemetry."""
        made = self._connected(zmq.SUB, port, options)
        made.subscribe(bytes((auv_id,)))
        return made

    def _connected(self, kind: int, port: str, options: Mapping[int, int] | None = None) -> Socket:
        made = self._closing.enter_context(self._context.socket(kind))
        made.linger = 0
        for option, value in (options or {}).items():
            made.setsockopt(option, value)
        made.connect(f"tcp://127.0.0.1:{self.port(port)}")
        return made

    def step(self) -> Outputs:
        """Pass the next step of each vehicle to the front-end; return the outputs of all."""
        self._steps += 1
        return self.repeat_step()

    def repeat_step(self) -> Outputs:
        """Pass the same step of each vehicle to the front-end again."""
        zero = (0.0, 0.0, 0.0)
        made = Snapshot(self._steps * STEP_NS, self.truth, zero, zero, zero, images=self.images)
        return [self.front_end.exchange(vehicle, made) for vehicle in range(len(self.vehicles))]

    def step_until(self, condition: Callable[[], object]) -> Outputs:
        """Take steps until the condition holds; return the outputs of the last step."""
        end = time.monotonic() + TIMEOUT_S
        while True:
            outputs = self.step()
            if condition():
                return outputs
            assert time.monotonic() < end, f"not within {TIMEOUT_S} s; {self.front_end.counters}"

    def step_until_counted(self, name: str, count: int) -> Outputs:
        """Take steps until a counter has this value; return the outputs of the last step."""
        outputs = self.step_until(lambda: self.front_end.counters[name] >= count)
        assert self.front_end.counters[name] == count
        return outputs

    def receive(self, subscriber: Socket) -> list[bytes]:
        """Take steps until a message arrives, and return its parts."""
        self.step_until(lambda: subscriber.poll(1))
        return subscriber.recv_multipart()

    def telemetry(self, subscriber: Socket) -> tuple[int, Telemetry]:
        """Take steps until telemetry with the current east position arrives, and return it."""
        while True:
            auv_id, where = decode_telemetry(self.receive(subscriber))
            if where.x == np.float32(self.truth[1]):
                return auv_id, where


@pytest.fixture
def new_auv_bench() -> Iterator[Callable[..., AuvBench]]:
    """A function (number of AUVs, **parameters without 'auv_zeromq.') that makes a bench."""
    with contextlib.ExitStack() as closing:
        yield lambda *arguments, **settings: AuvBench(closing, free_ports(3), *arguments, **settings)


@pytest.fixture
def auv_bench(new_auv_bench: Callable[..., AuvBench]) -> AuvBench:
    """A bench of one AUV with default parameters except the ports."""
    return new_auv_bench()


@pytest.fixture
def make_bench() -> Iterator[Callable[..., Bench]]:
    made: list[Bench] = []

    def make(*firmware_parameters: str, **values: Any) -> Bench:
        made.append(Bench(*firmware_parameters, **values))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    return make_bench()

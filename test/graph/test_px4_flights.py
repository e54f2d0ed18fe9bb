"""PX4's stand-in flies through the bridge, and restarts; a lockstep flight is repeatable to the bit."""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from free_ports import free_ports

from rosflight_py_sim.bridge.actuated_vehicle import ActuatedVehicle
from rosflight_py_sim.bridge.front_end_interface import Snapshot
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.step.topics import TRUTH_STATE, WAITING_FOR
from rosflight_py_sim.vehicles import vehicle
from test.bridge.px4_client import Px4Client

pytestmark = pytest.mark.timeout(300)

PROGRAM = Path(__file__).parents[2] / "docs" / "examples" / "px4_stand_in" / "px4_stand_in.py"

# System time, s, after which a flight fails the test.
FLIGHT_S = 100.0

# Longer steps than PX4's, 1/400 s, which would take longer in proportion.
STEP_S = 0.02
LONG_STEPS = ("-p", f"step_size:={STEP_S}")

PHASES = ["arming", "take off", "hover", "away", "back", "land", "landed"]


class Program:
    """The stand-in as a separate process, like PX4."""

    def __init__(self, port: int, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), "--port", str(port), "--json", "--boot-steps", "20", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def is_over(self) -> bool:
        return self.process.poll() is not None

    def summary(self) -> dict[str, Any]:
        printed, complaints = self.process.communicate(timeout=30.0)
        assert self.process.returncode == 0, complaints
        return dict(json.loads(printed))

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def px4() -> Iterator[Callable[..., Program]]:
    """A function that starts a stand-in; it ends with the test."""
    started: list[Program] = []

    def start(port: int, *options: str) -> Program:
        started.append(Program(port, *options))
        return started[-1]

    yield start
    for one in started:
        one.close()


def run_until(graph: Any, condition: Callable[[], bool]) -> None:
    """Run the graph until the condition holds."""
    end = time.monotonic() + FLIGHT_S
    while not condition():
        assert time.monotonic() < end, f"not within {FLIGHT_S:g} s, at {graph.time_s:g} s"
        for _ in range(64):
            graph.executor.spin_once(timeout_sec=0.02)


def counters(graph: Any) -> Any:
    return graph.node("bridge").front_ends["px4"].counters


def check(flight: dict[str, Any]) -> None:
    assert flight["landed"] and flight["phases"] == PHASES
    assert flight["distance_m"] > 20.0
    # The commanded height is 5 m. The copter overshoots by some decimetres and returns slowly.
    assert 4.5 < flight["hover_m"][0] < flight["hover_m"][1] < 6.0
    assert flight["off_m"] < 1.0
    assert 0.0 < flight["sink_mps"] < 1.5


def test_stand_in_flies_out_and_back(graph: Callable[..., Any], px4: Callable[..., Program]) -> None:
    (port,) = free_ports()
    flown = graph("-p", f"px4.port:={port}", *LONG_STEPS, flight_controller="px4")
    program = px4(port)
    run_until(flown, lambda: program.is_over)
    flight = program.summary()
    check(flight)
    # All but the steps of the boot were taken in lockstep, each with one answer.
    counted = counters(flown)
    assert counted["steps"] + counted["free_steps"] in (flight["steps"], flight["steps"] - 1)
    assert counted["steps"] > 0.8 * flight["steps"]
    assert flight["answers"] == flight["steps"] - 20
    assert counted["late_answers"] == counted["timeouts"] == counted["equal_readings"] == 0
    assert flight["time_s"] == pytest.approx((flight["steps"] - 1) * STEP_S, abs=1e-5)


def test_two_vehicles_have_a_stand_in_each(graph: Callable[..., Any], px4: Callable[..., Program]) -> None:
    port, _ = free_ports(2)
    members = [Member(vehicle("multirotor"), f"copter_{k}", {"initial_position": [0.0, 30.0 * k]}) for k in (0, 1)]
    flown = graph("-p", f"px4.port:={port}", *LONG_STEPS, vehicles=members, flight_controller="px4")
    programs = [px4(port, "--instance", str(k), "--linger") for k in (0, 1)]
    printed: list[str] = []

    def all_printed() -> bool:
        printed[:] = [one.process.stdout.readline() for one in programs]  # type: ignore[union-attr]
        return True

    run_until(flown, lambda: counters(flown)["steps"] >= 2 * 34.0 / STEP_S)
    assert all_printed()
    for line in printed:
        check(json.loads(line))


def test_simulation_is_held_while_px4_is_dead_and_the_vehicle_starts_over_when_it_is_back(
    graph: Callable[..., Any], px4: Callable[..., Program]
) -> None:
    (port,) = free_ports()
    flown = graph("-p", f"px4.port:={port}", *LONG_STEPS, flight_controller="px4")
    first = px4(port)
    run_until(flown, lambda: flown.truth.pose.position.z < -3.0)
    first.close()
    run_until(flown, lambda: not flown.node("bridge").front_ends["px4"].links[0].peer.is_connected)
    held_s, height_m = flown.time_s, -flown.truth.pose.position.z
    flown.idle(0.5)
    assert flown.time_s == held_s and -flown.truth.pose.position.z == height_m
    again = px4(port)
    run_until(flown, lambda: again.is_over)
    flight = again.summary()
    check(flight)
    assert flight["time_s"] > held_s
    position = flown.truth.pose.position
    assert math.hypot(position.x, position.y) < 1.0
    assert counters(flown)["restarts"] == 1


def test_stand_in_ends_with_the_simulator(graph: Callable[..., Any], px4: Callable[..., Program]) -> None:
    (port,) = free_ports()
    flown = graph("-p", f"px4.port:={port}", *LONG_STEPS, flight_controller="px4")
    program = px4(port)
    run_until(flown, lambda: counters(flown)["steps"] > 10)
    flown.close()
    _, complaints = program.process.communicate(timeout=30.0)
    assert "the simulator closed the connection in phase" in complaints


class TestedPx4(threading.Thread):
    """A PX4 that answers the sensors of the first steps, in its own thread or in `serve`.

    Attributes:
        steps: number of steps received.
    """

    __test__ = False

    STEPS = 800

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.steps, self.client = 0, Px4Client(port)
        self.client.greet()

    def run(self) -> None:
        self.client.socket.setblocking(True)
        while self.steps < self.STEPS:
            self.take(self.client.received_next())

    def serve(self) -> None:
        self.take(self.client.received())

    def take(self, messages: list[Any]) -> None:
        for message in messages:
            if message.get_type() == "HIL_SENSOR":
                self.steps += 1
                last = 0.52 + 1e-5 * self.steps
                if self.steps < self.STEPS:
                    self.client.outputs(message.time_usec, [0.52, 0.52, 0.52, last] if self.steps > 200 else [0.0])


def flown_hash(
    graph: Callable[..., Any],
    *,
    compiles: bool = True,
    is_prompt: bool = False,
    before_answer: Callable[[Any, TestedPx4], None] | None = None,
) -> tuple[str, float]:
    """Hash of the true states of a flight that a program of the test commands, and the final height, m.

    A prompt program answers in a thread of its own, while the step waits.
    """
    (port,) = free_ports()
    settings = {"turbulence_model": "dryden_8785c", "turbulence_wind_speed_20ft": 5.0, "seed": 3}
    flown = graph("-p", f"px4.port:={port}", flight_controller="px4", settings=settings)
    flown.hand_off.compiles = compiles
    digest = hashlib.sha256()
    flown.hand_off.subscribe(
        flown.tester, TRUTH_STATE, TRUTH_STATE.name, TRUTH_STATE.qos, lambda state: digest.update(state.truth.tobytes())
    )
    program = TestedPx4(port)
    if is_prompt:
        program.start()
    # The steps in real time come without outputs, however many they are.
    while program.steps < TestedPx4.STEPS:
        flown.executor.spin_once(timeout_sec=0.01)
        if before_answer is not None:
            before_answer(flown, program)
        if not is_prompt:
            program.serve()
    assert counters(flown)["late_answers"] == counters(flown)["timeouts"] == 0
    assert (flown.hand_off.compiled_steps > 500) is compiles
    height_m = -flown.truth.pose.position.z
    program.client.close()
    flown.close()
    return digest.hexdigest(), height_m


def test_lockstep_flight_is_the_same_to_the_bit(graph: Callable[..., Any]) -> None:
    first, height_m = flown_hash(graph)
    assert height_m > 0.5
    assert flown_hash(graph) == (first, height_m)
    assert flown_hash(graph, compiles=False) == (first, height_m)


def test_chain_that_ends_between_an_answer_and_the_rest_of_its_step_loses_nothing(
    graph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    vehicles, exchange = dict[ActuatedVehicle, None](), ActuatedVehicle.exchange

    def noted(vehicle: ActuatedVehicle) -> None:
        vehicles[vehicle] = None
        exchange(vehicle)

    def subscribe(flown: Any, program: TestedPx4) -> None:
        (vehicle,) = vehicles or (None,)
        if vehicle is not None and vehicle.awaits_commands and program.steps > 100 and program.steps % 60 == 0:
            program.serve()
            vehicle.exchange()
            # Another end ends the chain.
            flown.hand_off.subscribe(flown.tester, WAITING_FOR, WAITING_FOR.name, WAITING_FOR.qos, lambda _: None)
            ended.append(program.steps)

    ended: list[int] = []
    undisturbed = flown_hash(graph)
    monkeypatch.setattr(ActuatedVehicle, "exchange", noted)
    assert flown_hash(graph, before_answer=subscribe) == undisturbed
    assert len(ended) > 5


def test_steps_answered_while_they_wait_are_the_same_to_the_bit(
    graph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots, snapshot = [0], ActuatedVehicle.snapshot

    def counted(vehicle: ActuatedVehicle, time_ns: int) -> Snapshot:
        snapshots[-1] += 1
        return snapshot(vehicle, time_ns)

    monkeypatch.setattr(ActuatedVehicle, "snapshot", counted)
    by_messages = flown_hash(graph, compiles=False)
    snapshots.append(0)
    assert flown_hash(graph, is_prompt=True) == by_messages
    # The others were exchanged without a snapshot.
    assert snapshots[1] < snapshots[0]

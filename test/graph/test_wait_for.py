"""Time that waits for the messages of nodes outside of the step."""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from forked_python import ForkedPython
from rosflight_msgs.msg import Command
from std_msgs.msg import Empty

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import set_time
from rosflight_py_sim.interfaces.awaited_topics import AwaitedTopic, awaited_topics
from rosflight_py_sim.interfaces.rclpy_internals import leave_unserved, serve
from rosflight_py_sim.nodes.pilot import Pilot
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import vehicle

pytestmark = pytest.mark.timeout(240)

MULTIROTOR = vehicle("multirotor")
PLANNER = Path(__file__).parents[2] / "docs/examples/planner.py"
FLIGHT_NS = 2_500_000_000
BUSY = 2 * (os.cpu_count() or 1)


@contextmanager
def running(folder: Path, *words: str) -> Iterator[ForkedPython]:
    program = ForkedPython(list(words), env=dict(os.environ), cwd=folder, stdout=folder / "out", stderr=folder / "err")
    try:
        yield program
    finally:
        program.kill()
        program.wait(20.0)


@contextmanager
def busy_machine(folder: Path, count: int) -> Iterator[None]:
    script = folder / "busy.py"
    script.write_text("while True:\n    pass\n")
    programs = [
        ForkedPython([str(script)], env=dict(os.environ), cwd=folder, stdout=folder / f"o{k}", stderr=folder / f"e{k}")
        for k in range(count)
    ]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
        for program in programs:
            program.wait(20.0)


def flight_hash(graph: Callable[..., Any], folder: Path, *arguments: str, busy: int = 0) -> tuple[str, float]:
    """Hash of the truth states up to FLIGHT_NS, and the height then, with the planner in another process."""
    digest, newest = hashlib.sha256(), [VehicleState(-1)]

    def take(state: VehicleState) -> None:
        # Until the planner has started, states are repeated.
        if newest[0].time_ns < state.time_ns <= FLIGHT_NS:
            digest.update(struct.pack("<q", state.time_ns) + state.truth.tobytes())
            newest[0] = state

    # The calibration of the IMU would take 1,000 steps.
    calibrated = folder / "calibrated.yaml"
    calibrated.write_text(f"{MULTIROTOR.firmware_file.read_text()}- {{name: ACC_X_BIAS, type: 9, value: 1.0e-06}}\n")
    arguments += ("-p", f"firmware_param_file:={calibrated}", "-p", "step_size:=0.01")
    made = graph("-p", "wait_for:=['/command']", *arguments)
    made.hand_off.subscribe(made.tester, TRUTH_STATE, TRUTH_STATE.name, CHAIN, take)
    made.join(Pilot)
    with busy_machine(folder, busy), running(folder, str(PLANNER)):
        for end_ns in range(0, FLIGHT_NS + 1, FLIGHT_NS // 5):
            made.spin_until(lambda end_ns=end_ns: made.time_ns > end_ns, "the flight")
    made.close()
    return digest.hexdigest(), -float(newest[0].position_ned[2])


def test_flight_with_a_planner_in_another_process_is_the_same_on_a_busy_machine(
    graph: Callable[..., Any], tmp_path: Path
) -> None:
    first, height = flight_hash(graph, tmp_path)
    assert height > 1.0
    assert flight_hash(graph, tmp_path, busy=BUSY) == (first, height)


def count_steps(made: Any, seconds: float) -> int:
    """Steps taken in this much system time."""
    manager = made.node("time_manager")
    before = manager.steps
    made.idle(seconds)
    return int(manager.steps - before)


@pytest.mark.parametrize("time_mode", ["lockstep", "gated"])
def test_time_stands_still_without_the_message_of_a_node_and_names_it(
    graph: Callable[..., Any], time_mode: str
) -> None:
    made = graph("-p", "wait_for:=['/done within 3600 s']", "-p", "step_size:=0.02", time_mode=time_mode)
    publisher = made.tester.create_publisher(Empty, "done", 10)
    manager = made.node("time_manager")
    made.spin_until(lambda: manager.is_stalled, "the wait")
    made.idle(0.5)
    assert count_steps(made, 0.2) == 0
    texts = [diagnosis.message for diagnosis in manager.diagnose(Period(1.0, 0.0, (), ()))]
    assert f"waiting for /done at {manager.time_text}" in texts
    # Without a stamp, each message counts for the time at which it arrives.
    for _ in range(3):
        before = manager.steps
        publisher.publish(Empty())
        made.spin_until(lambda before=before: manager.steps > before, "the step")
        made.spin_until(lambda: manager.is_stalled, "the next wait")
        assert manager.steps == before + 1


def test_time_waits_until_each_subscription_of_the_process_has_the_message(
    graph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The middleware notifies one subscription after the other; a step in between would miss the command."""
    monkeypatch.setattr("rosflight_py_sim.interfaces.awaited_topics.DELIVERY_S", 3600.0)
    made = graph("-p", "wait_for:=['/command within 3600 s']", "-p", "step_size:=0.02")
    manager, board = made.node("time_manager"), made.node("sil_board")
    publisher = made.tester.create_publisher(Command, "command", 10)

    def send() -> int:
        message = Command()
        set_time(message.header.stamp, manager.time_ns)
        publisher.publish(message)
        return int(manager.steps)

    made.spin_until(lambda: manager.is_stalled and publisher.get_subscription_count() == 2, "the wait")
    before = send()
    made.spin_until(lambda: manager.steps > before, "the step")
    (inlet,) = made.hand_off.inlets("/command")
    leave_unserved(board, inlet.subscription)
    before = send()
    assert count_steps(made, 0.3) == 0
    inlet.take_kept()
    serve(board, inlet.subscription)
    made.spin_until(lambda: manager.steps > before, "the step with the command")


def test_time_continues_without_a_message_that_is_overdue(graph: Callable[..., Any]) -> None:
    made = graph("-p", "wait_for:=['/nobody within 0.1 s']", "-p", "step_size:=0.02")
    manager = made.node("time_manager")
    made.spin_until(lambda: manager.steps > 20, "the steps")
    texts = [diagnosis.message for diagnosis in manager.diagnose(Period(1.0, 0.0, (), ()))]
    assert "continues without /nobody" in texts


def test_stamped_messages_of_a_rate_are_due_once_a_period() -> None:
    (topic,) = awaited_topics(["/plan at 50 Hz within 2 s"])
    assert (topic.period_ns, topic.within_s) == (20_000_000, 2.0)
    topic.obstacle = ""
    topic.take(b"", 100_000_000, 100_000_000)
    assert not topic.is_missing(119_999_999)
    assert topic.is_missing(120_000_000)
    # A stamp of another clock, and none, count as the time of arrival.
    for stamp in (1_700_000_000_000_000_000, 0, None):
        each = AwaitedTopic("/plan", 0, 1.0)
        each.obstacle = ""
        each.take(b"", stamp, 5_000_000)
        assert not each.is_missing(5_000_000)
        assert each.is_missing(5_000_001)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("/plan at fast Hz", "allowed: TOPIC or 'TOPIC at RATE Hz'"),
        ("/plan 50", "allowed: TOPIC or 'TOPIC at RATE Hz'"),
        ("", "allowed: TOPIC or 'TOPIC at RATE Hz'"),
        ("/1plan", "allowed: TOPIC or 'TOPIC at RATE Hz'"),
        ("/plan at 0 Hz", "allowed: a rate in Hz from 0.01 to 10000"),
        ("/plan within nan s", "allowed: a time in s from 0.01 to 1e+09"),
    ],
)
def test_entry_that_is_not_allowed_is_named(entry: str, reason: str) -> None:
    with pytest.raises(ParameterError) as error:
        awaited_topics([entry])
    assert f"parameter 'wait_for': '{entry}' given" in str(error.value)
    assert reason in str(error.value)

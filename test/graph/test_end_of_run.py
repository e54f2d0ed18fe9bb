"""A run ends at a simulated time: at the same step at any pace, with all messages of the step delivered."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.step.topics import CLOCK, IMU, PWM_OUTPUT, TRUTH_STATE, StepTopic
from test.graph.conftest import Graph

STEP_NS = 2_500_000


class Listener(SimulationNode):
    """A node that takes part in the hand-off."""

    DEFAULT_NAME = "listener"


def newest_stamps(graph: Graph) -> dict[str, int]:
    """Newest stamp (ns) by topic; updated while the graph runs."""
    newest: dict[str, int] = {}
    node = graph.join(Listener)

    def listen(topic: StepTopic[object], stamp: Callable[[object], int]) -> None:
        node.subscribe(topic, lambda message: newest.__setitem__(topic.name, stamp(message)))

    listen(CLOCK, lambda time_ns: time_ns)
    for topic in (IMU, PWM_OUTPUT, TRUTH_STATE):
        listen(topic, lambda message: message.time_ns)
    return newest


@pytest.mark.parametrize("multiplier", [0.0, 2.0])
def test_run_ends_at_the_step_whose_condition_is_false(graph: Callable[..., Graph], multiplier: float) -> None:
    run = graph(multiplier=multiplier)
    newest = newest_stamps(run)
    clock = run.nodes[0].get_clock()
    for end_ns in (NANOSECONDS // 2, NANOSECONDS // 2 + 7 * STEP_NS):
        run.spin(lambda end_ns=end_ns: clock.now().nanoseconds < end_ns)
        assert newest == {
            CLOCK.name: end_ns,
            IMU.name: end_ns,
            PWM_OUTPUT.name: end_ns,
            TRUTH_STATE.name: end_ns + STEP_NS,
        }


def test_paused_run_ends_without_another_step(graph: Callable[..., Graph]) -> None:
    run = graph().ready()
    run.pause()
    paused_ns = run.time_ns
    calls: list[None] = []
    run.spin(lambda: not calls.append(None) and len(calls) < 3)
    assert len(calls) == 3
    assert run.time_ns == paused_ns


@pytest.mark.parametrize("time_mode", ["wall", "paced", "gated"])
def test_run_ends_in_the_other_time_modes(graph: Callable[..., Graph], time_mode: str) -> None:
    run = graph(time_mode=time_mode, multiplier=1.0)
    clock = run.nodes[0].get_clock()
    began_ns = clock.now().nanoseconds
    run.spin(lambda: clock.now().nanoseconds < began_ns + NANOSECONDS // 10)
    assert clock.now().nanoseconds >= began_ns + NANOSECONDS // 10

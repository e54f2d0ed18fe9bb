"""A short version of the disturbances of `make faults`: the graph continues, without transient warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from forked_python import ForkedPython

from proof.disturbances import (
    Aftermath,
    FullDisk,
    aftermath,
    full_disk,
    inject,
    pause,
    running,
    stop,
    under_load,
    visit,
)
from proof.node_graph import NodeGraph
from proof.restarts import LateRestart, late_restart, late_restarts, restarts_of
from test.processes.conftest import WALL_RATES

pytestmark = pytest.mark.timeout(900)

# A pace that even a busy machine keeps, and that leaves processor time to the other tests: 20 steps per second.
MULTIPLIER = 0.05

# Room on the full disk, bytes: that of the schemas and of some messages.
DISK_SIZE = 30_000

# Steps after a disturbance: a second.
STEPS = 20

# Later than any time at which a restarted time manager could start by itself.
LATE_S = 0.5

# The pace is not checked here; a quarter of a second shows that time advances and never goes back.
PACE_S = 0.25

# Graphs that take no more steps: their further tests would all wait until the time-out.
_HALTED: list[NodeGraph] = []


def forked(words: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path) -> ForkedPython:
    """Like `proof.node_graph.new_interpreter`, but faster."""
    return ForkedPython(words, env=environment, cwd=folder, stdout=log, stderr=log)


# This test comes first: the graph of the others runs until their last test.


def test_time_goes_on_when_the_gated_time_manager_is_killed_late_at_full_speed(ros_domain: int) -> None:
    (found,) = late_restarts("gated", 0.0, 1, ros_domain, LATE_S, PACE_S, forked)
    assert_time_goes_on(found, "gated")


@pytest.fixture(scope="module", params=["wall", "paced", "lockstep"])
def started(request: pytest.FixtureRequest, claim_domain: Any) -> Iterator[Any]:
    settings = WALL_RATES if request.param == "wall" else {}
    with (
        claim_domain() as domain,
        running(request.param, domain, MULTIPLIER, forked, settings, STEPS) as (graph, observer),
    ):
        yield graph, observer


@pytest.fixture
def run(started: Any) -> Any:
    if started[0] in _HALTED:
        pytest.fail("the graph halted in an earlier test")
    return started


def disturbed(run: Any, disturb: Callable[[], None], *, copies_imu: bool = False) -> Aftermath:
    """What follows a disturbance, which must not harm the graph."""
    graph, observer = run
    found = aftermath(graph, observer, disturb, copies_imu=copies_imu, steps=STEPS)
    if not found.goes_on:
        _HALTED.append(graph)
    assert found.holds(graph.time_mode), found
    return found


@pytest.mark.parametrize("executable", ["standalone_dynamics", "sil_board"])
def test_graph_goes_on_after_a_stopped_node(run: Any, executable: str) -> None:
    graph, observer = run
    count = len(observer.imu.stamps)
    disturbed(run, lambda: stop(graph, observer, executable, 1.0))
    assert len(observer.imu.stamps) > count + STEPS // 2


def test_doubled_delayed_and_reordered_messages_turn_no_stamp_back(run: Any) -> None:
    disturbed(run, lambda: inject(run[1], 2.0), copies_imu=True)


def test_graph_ignores_short_lived_participants(run: Any) -> None:
    disturbed(run, lambda: visit(*run, 5))


def test_pause_logs_nothing(run: Any) -> None:
    graph, observer = run
    if graph.time_mode == "wall":
        pytest.skip("system time cannot be paused")
    assert not disturbed(run, lambda: pause(observer, 4.0)).logged


def test_load_causes_no_warning_that_comes_and_goes(run: Any) -> None:
    disturbed(run, lambda: under_load(run[1], 8, 1.0))


def test_full_disk_ends_the_recording_with_one_error(run: Any) -> None:
    ended: list[FullDisk] = []
    disturbed(run, lambda: ended.append(full_disk(*run, DISK_SIZE)))
    (found,) = ended
    assert len(found.errors) == 1, found.errors
    assert found.reported and found.runs
    assert found.size > 0


def test_time_goes_on_when_the_time_manager_is_killed_late(run: Any) -> None:
    graph, observer = run
    if graph.time_mode == "wall":
        pytest.skip("system time has no time manager")
    observer.wait_for(lambda: observer.time_s > LATE_S, "the late moment")
    graph.multiplier = 2.0 if graph.time_mode == "paced" else MULTIPLIER
    assert_time_goes_on(late_restart(graph, observer, PACE_S), graph.time_mode)


def test_no_step_is_lost_in_lockstep_when_nodes_are_killed(run: Any) -> None:
    graph, observer = run
    if graph.time_mode != "lockstep":
        pytest.skip("only lockstep promises every step")
    graph.multiplier = MULTIPLIER
    done = restarts_of(graph, observer, 1, 7)
    assert {one.executable for one in done} >= {"standalone_dynamics", "lockstep_time_manager", "autopilot"}
    for one in done:
        assert not one.error and not one.gaps.missing and not one.gaps.back, one


def assert_time_goes_on(found: LateRestart, time_mode: str) -> None:
    assert not found.error and not found.back
    assert found.jump_s > 0.0
    assert time_mode == "paced" or found.jump_s < 0.1

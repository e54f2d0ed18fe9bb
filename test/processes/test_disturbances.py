"""The disturbances of `make faults`, in short: the graph goes on, and no warning comes and goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from proof.disturbances import Aftermath, aftermath, full_disk, inject, pause, running, stop, under_load, visit
from proof.restarts import late_restarts, restarts

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module", params=["wall", "paced", "lockstep"])
def run(request: pytest.FixtureRequest, claim_domain: Any) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch, claim_domain() as domain:
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        with running(request.param, domain) as (graph, observer):
            yield graph, observer


def assert_unharmed(run: Any, found: Aftermath) -> None:
    assert found.holds(run[0].time_mode), found


@pytest.mark.parametrize("executable", ["standalone_dynamics", "sil_board"])
def test_graph_goes_on_after_a_stopped_node(run: Any, executable: str) -> None:
    graph, observer = run
    assert_unharmed(run, aftermath(graph, observer, lambda: stop(graph, observer, executable, 1.0)))


def test_doubled_delayed_and_reordered_messages_turn_no_stamp_back(run: Any) -> None:
    graph, observer = run
    assert_unharmed(run, aftermath(graph, observer, lambda: inject(observer, 2.0)))


def test_graph_ignores_short_lived_participants(run: Any) -> None:
    graph, observer = run
    assert_unharmed(run, aftermath(graph, observer, lambda: visit(graph, observer, 5)))


def test_pause_logs_nothing(run: Any) -> None:
    graph, observer = run
    if graph.time_mode == "wall":
        pytest.skip("system time cannot be paused")
    found = aftermath(graph, observer, lambda: pause(observer, 4.0))
    assert_unharmed(run, found)
    assert not found.logged


def test_load_causes_no_warning_that_comes_and_goes(run: Any) -> None:
    graph, observer = run
    assert_unharmed(run, aftermath(graph, observer, lambda: under_load(observer, 8, 3.0)))


def test_full_disk_ends_the_recording_with_one_error(run: Any) -> None:
    graph, observer = run
    found = full_disk(graph, observer, 60_000)
    assert found.errors == 1 and found.reported and found.runs
    assert found.size > 0
    assert_unharmed(run, aftermath(graph, observer, lambda: None))


def test_no_step_is_lost_in_lockstep_when_nodes_are_killed(ros_domain: int) -> None:
    done = restarts("multirotor", "lockstep", 1, 7, ros_domain)
    assert {one.executable for one in done} >= {"standalone_dynamics", "lockstep_time_manager", "autopilot"}
    for one in done:
        # The last state that dynamics published may have reached only some nodes.
        last_step = int(one.executable == "standalone_dynamics")
        assert not one.error and one.missing <= last_step and one.back <= last_step, one


@pytest.mark.parametrize(("time_mode", "multiplier"), [("paced", 2.0), ("gated", 0.0), ("lockstep", 0.5)])
def test_time_goes_on_when_the_time_manager_is_killed_late(ros_domain: int, time_mode: str, multiplier: float) -> None:
    (found,) = late_restarts(time_mode, multiplier, 1, ros_domain)
    assert not found.error and not found.back
    assert found.jump_s > 0.0
    assert time_mode == "paced" or found.jump_s < 0.1

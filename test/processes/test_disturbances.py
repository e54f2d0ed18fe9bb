"""A short version of the disturbances of `make faults`: the graph continues, without transient warnings.

In every time mode, it also continues after any one node is killed and restarted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import pstdev
from typing import Any

import pytest
from forked_python import ForkedPython
from rosflight_msgs.msg import Status
from rosflight_msgs.srv import ParamSet
from sensor_msgs.msg import Imu
from std_srvs.srv import Trigger

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
from proof.node_graph import NodeGraph, Observer
from proof.restarts import LateRestart, Restart, late_restart, restarts_of
from rosflight_py_sim.graph.time_modes import TIME_MANAGERS
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import IMU, STATUS
from test.processes.conftest import LONG_STEPS

pytestmark = pytest.mark.timeout(900)

# A pace that even a busy machine keeps, and that leaves processor time to the other tests: 8 steps per second.
MULTIPLIER = 0.08

# The same for time mode wall.
RATES = {"simulation_loop_frequency": 20.0, "imu_update_frequency": 20.0, "rc_frequency": 20.0}

# Room on the full disk, bytes: that of the schemas and of some messages.
DISK_SIZE = 30_000

# Steps after a disturbance: a second.
STEPS = 8

# Later than any time at which a restarted time manager could start by itself.
LATE_S = 0.5

# The pace is not checked here; a quarter of a second shows that time advances and never goes back.
PACE_S = 0.25

# System time after which a killed node is restarted, s.
RESPAWN_S = 0.3

# Readings of the IMU that show its noise, and a noise between its own and that of running motors, m/s^2.
READINGS = 20
NOISE = 0.04

# System time in which a restarted flight controller answers, s.
RECOVERY_S = 20.0

# Graphs that take no more steps: their further tests would all wait until the time-out.
_HALTED: list[NodeGraph] = []


def forked(words: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path) -> ForkedPython:
    """Like `proof.node_graph.new_interpreter`, but faster."""
    return ForkedPython(words, env=environment, cwd=folder, stdout=log, stderr=log)


@pytest.fixture(scope="module", params=["wall", "paced", "gated", "lockstep"])
def started(request: pytest.FixtureRequest, claim_domain: Any) -> Iterator[Any]:
    settings = RATES if request.param == "wall" else LONG_STEPS
    with (
        claim_domain() as domain,
        running(request.param, domain, MULTIPLIER, forked, settings, STEPS) as (graph, observer),
    ):
        yield graph, observer


@pytest.fixture
def running_graph(started: Any) -> Any:
    if started[0] in _HALTED:
        pytest.fail("the graph halted in an earlier test")
    return started


@pytest.fixture
def run(running_graph: Any) -> Any:
    if running_graph[0].time_mode == "gated":
        pytest.skip("with time mode gated, only in the long version")
    return running_graph


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
    disturbed(run, lambda: inject(run[1], 3.0), copies_imu=True)


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
    assert found.messages > 0


def killed_and_restarted(run: Any, executables: Sequence[str]) -> list[Restart]:
    """Restarts of these nodes; the graph must continue, in lockstep without a missing step."""
    graph, observer = run
    logged = {name: len(graph.log_of(name)) for name in graph.executables}
    done = restarts_of(graph, observer, 1, 7, executables=executables, respawn_s=RESPAWN_S, steps=STEPS)
    for one in done:
        assert not one.error and not one.gaps.back and not one.decreases, one
        assert graph.time_mode != "lockstep" or not one.gaps.missing, one
    # A node that is started again is not another publisher.
    # The messages injected by an earlier test do have one, which nodes report if that test lasts long enough.
    assert not [name for name in graph.executables if "published by" in graph.log_of(name)[logged[name] :]]
    return done


def test_graph_continues_after_each_node_is_killed_and_restarted(running_graph: Any) -> None:
    graph, _ = running_graph
    graph.multiplier = MULTIPLIER
    # The next test restarts sil_board.
    others = set(graph.executables) - {"sil_board"}
    assert {"standalone_dynamics", "multirotor_forces_and_moments", "standalone_sensors", "rc"} < others
    done = killed_and_restarted(running_graph, sorted(others))
    assert {one.executable for one in done} == others


def test_restarted_flight_controller_is_disarmed_and_can_arm_again(running_graph: Any) -> None:
    _, observer = running_graph
    status: list[Status] = []
    readings: list[Imu] = []
    subscriptions = [
        observer.node.create_subscription(Status, STATUS.name, status.append, CHAIN),
        observer.node.create_subscription(Imu, IMU.name, readings.append, CHAIN),
    ]
    observer.wait_for(lambda: bool(status), "status")
    set_bias(observer, status)
    toggle_arm(observer)
    observer.wait_for(lambda: status[-1].armed, "armed")
    observer.wait_for(lambda: len(readings) >= READINGS and vibrates(readings), "the noise of the motors")
    killed_and_restarted(running_graph, ["sil_board"])
    observer.wait_for(lambda: not status[-1].armed, "disarmed by the restart")
    readings.clear()
    # The arm switch is still on: calibrated, the flight controller would arm at once.
    toggle_arm(observer)
    observer.spin(0.3)
    set_bias(observer, status)
    observer.wait_for(lambda: len(readings) >= READINGS and not vibrates(readings), "the motors are silent", RECOVERY_S)
    toggle_arm(observer)
    observer.wait_for(lambda: status[-1].armed, "armed again")
    toggle_arm(observer)
    for subscription in subscriptions:
        observer.node.destroy_subscription(subscription)


def toggle_arm(observer: Observer) -> None:
    answer = observer.call(Trigger, "toggle_arm", Trigger.Request())
    assert answer.success, answer.message


def set_bias(observer: Observer, status: list[Status]) -> None:
    """Give the flight controller a bias, which replaces a calibration of a thousand steps."""
    assert observer.call(ParamSet, "param_set", ParamSet.Request(name="ACC_X_BIAS", value=0.01)).exists
    observer.wait_for(lambda: status[-1].error_code == 0, "calibrated", RECOVERY_S)


def vibrates(readings: list[Imu]) -> bool:
    """Whether the newest readings have the noise of running motors."""
    return pstdev(one.linear_acceleration.z for one in readings[-READINGS:]) > NOISE


# These tests come last: afterwards, time may run fast.


def test_time_goes_on_when_the_time_manager_is_killed_late(running_graph: Any) -> None:
    graph, observer = running_graph
    if graph.time_mode == "wall":
        pytest.skip("system time has no time manager")
    # Gated at full speed.
    graph.multiplier = {"paced": 2.0, "gated": 0.0, "lockstep": MULTIPLIER}[graph.time_mode]
    if graph.time_mode == "gated":
        observer.set_number("time_manager", "real_time_multiplier", 0.0)
    observer.wait_for(lambda: observer.time_s > LATE_S, "the late moment")
    assert_time_goes_on(late_restart(graph, observer, PACE_S, STEPS), graph.time_mode)


def assert_time_goes_on(found: LateRestart, time_mode: str) -> None:
    assert not found.error and not found.back
    assert found.jump_s > 0.0
    assert time_mode == "paced" or found.jump_s < 0.1


def test_time_starts_again_when_dynamics_and_time_manager_are_killed_together(running_graph: Any) -> None:
    graph, observer = running_graph
    if graph.time_mode != "lockstep":
        pytest.skip("only in lockstep do the other nodes ignore an older time at first")
    observer.wait_for(lambda: observer.time_s > LATE_S, "the late moment")
    together = ["standalone_dynamics", TIME_MANAGERS[graph.time_mode]]
    for executable in together:
        graph.kill(executable)
    for executable in together:
        graph.start(executable)
    observer.wait_for(lambda: observer.time_s < LATE_S / 2, "a start at 0")
    count = len(observer.stamps)
    observer.wait_for(lambda: len(set(observer.stamps[count:])) > STEPS, "steps")
    assert observer.time_s < LATE_S

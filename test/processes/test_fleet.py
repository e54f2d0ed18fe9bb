"""Two vehicles with one process per node and one time manager stay in step when a node is killed and restarted."""

from __future__ import annotations

from typing import Any

import pytest
from rosflight_msgs.msg import SimState

from rosflight_py_sim.ground.stamps import stamp_ns
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import TRUTH_STATE, topic_of
from rosflight_py_sim.vehicles import vehicle

pytestmark = pytest.mark.timeout(240)

# Nine processes start, possibly on two busy cores.
TIMEOUT_S = 120.0

STEP_NS = 2_500_000
VEHICLES = ("one", "two")
NODES = ("standalone_dynamics", "multirotor_forces_and_moments", "sil_board", "standalone_sensors")


def test_fleet_processes_stay_in_step_after_any_is_killed_and_restarted(processes: Any) -> None:
    multirotor = vehicle("multirotor")
    common = ["--params-file", str(multirotor.parameter_file), "-p", "use_sim_time:=true"]

    def start(namespace: str, executable: str) -> Any:
        own = ["-r", f"__ns:=/{namespace}", "-p", "time_mode:=lockstep"]
        return processes.node(executable, *common, *own)

    def start_manager() -> Any:
        return processes.node("lockstep_time_manager", *common, "-p", "vehicles:=[one, two]")

    newest = dict.fromkeys(VEHICLES, -1)
    observer = processes.observer(truth=topic_of("one", TRUTH_STATE.name))
    for name in VEHICLES:

        def on_truth(message: bytes, name: str = name) -> None:
            newest[name] = stamp_ns(message)

        observer.node.create_subscription(SimState, topic_of(name, TRUTH_STATE.name), on_truth, CHAIN, raw=True)

    def wait_for_both(what: str) -> None:
        target = max(newest.values()) + 30 * STEP_NS
        observer.wait_for(lambda: min(newest.values()) >= target, what, TIMEOUT_S)

    programs = {(name, executable): start(name, executable) for name in VEHICLES for executable in NODES}
    manager = start_manager()
    wait_for_both("both vehicles fly")

    programs["two", "sil_board"].kill()
    # Messages in transit may still arrive: the vehicles have stopped when nothing arrives for half a second.
    observer.spin(0.5)
    before = dict(newest)
    observer.spin(0.5)
    assert newest == before
    assert abs(newest["one"] - newest["two"]) <= STEP_NS
    start("two", "sil_board")
    wait_for_both("both continue after the restart of a flight controller")

    manager.kill()
    observer.spin(0.5)
    before = dict(newest)
    start_manager()
    wait_for_both("both continue after the restart of the time manager")
    assert min(newest.values()) > max(before.values())

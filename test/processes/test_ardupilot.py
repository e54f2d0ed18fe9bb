"""ArduPilot's stand-in flies the graph of separate processes, and is killed in the air."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ardupilot_flights import StandInProcess
from free_ports import free_ports
from rosflight_msgs.msg import SimState

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import chosen_flight_controller
from rosflight_py_sim.graph.plan import planned_nodes
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.vehicles import vehicle

pytestmark = pytest.mark.timeout(300)

FLIGHT_S = 240.0

# Slower than ArduCopter's 400 Hz, for the sake of the time that the flights take.
RATE_HZ = 50
STEP_S = 1.0 / RATE_HZ


@pytest.fixture
def port(processes: Any) -> int:
    """UDP port of a quadrotor with one process per node."""
    (port,) = free_ports()
    chosen, controller = vehicle("multirotor"), chosen_flight_controller("ardupilot")
    words = [
        word for file in (chosen.parameter_file, *controller.files_for(chosen)) for word in ("--params-file", file)
    ]
    settings = {"use_sim_time": "true", "time_mode": "lockstep", "real_time_multiplier": 0.0, "ardupilot.port": port}
    settings |= {**controller.settings, "device": "none", "ardupilot.max_step": STEP_S}
    words += [word for name, value in settings.items() for word in ("-p", f"{name}:={value}")]
    for node in planned_nodes([Member(chosen, flight_controller="ardupilot")]):
        processes.node(node.executable, *map(str, words))
    processes.node("lockstep_time_manager", *map(str, words))
    return port


@pytest.fixture
def stand_in(port: int) -> Iterator[Callable[[], StandInProcess]]:
    """A function that starts a stand-in for the vehicle."""
    started: list[StandInProcess] = []

    def start() -> StandInProcess:
        started.append(StandInProcess("copter", port, "--rate", str(RATE_HZ), "--boot-frames", "20"))
        return started[-1]

    yield start
    for one in started:
        one.close()


def test_copter_flies_as_separate_processes_and_again_after_ardupilot_is_killed(
    processes: Any, stand_in: Callable[[], StandInProcess]
) -> None:
    observer = processes.observer()
    heights: list[float] = []
    observer.node.create_subscription(SimState, TRUTH_STATE.name, lambda m: heights.append(-m.pose.position.z), CHAIN)
    first = stand_in()
    observer.wait_for(lambda: bool(heights) and heights[-1] > 1.0, "1 m of height", FLIGHT_S)
    first.process.kill()
    first.process.wait()
    killed_s = observer.time_s
    second = stand_in()
    observer.wait_for(lambda: heights[-1] < 0.2, "the start again")
    assert observer.time_s >= killed_s
    observer.wait_for(lambda: second.is_over, "the landing", FLIGHT_S)
    flight = second.summary()
    assert flight["landed"]
    assert flight["distance_m"] > 20.0
    assert flight["off_m"] < 1.0
    # Time continues from the first flight, and each frame is one step.
    assert flight["time_s"] - flight["clock_s"] >= killed_s - 0.01
    assert flight["clock_s"] == pytest.approx((flight["frames"] - 1) * STEP_S, abs=1e-6)
    assert flight["physics_resets"] == 0
    assert flight["frozen"] <= flight["resent"]
    assert observer.stamps == sorted(observer.stamps)

"""In every time mode, the graph continues after any one node is killed and restarted."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from statistics import pstdev
from typing import Any

import pytest
from rosflight_msgs.msg import Status
from rosflight_msgs.srv import ParamSet
from sensor_msgs.msg import Imu

from rosflight_py_sim.interfaces.qos import CHAIN
from rosflight_py_sim.interfaces.step_topics import CLOCK, FORCES_AND_MOMENTS, IMU, IMU_DATA, RC, STATUS, TRUTH_STATE
from test.processes.conftest import SLOWLY, few_steps

pytestmark = pytest.mark.timeout(400)

# A message from the node shows that it is back. Its name does not: the graph lists a killed node for a while.
SENDS = {
    "standalone_dynamics": TRUTH_STATE,
    "multirotor_forces_and_moments": FORCES_AND_MOMENTS,
    # Published for each IMU message: sil_board is back only once it receives them.
    "sil_board": IMU_DATA,
    "standalone_sensors": IMU,
    "rc": RC,
    "standalone_time_manager": CLOCK,
    "gated_time_manager": CLOCK,
    "lockstep_time_manager": CLOCK,
}

# Steps that show that the graph continues.
STEPS = 20

# Readings of the IMU that show its noise, and a noise between its own and that of running motors, m/s^2.
READINGS = 20
NOISE = 0.04

# Fast DDS's shared memory outlives a killed process. After about one kill in a hundred, the other processes receive
# nothing from its successor because of these remains. A user would then restart the process, and so do the tests.
ATTEMPTS = 3
ATTEMPT_S = 20.0


@pytest.fixture(scope="module", params=["wall", "paced", "gated", "lockstep"])
def running(request: pytest.FixtureRequest, start_simulation: Callable[..., Any]) -> Any:
    # Restarts take system time: a slow simulation leaves more processor time to the starting processes.
    simulation = start_simulation(request.param, SLOWLY, *few_steps(request.param))
    observer = simulation.observer()
    observer.wait_for_advance(0.2, "the graph starts")
    yield simulation, observer
    simulation.close()


def steps(stamps: list[int]) -> int:
    """Number of steps taken; a waiting dynamics node may repeat its state."""
    return sum(b > a for a, b in pairwise(stamps))


def restart(simulation: Any, observer: Any, executable: str) -> None:
    """Kill a node, wait, restart it, and wait until it publishes and the graph continues."""
    for attempts_left in reversed(range(ATTEMPTS)):
        simulation.programs[executable].kill()
        observer.spin(0.3)
        received: list[bytes] = []
        topic = SENDS[executable]
        subscription = observer.node.create_subscription(
            topic.message_type, topic.name, received.append, CHAIN, raw=True
        )
        # A latched message of the killed node may still arrive.
        observer.spin(0.1)
        received.clear()
        simulation.start(executable)
        try:
            observer.wait_for(lambda h=received: bool(h), f"{executable} publishes again", ATTEMPT_S)
            returned = len(observer.stamps)
            observer.wait_for(
                lambda n=returned: steps(observer.stamps[n:]) >= STEPS, f"steps after {executable} restarted", ATTEMPT_S
            )
        except AssertionError:
            if attempts_left == 0:
                raise
        else:
            return
        finally:
            observer.node.destroy_subscription(subscription)


def set_bias(observer: Any, status: list[Status]) -> None:
    """Give the flight controller a bias, which replaces a calibration of a thousand steps."""
    assert observer.call(ParamSet, "param_set", ParamSet.Request(name="ACC_X_BIAS", value=0.01)).exists
    observer.wait_for(lambda: status[-1].error_code == 0, "calibrated", ATTEMPT_S)


def vibrates(readings: list[Imu]) -> bool:
    """Whether the newest readings have the noise of running motors."""
    return pstdev(one.linear_acceleration.z for one in readings[-READINGS:]) > NOISE


def test_graph_continues_after_each_node_is_killed_and_restarted(running: Any) -> None:
    simulation, observer = running
    if simulation.time_mode == "lockstep":
        pytest.skip("test_disturbances.py restarts each node in lockstep, and counts the steps")
    for executable in simulation.nodes:
        before = len(observer.stamps) - 1
        restart(simulation, observer, executable)
        # A killed dynamics node loses its state and time; restarting any other node must not turn time back.
        if executable != "standalone_dynamics":
            stamps = observer.stamps[before:]
            assert stamps == sorted(stamps), executable


def test_restarted_flight_controller_is_disarmed_and_can_arm_again(running: Any) -> None:
    simulation, observer = running
    status: list[Status] = []
    readings: list[Imu] = []
    subscriptions = [
        observer.node.create_subscription(Status, STATUS.name, status.append, CHAIN),
        observer.node.create_subscription(Imu, IMU.name, readings.append, CHAIN),
    ]
    observer.wait_for(lambda: bool(status), "status")
    set_bias(observer, status)
    observer.trigger("toggle_arm")
    observer.wait_for(lambda: status[-1].armed, "armed")
    observer.wait_for(lambda: len(readings) >= READINGS and vibrates(readings), "the noise of the motors")
    restart(simulation, observer, "sil_board")
    observer.wait_for(lambda: not status[-1].armed, "disarmed by the restart")
    readings.clear()
    # The arm switch is still on: calibrated, the flight controller would arm at once.
    observer.trigger("toggle_arm")
    observer.wait_for_advance(0.3)
    for attempts_left in reversed(range(ATTEMPTS)):
        # The flight controller must receive requests again, and the motors its outputs.
        try:
            set_bias(observer, status)
            observer.wait_for(
                lambda: len(readings) >= READINGS and not vibrates(readings), "the motors are silent", ATTEMPT_S
            )
        except AssertionError as error:
            if attempts_left == 0:
                raise AssertionError(simulation.programs["sil_board"].stderr) from error
            restart(simulation, observer, "sil_board")
        else:
            break
    observer.trigger("toggle_arm")
    observer.wait_for(lambda: status[-1].armed, "armed again")
    observer.trigger("toggle_arm")
    for subscription in subscriptions:
        observer.node.destroy_subscription(subscription)

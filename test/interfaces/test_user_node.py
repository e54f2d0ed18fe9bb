"""A node from a user's package replaces one of ours: the balloon of docs/examples, in separate processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import rclpy
from forked_python import ForkedPython
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import VehicleState

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "my_nodes"
PARAMETERS = EXAMPLE / "my_nodes" / "vehicles" / "parameters" / "balloon.yaml"
NODES = ("standalone_sensors", "sil_board", "standalone_dynamics", "lockstep_time_manager")

MASS, GRAVITY, BUOYANCY, DRAG, STIFFNESS, LENGTH = 1.0, 9.81, 40.0, 7.0, 100.0, 2.0
WIND_EAST, SPIN_DRAG = 1.0, 0.2

SETTLED_S = 3.5
TIMEOUT_S = 90.0

Program = ForkedPython | subprocess.Popen[bytes]


@pytest.fixture
def graph(ros_domain: int, tmp_path: Path) -> Iterator[list[Program]]:
    """The balloon and its neighbouring nodes, at unlimited speed."""
    ros = ["--ros-args", "--params-file", str(PARAMETERS), "-p", "time_mode:=lockstep", "-p", "use_sim_time:=true"]
    ros += ["-p", "real_time_multiplier:=0.0", "-p", "step_size:=0.01", "-p", f"drag:={DRAG}"]
    ros += ["-p", f"spin_drag:={SPIN_DRAG}", "-p", f"buoyancy:={BUOYANCY}"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    out, errors = tmp_path / "stdout", tmp_path / "stderr"
    processes: list[Program] = [
        ForkedPython(
            ["-m", "rosflight_py_sim.executables", node, *ros], env=environment, cwd=tmp_path, stdout=out, stderr=errors
        )
        for node in NODES
    ]
    # The user's node is started as a user starts it.
    balloon = [sys.executable, str(EXAMPLE / "my_nodes" / "balloon.py"), *ros]
    try:
        processes.append(subprocess.Popen(balloon, env=environment))
        yield processes
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            try:
                process.wait(10.0)
            except subprocess.TimeoutExpired:
                process.kill()


def truth_at(seconds: float, processes: list[Program]) -> VehicleState:
    """First truth state from that time on."""
    context = rclpy.Context()
    rclpy.init(context=context)
    listener = Node("listener", context=context)
    states = [VehicleState()]
    row = TRUTH_STATE
    listener.create_subscription(row.message_type, row.name, lambda m: states.append(row.decode(m)), CHAIN, raw=True)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(listener)
    give_up = time.monotonic() + TIMEOUT_S
    try:
        while states[-1].time_s < seconds:
            assert time.monotonic() < give_up, f"the simulation is at {states[-1].time_s} s only"
            ended = [process.pid for process in processes if process.poll() is not None]
            assert not ended, f"ended by themselves: {ended}"
            executor.spin_once(timeout_sec=0.2)
    finally:
        listener.destroy_node()
        rclpy.shutdown(context=context)
    return states[-1]


def test_balloon_of_user_package_settles_at_calculated_angle(
    graph: list[Program],
) -> None:
    state = truth_at(SETTLED_S, graph)

    # At rest, the string balances lift, weight and wind: it points along their sum.
    pull = np.array([0.0, DRAG * WIND_EAST, MASS * GRAVITY - BUOYANCY])
    stretched = LENGTH + float(np.linalg.norm(pull)) / STIFFNESS
    expected = stretched * pull / float(np.linalg.norm(pull))
    # Swing and stretch decay with the time constant 2 m / DRAG = 0.29 s: after 3.5 s, 5e-6 m is left of 1 m.
    # Holding the wrench over a step changes the transient, not the rest position.
    # The string swings at 10 rad/s, so the velocity may be ten times as many m/s.
    np.testing.assert_allclose(state.position_ned, expected, atol=1e-4)
    np.testing.assert_allclose(state.velocity_body, 0.0, atol=2e-3)
    # Lifting off in the wind leaves a small permanent tilt; the spin decays with J / SPIN_DRAG = 0.25 s.
    np.testing.assert_allclose(state.angular_velocity, 0.0, atol=1e-5)

"""A whole flight, from arming to disarming, with one process per node."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from geometry_msgs.msg import PoseStamped
from rclpy.qos import QoSProfile
from rosflight_msgs.msg import SimState

from rosflight_py_sim.ground.stamps import time_ns_of
from rosflight_py_sim.nodes.pilot import MissionPilot
from rosflight_py_sim.step.topics import SETPOINT, TRUTH_STATE

pytestmark = pytest.mark.timeout(240)

# Small and low, to need few steps.
MISSION = {
    "square_side": 1.5,
    "square_height": 1.0,
    "square_speed": 1.5,
    "square_acceleration": 1.5,
    "corner_pause": 0.2,
    "arrival_radius": 0.3,
    "climb_speed": 1.5,
    "landing_height": 0.3,
}


def test_square_is_flown_by_separate_processes_in_lockstep(simulate: Callable[..., Any]) -> None:
    # At full speed: RC and commands come from processes outside the step, and must not look lost at any step rate.
    # A process that gets no processor time for two of these timeouts counts as lost.
    simulation = simulate("lockstep", 0.0, "-p", "stall_timeout:=2.0", "-p", "step_size:=0.005")
    simulation.start("autopilot", *(word for k, v in MISSION.items() for word in ("-p", f"{k}:={v}")))
    observer = simulation.observer(truth="none")
    # By stamp: the observer may receive a setpoint after its state.
    setpoints: dict[int, tuple[float, float, float]] = {}
    on_square: dict[int, tuple[float, float, float]] = {}
    path: list[tuple[float, float, float]] = []
    stamps: list[int] = []

    def on_setpoint(message: PoseStamped) -> None:
        p = message.pose.position
        setpoints[time_ns_of(message.header.stamp)] = (p.x, p.y, p.z)

    def on_truth(message: SimState) -> None:
        p = message.pose.position
        path.append((p.x, p.y, p.z))
        stamps.append(time_ns_of(message.header.stamp))
        # Only on the square: the landing aims below the ground on purpose.
        if pilot.activity.startswith("side"):
            on_square[stamps[-1]] = path[-1]

    # The simulation does not wait for the observer, which may get no processor time for seconds.
    observer.node.create_subscription(PoseStamped, SETPOINT.name, on_setpoint, QoSProfile(depth=5000))
    observer.node.create_subscription(SimState, TRUTH_STATE.name, on_truth, QoSProfile(depth=5000))
    pilot = MissionPilot(context=observer.context)
    observer.add(pilot)
    observer.wait_for(lambda: pilot.done or pilot.failure is not None, "the flight ends", timeout=200.0)
    assert pilot.failure is None
    # After a last small bounce.
    at_rest_ns = pilot.answered_ns + 50 * 5_000_000
    observer.wait_for(lambda: stamps[-1] > at_rest_ns, "the vehicle comes to rest")
    errors = [math.dist(place, setpoints[stamp]) for stamp, place in on_square.items() if stamp in setpoints]
    assert len(errors) > 100
    assert max(errors) < 0.4
    assert max(north for north, _, _ in path) > 1.35
    assert max(east for _, east, _ in path) > 1.35
    assert math.dist(path[-1][:2], (0.0, 0.0)) < 0.25
    # The skids are 0.12 m below the centre of mass.
    assert path[-1][2] == pytest.approx(-0.12, abs=0.02)
    # Steps have the set size, and time never goes back. On a busy machine, a step may be answered twice, and the
    # observer, for which the simulation does not wait, may miss some.
    assert all(b >= a and (b - a) % 5_000_000 == 0 for a, b in pairwise(stamps))

"""Services that return a vehicle to its start while time continues."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rosflight_msgs.msg import SimState
from rosflight_msgs.srv import SetSimState

from rosflight_py_sim.interfaces.node_of_part import node_of
from rosflight_py_sim.parts.multirotor_forces import MultirotorForces
from rosflight_py_sim.step.qos import LATCHED
from rosflight_py_sim.step.topics import FAULT
from rosflight_py_sim.step.vehicle_state import VehicleState, truth_of_message

MultirotorForcesAndMoments = node_of(MultirotorForces)

MakeGraph = Callable[..., Any]

NEEDS_JSBSIM = pytest.mark.skipif(importlib.util.find_spec("jsbsim") is None, reason="jsbsim is not installed")


def in_flight() -> SimState:
    state = SimState()
    state.pose.position.x, state.pose.position.y, state.pose.position.z = 30.0, -20.0, -200.0
    state.pose.orientation.w = 1.0
    state.twist.linear.x, state.twist.angular.x = 30.0, 0.1
    return state


@pytest.mark.parametrize(
    ("name", "dynamics"),
    [
        ("multirotor", "standalone"),
        ("fixedwing", "standalone"),
        pytest.param("fixedwing", "jsbsim", marks=NEEDS_JSBSIM),
    ],
)
def test_vehicle_reset_in_flight_returns_to_start_and_stays_there(graph: MakeGraph, name: str, dynamics: str) -> None:
    g = graph(vehicle_name=name, dynamics=dynamics)
    g.spin_for(0.2)
    g.pause()
    start = truth_of_message(g.truth)
    assert g.call("dynamics/set_sim_state", SetSimState, state=in_flight()).success
    g.spin_until(lambda: g.truth.pose.position.z < -100.0, "the state in flight")
    g.call("time_manager/toggle_pause")
    g.spin_for(0.5)
    g.pause()
    assert g.truth.pose.position.z < -100.0
    time_ns = g.time_ns
    assert g.call("forces_and_moments/reset").success
    answer = g.call("dynamics/reset")
    assert answer.success
    assert answer.message.startswith("the vehicle is back at its start at ")
    g.spin_until(lambda: g.truth.pose.position.z > -10.0, "the state of the start")
    assert g.time_ns == time_ns
    g.call("time_manager/toggle_pause")
    g.spin_for(0.2)
    # The vehicle is back at its start, to a millimetre: wheels and skids are springs.
    assert truth_of_message(g.truth)[:7] == pytest.approx(start[:7], abs=1e-3)
    assert np.max(np.abs(truth_of_message(g.truth)[7:13])) < 1e-2


class FailingForces(MultirotorForcesAndMoments):
    """Forces with a settable error `force` along x, N."""

    force = 0.0

    def update_forces_and_torques(
        self, state: VehicleState, wind_ned: NDArray[np.float64], pwm_us: NDArray[np.float64], dt: float
    ) -> NDArray[np.float64]:
        wrench = super().update_forces_and_torques(state, wind_ned, pwm_us, dt)
        wrench[0] += self.force
        return wrench


def test_reset_clears_a_fault(graph: MakeGraph) -> None:
    g = graph(classes={"multirotor_forces_and_moments": FailingForces})
    faults = g.collect_messages(FAULT, qos=LATCHED)
    g.spin_for(0.1)
    forces = g.node("forces_and_moments")
    forces.force = math.nan
    g.spin_until(lambda: faults and faults[-1].data and g.node("time_manager").paused, "a fault, and a pause")
    forces.force = 0.0
    assert g.call("forces_and_moments/reset").success
    assert g.call("dynamics/reset").success
    g.spin_until(lambda: not faults[-1].data, "the end of the fault")
    g.call("time_manager/toggle_pause")
    g.spin_for(0.1)
    assert g.truth.pose.position.z == pytest.approx(-0.12, abs=1e-3)

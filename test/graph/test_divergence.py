"""A state that is no longer finite: the run pauses, reports quantity and time, and keeps the last good state."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rosflight_msgs.msg import SimState

from rosflight_py_sim.interfaces.node_of_part import node_of
from rosflight_py_sim.parts.multirotor_forces import MultirotorForces
from rosflight_py_sim.step.qos import LATCHED
from rosflight_py_sim.step.topics import FAULT, TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import VehicleState

MultirotorForcesAndMoments = node_of(MultirotorForces)


class FailingForces(MultirotorForcesAndMoments):
    """Forces with a settable error `force` along x, N."""

    force = 0.0

    def update_forces_and_torques(
        self, state: VehicleState, wind_ned: NDArray[np.float64], pwm_us: NDArray[np.float64], dt: float
    ) -> NDArray[np.float64]:
        wrench = super().update_forces_and_torques(state, wind_ned, pwm_us, dt)
        wrench[0] += self.force
        return wrench


def test_divergence_pauses_run_and_valid_state_resumes_it(graph: Callable[..., Any]) -> None:
    g = graph(classes={"multirotor_forces_and_moments": FailingForces}).ready()
    faults = g.collect_messages(FAULT, qos=LATCHED)
    forces = g.node("forces_and_moments")
    for force, quantity in ((1e300, "position"), (math.nan, "force")):
        forces.force = force
        g.spin_until(lambda: faults and faults[-1].data, "a fault")
        fault = faults[-1].data
        assert quantity in fault
        assert f" at {(g.time_ns + 2_500_000) * 1e-9:.6g} s" in fault
        assert "dynamics/set_sim_state" in fault
        g.spin_until(lambda: g.node("time_manager").paused, "a pause")
        last, time_ns = g.truth, g.time_ns
        g.idle(0.6)
        assert g.time_ns == time_ns
        # A late subscriber still receives the last good state.
        late = g.collect_messages(TRUTH_STATE, qos=LATCHED)
        g.spin_until(lambda late=late: late, "the latched state")
        assert late[-1] == last
        assert math.isfinite(last.twist.linear.x)

        forces.force = 0.0
        good = SimState()
        good.pose.position.z, good.pose.orientation.w = -20.0 - g.time_s, 1.0
        g.set_state(good)
        g.spin_until(lambda: not faults[-1].data, "the end of the fault")
        assert g.call("time_manager/toggle_pause").message.startswith("running")
        g.spin_until(lambda time_ns=time_ns: g.time_ns > time_ns + 100_000_000, "advancing time")
        assert g.truth.twist.linear.z > 0.5
        assert abs(g.truth.twist.linear.x) < 0.1

"""Dynamics and flight models without ROS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rosflight_msgs.srv import SetSimState
from std_srvs.srv import Trigger

from rosflight_py_sim.parts.jsbsim_flight import JsbsimFlight
from rosflight_py_sim.parts.rigid_body_dynamics import RigidBodyDynamics
from rosflight_py_sim.parts.truth import Truth
from rosflight_py_sim.physics.dynamics import StateDivergedError
from rosflight_py_sim.step.ports import Input, Output, Service
from rosflight_py_sim.step.topics import (
    FORCES_AND_MOMENTS,
    SIM_STEP_SIZE,
    TRUTH_STATE,
    TRUTH_WIND,
    PulseWidths,
    StepSize,
    Wrench,
)
from rosflight_py_sim.step.vehicle_state import VehicleState, message_of_truth

STEP_NS = 2_500_000
MASS_AND_INERTIA = {"mass": 2.0, "Jxx": 0.1, "Jyy": 0.1, "Jzz": 0.1, "Jxz": 0.0}


class Connected:
    """A part with a list of the messages of each of its topics."""

    def __init__(self, part_class: type[Truth], **values: Any) -> None:
        self.part = part_class({**part_class.table_for(values).defaults(), **values})
        self.sent: dict[str, list[Any]] = {}
        for out in self.part.ports(Output):
            setattr(self.part, out.name, self.sent.setdefault(out.topic.name, []).append)
        self.give_step_size(STEP_NS)
        self.part.begin()

    def give_step_size(self, step_ns: int) -> None:
        (port,) = [port for port in self.part.ports(Input) if port.topic is SIM_STEP_SIZE]
        port.taker(self.part)(StepSize(0, step_ns, is_requested=False))

    def call(self, service: str, request: Any) -> Any:
        (port,) = [port for port in self.part.ports(Service) if port.topic == service]
        return getattr(self.part, port.name)(request, port.service_type.Response())

    def stamps(self, topic: Any) -> list[int]:
        return [message.time_ns for message in self.sent[topic.name]]

    @property
    def state(self) -> VehicleState:
        state: VehicleState = self.sent[TRUTH_STATE.name][-1]
        return state


def lifted(time_ns: int, force_n: float = 100.0) -> Wrench:
    return Wrench(time_ns, (0.0, 0.0, -force_n), (0.0, 0.0, 0.0))


def test_each_wrench_is_answered_with_the_state_at_the_end_of_its_step() -> None:
    vehicle = Connected(RigidBodyDynamics, **MASS_AND_INERTIA)
    assert vehicle.stamps(TRUTH_STATE) == vehicle.stamps(TRUTH_WIND) == [0]
    vehicle.part.run(0, lifted(0))
    vehicle.give_step_size(2 * STEP_NS)
    vehicle.part.run(STEP_NS, lifted(STEP_NS))
    assert vehicle.stamps(TRUTH_STATE) == vehicle.stamps(TRUTH_WIND) == [0, STEP_NS, 3 * STEP_NS]
    states = vehicle.sent[TRUTH_STATE.name]
    # Each message keeps its state.
    assert states[0].position_ned[2] > states[1].position_ned[2] > states[2].position_ned[2]


def test_divergence_reaches_the_caller_and_keeps_the_last_finite_state() -> None:
    vehicle = Connected(RigidBodyDynamics, **MASS_AND_INERTIA)
    vehicle.part.run(0, lifted(0))
    before = vehicle.state
    with pytest.raises(StateDivergedError, match="nan"):
        vehicle.part.run(STEP_NS, lifted(STEP_NS, np.nan))
    assert vehicle.state is before
    assert vehicle.part.time_ns == STEP_NS
    assert np.array_equal(vehicle.part.compute_truth(), before.truth)


def test_services_set_the_state_and_return_the_vehicle_to_its_start() -> None:
    vehicle = Connected(RigidBodyDynamics, **MASS_AND_INERTIA)
    start = vehicle.state
    vehicle.part.run(0, lifted(0))
    high = VehicleState()
    high.position_ned[2] = -100.0
    answer = vehicle.call("dynamics/set_sim_state", SetSimState.Request(state=message_of_truth(high.truth)))
    assert (answer.success, answer.message) == (True, "state set at 0.0025 s")
    assert (vehicle.state.time_ns, vehicle.state.position_ned[2]) == (STEP_NS, -100.0)
    high.position_ned[2] = np.nan
    assert not vehicle.call("dynamics/set_sim_state", SetSimState.Request(state=message_of_truth(high.truth))).success
    assert vehicle.state.position_ned[2] == -100.0
    assert vehicle.call("dynamics/reset", Trigger.Request()).success
    assert vehicle.state.time_ns == STEP_NS
    assert np.array_equal(vehicle.state.truth, start.truth)


def test_flight_model_sends_the_wrench_with_the_stamp_of_the_outputs() -> None:
    pytest.importorskip("jsbsim")
    aircraft = Connected(JsbsimFlight)
    for time_ns in (0, STEP_NS):
        aircraft.part.run(time_ns, PulseWidths(time_ns, (1000,) * 14))
    assert aircraft.stamps(FORCES_AND_MOMENTS) == [0, STEP_NS]
    assert aircraft.stamps(TRUTH_STATE) == [0, STEP_NS, 2 * STEP_NS]
    aircraft.part.answer_again(STEP_NS)
    assert aircraft.sent[FORCES_AND_MOMENTS.name][-1] == aircraft.sent[FORCES_AND_MOMENTS.name][-2]

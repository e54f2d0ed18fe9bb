"""World of an environment: one vehicle in a pipeline, whose actions are given from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.parts.policy import Array
from rosflight_py_sim.parts.policy_seat import PolicySeat
from rosflight_py_sim.physics.dynamics import StateDivergedError
from rosflight_py_sim.step.compiled_steps import Receiver
from rosflight_py_sim.step.pipeline import Pipeline
from rosflight_py_sim.step.topics import TRUTH_STATE, StepTopic
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.sweep.pipeline_flight import built_parts, planned_parts, step_size_s


class World:
    """A vehicle from its start on; the flight equals that of the composed graph with the same actions, bit for bit.

    Attributes:
        seat: part of the policy.
        pipeline: parts of the vehicle.
        state: true state of the last observation.
        diverged: whether the state has diverged, which ends the flight.
    """

    seat: PolicySeat
    pipeline: Pipeline
    state: VehicleState

    def __init__(self, receivers: Iterable[tuple[StepTopic[Any], Callable[[Any], None]]] = ()) -> None:
        """`receivers` are further receivers of topics, each as a topic and the function that takes its messages."""
        state = Receiver(TRUTH_STATE, self._take_state, lambda: self.seat.idle_until_ns)
        self._receivers: list[Any] = [state, *receivers]

    def reset(self, scenario: Scenario) -> Array:
        """Build the only vehicle of a scenario at its start, and return the first observation (n,).

        Raises:
            NeedsGraphError: a part of the vehicle runs only as a node.
            ParameterError: a parameter is missing or not allowed, or no part of the vehicle is flown by a policy.
        """
        (member,) = scenario.members
        sources = parameter_sources(
            [member], files=scenario.files, weakest={"device": "none"}, settings=scenario.settings
        )
        parts = built_parts(planned_parts(member), member, sources)
        seats = [part for part in parts if isinstance(part, PolicySeat)]
        if len(seats) != 1:
            raise ParameterError(
                f"vehicle '{member.vehicle.name}' given with {len(seats)} nodes that a policy flies; allowed: one, "
                "policy_autopilot or policy_controller"
            )
        self.seat, self.diverged = seats[0], False
        self.seat.awaits_actions = True
        step_ns = round(step_size_s(scenario.time_manager, sources) * NANOSECONDS)
        self.pipeline = Pipeline(parts, step_ns, self._receivers)
        self._run()
        return self.seat.observation

    @property
    def is_over(self) -> bool:
        """Whether no further action is awaited."""
        return self.diverged or self.seat.is_over

    def step(self, action: Any) -> Array:
        """Perform an action, fly until the next decision or the end, and return the observation (n,).

        Raises:
            PolicyError: the action is not allowed.
        """
        self.seat.act(action)
        try:
            self.pipeline.go_on()
            self._run()
        except StateDivergedError:
            self.diverged = True
        return self.seat.observation

    def _run(self) -> None:
        seat, pipeline = self.seat, self.pipeline
        while not seat.is_waiting and not seat.is_over:
            pipeline.advance(pipeline.time_ns + NANOSECONDS)

    def _take_state(self, state: VehicleState) -> None:
        self.state = state

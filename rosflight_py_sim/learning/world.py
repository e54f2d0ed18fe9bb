"""World of an environment: one vehicle in a pipeline, whose actions are given from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import NEVER_NS
from rosflight_py_sim.parts.policy import Array, Array64
from rosflight_py_sim.parts.policy_autopilot import PolicyAutopilot
from rosflight_py_sim.parts.policy_controller import PolicyController
from rosflight_py_sim.parts.policy_seat import PolicySeat
from rosflight_py_sim.physics.dynamics import StateDivergedError
from rosflight_py_sim.step.compiled_steps import Receiver
from rosflight_py_sim.step.pipeline import Pipeline
from rosflight_py_sim.step.topics import TRUTH_STATE, StepTopic
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.sweep.pipeline_flight import built_parts, planned_parts, step_size_s


class Memory(NamedTuple):
    """Memory of a vehicle's decisions in compiled steps, which vehicles of a vectorised environment have in rows.

    Attributes:
        truth: true state of the last observation (19,).
        command: command in answer to it (12,).
        action: last action (4,), float32.
    """

    truth: Array64
    command: Array64
    action: Array


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
    _newest: VehicleState

    def __init__(
        self,
        receivers: Iterable[tuple[StepTopic[Any], Callable[[Any], None]]] = (),
        memory: Memory | None = None,
    ) -> None:
        """Take no vehicle yet.

        Args:
            receivers: further receivers of topics, each as a topic and the function that takes its messages.
            memory: memory of the decisions of a `PolicyAutopilot`; None: its own.
        """
        self._memory = memory
        state = Receiver(TRUTH_STATE, self._take_state, self._idle_until)
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
        if self._memory is not None and isinstance(self.seat, PolicyAutopilot):
            self.seat.seen, self.seat.command_numbers, self.seat.last_action = self._memory
            self.seat.last_action[:] = 0.0
        step_ns = round(step_size_s(scenario.time_manager, sources) * NANOSECONDS)
        self.pipeline = Pipeline(parts, step_ns, self._receivers)
        self._run()
        self.state = self._newest
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
        self.go_on(self.pipeline.go_on)
        return self.seat.observation

    def go_on(self, begin: Callable[[], None]) -> None:
        """Fly until the next decision or the end, after `begin` has been called."""
        try:
            begin()
            self._run()
        except StateDivergedError:
            self.diverged = True
        self.read_state()

    def read_state(self) -> None:
        """Read the state of the last observation, in compiled steps from the part's memory."""
        if self.pipeline.is_compiled and isinstance(self.seat, PolicyAutopilot | PolicyController):
            seen = self.seat.seen_state
            if seen.time_ns > self.state.time_ns:
                self.state = seen
        elif not self.diverged:
            self.state = self._newest

    def _run(self) -> None:
        seat, pipeline = self.seat, self.pipeline
        while not seat.is_waiting and not seat.is_over:
            pipeline.advance(pipeline.time_ns + NANOSECONDS)

    def _idle_until(self) -> int:
        """Time until which no state need be sent, ns: in compiled steps, the part keeps the last one."""
        return NEVER_NS if self.pipeline.is_compiled else self.seat.idle_until_ns

    def _take_state(self, state: VehicleState) -> None:
        self._newest = state

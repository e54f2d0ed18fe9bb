"""Place of a policy in a vehicle: observation, decision and action, in the node graph as in a learning environment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from rosflight_py_sim.autopilot.goals import Goal, Task
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Value
from rosflight_py_sim.parts.policy import (
    OBSERVED,
    POLICY,
    Array,
    Array64,
    Motion,
    Policy,
    action_of,
    load_policy,
    observation_of,
)
from rosflight_py_sim.parts.sensed_motion import SENSED_MOTION_PARAMETERS, SensedMotion
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import newest
from rosflight_py_sim.step.topics import BARO, GNSS_FIX, BaroSample, GnssSample

SOURCES = ("truth", "sensors")
"""Choices of the parameter `observations`."""

OBSERVATIONS = Parameter(
    "observations",
    "truth",
    "Motion in the policy's observation: truth, or sensors (GNSS and barometer since the start, and the attitude "
    "that the firmware estimates from the IMU; under water the pressure instead of GNSS)",
    choices=SOURCES,
    read_only=True,
)

POLICY_SEAT_PARAMETERS = ParameterTable(POLICY, OBSERVATIONS) + SENSED_MOTION_PARAMETERS


class PolicySeat(Part, ABC):
    """A part whose answers a policy decides.

    With `awaits_actions`, an answer only makes the observation; the caller then calls `act`. The flight is the same as
    with a policy that returns these actions.

    Attributes:
        awaits_actions: whether actions are given by calls of `act`.
        is_waiting: whether an observation waits for its action.
        observation: the last observation (n,).
        goal: goal of the last observation; None before the first.
        last_action: the last action (m,), 0 at first.
    """

    PARAMETERS: ClassVar[ParameterTable] = POLICY_SEAT_PARAMETERS

    awaits_actions = False
    sensed: SensedMotion

    @property
    def answers_at_once(self) -> bool:
        """Whether the policy decides within the answer, without an action from outside."""
        return not self.awaits_actions

    def initialise(self) -> None:
        """Wait for the first observation."""
        super().initialise()
        self.is_waiting = False
        self.goal: Goal | None = None

    def configure(self, values: dict[str, Value]) -> None:
        """Load the policy, once."""
        super().configure(values)
        if not hasattr(self, "_policy"):
            self.sensed = SensedMotion(values)
            self.last_action: Array = np.zeros(self.action_size, dtype=np.float32)
            self.observation: Array = np.zeros(OBSERVED + self.action_size, dtype=np.float32)
            self._policy: Policy = load_policy(str(values[POLICY.name]), len(self.observation), self.action_size)

    @property
    @abstractmethod
    def task(self) -> Task:
        """The task that gives the goals."""

    @property
    @abstractmethod
    def action_size(self) -> int:
        """Number of elements of the action."""

    @abstractmethod
    def perform(self, action: list[float]) -> None:
        """Send what the action means, in answer to the last observation.

        Args:
            action: elements from -1 to 1.
        """

    def steady_scales(self) -> Array64 | None:
        """For decisions that only read the truth, with a goal that stays: what `perform` multiplies the action by.

        Returns:
            the factors (m,), in the order of the action; None if Python must observe, or perform an action.
        """
        return None

    @property
    def is_over(self) -> bool:
        """Whether the policy decides no more."""
        return False

    def uses_sensors(self) -> bool:
        """Whether sensors are inputs."""
        return self.values[OBSERVATIONS.name] == "sensors"

    def decide(self, motion: Motion, goal: Goal) -> None:
        """Make the observation; then act by the policy, or wait for a call of `act`."""
        self.observation, self.goal = observation_of(motion, goal, self.last_action), goal
        if self.awaits_actions:
            self.is_waiting = True
        else:
            self.act(self._policy(self.observation))

    def act(self, action: Any) -> None:
        """Perform the action that answers the last observation.

        Raises:
            PolicyError: the action is not allowed.
        """
        self.last_action[:] = action_of(action, self.action_size, str(self.values[POLICY.name]))
        self.perform(self.last_action.tolist())
        self.is_waiting = False

    @newest(GNSS_FIX, when="uses_sensors")
    def _on_fix(self, fix: GnssSample) -> None:
        self.sensed.take_fix(fix)

    @newest(BARO, when="uses_sensors")
    def _on_pressure(self, sample: BaroSample) -> None:
        self.sensed.take_pressure(sample)

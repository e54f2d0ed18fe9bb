"""Base class of nodes whose parts can fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter as RosParameter
from std_msgs.msg import String

from rosflight_py_sim.failures.failure import FAILURES, Failure
from rosflight_py_sim.failures.schedule import FailureSchedule, Signals
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.parameters import ParameterError, Value
from rosflight_py_sim.step.topics import ACTIVE_FAILURES


class FallibleNode(SimulationNode):
    """Applies the failures of the parameter `failures` that concern the node's parts.

    The node calls `advance_failures` at the beginning of each step while `has_failures` is true. When failures begin
    or end, that calls `fail`, logs them, and publishes the active ones on sim/failures. A change of the parameter
    leaves the failures that are still in the list, and the node's models, as they are.

    Class attributes:
        FALLIBLE: names of the parts, from `failures.failure.TARGETS`.

    Attributes:
        has_failures: whether there are failures, active or not; a step without any costs only its check.
    """

    FALLIBLE: ClassVar[tuple[str, ...]] = ()
    has_failures = False

    def __init__(self, **arguments: Any) -> None:
        """Check the failures; none is active before the first step.

        Raises:
            ParameterError: a text describes no failure, or one that the node cannot have.
        """
        self._failures = FailureSchedule()
        self._send_failures: Any = None
        super().__init__(**arguments)
        self._adopt(self._scheduled(self.values.get(FAILURES.name, [])))

    def fail(self, signals: Signals) -> None:
        """Apply these failures, and no others, from now on."""

    def check_failure(self, failure: Failure) -> None:
        """Check a failure of the node's parts; by default allow it.

        Raises:
            ParameterError: the vehicle has no such part.
        """

    @property
    def active_failures(self) -> Sequence[str]:
        """Failures that are active, in words."""
        return [effect.failure.text for effect in self._failures.active]

    def advance_failures(self, time_ns: int) -> None:
        """Begin and end the failures for a step; call this at its beginning."""
        if not self._failures.since_ns <= time_ns < self._failures.until_ns:
            self._switch(time_ns)

    def _switch(self, time_ns: int) -> None:
        before = self.active_failures
        self._failures.switch(time_ns)
        self.fail(self._failures.signals())
        self.has_failures = len(self._failures) > 0
        now = self.active_failures
        for text in now:
            if text not in before:
                self.get_logger().info(f"failure begins: {text}")
        for text in before:
            if text not in now:
                self.get_logger().info(f"failure ends: {text}")
        if self._send_failures is not None and now != before:
            self._send_failures(String(data=f"{self.get_name()}: {', '.join(now) or 'none'}"))

    def _scheduled(self, texts: Any) -> FailureSchedule:
        seed = int(str(self.values.get("seed", 0)))
        return FailureSchedule(texts, self.FALLIBLE, seed, check=self.check_failure, previous=self._failures)

    def _adopt(self, schedule: FailureSchedule) -> None:
        schedule.active = self._failures.active
        self._failures = schedule
        # Those of the previous list end in the next step.
        self.has_failures = self.has_failures or len(schedule) > 0
        if len(schedule) and self._send_failures is None:
            self._send_failures = self.publisher(ACTIVE_FAILURES)

    def _on_set_parameters(self, changes: list[RosParameter[Any]]) -> SetParametersResult:
        own = [change for change in changes if change.name == FAILURES.name]
        try:
            schedule = self._scheduled(own[-1].value) if own else None
        except ParameterError as error:
            return SetParametersResult(successful=False, reason=str(error))
        # A change of failures alone must not rebuild the models, which would draw their random numbers again.
        result = super()._on_set_parameters([change for change in changes if change.name != FAILURES.name])
        if result.successful and schedule is not None:
            value: Value = list(own[-1].value)
            self.values = {**self.values, FAILURES.name: value}
            self._adopt(schedule)
        return result

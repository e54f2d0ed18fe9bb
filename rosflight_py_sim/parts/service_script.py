"""Scripts: services to call and conditions to wait for, which each message of a trigger evaluates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from typing import Any, ClassVar, TypeAlias

from std_srvs.srv import Trigger

from rosflight_py_sim.ground.parameters import Values
from rosflight_py_sim.step.part import Part

Script: TypeAlias = Generator[str | Callable[[], bool], None, None]
"""Services to call, and conditions to wait for."""


class FlightAbortedError(RuntimeError):
    """The flight has failed; the text names the step and the reason."""


class ServiceScript(Part, ABC):
    """Calls services, and waits for conditions, in the order of a script.

    Class attributes:
        PATIENCE: number of evaluations, at 10 Hz of simulated time, after which a condition that is not met has failed.

    Attributes:
        activity: text of the current step.
        done: whether the script is complete.
        failure: error that ended the script; None if there was none.
        dynamics: values of the vehicle's dynamics.
        autopilot: values of the vehicle's autopilot; empty if the script starts none.
    """

    DEFAULT_NAME: ClassVar[str] = "pilot"
    PATIENCE: ClassVar[int] = 150

    services_called: Any

    def __init__(
        self, *arguments: Any, dynamics: Values | None = None, autopilot: Values | None = None, **named: Any
    ) -> None:
        """Start at the first message of the trigger; further arguments go to the next class."""
        self.dynamics, self.autopilot = dynamics or {}, autopilot or {}
        super().__init__(*arguments, **named)

    def initialise(self) -> None:
        """Wait for the first message."""
        super().initialise()
        self.activity = "starting (compiles the first time)"
        self.done = False
        self.failure: FlightAbortedError | None = None
        self._waited = 0
        self._missing_service = ""
        self._script = self.flight()
        self._condition: Callable[[], bool] | None = lambda: True

    @abstractmethod
    def flight(self) -> Script:
        """Services to call, and conditions to wait for.

        Raises:
            FlightAbortedError: the script cannot succeed; the text gives the reason.
        """

    def call(self, service: str) -> None:
        """Call a service as soon as it is available; go on after its reply, but a refusal ends the script."""
        call = self.services_called[service]
        if not call.is_available():
            self._condition = call.is_available
            self._missing_service = service
            return
        call.send(Trigger.Request(), lambda response: self._on_response(service, response))

    def _on_response(self, service: str, response: Trigger.Response) -> None:
        if response.success:
            self._go_on()
        else:
            self.fail_flight(f"{service}: {response.message}")

    @property
    def waits_without_limit(self) -> bool:
        """Whether the current condition has no time limit."""
        return False

    def restart_wait(self) -> None:
        """Restart the time limit of the current condition."""
        self._waited = 0

    def trouble(self) -> str:
        """Reason to end the script now; empty if there is none."""
        return ""

    def unmet(self) -> str:
        """Reason of a condition that is not met in time."""
        return "nothing has happened"

    def evaluate(self) -> None:
        """Check the current condition, and go on if it holds."""
        if self._condition is None or self.failure or self.done:
            return
        trouble = self.trouble()
        if trouble:
            self.fail_flight(trouble)
        elif self._condition():
            self._go_on()
        else:
            self._waited += 1
            if self._missing_service:
                if self.services_called[self._missing_service].is_missing():
                    self.fail_flight(f"the service {self._missing_service} is not available")
            elif self._waited > self.PATIENCE and not self.waits_without_limit:
                self.fail_flight(self.unmet())

    def _go_on(self) -> None:
        self._condition = None
        self._waited = 0
        step: str | Callable[[], bool] | None
        try:
            step = self._missing_service or next(self._script, None)
        except FlightAbortedError as error:
            self.fail_flight(str(error))
            return
        self._missing_service = ""
        if step is None:
            self.done = True
        elif isinstance(step, str):
            self.call(step)
        else:
            self._condition = step

    def fail_flight(self, reason: str) -> None:
        """End the script with a failure."""
        self.failure = FlightAbortedError(f"{self.activity}: {reason}")

"""The steps from a vehicle at rest to a mission under way: a checklist, and the sequence behind the button *Fly*."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from rosflight_py_sim.firmware import state_text
from rosflight_py_sim.viewer.web.pilot_state import PilotState

_PATIENCE_S = 15.0
_CALIBRATIONS = 10


def _no_reason(_: PilotState) -> str:
    return ""


def _never(_: PilotState) -> bool:
    return False


@dataclass(frozen=True)
class FlyStep:
    """A step of the checklist.

    Attributes:
        label: the action.
        service: service that it calls, relative to the vehicle's namespace; empty for none.
        is_done: whether it is done.
        is_set: whether the switch that the service toggles is already in the wanted position.
        reason: why it is not done.
        trouble: why it can no longer be done; empty if it can.
        attempts: number of calls after which the step fails.
        is_limited: whether the step has a time limit.
    """

    label: str
    service: str
    is_done: Callable[[PilotState], bool]
    is_set: Callable[[PilotState], bool] = _never
    reason: Callable[[PilotState], str] = _no_reason
    trouble: Callable[[PilotState], str] = _no_reason
    attempts: int = 1
    is_limited: bool = True


_START = FlyStep("Start the mission", "autopilot/start", lambda state: state.is_under_way or state.phase == "done")


def _fly(trouble: Callable[[PilotState], str]) -> FlyStep:
    return FlyStep("Fly the mission", "", lambda state: state.phase == "done", trouble=trouble, is_limited=False)


def _lost_firmware(state: PilotState) -> str:
    if state.is_armed and not state.failsafe:
        return ""
    return f"the vehicle is {state_text(state.error_code, armed=state.is_armed, failsafe=state.failsafe)}"


FIRMWARE_STEPS = (
    FlyStep(
        "Calibrate the IMU",
        "calibrate_imu",
        lambda state: state.is_calibrated or state.is_armed,
        reason=lambda state: state.arming_refusal,
        attempts=_CALIBRATIONS,
    ),
    FlyStep(
        "Arm",
        "toggle_arm",
        lambda state: state.is_armed or state.landed,
        is_set=lambda state: bool(state.arm_switch),
        reason=lambda state: state.arming_refusal,
    ),
    FlyStep(
        "Give control to the autopilot",
        "toggle_override",
        lambda state: state.has_firmware and not state.transmitter_has_control and state.offboard,
        is_set=lambda state: state.override_switch is False,
        reason=lambda state: "the transmitter has control" if state.transmitter_has_control else "",
    ),
    _START,
    _fly(_lost_firmware),
    FlyStep(
        "Disarm after the landing",
        "toggle_arm",
        lambda state: state.phase == "done" and not (state.landed and state.is_armed),
        is_set=lambda state: state.arm_switch is False,
    ),
)

HOLDING_STEPS = (
    FlyStep("Hold depth and heading", "hold/here", lambda state: bool(state.holds)),
    _START,
    _fly(lambda state: "the vehicle is released" if state.holds is False else ""),
)


class FlySequence:
    """Calls the services of the steps in order, each as soon as the previous step is done.

    Attributes:
        steps: the steps.
        is_running: whether the sequence is under way.
        failure: why the sequence ended before its last step; empty if it did not.
        present: the step under way, or at which the sequence has failed; None if there is none.
    """

    def __init__(self, call: Callable[[str, str], None]) -> None:
        """Do nothing until `begin`; `call` calls a service, given the step's label and the service."""
        self._call = call
        self.steps: tuple[FlyStep, ...] = ()
        self.is_running = False
        self.failure = ""
        self.present: FlyStep | None = None
        self._left: list[FlyStep] = []
        self._called_s = 0.0
        self._attempts = 0
        self._has_begun = False

    def begin(self, state: PilotState) -> None:
        """Run the steps that are not done."""
        self.failure, self.present, self._left = "", None, list(self.steps)
        self.is_running, self._has_begun = True, False
        self.update(state)

    def stop(self, why: str) -> None:
        """End the sequence at the present step."""
        if self.is_running:
            self.is_running, self.failure = False, why

    def is_done(self, step: FlyStep, state: PilotState) -> bool:
        """Whether a step is done; the mission of an earlier flight does not count for the steps of the next one."""
        if self.is_running and not self._has_begun and state.phase == "done":
            state = replace(state, phase="wait", landed=False)
        return step.is_done(state)

    def is_present(self, step: FlyStep, state: PilotState) -> bool:
        """Whether a step is under way; a mission is, whichever program has started it."""
        return step is self.present or (state.is_under_way and not step.service)

    def update(self, state: PilotState) -> None:
        """Continue the sequence; call this for each new state."""
        if not self.is_running:
            return
        self._has_begun = self._has_begun or state.is_under_way
        # A step that is done stays done: the pilot may take control at any time.
        while self._left and self.is_done(self._left[0], state):
            self._left.pop(0)
        if not self._left:
            self.is_running, self.present = False, None
            return
        step = self._left[0]
        if step is not self.present:
            self.present, self._attempts = step, 0
            self._act(step, state)
        elif trouble := step.trouble(state):
            self.stop(trouble)
        elif step.is_limited and state.time_s - self._called_s > _PATIENCE_S:
            if self._attempts < step.attempts:
                self._act(step, state)
            else:
                self.stop(step.reason(state) or f"not done after {_PATIENCE_S:g} s of simulated time")

    def _act(self, step: FlyStep, state: PilotState) -> None:
        self._called_s = state.time_s
        self._attempts += 1
        if step.service and not step.is_set(state):
            self._call(step.label, step.service)

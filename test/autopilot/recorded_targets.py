"""A target controller for tests that stores its targets."""

from __future__ import annotations

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.flight_state import FlightState
from rosflight_py_sim.autopilot.fly_target import FlyTarget
from rosflight_py_sim.autopilot.target_controller import TargetController


class RecordedTargets(TargetController):
    """Flies nothing; it stores the pilot's targets for the test."""

    def __init__(self) -> None:
        self.last_command: FlyTarget | str = ""
        self.forgotten = 0
        self.climbed = 0.0
        self.adopted: TargetController | None = None

    def fly(self, state: FlightState, target: FlyTarget, dt: float) -> AutopilotCommand:
        self.last_command = target
        return self._autopilot_command(state)

    def take_off(self, state: FlightState, dt: float) -> AutopilotCommand:
        self.last_command, self.climbed = "take off", state.height
        return self._autopilot_command(state)

    @property
    def has_taken_off(self) -> bool:
        return self.climbed > 30.0

    def stand(self, state: FlightState) -> AutopilotCommand:
        self.last_command = "stand"
        self.reset()
        return self._autopilot_command(state)

    def reset(self) -> None:
        self.forgotten += 1
        self.climbed = 0.0

    def adopt(self, old: TargetController) -> None:
        self.adopted = old

    @staticmethod
    def _autopilot_command(state: FlightState) -> AutopilotCommand:
        return AutopilotCommand(0, (0.0,) * 10, state.position_ned, state.yaw)

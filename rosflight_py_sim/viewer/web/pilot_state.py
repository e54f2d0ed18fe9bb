"""State of a vehicle's flight controller, transmitter switches and mission, as the page shows it."""

from __future__ import annotations

from dataclasses import dataclass

from rosflight_py_sim.autopilot.mission_phase import is_under_way
from rosflight_py_sim.firmware import BY_SWITCH, ErrorFlag, error_reasons, state_text


@dataclass(frozen=True)
class PilotState:
    """Newest messages of the topics that a pilot watches; None for a topic without a message.

    Attributes:
        time_s: simulated time, s; negative before the first truth state.
        armed, failsafe, error_code, rc_override, offboard: as in rosflight_msgs/Status.
        arm_switch, override_switch: whether the transmitter's switch is on.
        holds: whether an underwater vehicle holds depth and heading.
        phase: phase of the autopilot's mission; empty if unknown.
        landed: whether the mission has ended on the ground.
        progress: completed share of the mission, 0 to 1.
        target_down: down coordinate of the autopilot's set-point, m.
        battery_v: measured voltage, V.
        paused: whether simulated time is paused.
    """

    time_s: float = -1.0
    armed: bool | None = None
    failsafe: bool = False
    error_code: int = 0
    rc_override: int = 0
    offboard: bool = False
    arm_switch: bool | None = None
    override_switch: bool | None = None
    holds: bool | None = None
    phase: str = ""
    landed: bool = False
    progress: float | None = None
    target_down: float | None = None
    battery_v: float | None = None
    paused: bool = False

    @property
    def has_firmware(self) -> bool:
        """Whether a flight controller with ROSflight's status was received."""
        return self.armed is not None

    @property
    def is_armed(self) -> bool:
        """Whether the vehicle is armed."""
        return bool(self.armed)

    @property
    def is_calibrated(self) -> bool:
        """Whether the firmware counts the IMU as calibrated."""
        return self.has_firmware and not self.error_code & ErrorFlag.UNCALIBRATED_IMU

    @property
    def transmitter_has_control(self) -> bool:
        """Whether a switch of the transmitter overrides the autopilot."""
        return bool(self.rc_override & BY_SWITCH)

    @property
    def is_under_way(self) -> bool:
        """Whether the autopilot's mission has begun and is not done."""
        return is_under_way(self.phase)

    @property
    def arming_refusal(self) -> str:
        """Why the firmware does not arm; empty if it reports no error."""
        return ", ".join(error_reasons(self.error_code))

    def lines(self, height_m: float, *, underwater: bool) -> dict[str, str]:
        """Lines for the page's head, by subject; `height_m` is the vehicle's height, or depth under water, m."""
        lines = {}
        if self.has_firmware:
            text = state_text(self.error_code, armed=self.is_armed, failsafe=self.failsafe)
            by_computer = self.is_armed and self.offboard and not self.rc_override
            lines["status"] = text + (", flown by the autopilot" if by_computer else "")
        if self.phase:
            share = f", {self.progress:.0%} done" if self.progress is not None and self.is_under_way else ""
            lines["mission"] = f"mission: {self.phase}{share}"
        if self.target_down is not None and self.is_under_way:
            target = self.target_down if underwater else -self.target_down
            what = "depth" if underwater else "height"
            lines["target"] = f"target {what} {target:.1f} m, {abs(target - height_m):.1f} m away"
        if self.battery_v is not None:
            lines["battery"] = f"battery {self.battery_v:.1f} V"
        return lines

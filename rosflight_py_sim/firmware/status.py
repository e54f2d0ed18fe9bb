"""Status report of the flight controller."""

from __future__ import annotations

from rosflight_py_sim.firmware.command import CommandMux
from rosflight_py_sim.firmware.state_machine import StateMachine, error_reasons


def state_text(error_code: int, *, armed: bool, failsafe: bool) -> str:
    """State in words, with the reason for each error: "disarmed: the IMU is not calibrated"."""
    state = ", ".join(["armed" if armed else "disarmed", *(["failsafe"] if failsafe else [])])
    return ": ".join(filter(None, (state, ", ".join(error_reasons(error_code)))))


class Status:
    """The fields of rosflight_msgs/Status.

    `num_errors` counts rejected IMU samples. `loop_time_us` stays 0 unless the caller measures it: the controller's
    clock does not advance during a pass.
    """

    __slots__ = (
        "armed",
        "control_mode",
        "error_code",
        "failsafe",
        "loop_time_us",
        "num_errors",
        "offboard",
        "rc_override",
    )

    def __init__(self) -> None:
        self.armed = False
        self.failsafe = False
        self.rc_override = 0
        self.offboard = False
        self.control_mode = 0
        self.error_code = 0
        self.num_errors = 0
        self.loop_time_us = 0

    def follow(self, machine: StateMachine, command: CommandMux) -> bool:
        """Update states and bits; return whether a change must be reported at once."""
        armed, failsafe, errors = machine.armed, machine.failsafe, machine.errors
        override, offboard, mode = command.rc_override, command.offboard_active, command.control_mode
        if (
            self.armed is armed
            and self.failsafe is failsafe
            and self.error_code == errors
            and self.rc_override == override
            and self.offboard is offboard
            and self.control_mode == mode
        ):
            return False
        self.armed, self.failsafe, self.error_code = armed, failsafe, errors
        self.rc_override, self.offboard, self.control_mode = override, offboard, mode
        return True

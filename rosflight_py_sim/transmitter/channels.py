"""Sticks and switches as the eight channels of an RC frame, in microseconds of pulse width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rosflight_py_sim.pulse_width import CENTRE_US, HIGH_US, LOW_US, MOTOR, pulse_of

LOW, CENTRE, HIGH = LOW_US, CENTRE_US, HIGH_US

ROLL, PITCH, THROTTLE, YAW, ARM, OVERRIDE, ATTITUDE_TYPE, SPARE = range(8)
"""Channels in the order of the frame. Roll right, nose up and yaw right are high, as the firmware takes them.

What a switch does is for the firmware's parameters to say; the names are those of the vehicles in config/."""

CHANNELS = ("roll", "pitch", "throttle", "yaw", "switch_1", "switch_2", "switch_3", "switch_4")
"""Names of the channels in mapping files."""


class Transmitter(Protocol):
    """Something with sticks and switches."""

    @property
    def frame(self) -> Sequence[int] | None:
        """Pulse widths (8), us; None while nothing is sent, as of a transmitter that is switched off."""

    @property
    def is_present(self) -> bool:
        """Whether there is, or was, a device that flies: from then on nothing else may stand in for it."""

    def poll(self, now_s: float) -> None:
        """Look at the device; `now_s` is a system time that never goes back."""

    def close(self) -> None:
        """Let go of the device."""


class Log(Protocol):
    """Where a transmitter tells the pilot what happened; ROS's and Python's loggers fit."""

    def info(self, message: str) -> object:
        """What is good to know."""

    def warning(self, message: str) -> object:
        """What the pilot should do something about."""


def pulse_us(fraction: float) -> int:
    """Pulse width of a channel, us, at a fraction of its travel: 0 is low, 1 high; beyond that it stays at the end."""
    return round(pulse_of(min(max(fraction, 0.0), 1.0), MOTOR))


def frame_at_rest() -> list[int]:
    """Sticks centred, throttle low, disarmed, RC in command, angles rather than rates."""
    frame = [CENTRE] * len(CHANNELS)
    frame[THROTTLE] = LOW
    frame[ARM] = LOW
    frame[OVERRIDE] = HIGH
    frame[ATTITUDE_TYPE] = HIGH
    return frame

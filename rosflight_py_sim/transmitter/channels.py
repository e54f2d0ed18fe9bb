"""The eight channels of an RC frame, as pulse widths in microseconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rosflight_py_sim.ground.pulse_width import CENTRE_US, HIGH_US, LOW_US, MOTOR, pulse_of

LOW, CENTRE, HIGH = LOW_US, CENTRE_US, HIGH_US

_LOST_US = 700

ROLL, PITCH, THROTTLE, YAW, ARM, OVERRIDE, ATTITUDE_TYPE, SPARE = range(8)
"""Channels in the order of the frame. Roll right, nose up and yaw right are high, as the firmware takes them.

The firmware's parameters define the functions of the switches; the names match the vehicles in config/."""

SWITCHES = (ARM, OVERRIDE, ATTITUDE_TYPE, SPARE)

CHANNELS = ("roll", "pitch", "throttle", "yaw", "switch_1", "switch_2", "switch_3", "switch_4")
"""Names of the channels in mapping files."""


class Transmitter(Protocol):
    """Transmitter with sticks and switches."""

    @property
    def frame(self) -> Sequence[int] | None:
        """Pulse widths (8), us; None while nothing is sent, as from a transmitter that is off."""

    @property
    def is_present(self) -> bool:
        """Whether a device is or was in control; from then on no substitute may replace it."""

    def poll(self, now_s: float) -> None:
        """Poll the device; `now_s` is a monotonic system time."""

    def close(self) -> None:
        """Release the device."""


class Log(Protocol):
    """Log of a transmitter; ROS's and Python's loggers fit."""

    def info(self, message: str) -> object:
        """Log information."""

    def warning(self, message: str) -> object:
        """Log a problem that needs action from the pilot."""


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


def frame_in_flight() -> list[int]:
    """As `frame_at_rest`, but armed and with the companion computer in command."""
    frame = frame_at_rest()
    frame[ARM], frame[OVERRIDE] = HIGH, LOW
    return frame


def lost_frame(frame: Sequence[int]) -> list[int]:
    """Frame of a receiver without a signal after this frame: the throttle far below its range, the rest held.

    The firmware counts a pulse below 750 us as a lost signal; ArduPilot, a throttle below FS_THR_VALUE (975 us).
    """
    lost = list(frame)
    lost[THROTTLE] = _LOST_US
    return lost

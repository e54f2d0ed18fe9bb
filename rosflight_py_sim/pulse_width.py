"""Pulse widths, by which outputs drive motors and servos, and the commands that they stand for.

This module imports neither ROS nor numba. A @kernel takes `kernel_part(command_of)` or `kernel_part(pulse_of)`, so
`jit.py` counts this file among the sources of kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Number = TypeVar("Number", float, "NDArray[np.float64]")

LOW_US, CENTRE_US, HIGH_US = 1000, 1500, 2000

NO_PULSE_US = 500.0
"""A pulse shorter than this is none: what it drives stands still."""


class Travel(NamedTuple):
    """Pulse widths of the commands 0 and 1, as the first and the distance to the second, us."""

    zero_us: float
    reach_us: float


MOTOR = Travel(1000.0, 1000.0)
"""1000 to 2000 us are 0 to 1."""

SERVO = Travel(1500.0, 500.0)
"""1000 to 2000 us are -1 to 1."""


def command_of(pulse_us: Number, travel: Travel) -> Number:
    """The command that a pulse width asks for; not limited."""
    return (pulse_us - travel.zero_us) / travel.reach_us


def pulse_of(command: Number, travel: Travel) -> Number:
    """The pulse width, us, that asks for a command; not limited."""
    return travel.zero_us + travel.reach_us * command

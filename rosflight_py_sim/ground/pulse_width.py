"""Conversion between pulse widths and commands of motors and servos.

This module imports neither ROS nor numba. A @kernel calls `kernel_part(command_of)` or `kernel_part(pulse_of)`, so
`jit.py` counts this file among the sources of kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Number = TypeVar("Number", float, "NDArray[np.float64]")

OUTPUTS = 14
"""Number of outputs of the flight controller."""

LOW_US, CENTRE_US, HIGH_US = 1000, 1500, 2000

NO_PULSE_US = 500.0
"""A shorter pulse counts as no pulse, which is command 0."""


class Travel(NamedTuple):
    """Pulse width of command 0, and its increase to that of command 1, us."""

    zero_us: float
    reach_us: float


MOTOR = Travel(1000.0, 1000.0)
"""1000 to 2000 us for commands 0 to 1."""

SERVO = Travel(1500.0, 500.0)
"""1000 to 2000 us for commands -1 to 1."""


def command_of(pulse_us: Number, travel: Travel) -> Number:
    """Command for a pulse width; not limited."""
    return (pulse_us - travel.zero_us) / travel.reach_us


def pulse_of(command: Number, travel: Travel) -> Number:
    """Pulse width, us, for a command; not limited."""
    return travel.zero_us + travel.reach_us * command

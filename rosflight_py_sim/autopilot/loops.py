"""Building blocks of the autopilot loops.

A @kernel calls `kernel_part(within)` and `kernel_part(wrap_angle)`, so `jit.py` counts this file among the sources of
kernels.
"""

from __future__ import annotations

import math
from functools import partial

from rosflight_py_sim.ground.parameters import Parameter

gain = partial(Parameter, minimum=0.0, maximum=100.0)
"""Declaration of a gain: name, default, text, unit."""

# Largest error of a given angle that is integrated (rad), and rate (rad/s) of an approach during which none is.
_MOST_INTEGRATED, _APPROACHING = 0.1, 0.1


class PiLoop:
    """Proportional-integral loop with limits: u = k_p e + k_i int(e), within [low, high].

    Discretisation and limit as in Beard and McLain, Small Unmanned Aircraft (2012), sec. 6.5 (digital PID loops;
    trapezoidal integration). The integrator is frozen while the output is at a limit and the error would push it
    further: conditional integration (K. Astrom and T. Hagglund, Advanced PID Control, 2006, sec. 3.5), which unlike the
    book's back-calculation leaves the integrator unchanged when a command step alone reaches the limit.
    """

    def __init__(self, proportional: float, integral: float, low: float, high: float) -> None:
        """Gains (output per error, and per error and second) and the limits of the output."""
        self._proportional, self._integral = proportional, integral
        self._low, self._high = low, high
        self._sum = 0.0
        self._last_error: float | None = None
        self._at_limit = 0

    @property
    def at_limit(self) -> int:
        """Last output at its upper limit (1), at its lower one (-1) or between them (0)."""
        return self._at_limit

    @property
    def integrated(self) -> float:
        """Contribution of the integrator to the output."""
        return self._sum

    def reset(self, integrated: float = 0.0) -> None:
        """Reset, with the integrator contributing `integrated` to the output."""
        self._sum = min(max(integrated, self._low), self._high)
        self._last_error = None
        self._at_limit = 0

    def update(self, error: float, dt: float, feed_forward: float = 0.0) -> float:
        """Output for `error`, `dt` seconds after the last call."""
        before = error if self._last_error is None else self._last_error
        self._last_error = error
        grown = self._sum + self._integral * 0.5 * (error + before) * dt
        wanted = feed_forward + self._proportional * error + grown
        output = min(max(wanted, self._low), self._high)
        self._at_limit = 1 if wanted > output else -1 if wanted < output else 0
        if output == wanted or (wanted - output) * error * self._integral <= 0.0:
            self._sum = min(max(grown, self._low), self._high)
        return output


def wrap_angle(angle_rad: float) -> float:
    """`angle_rad` wrapped to -pi to pi: `math.remainder(angle_rad, 2.0 * math.pi)`, which a kernel does not have.

    All operations are exact. The remainder of two turns tells an even number of half turns from an odd one.
    """
    size = abs(angle_rad) % (4.0 * math.pi)
    if size >= 3.0 * math.pi:
        size -= 4.0 * math.pi
    elif size > math.pi:
        size -= 2.0 * math.pi
    return -size if math.copysign(1.0, angle_rad) < 0.0 else size


def within(value: float, limit: float) -> float:
    """`value` limited to -`limit` to `limit`."""
    return -limit if value < -limit else limit if value > limit else value


def settling_error(error: float, rate: float) -> float:
    """Error (rad) of a given angle to integrate, so that a step of the target does not make the angle overshoot.

    It is small, and 0 while the angle approaches its target at a `rate` (rad/s) that shows that it need not be pushed.
    """
    return 0.0 if rate * error > 0.0 and abs(rate) > _APPROACHING else within(error, _MOST_INTEGRATED)


class SlewLimit:
    """Rate limiter: follows a target at no more than `rate` per second."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self.value: float | None = None

    def reset(self, value: float | None = None) -> None:
        """Continue from `value`; None for the next target."""
        self.value = value

    def update(self, wanted: float, dt: float) -> float:
        """Limited value, `dt` seconds after the last call."""
        value = wanted if self.value is None else self.value
        self.value = value + within(wanted - value, self._rate * dt)
        return self.value

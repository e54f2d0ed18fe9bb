"""Building blocks of the autopilot loops.

A @kernel calls `kernel_part(within)` and `kernel_part(wrap_angle)`, so `jit.py` counts this file among the sources of
kernels.
"""

from __future__ import annotations

import math
from functools import partial

from rosflight_py_sim.ground.parameters import Parameter
from rosflight_py_sim.kernels.jit import kernel, kernel_part
from rosflight_py_sim.kernels.record import kernel_record

gain = partial(Parameter, minimum=0.0, maximum=100.0)
"""Declaration of a gain: name, default, text, unit."""

# Largest error of a given angle that is integrated (rad), and rate (rad/s) of an approach during which none is.
_MOST_INTEGRATED, _APPROACHING = 0.1, 0.1


@kernel_record
class PiMemory:
    """Gains, limits and state of a `PiLoop`.

    Attributes:
        proportional: output per error.
        integral: output per error and second.
        low: lower limit of the output.
        high: its upper limit.
        integrated: contribution of the integrator to the output.
        last_error: error of the last call.
        has_last: whether there was one.
        at_limit: last output at its upper limit (1), at its lower one (-1) or between them (0).
    """

    proportional: float
    integral: float
    low: float
    high: float
    integrated: float
    last_error: float
    has_last: bool
    at_limit: int


@kernel
def pi_output(pi: PiMemory, error: float, dt: float, feed_forward: float) -> float:
    """Output for `error`, `dt` seconds after the last call; see `PiLoop`."""
    before = pi.last_error if pi.has_last else error
    pi.last_error, pi.has_last = error, True
    grown = pi.integrated + pi.integral * 0.5 * (error + before) * dt
    wanted = feed_forward + pi.proportional * error + grown
    output = min(max(wanted, pi.low), pi.high)
    pi.at_limit = 1 if wanted > output else -1 if wanted < output else 0
    if output == wanted or (wanted - output) * error * pi.integral <= 0.0:
        pi.integrated = min(max(grown, pi.low), pi.high)
    return output


def reset_pi(pi: PiMemory, integrated: float) -> None:
    """Reset a `PiLoop`, with the integrator contributing `integrated` to the output."""
    pi.integrated = min(max(integrated, pi.low), pi.high)
    pi.has_last, pi.at_limit = False, 0


class PiLoop:
    """Proportional-integral loop with limits: u = k_p e + k_i int(e), within [low, high].

    Discretisation and limit as in Beard and McLain, Small Unmanned Aircraft (2012), sec. 6.5 (digital PID loops;
    trapezoidal integration). The integrator is frozen while the output is at a limit and the error would push it
    further: conditional integration (K. Astrom and T. Hagglund, Advanced PID Control, 2006, sec. 3.5), which unlike the
    book's back-calculation leaves the integrator unchanged when a command step alone reaches the limit.

    Attributes:
        memory: gains, limits and state, for kernels.
    """

    def __init__(self, proportional: float, integral: float, low: float, high: float) -> None:
        """Gains (output per error, and per error and second) and the limits of the output."""
        self.memory = PiMemory(
            proportional=proportional,
            integral=integral,
            low=low,
            high=high,
            integrated=0.0,
            last_error=0.0,
            has_last=False,
            at_limit=0,
        )

    @property
    def at_limit(self) -> int:
        """Last output at its upper limit (1), at its lower one (-1) or between them (0)."""
        return self.memory.at_limit

    @property
    def integrated(self) -> float:
        """Contribution of the integrator to the output."""
        return self.memory.integrated

    def reset(self, integrated: float = 0.0) -> None:
        """Reset, with the integrator contributing `integrated` to the output."""
        reset_pi(self.memory, integrated)

    def update(self, error: float, dt: float, feed_forward: float = 0.0) -> float:
        """Output for `error`, `dt` seconds after the last call."""
        return pi_output(self.memory, error, dt, feed_forward)


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


_within = kernel_part(within)


def settling_error(error: float, rate: float) -> float:
    """Error (rad) of a given angle to integrate, so that a step of the target does not make the angle overshoot.

    It is small, and 0 while the angle approaches its target at a `rate` (rad/s) that shows that it need not be pushed.
    """
    return 0.0 if rate * error > 0.0 and abs(rate) > _APPROACHING else within(error, _MOST_INTEGRATED)


@kernel_record
class SlewMemory:
    """Rate and state of a `SlewLimit`.

    Attributes:
        rate: largest change per second.
        value: last value.
        has_value: whether there is one.
    """

    rate: float
    value: float
    has_value: bool


@kernel
def slew(limit: SlewMemory, wanted: float, dt: float) -> float:
    """Limited value, `dt` seconds after the last call; see `SlewLimit`."""
    value = limit.value if limit.has_value else wanted
    limit.value, limit.has_value = value + _within(wanted - value, limit.rate * dt), True
    return limit.value


class SlewLimit:
    """Rate limiter: follows a target at no more than `rate` per second.

    Attributes:
        memory: rate and state, for kernels.
    """

    def __init__(self, rate: float) -> None:
        self.memory = SlewMemory(rate=rate, value=0.0, has_value=False)

    @property
    def value(self) -> float | None:
        """Last value; None before the first."""
        return self.memory.value if self.memory.has_value else None

    def reset(self, value: float | None = None) -> None:
        """Continue from `value`; None for the next target."""
        self.memory.value, self.memory.has_value = value or 0.0, value is not None

    def update(self, wanted: float, dt: float) -> float:
        """Limited value, `dt` seconds after the last call."""
        return slew(self.memory, wanted, dt)

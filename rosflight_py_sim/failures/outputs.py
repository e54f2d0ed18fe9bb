"""Failures of motors and servos, as seen in the pulse widths that drive them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.failures.signal import FailedSignal
from rosflight_py_sim.ground.pulse_width import CENTRE_US

# A motor that is off receives no pulse; the surface of a servo that is off goes to its neutral position.
_OFF_US = {"motor": 0.0, "servo": float(CENTRE_US)}


class FailedOutputs:
    """Outputs of the flight controller whose motors or servos fail."""

    def __init__(self, signals: Mapping[tuple[str, int], FailedSignal] = MappingProxyType({})) -> None:
        """Select the motors and servos from the active failures."""
        self._failed = [
            (number - 1, _OFF_US[name], signal) for (name, number), signal in signals.items() if name in _OFF_US
        ]

    def apply(self, time_ns: int, pulse_us: NDArray[np.float64]) -> None:
        """Apply the failures to the pulse widths (14,), us, in place."""
        for output, off_us, signal in self._failed:
            changed = signal.applied(time_ns, (float(pulse_us[output]),))
            pulse_us[output] = off_us if changed is None else changed[0]

"""Battery monitor: voltage and current at the battery terminals, with errors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.jit import kernel
from rosflight_py_sim.parameters import Parameter, ParameterTable, Values
from rosflight_py_sim.sensing.errors import ERROR, ErrorModel, ErrorSource, advance_errors
from rosflight_py_sim.sensing.site import BATTERY_RATE

_VOLTAGE = ErrorSource("battery", "battery voltage", "V", BATTERY_RATE, stdev=0.3)
_CURRENT = ErrorSource("battery_current", "battery current", "A", BATTERY_RATE, noise_density=0.007)

PARAMETERS = (
    _VOLTAGE.parameters()
    + _CURRENT.parameters()
    + ParameterTable(
        Parameter(
            "battery_voltage",
            23.0,
            "Measured voltage before the first message on sim/truth_battery",
            "V",
            minimum=0.0,
            maximum=1e3,
        )
    )
)


class BatteryMonitor:
    """Battery monitor; after `sample` it holds the measured `voltage` (V) and `current` (A)."""

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        self._errors = ErrorModel([_VOLTAGE.terms(values), _CURRENT.terms(values)], rng)
        self.voltage = 0.0
        self.current = 0.0

    def adopt(self, other: BatteryMonitor) -> None:
        """Copy another monitor's errors and last measurement."""
        self._errors.adopt(other._errors)
        self.voltage = other.voltage
        self.current = other.current

    def true_errors(self) -> dict[str, float]:
        """True biases of the last measurement, V and A; see SensorSuite."""
        return self._errors.biases("battery_bias", "battery_current_bias")

    def sample(self, voltage: float, current: float, dt: float) -> None:
        """Measure the true voltage (V) and current (A), dt (s, > 0) after the last sample."""
        errors = self._errors
        self.voltage, self.current = sample_battery(voltage, current, dt, errors.channels, errors.normals.next())


@kernel
def sample_battery(
    voltage: float,
    current: float,
    dt: float,
    channels: NDArray[np.float64],
    normals: NDArray[np.float64],
) -> tuple[float, float]:
    """Measured voltage (V) and current (A)."""
    advance_errors(channels, normals, dt)
    return voltage + channels[0, ERROR], current + channels[1, ERROR]

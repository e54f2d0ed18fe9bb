"""Battery monitor: voltage and current at the battery terminals, with errors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.failures.failure import Target
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.kernels.chain import ChainLink, FieldArrays
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.sensing.errors import ERROR, ErrorModel, ErrorSource, advance_errors
from rosflight_py_sim.sensing.failing import Fields
from rosflight_py_sim.sensing.sensor import Failing, Sensor, SensorInputs, SensorModel, Surroundings
from rosflight_py_sim.step.topics import BATTERY
from rosflight_py_sim.step.vehicle_state import VehicleState

_RATE = 200.0

_VOLTAGE = ErrorSource("battery", "battery voltage", "V", _RATE, stdev=0.3)
_CURRENT = ErrorSource("battery_current", "battery current", "A", _RATE, noise_density=0.007)

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


class BatteryMonitor(SensorModel):
    """Battery monitor; after `sample` it holds the measured `voltage` (V) and `current` (A)."""

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        super().__init__(ErrorModel([_VOLTAGE.terms(values), _CURRENT.terms(values)], rng))
        self.measured: NDArray[np.float64] = np.zeros(2)
        self._models = self._errors.channels, number(values, "battery_voltage"), self.measured
        self._measure = bound(sample_battery, *self._models)

    def adopt(self, other: BatteryMonitor) -> None:
        """Copy another monitor's errors and last measurement."""
        super().adopt(other)
        self.measured[:] = other.measured

    def true_errors(self) -> dict[str, float]:
        """True biases of the last measurement, V and A."""
        return self._errors.biases("battery_bias", "battery_current_bias")

    def read(self, around: Surroundings, time_ns: int, state: VehicleState, dt: float) -> tuple[float, float]:
        """Voltage (V) and current (A); before the true ones are known, those of an idle battery."""
        self._measure(around.power, dt, next(self._errors.normals))
        return self.reading(around, time_ns, dt)

    def reading(self, around: Surroundings, time_ns: int, dt: float) -> tuple[float, float]:
        """Fields of the last measurement, as returned by `read`."""
        voltage, current = self.measured.tolist()
        return voltage, current

    @property
    def field_arrays(self) -> FieldArrays:
        """Memory of all fields."""
        return {"voltage": [self.measured[0:1]], "current": [self.measured[1:2]]}

    def links(self, inputs: SensorInputs) -> tuple[NDArray[np.float64], Sequence[ChainLink]]:
        """Draw the numbers, then measure."""
        row = np.zeros(4)
        sampled = bound(sample_battery, *self._models, inputs.power, inputs.dt, row)
        return self.measured, (self._errors.normals.link(row), ChainLink(sampled))

    @property
    def voltage(self) -> float:
        """Measured voltage, V."""
        return float(self.measured[0])

    @property
    def current(self) -> float:
        """Measured current, A."""
        return float(self.measured[1])

    def sample(self, voltage: float, current: float, dt: float) -> None:
        """Measure the true voltage (V) and current (A), dt (s, > 0) after the last sample."""
        self._measure(np.array([voltage, current]), dt, next(self._errors.normals))


@kernel
def sample_battery(
    channels: NDArray[np.float64],
    first_voltage: float,
    measured: NDArray[np.float64],
    power: NDArray[np.float64],
    dt: float,
    normals: NDArray[np.float64],
) -> None:
    """Write voltage (V) and current (A); `first_voltage` is that of an idle battery while the true one is unknown."""
    advance_errors(channels, normals, dt)
    measured[0] = (first_voltage if math.isnan(power[0]) else power[0]) + channels[0, ERROR]
    measured[1] = power[1] + channels[1, ERROR]


BATTERY_MONITOR = Sensor(
    BATTERY,
    "battery",
    "battery voltage and current",
    BatteryMonitor,
    rate_hz=_RATE,
    update="battery_update",
    parameters=PARAMETERS,
    # The current belongs to a stuck reading.
    failures={"battery": Failing(Target("battery monitor", "V"), lambda: Fields("voltage", "current"))},
    stream=7,
)

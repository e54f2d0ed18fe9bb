"""Battery of the powertrain: voltage from the state of charge, sag under the load of the motors."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.propulsion import motor_current

BATTERY_PARAMETERS = ParameterTable(
    Parameter("V_max", 24.0, "Voltage of the full battery", "V", minimum=0.1, maximum=1e4, required=True),
    Parameter(
        "battery_capacity_mah",
        0.0,
        "Charge of the full battery; 0 for a battery that never empties",
        "mA h",
        minimum=1e-3,
        maximum=1e9,
        also_allowed=(0.0,),
    ),
    Parameter(
        "battery_internal_resistance", 0.0, "Series resistance of battery and wires", "ohm", minimum=0.0, maximum=100.0
    ),
)


@kernel_record
class Battery:
    """State of a battery.

    Attributes:
        voltage: at the terminals (V).
        current: drawn (A).
        charge_drawn: since the battery was full (A s).
    """

    voltage: float
    current: float
    charge_drawn: float


def full_battery(voltage: float) -> Battery:
    """A full battery of a voltage (V), without load."""
    return Battery(voltage=voltage, current=0.0, charge_drawn=0.0)


_CELL_VOLTAGE = 4.2
"""Voltage of a full lithium-polymer cell, V."""

_ITERATIONS = 60


class Supply(Protocol):
    """Parameters of a vehicle, with those of its battery."""

    full_voltage: float


class BatteryPowered:
    """Battery of a vehicle, which holds its state as `_battery` and its parameters in `_supply`."""

    _battery: Battery
    _supply: Supply

    def lose_cells(self, count: int, full_voltage: float) -> None:
        """Short-circuit `count` cells of the battery, which has `full_voltage` (V) when full, in cells of 4.2 V."""
        cells = max(1, round(full_voltage / _CELL_VOLTAGE))
        self._supply.full_voltage = full_voltage * max(0, cells - count) / cells

    @property
    def battery(self) -> Battery:
        """State of the battery, for kernels."""
        return self._battery

    @property
    def battery_voltage(self) -> float:
        """Voltage at the battery's terminals (V)."""
        return self._battery.voltage

    @property
    def current_a(self) -> float:
        """Total current drawn from the battery (A)."""
        return self._battery.current

    @property
    def charge_drawn_ah(self) -> float:
        """Charge drawn from the battery so far (A h), at most its capacity; 0 for a battery that never empties."""
        return self._battery.charge_drawn / 3600.0


@kernel
def cell_voltage(state_of_charge: float) -> float:
    """Open-circuit voltage (V) of one lithium-polymer cell, state of charge from 0 to 1.

    Chen and Rincon-Mora, Accurate electrical battery model capable of predicting runtime and I-V performance, IEEE
    Trans. Energy Conversion 21(2), 2006, eq. 2. Valid at room temperature, without hysteresis.
    """
    s = state_of_charge
    return -1.031 * math.exp(-35.0 * s) + 3.685 + s * (0.2156 + s * (-0.1178 + s * 0.3201))


@kernel
def open_circuit_voltage(state_of_charge: float, full_voltage: float) -> float:
    """Voltage (V) without load: the cell curve scaled to equal `full_voltage` at full charge."""
    return full_voltage * (cell_voltage(min(1.0, max(0.0, state_of_charge))) / cell_voltage(1.0))


@kernel
def supply_current(
    voltage: float, throttle: float, speed: float, resistance: float, constant: float, limit: float
) -> float:
    """Current (A) that a motor draws from a battery at `voltage`: the motor's power over the voltage.

    The speed controller supplies `throttle` times the voltage, or less where the motor's current would exceed `limit`.
    """
    current = motor_current(throttle * voltage, speed, resistance, constant)
    if current > limit:
        return limit * (constant * speed + resistance * limit) / voltage
    return throttle * current


@kernel
def battery_load(
    voltage: float,
    throttles: NDArray[np.float64],
    speeds: NDArray[np.float64],
    resistance: float,
    constant: float,
    limit: float,
) -> float:
    """Total current (A) from a battery at `voltage`."""
    total = 0.0
    for i in range(speeds.shape[0]):
        total += supply_current(voltage, throttles[i], speeds[i], resistance, constant, limit)
    return total


@kernel
def loaded_voltage(
    open_circuit: float,
    internal_resistance: float,
    throttles: NDArray[np.float64],
    speeds: NDArray[np.float64],
    resistance: float,
    constant: float,
    limit: float,
) -> float:
    """Voltage (V) at which battery and motors are in equilibrium: V = V_oc - R_i I(V), with I(V) of `battery_load`.

    Newton's method from V_oc. Without a limit on the motors' currents I(V) rises and is convex and piecewise linear, so
    the method needs at most one iteration per linear piece. A motor at its limit draws constant power, less current at
    a higher voltage; bisection replaces the steps that leave the bracket of the solution.
    """
    voltage, low, high = open_circuit, 0.0, open_circuit
    for _ in range(_ITERATIONS):
        current, slope = 0.0, 0.0
        for i in range(speeds.shape[0]):
            drawn = supply_current(voltage, throttles[i], speeds[i], resistance, constant, limit)
            current += drawn
            if throttles[i] * voltage - constant * speeds[i] > resistance * limit:
                slope -= drawn / voltage
            elif throttles[i] * voltage > constant * speeds[i]:
                slope += throttles[i] * throttles[i] / resistance
        excess = voltage + internal_resistance * current - open_circuit
        if excess > 0.0:
            high = voltage
        else:
            low = voltage
        change = excess / (1.0 + internal_resistance * slope)
        voltage -= change
        if abs(change) <= 1e-12 * open_circuit:
            break
        if not low < voltage < high:
            voltage = 0.5 * (low + high)
    return max(0.0, voltage)

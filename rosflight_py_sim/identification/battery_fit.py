"""Full voltage, internal resistance and capacity of a battery, from the voltage and current of a flight.

The model is that of `physics/battery.py`: V = V_max f(s) - R I, with the curve f of a lithium-polymer cell over the
state of charge s = 1 - Q / C, and the charge Q drawn since the log began with a full battery. V_max and R follow by
linear least squares for each C; C by a search. Voltage and current are means of BIN_S, over which the battery has no
dynamics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rosflight_py_sim.ground.parameters import ParameterTable, Values, number
from rosflight_py_sim.identification.estimates import LARGEST_ERROR, Estimated, Refused, least_between
from rosflight_py_sim.identification.flight_log import Array, FlightLog, FlightLogError, white_variance
from rosflight_py_sim.physics.battery import open_circuit_voltage

BATTERY_NAMES = ("V_max", "battery_internal_resistance", "battery_capacity_mah")
"""Parameters that voltage and current show."""

BIN_S = 0.2
"""Time over which voltage and current are averaged, s."""

SHORTEST_S = 20.0
"""Least length of the voltage and current in a log, s."""

LARGEST_NOISE = 0.02
"""Share of the current's variance that may be noise: the estimate of the resistance is too low by it."""

# Time over which the residuals depend on each other, s.
_COLOUR_S = 5.0

# Charge drawn over the capacity in the search: a battery is neither emptied twice nor charged.
_LEAST_DRAWN, _MOST_DRAWN = 1e-3, 0.98
_SEARCHED = 200

_MANOEUVRES = {
    "V_max": "a flight that begins with a full battery",
    "battery_internal_resistance": "throttle steps from idle to full",
    "battery_capacity_mah": "a flight that draws a third of the charge or more",
}


@dataclass(frozen=True)
class BatteryFit:
    """Battery of a vehicle.

    Attributes:
        log: the log.
        time_s: of the means (n,).
        measured: voltage (n,), V.
        modelled: that of the model (n,), V.
        drawn_mah: charge drawn during the log.
        estimates: of the parameters.
        refused: parameters that the log does not show.
    """

    log: FlightLog
    time_s: Array
    measured: Array
    modelled: Array
    drawn_mah: float
    estimates: Sequence[Estimated]
    refused: Sequence[Refused]


def battery_fit(log: FlightLog, names: Sequence[str], table: ParameterTable, values: Values) -> BatteryFit:
    """Fit a battery to a log that begins with the battery full.

    Args:
        log: the log.
        names: parameters to estimate, of BATTERY_NAMES; those left out keep their values.
        table: table of the vehicle's parameters.
        values: their values in the vehicle's file.

    Raises:
        FlightLogError: the log has no voltage and current, or is too short.
    """
    log.require(["battery"])
    time_s, voltage, current = _means(log)
    charge_mah = np.concatenate([[0.0], np.cumsum(0.5 * (current[1:] + current[:-1]) * np.diff(time_s))]) / 3.6
    known = {name: number(values, name) for name in BATTERY_NAMES}
    refused: list[Refused] = []
    chosen = list(names)
    noise = white_variance(current[None, :]) / max(float(current.var()), 1e-12)
    if noise > LARGEST_NOISE and "battery_internal_resistance" in chosen:
        reason = f"noise makes up {100.0 * noise:.2g} % of the current's variance, at most "
        reason += f"{100.0 * LARGEST_NOISE:g} % allowed"
        refused.append(_refused("battery_internal_resistance", reason))
        chosen.remove("battery_internal_resistance")
    while True:
        found, modelled, errors = _fit(chosen, known, time_s, voltage, current, charge_mah)
        shares = {name: errors[name] / max(abs(found[name]), 1e-12) for name in chosen}
        worst = max(shares, key=lambda name: shares[name], default="")
        if not worst or shares[worst] <= LARGEST_ERROR:
            break
        share = f"{100.0 * shares[worst]:.0f} %" if shares[worst] < 10.0 else "more than ten times"
        refused.append(_refused(worst, f"its standard error would be {share} of its value"))
        chosen.remove(worst)
    estimates = [Estimated(table[name], known[name], found[name], errors[name]) for name in chosen]
    return BatteryFit(log, time_s, voltage, modelled, float(charge_mah[-1]), estimates, refused)


def _refused(name: str, reason: str) -> Refused:
    return Refused(name, reason, _MANOEUVRES[name])


def _means(log: FlightLog) -> tuple[Array, Array, Array]:
    """Times (n,), voltages and currents, means of BIN_S."""
    battery = log.channels["battery"]
    known = np.isfinite(battery.values).all(axis=1)
    time_s, values = battery.time_s[known], battery.values[known]
    length_s = float(time_s[-1] - time_s[0]) if len(time_s) else 0.0
    if length_s < SHORTEST_S:
        raise FlightLogError(
            f"'{log.file}' shows voltage and current of the battery for {length_s:.1f} s; allowed: at least "
            f"{SHORTEST_S:g} s"
        )
    bins = np.floor((time_s - time_s[0]) / BIN_S).astype(np.int64)
    counts = np.bincount(bins)
    held = counts > 0
    means = [np.bincount(bins, one)[held] / counts[held] for one in (time_s - time_s[0], *values.T)]
    return means[0] + time_s[0], means[1], means[2]


def _fit(
    names: Sequence[str], known: dict[str, float], time_s: Array, voltage: Array, current: Array, charge_mah: Array
) -> tuple[dict[str, float], Array, dict[str, float]]:
    """Values, voltages of the model and standard errors for the parameters of these names; the others are known."""

    def solved(capacity: float) -> tuple[dict[str, float], Array]:
        curve = _curve(charge_mah, capacity)
        columns = {"V_max": curve, "battery_internal_resistance": -current}
        free = [name for name in columns if name in names]
        rest = voltage - sum(known[name] * one for name, one in columns.items() if name not in free)
        values = dict(known)
        if free:
            linear = np.linalg.lstsq(np.column_stack([columns[name] for name in free]), rest, rcond=None)[0]
            values.update(zip(free, linear.tolist(), strict=True))
        values["battery_capacity_mah"] = capacity
        return values, values["V_max"] * curve - values["battery_internal_resistance"] * current

    def loss(capacity: float) -> float:
        return float(np.sum((voltage - solved(capacity)[1]) ** 2))

    capacity = known["battery_capacity_mah"]
    if "battery_capacity_mah" in names:
        drawn = max(float(charge_mah[-1]), 1e-6)
        capacity = _least(loss, drawn / _MOST_DRAWN, drawn / _LEAST_DRAWN)
    found, modelled = solved(capacity)
    columns = [_derivative(name, found, current, charge_mah) for name in names]
    if not names:
        return found, modelled, {}
    design = np.column_stack(columns)
    sizes = np.maximum(np.linalg.norm(design, axis=0), 1e-300)
    design = design / sizes
    inverse = np.linalg.pinv(design.T @ design)
    scores = design * (voltage - modelled)[:, None]
    near = np.maximum(0.0, 1.0 - np.arange(round(_COLOUR_S / BIN_S)) * BIN_S / _COLOUR_S)
    meat = scores.T @ scores
    for lag, weight in enumerate(near[1:], 1):
        both = scores[lag:].T @ scores[:-lag]
        meat = meat + weight * (both + both.T)
    white = inverse * float(np.mean((voltage - modelled) ** 2))
    variances = np.maximum(np.diag(inverse @ meat @ inverse), np.diag(white))
    return found, modelled, dict(zip(names, np.sqrt(variances) / sizes, strict=True))


def _curve(charge_mah: Array, capacity: float) -> Array:
    """Open-circuit voltage over that of the full battery (n,); 1 for a battery that never empties."""
    if capacity == 0.0:
        return np.ones(len(charge_mah))
    return np.array([open_circuit_voltage(1.0 - charge / capacity, 1.0) for charge in charge_mah])


def _derivative(name: str, found: dict[str, float], current: Array, charge_mah: Array) -> Array:
    """Derivative of the voltage (n,) by a parameter."""
    capacity = found["battery_capacity_mah"]
    if name == "V_max":
        return _curve(charge_mah, capacity)
    if name == "battery_internal_resistance":
        return -current
    step = 1e-3 * capacity
    return np.asarray(
        found["V_max"] * (_curve(charge_mah, capacity + step) - _curve(charge_mah, capacity - step)) / (2.0 * step)
    )


def _least(loss: Callable[[float], float], low: float, high: float) -> float:
    """Argument with the least loss between two, by a scan and `least_between`."""
    tried = np.geomspace(low, high, _SEARCHED)
    best = int(np.argmin([loss(one) for one in tried]))
    return least_between(loss, *(tried[max(0, min(_SEARCHED - 1, best + side))] for side in (-1, 1)))

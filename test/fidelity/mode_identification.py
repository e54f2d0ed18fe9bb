"""Modes of motion identified in simulated flights, compared with those of the linear model.

For each mode of the linear model, the aircraft starts slightly off its trimmed state along the mode's shape, once to
each side, and flies with the inputs held. Half the difference of the two flights has no terms even in the deviation,
such as the trim's own residual. From that response, the eigenvalue is estimated without the linear model, by
linear prediction (Prony's method): a sum of n waves obeys y[k+n] = a_1 y[k+n-1] + ... + a_n y[k] in every channel; the
a are found by least squares over all channels, the roots z of their polynomial give s = ln(z) / interval, and the root
that carries most of the response is the mode's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from aircraft import Aircraft, Array, Flight

from rosflight_py_sim.physics.linearisation import Mode, linearise, truth_of
from rosflight_py_sim.physics.trim import FlightCondition, Trim, trim

DEVIATION = 2e-3
"""Greatest of angles (rad), speeds over airspeed, and rates over the mode's frequency at the start."""

LONGEST = 16.0
"""s; slow modes are seen in part, which their growth or decay by a fraction of e suffices for."""

SAMPLES = 80

FINE, GRAPH = 1.0 / 2000.0, 1.0 / 400.0
"""Steps (s): one that leaves the physics alone, and the graph's own."""

CHANNELS = ("u", "v", "w", "phi", "theta", "p", "q", "r")


@dataclass(frozen=True)
class SeenMode:
    """A mode of the linear model and its response in flight: `response` (n, 8) over CHANNELS at `time` (n,)."""

    mode: Mode
    seen: complex
    time: Array
    response: Array

    @property
    def error(self) -> float:
        """|seen - predicted| / |predicted|."""
        return abs(self.seen - self.mode.eigenvalue) / abs(self.mode.eigenvalue)

    @property
    def fitted(self) -> Array:
        """Response with the identified eigenvalue, fitted in amplitude and phase to each channel (n, 8)."""
        wave = np.exp(self.seen * self.time)
        parts = np.column_stack([wave.real, wave.imag]) if self.seen.imag else wave.real[:, None]
        return np.asarray(parts @ np.linalg.lstsq(parts, self.response, rcond=None)[0])


def seen_modes(
    aircraft: Aircraft, condition: FlightCondition, step: float, like: Aircraft | None = None
) -> list[SeenMode]:
    """Every mode of the aircraft in a condition, identified in flights with this integration step.

    `like` has the same steady model; its trim and linear model are then computed once for several aircraft.
    """
    trimmed, modes = _predicted(like or aircraft, condition)
    return [_seen(aircraft, trimmed, mode, step) for mode in modes]


@cache
def _predicted(aircraft: Aircraft, condition: FlightCondition) -> tuple[Trim, list[Mode]]:
    """The trimmed state, and the modes of the linear model."""
    trimmed = trim(aircraft.model, condition)
    return trimmed, linearise(aircraft.model, trimmed).modes


def _seen(aircraft: Aircraft, trimmed: Trim, mode: Mode, step: float) -> SeenMode:
    airspeed, rate = trimmed.condition.airspeed, max(abs(mode.eigenvalue), 0.1)
    scale = np.array([airspeed, airspeed, airspeed, 1.0, 1.0, rate, rate, rate])
    deviation = DEVIATION * mode.shape.real / np.max(np.abs(mode.shape.real) / scale)
    duration = min(LONGEST, 4.0 * abs(mode.time_constant))
    if mode.eigenvalue.imag:
        duration = min(duration, 1.5 * mode.period)
    every = max(1, round(duration / SAMPLES / step))
    flights = [_flown(aircraft, trimmed, sign * deviation, duration, step, every) for sign in (1.0, -1.0)]
    response = 0.5 * (flights[0].small_states - flights[1].small_states)
    # One order more than the mode's, for contributions of other modes.
    order = 3 if mode.eigenvalue.imag else 2
    return SeenMode(mode, _strongest_root(response / scale, order, every * step), flights[0].time, response)


def _flown(aircraft: Aircraft, trimmed: Trim, deviation: Array, duration: float, step: float, every: int) -> Flight:
    state = np.array([*trimmed.truth[0:3], *trimmed.truth[7:10], *trimmed.euler, *trimmed.truth[10:13]])
    state[[3, 4, 5, 6, 7, 9, 10, 11]] += deviation
    return aircraft.fly(truth_of(state), trimmed.inputs, duration, step, every)


def _strongest_root(response: Array, order: int, interval: float) -> complex:
    """Eigenvalue of the strongest wave in a response (n, channels) sampled at an interval (s).

    By linear prediction of this order; the strength of a root is the energy of its wave.
    """
    past = np.column_stack([response[k : len(response) - order + k].ravel() for k in range(order)])
    weights = np.linalg.lstsq(past, response[order:].ravel(), rcond=None)[0]
    roots = np.roots([1.0, *(-weights[::-1])])
    waves = roots[None, :] ** np.arange(len(response))[:, None]
    amplitudes = np.linalg.lstsq(waves, response.astype(complex), rcond=None)[0]
    energies = [np.sum(np.abs(np.outer(wave, a)) ** 2) for wave, a in zip(waves.T, amplitudes, strict=True)]
    root = roots[int(np.argmax(energies))]
    return complex(math.log(abs(root)), abs(math.atan2(root.imag, root.real))) / interval

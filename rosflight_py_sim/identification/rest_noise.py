"""Noise and bias walk of an IMU, from logs of a vehicle that stands still."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rosflight_py_sim.ground.parameters import ParameterTable, Values, number
from rosflight_py_sim.identification.allan_variance import (
    LEAST_CLUSTERS,
    AllanVariance,
    Noise,
    allan_variance,
    noise_of,
)
from rosflight_py_sim.identification.estimates import LARGEST_ERROR, Estimated, Refused
from rosflight_py_sim.identification.flight_log import Array, FlightLog, FlightLogError, Series

SHORTEST_REST_S = 60.0
"""Least time at rest, s: that of white noise; a bias walk takes more."""

SHORTEST_WALK_S = 240.0
"""Least time at rest for a bias walk, s: in less, the drift of an IMU that warms up looks like one."""


class Sensor(NamedTuple):
    """A sensor of the IMU.

    Attributes:
        channel: its channel in a log.
        unit: of the readings.
        names: parameters of white noise, bias walk and the walk's decay.
        change: largest change of the mean from one second to the next at rest, in the unit.
        range: largest difference to the median of the means, in the unit; slow changes are those of a warm-up.
    """

    channel: str
    unit: str
    names: tuple[str, str, str]
    change: float
    range: float


SENSORS = (
    Sensor("gyro", "rad/s", ("gyro_noise_density", "gyro_bias_walk_density", "k_gyro"), 0.01, 0.05),
    Sensor("accel", "m/s^2", ("acc_noise_density", "acc_bias_walk_density", "k_acc"), 0.1, 1.0),
)
"""The sensors."""

REST_NAMES = tuple(name for sensor in SENSORS for name in sensor.names)
"""Parameters that logs at rest show."""

_BLOCK_S = 1.0


@dataclass(frozen=True)
class RestNoise:
    """Noise of an IMU.

    Attributes:
        log: the log.
        rest_s: begin and end of the longest time at rest in it, s.
        allan: Allan variances by channel.
        noise: noise by channel.
        estimates: of the parameters.
        refused: parameters that the log does not show.
    """

    log: FlightLog
    rest_s: tuple[float, float]
    allan: Mapping[str, AllanVariance]
    noise: Mapping[str, Noise]
    estimates: Sequence[Estimated]
    refused: Sequence[Refused]


def rest_noise(log: FlightLog, names: Sequence[str], table: ParameterTable, values: Values) -> RestNoise:
    """Noise of the IMU in the longest time at rest of a log.

    Args:
        log: the log.
        names: parameters to estimate, of REST_NAMES.
        table: table of the sensors' parameters.
        values: their values in the vehicle's file.

    Raises:
        FlightLogError: the log lacks a channel, or is not at rest for long enough.
    """
    sensors = [one for one in SENSORS if set(names) & set(one.names)]
    log.require(one.channel for one in SENSORS)
    first_s, last_s = rest_of(log)
    if last_s - first_s < SHORTEST_REST_S:
        raise FlightLogError(
            f"'{log.file}' is at rest for {last_s - first_s:.0f} s at a stretch; allowed: at least "
            f"{SHORTEST_REST_S:g} s, and for the bias walk an hour, with the vehicle disarmed, on firm ground, out of "
            "the wind"
        )
    allan, noise = {}, {}
    estimates: list[Estimated] = []
    refused: list[Refused] = []
    for sensor in sensors:
        readings, period_s = _evenly(log.channels[sensor.channel], first_s, last_s)
        allan[sensor.channel] = allan_variance(readings, period_s)
        found = noise[sensor.channel] = noise_of(allan[sensor.channel])
        shown = _shown(found, last_s - first_s)
        of_names = zip(sensor.names, shown, strict=True)
        for name, (value, error, reason) in ((name, one) for name, one in of_names if name in names):
            if reason:
                refused.append(Refused(name, reason, ""))
            else:
                estimates.append(Estimated(table[name], number(values, name), value, error))
    return RestNoise(log, (first_s, last_s), allan, noise, estimates, refused)


def _shown(noise: Noise, length_s: float) -> list[tuple[float, float, str]]:
    """Value, standard error and reason of a refusal: white noise, bias walk and its decay."""
    walk_share = noise.walk_error / noise.walk if noise.walk > 0.0 else math.inf
    too_rough = ""
    if noise.drifts:
        too_rough = "the bias drifts steadily, as it does while an IMU warms up; log after that"
    elif length_s < SHORTEST_WALK_S:
        too_rough = f"{length_s:.0f} s at rest do not tell a bias walk from a drift; log for "
        too_rough += f"{SHORTEST_WALK_S / 60.0:g} min or more"
    elif walk_share > LARGEST_ERROR:
        too_rough = f"in {length_s:.0f} s at rest, "
        if math.isinf(walk_share):
            too_rough += "the readings show no bias walk; log for an hour or more"
        else:
            needed_s = length_s * (walk_share / LARGEST_ERROR) ** 2
            too_rough += f"its standard error would be {100.0 * walk_share:.0f} % of its value; log for "
            too_rough += f"{math.ceil(needed_s / 60.0):d} min or more"
    return [
        (noise.density, noise.density_error, "" if noise.density > 0.0 else "the readings do not scatter"),
        (noise.walk, noise.walk_error, too_rough),
        (noise.decay_rate, noise.decay_error, too_rough),
    ]


def rest_of(log: FlightLog) -> tuple[float, float]:
    """Begin and end of the longest time at rest in a log, s.

    At rest, the means of a second are within the sensors' limits, and the readings of a second scatter by less than
    twice as much as usual; the whole time is disarmed, if the log shows that.
    """
    first_s = max(log.channels[sensor.channel].time_s[0] for sensor in SENSORS)
    last_s = min(log.channels[sensor.channel].time_s[-1] for sensor in SENSORS)
    edges = np.arange(first_s, last_s + 1e-9, _BLOCK_S)
    if len(edges) < 3:
        return first_s, first_s
    still = np.ones(len(edges) - 1, bool)
    for sensor in SENSORS:
        one = log.channels[sensor.channel]
        rows = np.searchsorted(one.time_s, edges)
        counts = np.diff(rows)
        sums = np.concatenate([np.zeros((1, 6)), np.cumsum(np.hstack([one.values, one.values**2]), axis=0)])
        means = (sums[rows[1:]] - sums[rows[:-1]]) / np.maximum(counts, 1)[:, None]
        variances = (means[:, 3:] - means[:, :3] ** 2).max(axis=1)
        still &= (counts > 0) & (variances <= 4.0 * np.median(variances))
        still &= np.abs(means[:, :3] - np.median(means[:, :3], axis=0)).max(axis=1) < sensor.range
        still[1:] &= np.abs(np.diff(means[:, :3], axis=0)).max(axis=1) < sensor.change
    armed = log.channels.get("armed")
    if armed is not None:
        still &= armed.held(edges[:-1])[:, 0] < 0.5
        still &= armed.held(edges[1:])[:, 0] < 0.5
    ends = np.flatnonzero(np.diff(np.concatenate([[0], still.astype(np.int8), [0]])))
    if not len(ends):
        return first_s, first_s
    begins, stops = ends[::2], ends[1::2]
    longest = int(np.argmax(stops - begins))
    return float(edges[begins[longest]]), float(edges[stops[longest]])


def _evenly(one: Series, first_s: float, last_s: float) -> tuple[Array, float]:
    """Readings (n, 3) of a time, in their order, and their mean period: a reading that is lost changes no variance."""
    rows = slice(*np.searchsorted(one.time_s, [first_s, last_s]))
    readings, time_s = one.values[rows], one.time_s[rows]
    if len(readings) < 3 * LEAST_CLUSTERS:
        return readings, one.period_s
    return readings, float(time_s[-1] - time_s[0]) / (len(time_s) - 1)

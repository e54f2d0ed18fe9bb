"""Flight logs cut into short stretches in the air, as measurements for multiple shooting.

A model that flies with logged outputs, open loop, drifts away from the vehicle within seconds: disturbances that no log
shows add up, and a multirotor has no stability of its own. Each stretch therefore starts anew from a state of its own,
which is estimated with the parameters (multiple shooting: Jategaonkar, Flight Vehicle System Identification, 2nd ed.,
chapter 4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rosflight_py_sim.identification.flight_log import Array, FlightLog, FlightLogError, Series

NEEDED = ("gyro", "accel", "attitude", "velocity", "outputs")
"""Channels that a log needs."""

LONGEST_STEP_S = 0.005
"""Longest step of the model: shorter than the lag of a motor."""

BLOCK_S = 0.02
"""Time over which readings of the IMU are averaged: less data, and less noise above the motion of a vehicle."""

LEAST_HEIGHT_M = 1.5
"""Height above the ground on which the vehicle was disarmed, below which it may have touched it, or flown in its
effect."""

_LEAST_PULSE_US = 1020.0
"""Pulse width below which an output drives nothing, us."""

_LEAST_ACCEL = 2.0
"""Specific force in the mean of a stretch below which the vehicle falls, m/s^2."""


@dataclass(frozen=True)
class Shots:
    """Stretches of flight, all equally long, with their measurements.

    Attributes:
        log: number of the log of each, shape (k,).
        time_s: start of each, in the time of its log, shape (k,).
        place: middle of each between begin (-1) and end (1) of its log, shape (k,).
        step_s: length of a step of the model.
        warm_up: steps before the start in which the actuators take on their speeds.
        steps: steps of a stretch, a multiple of `block`.
        block: steps over which readings of the IMU are averaged.
        pulses_us: outputs in all steps (k * (warm_up + steps), 14), us.
        starts: states at the starts as the log shows them (k, 19).
        gyro: angular rates, means of blocks (k, steps / block, 3).
        accel: specific forces, likewise.
        rates: angular rates in all steps (k * (warm_up + steps), 3), prescribed to the model; None if its moments
            determine the rates. With prescribed rates, `gyro` is NaN, as there is nothing to compare.
        velocity: measured velocities NED (m, 3), of all stretches.
        velocity_of: number of the stretch of each (m,).
        velocity_step: time of each since the start of its stretch in steps, not whole (m,).
        airspeed: mean airspeed about the time of each (m,); NaN where it is not logged.
        voltage: mean voltage of the battery (k,), V; NaN if unknown.
        current: mean current of the battery (k,), A; NaN if unknown.
    """

    log: np.typing.NDArray[np.int64]
    time_s: Array
    place: Array
    step_s: float
    warm_up: int
    steps: int
    block: int
    pulses_us: Array
    starts: Array
    gyro: Array
    accel: Array
    rates: Array | None
    velocity: Array
    velocity_of: np.typing.NDArray[np.int64]
    velocity_step: Array
    airspeed: Array
    voltage: Array
    current: Array

    def __len__(self) -> int:
        return len(self.time_s)

    @property
    def measured(self) -> tuple[Array, Array]:
        """Readings of the IMU (blocks, 6), and velocities NED with the airspeed (m, 4), of all stretches."""
        imu = np.concatenate([self.gyro.reshape(-1, 3), self.accel.reshape(-1, 3)], axis=1)
        return imu, np.column_stack([self.velocity, self.airspeed])

    def taken(self, numbers: Sequence[int] | np.typing.NDArray[np.int64]) -> Shots:
        """The stretches of these numbers."""
        numbers = np.asarray(numbers, np.int64)
        length = self.warm_up + self.steps
        place = np.full(len(self), -1)
        place[numbers] = np.arange(len(numbers))
        kept = place[self.velocity_of] >= 0

        def of_steps(values: Array) -> Array:
            return values.reshape(-1, length, values.shape[1])[numbers].reshape(-1, values.shape[1])

        return Shots(
            self.log[numbers],
            self.time_s[numbers],
            self.place[numbers],
            self.step_s,
            self.warm_up,
            self.steps,
            self.block,
            of_steps(self.pulses_us),
            self.starts[numbers],
            self.gyro[numbers],
            self.accel[numbers],
            None if self.rates is None else of_steps(self.rates),
            self.velocity[kept],
            place[self.velocity_of[kept]],
            self.velocity_step[kept],
            self.airspeed[kept],
            self.voltage[numbers],
            self.current[numbers],
        )


def shots_of(
    logs: Sequence[FlightLog],
    outputs: Sequence[int],
    *,
    length_s: float,
    warm_up_s: float,
    origin_altitude: float,
    with_airspeed: bool = False,
    with_rates: bool = False,
) -> Shots:
    """Cut flight logs into stretches in the air.

    Args:
        logs: the logs, each with the channels NEEDED.
        outputs: outputs that drive an actuator.
        length_s: length of a stretch, s.
        warm_up_s: time before a stretch in which the actuators take on their speeds, s.
        origin_altitude: altitude of the model's origin above mean sea level, m.
        with_airspeed: whether a logged airspeed is that of the vehicle.
        with_rates: whether the logged angular rates are prescribed to the model.

    Raises:
        FlightLogError: a log lacks a channel, or no log has a stretch in the air.
    """
    for log in logs:
        log.require(NEEDED)
    shortest_s = min(log.channels["outputs"].period_s for log in logs)
    step_s = shortest_s / math.ceil(shortest_s / LONGEST_STEP_S - 1e-9)
    block = max(1, round(BLOCK_S / step_s))
    steps = block * max(1, round(length_s / (block * step_s)))
    warm_up = math.ceil(warm_up_s / step_s)
    parts = [
        _shots_of(number, log, outputs, step_s, warm_up, steps, block, origin_altitude, with_airspeed, with_rates)
        for number, log in enumerate(logs)
    ]
    if not sum(map(len, parts)):
        reasons = ", ".join(f"'{log.file}' ({_time_aloft(log, outputs)})" for log in logs)
        raise FlightLogError(
            f"no stretch of {steps * step_s:.3g} s in the air, armed, {LEAST_HEIGHT_M:g} m above the ground: {reasons}"
        )
    before = np.cumsum([0, *map(len, parts)])[:-1]

    def joined(name: str) -> Array:
        return np.concatenate([getattr(one, name) for one in parts])

    return Shots(
        np.concatenate([one.log for one in parts]),
        joined("time_s"),
        joined("place"),
        step_s,
        warm_up,
        steps,
        block,
        joined("pulses_us"),
        joined("starts"),
        joined("gyro"),
        joined("accel"),
        joined("rates") if with_rates else None,
        joined("velocity"),
        np.concatenate([one.velocity_of + first for one, first in zip(parts, before, strict=True)]),
        joined("velocity_step"),
        joined("airspeed"),
        joined("voltage"),
        joined("current"),
    )


def _shots_of(
    number: int,
    log: FlightLog,
    outputs: Sequence[int],
    step_s: float,
    warm_up: int,
    steps: int,
    block: int,
    origin_altitude: float,
    with_airspeed: bool,
    with_rates: bool,
) -> Shots:
    channels = log.channels
    gyro, accel, velocity = channels["gyro"], channels["accel"], channels["velocity"]
    first, last = log.span_s
    count = max(0, math.floor((last - first) / step_s + 1e-6) + 1)
    time_s: Array = first + step_s * np.arange(count, dtype=np.float64)
    rates, forces = gyro.at(time_s), accel.at(time_s)
    pulses_us = outputs_at(channels["outputs"], time_s)
    aloft = _is_aloft(log, time_s, pulses_us, outputs)
    first_rows, velocities = [], []
    at = warm_up
    while at + steps <= count:
        whole = slice(at - warm_up, at + steps)
        inside = _between(velocity.time_s, time_s[at], step_s * (steps - 1))
        steady = float(np.linalg.norm(forces[whole].mean(axis=0))) > _LEAST_ACCEL
        if not aloft[whole].all():
            # On from the first row that follows one on the ground.
            at += int(np.flatnonzero(~aloft[whole])[-1]) + 1
        elif len(inside) < 3 or not steady:
            at += steps
        else:
            first_rows.append(at)
            velocities.append(inside)
            at += steps
    rows = np.array(first_rows, np.int64)
    blocks = (rows[:, None] + np.arange(steps)).reshape(-1, steps // block, block)
    whole_rows = (rows[:, None] - warm_up + np.arange(warm_up + steps)).ravel()
    samples = np.concatenate(velocities) if velocities else np.zeros(0, np.int64)
    of = np.repeat(np.arange(len(rows)), [len(one) for one in velocities])
    starts = _states(log, time_s[rows], rates[rows], origin_altitude)
    drift = 0.0
    for shot, row in enumerate(rows):
        own = samples[of == shot]
        span = slice(row, row + steps)
        times = (velocity.time_s[own] - time_s[row]) / step_s
        # The heading drifts slowly: a stretch that does not show it has the error of the one before.
        starts[shot, 3:10], drift = _flown(
            starts[shot], drift, rates[span], forces[span], step_s, times, velocity.values[own]
        )
    return Shots(
        np.full(len(rows), number),
        time_s[rows],
        2.0 * (time_s[rows] + 0.5 * steps * step_s - first) / max(last - first, step_s) - 1.0,
        step_s,
        warm_up,
        steps,
        block,
        pulses_us[whole_rows],
        starts,
        np.full((*blocks.shape[:2], 3), math.nan) if with_rates else rates[blocks].mean(axis=2),
        forces[blocks].mean(axis=2),
        rates[whole_rows] if with_rates else None,
        velocity.values[samples],
        of,
        (velocity.time_s[samples] - time_s[rows][of]) / step_s,
        _mean_airspeed(log.channels.get("airspeed") if with_airspeed else None, velocity.time_s[samples]),
        *_mean_power(log, time_s[rows], steps * step_s),
    )


def _between(time_s: Array, first_s: float, length_s: float) -> np.typing.NDArray[np.int64]:
    """Rows of times from first_s on, within length_s."""
    ends = np.searchsorted(time_s, [first_s - 1e-6, first_s + length_s + 1e-6])
    return np.arange(*ends, dtype=np.int64)


def _is_aloft(log: FlightLog, time_s: Array, pulses_us: Array, outputs: Sequence[int]) -> np.typing.NDArray[np.bool_]:
    """Whether the vehicle is armed, and above the ground on which it is disarmed before and after, as far as logged."""
    driven: np.typing.NDArray[np.bool_] = np.any(pulses_us[:, list(outputs)] > _LEAST_PULSE_US, axis=1)
    armed = log.channels.get("armed")
    if armed is not None:
        driven &= armed.held(time_s)[:, 0] > 0.5
    position = log.channels.get("position")
    # A simulation that starts in the air has a step or two without outputs.
    if position is not None and np.count_nonzero(~driven) > 0.5 / (time_s[1] - time_s[0]):
        down = position.at(time_s)[:, 2]
        driven &= down < _ground(time_s, down, ~driven) - LEAST_HEIGHT_M
    return driven


_SETTLED_S = 1.0
"""Time before a flight from which the ground's height is taken, s: some estimators reset their height on arming."""


def _ground(time_s: Array, down: Array, at_rest: np.typing.NDArray[np.bool_]) -> Array:
    """Down coordinate of the ground (n,): in each flight, the higher ground of those before take-off and after landing.

    Before take-off, it is the median of the last second at rest; after landing, the lowest position at rest, because a
    vehicle may be disarmed in the air.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], at_rest, [False]]).astype(np.int8)))
    grounds, begin = np.full(len(down), math.inf), 0
    for first, end in edges.reshape(-1, 2):
        settled = max(first, np.searchsorted(time_s, time_s[end - 1] - _SETTLED_S))
        grounds[begin:first] = np.minimum(grounds[begin:first], np.max(down[first:end]))
        grounds[end:] = np.median(down[settled:end])
        begin = end
    return grounds


def _time_aloft(log: FlightLog, outputs: Sequence[int]) -> str:
    """How long a log is, and how long the vehicle is armed, driven and in the air in it."""
    first, last = log.span_s
    if last - first < 2.0 * LONGEST_STEP_S:
        return "gyro and outputs are not logged at the same time"
    step_s = LONGEST_STEP_S
    time_s = np.arange(first, last, step_s)
    pulses_us = log.channels["outputs"].held(time_s)
    facts = [f"{last - first:.1f} s long"]
    if (armed := log.channels.get("armed")) is not None:
        facts.append(f"{step_s * np.count_nonzero(armed.held(time_s)[:, 0] > 0.5):.1f} s armed")
    driven = (pulses_us[:, list(outputs)] > _LEAST_PULSE_US).any(axis=1)
    facts.append(f"{step_s * np.count_nonzero(driven):.1f} s with outputs above {_LEAST_PULSE_US:g} us")
    facts.append(f"{step_s * np.count_nonzero(_is_aloft(log, time_s, pulses_us, outputs)):.1f} s in the air")
    return ", ".join(facts)


def _states(log: FlightLog, time_s: Array, rates: Array, origin_altitude: float) -> Array:
    """States (k, 19) as the log shows them; the position is that over the model's origin."""
    states = np.zeros((len(time_s), 19))
    position = log.channels.get("position")
    if position is not None:
        states[:, :3] = position.at(time_s)
        if math.isfinite(log.altitude):
            states[:, 2] -= log.altitude - origin_altitude
    attitude = log.channels["attitude"].held(time_s)
    states[:, 3:7] = attitude / np.linalg.norm(attitude, axis=1, keepdims=True)
    velocity = log.channels["velocity"].at(time_s)
    states[:, 7:10] = np.einsum("kij,ki->kj", rotations(states[:, 3:7]), velocity)
    states[:, 10:13] = rates
    return states


_GRAVITY = 9.80665

_TILT_WEIGHT, _HEADING_WEIGHT = 1.0, 0.01
"""Weights of the logged attitude in the kinematic one, (m/s)^2. The tilt is good to some degrees; the heading, which
drifts without a magnetometer, only takes the place of one that the flight does not show."""


def _flown(
    state: Array, drift: float, rates: Array, forces: Array, step_s: float, at: Array, measured: Array
) -> tuple[Array, float]:
    """Attitude (w x y z) and velocity (body axes) at the start of a stretch that fit the measured velocities best.

    By gyro and accelerometer alone, without a model of the vehicle: with C(t) the rotation since the start from the
    rates, and the specific force f, v(t) = v_0 + g t + R_0 S(t), S = integral of C f. The rotation R_0 follows from
    the differences of both sides to their means by Kabsch's closed solution of Wahba's problem (Acta Cryst. A32, 1976).
    The logged attitude has small weights: a flight that does not accelerate does not show its heading.

    `state` (19,) as logged; `drift`: angle about the vertical from the logged attitude to that expected; `rates` and
    `forces` (n, 3) at the steps; `at` (m,) steps and `measured` velocities (m, 3). Also returns the angle about the
    vertical from the logged attitude to that found.
    """
    turned, sums = np.eye(3), np.zeros((len(forces), 3))
    for step in range(1, len(forces)):
        force = turned @ forces[step - 1]
        turned = turned @ _rotation_of(0.5 * (rates[step - 1] + rates[step]) * step_s)
        sums[step] = sums[step - 1] + 0.5 * step_s * (force + turned @ forces[step])
    steps = np.arange(len(forces))
    gained = np.stack([np.interp(at, steps, column) for column in sums.T], axis=1)
    left = measured - np.outer(at * step_s, [0.0, 0.0, _GRAVITY])
    logged = rotations(state[None, 3:7])[0]
    expected = _rotation_of(np.array([0.0, 0.0, drift])) @ logged
    match = (left - left.mean(axis=0)).T @ (gained - gained.mean(axis=0)) + _HEADING_WEIGHT * expected
    match[2] += _TILT_WEIGHT * logged[2]
    one, _, other = np.linalg.svd(match)
    rotation = one @ np.diag([1.0, 1.0, np.linalg.det(one @ other)]) @ other
    velocity = left.mean(axis=0) - rotation @ gained.mean(axis=0)
    north, east = (rotation @ logged.T)[:2, :2]
    drift = math.atan2(east[0] - north[1], north[0] + east[1])
    return np.concatenate([_quaternion(rotation), rotation.T @ velocity]), drift


def _rotation_of(vector: Array) -> Array:
    """Rotation matrix of a rotation vector (3,), rad."""
    angle = float(np.linalg.norm(vector))
    x, y, z = vector
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(
        np.eye(3) + np.sinc(angle / np.pi) * cross + 0.5 * np.sinc(0.5 * angle / np.pi) ** 2 * cross @ cross
    )


def _quaternion(rotation: Array) -> Array:
    """Quaternion w x y z of a rotation matrix: the eigenvector of Bar-Itzhack (J. Guidance 23(6), 2000)."""
    (a, b, c), (d, e, f), (g, h, i) = rotation
    symmetric = np.array(
        [
            [a + e + i, h - f, c - g, d - b],
            [h - f, a - e - i, b + d, c + g],
            [c - g, b + d, e - a - i, f + h],
            [d - b, c + g, f + h, i - a - e],
        ]
    )
    return np.asarray(np.linalg.eigh(symmetric)[1][:, -1])


def rotations(quaternions: Array) -> Array:
    """Matrices (k, 3, 3) that rotate from body axes to NED, of quaternions w x y z (k, 4)."""
    w, x, y, z = quaternions.T
    rows = (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


_AIRSPEED_S = 0.1
"""Time over which the airspeed is averaged, s: less noise."""


def _mean_airspeed(airspeed: Series | None, time_s: Array) -> Array:
    """Mean airspeed about times (m,), NaN where it is not logged."""
    if airspeed is None:
        return np.full(len(time_s), math.nan)
    known, values = airspeed.time_s, airspeed.values[:, 0]
    flown = np.concatenate([[0.0], np.cumsum(0.5 * (values[1:] + values[:-1]) * np.diff(known))])
    first, last = (np.interp(time_s + side * _AIRSPEED_S, known, flown) for side in (-0.5, 0.5))
    inside = (time_s - 0.5 * _AIRSPEED_S >= known[0]) & (time_s + 0.5 * _AIRSPEED_S <= known[-1])
    return np.where(inside, (last - first) / _AIRSPEED_S, math.nan)


_STRONGEST_WIND = 25.0
"""m/s."""


def first_wind(speeds: Array) -> Array:
    """Wind north and east (2,), m/s, from velocities NED with the airspeed (m, 4); 0 without airspeeds.

    |v - w|^2 = V^2 is linear in w and |w|^2: v^2 - V^2 = 2 v w - |w|^2. It takes flight in several directions.
    """
    known = speeds[np.isfinite(speeds[:, 3])]
    if len(known) < 3:
        return np.zeros(2)
    design = np.column_stack([2.0 * known[:, :2], -np.ones(len(known))])
    wind = np.linalg.lstsq(design, np.sum(known[:, :3] ** 2, axis=1) - known[:, 3] ** 2, rcond=1e-3)[0][:2]
    return np.asarray(wind * min(1.0, _STRONGEST_WIND / max(float(np.linalg.norm(wind)), 1e-12)))


def _mean_power(log: FlightLog, starts_s: Array, length_s: float) -> tuple[Array, Array]:
    """Mean voltage and current of each stretch (k,), NaN where unknown."""
    battery = log.channels.get("battery")
    means = np.full((len(starts_s), 2), math.nan)
    if battery is not None:
        for row, start_s in enumerate(starts_s):
            inside = _between(battery.time_s, start_s, length_s)
            means[row] = battery.values[inside].mean(axis=0) if len(inside) else battery.at(np.array([start_s]))[0]
    return means[:, 0], means[:, 1]


def outputs_at(outputs: Series, time_s: Array) -> Array:
    """Pulse widths at times (n, OUTPUTS), us.

    A log with all outputs shows how long each was in force. One that is slower than flight controllers shows only some
    of them, which are interpolated: if they were held, those in between would count as late.
    """
    return outputs.held(time_s) if outputs.period_s < 1.5 * LONGEST_STEP_S else outputs.at(time_s)


def hidden_share(log: FlightLog, outputs: Sequence[int], motors: Sequence[int]) -> tuple[float, float]:
    """Shares of the variance of the outputs in force that are missing in a log, estimated; (0, 0) if none is.

    First the share of the motors' mean, which sets the total thrust; second the largest share among the single outputs
    and the motors' differences from their mean, which set the moments.

    Flight controllers set outputs with each reading of the gyro. If they are logged more seldom, those in between
    scatter about the logged ones as these do about the mean of their neighbours: by a deviation of sqrt(3/2) times
    that of white noise.
    """
    logged, gyro = log.channels["outputs"], log.channels["gyro"]
    if logged.period_s < 1.5 * min(LONGEST_STEP_S, gyro.period_s):
        return 0.0, 0.0
    values = logged.values[_is_aloft(log, logged.time_s, logged.values, outputs)]
    if len(values) < 3:
        return 0.0, 0.0
    driving = values[:, list(motors)]
    mean = driving.mean(axis=1, keepdims=True)
    columns = np.concatenate([mean, values[:, list(outputs)], driving - mean], axis=1)
    scatter = (columns[1:-1] - 0.5 * (columns[2:] + columns[:-2])).var(axis=0) / 1.5
    shares = scatter / np.maximum(columns.var(axis=0), 1.0)
    return float(shares[0]), float(np.max(shares[1:]))

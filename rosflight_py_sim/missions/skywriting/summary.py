"""Summary of a skywriting flight: the letters, and the excursion out of the cage."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rosflight_py_sim.autopilot.guided_mode_states import Mode
from rosflight_py_sim.ground.parameters import Parameter
from rosflight_py_sim.missions.acceptance import Limit, Miss, joined
from rosflight_py_sim.missions.skywriting.log import Letter, SkywritingLog
from rosflight_py_sim.missions.waypoint_miss import largest_miss
from rosflight_py_sim.recording.state_log import Array, lengths

WAYPOINT_RADIUS = Parameter(
    "waypoint_radius",
    15.0,
    "Largest distance, height included, at which the path of a legible letter passes its lines and waypoints: a small "
    "fraction of the letter's size",
    "m",
    minimum=0.01,
    maximum=1e5,
)

LEGIBLE = Limit.of(WAYPOINT_RADIUS, {})
"""The limit unless a vehicle file gives another."""

# Spacing of the points compared along a line, m: finer than any visible detail.
_SAMPLE_M = 2.0

# Rows of the path compared at once, so that memory does not grow with the flight.
_BATCH = 2048


@dataclass(frozen=True)
class LetterSummary:
    """Accuracy of a letter: distances of its lines from the path flown for it, m, height included.

    `waypoint_miss_m` is the smallest distance within which the path passes all waypoints of its lines in order.
    """

    text: str
    length_m: float
    error_rms_m: float
    error_max_m: float
    waypoint_miss_m: float

    def excess(self, limit: Limit) -> str:
        """Text of what is missing of the letter; empty if it is legible."""
        off = max(self.error_max_m, self.waypoint_miss_m)
        return limit.excess(f"the distance of letter {self.text} from the path", off)


@dataclass(frozen=True)
class CageBreak:
    """An excursion out of the cage; times since the start, s.

    Attributes:
        left_s: time at which fly() was switched off while the plane was truly above the limit.
        bits: the limits that switched it off.
        height_m: height at that time.
        inside_s: time from which the plane is truly below the limit again; NaN if it is not.
        again_s: time at which fly() resumed after that; NaN if it did not.
        highest_m: greatest height in between.
    """

    left_s: float
    bits: int
    height_m: float
    inside_s: float
    again_s: float
    highest_m: float

    @property
    def is_over(self) -> bool:
        """Whether the plane came back and fly() resumed."""
        return self.left_s < self.inside_s <= self.again_s


@dataclass(frozen=True)
class SkywritingSummary:
    """Key figures of a skywriting flight; `cage_break` is None if the plane never rose above the cage."""

    vehicle: str
    duration_s: float
    wall_duration_s: float | None
    path_length_m: float
    letters: tuple[LetterSummary, ...]
    height_limit_m: float
    cage_break: CageBreak | None
    max_height_m: float
    min_airspeed_mps: float
    max_airspeed_mps: float
    max_roll_rad: float
    mean_wind_speed_mps: float
    seconds_of_mode: Mapping[int, float]
    limit: Limit

    @property
    def word(self) -> str:
        """All letters."""
        return "".join(letter.text for letter in self.letters)

    @property
    def completed(self) -> bool:
        """Whether there are letters, all are legible, and the plane left the cage and came back."""
        is_back = self.cage_break is not None and self.cage_break.is_over
        return bool(self.letters) and not any(letter.excess(self.limit) for letter in self.letters) and is_back

    @property
    def shortfall(self) -> str:
        """Letters that were written but are not legible, with the limit; empty if all are."""
        return joined(letter.excess(self.limit) for letter in self.letters if math.isfinite(letter.error_max_m))

    @property
    def waypoint_miss_m(self) -> float:
        """Largest miss of a waypoint of the letters that were written, m; NaN if none was."""
        written = [one.waypoint_miss_m for one in self.letters if math.isfinite(one.waypoint_miss_m)]
        return max(written, default=math.nan)

    @property
    def miss(self) -> Miss:
        """Largest miss of a waypoint."""
        return Miss(self.waypoint_miss_m, self.limit)

    @property
    def real_time_factor(self) -> float | None:
        """Simulated time over wall time; None if the wall time is unknown."""
        return self.duration_s / self.wall_duration_s if self.wall_duration_s else None


def line_error(line: Array, path: Array) -> Array:
    """Distances (k,), m, from points every 2 m along a line (m, 3) to the nearest point of the path (n, 3).

    Raises:
        ValueError: a line of fewer than two points, or an empty path.
    """
    if len(line) < 2 or not len(path):
        raise ValueError(f"{len(line)} points and {len(path)} of the path given; allowed: at least 2 and 1")
    legs = []
    for start, end in itertools.pairwise(line):
        count = max(math.ceil(float(np.linalg.norm(end - start)) / _SAMPLE_M), 1)
        legs.append(start + np.linspace(0.0, 1.0, count, endpoint=False)[:, None] * (end - start))
    points = np.concatenate([*legs, line[-1:]])
    nearest = np.full(len(points), np.inf)
    for first in range(0, len(path), _BATCH):
        away = points[:, None, :] - path[None, first : first + _BATCH, :]
        np.minimum(nearest, np.sqrt((away**2).sum(axis=2)).min(axis=1), out=nearest)
    return nearest


def letter_rows(log: SkywritingLog) -> list[slice]:
    """Rows of each letter: from its start to the program's next step."""
    ends = [mark.time_s for mark in log.marks]
    spans = []
    for letter in log.letters:
        end_s = min((end for end in ends if end > letter.time_s), default=math.inf)
        spans.append(slice(*(int(row) for row in np.searchsorted(log.time_s, (letter.time_s, end_s)))))
    return spans


def summarise_letter(letter: Letter, path_ned: Array) -> LetterSummary:
    """Accuracy of the letter along the path (n, 3); lines that were not flown are infinitely far from it."""
    strokes = letter.strokes_ned
    if not strokes or not len(path_ned):
        return LetterSummary(letter.text, 0.0, math.inf, math.inf, math.inf)
    error = np.concatenate([line_error(stroke, path_ned) for stroke in strokes])
    length = sum(float(np.linalg.norm(np.diff(stroke, axis=0), axis=1).sum()) for stroke in strokes)
    miss = largest_miss(path_ned, np.concatenate(strokes)) if len(path_ned) > 1 else math.inf
    return LetterSummary(letter.text, length, math.sqrt(float((error**2).mean())), float(error.max()), miss)


def find_cage_break(log: SkywritingLog, height_limit_m: float) -> CageBreak | None:
    """First time that fly() ended while the plane was truly above the limit; None if it never did."""
    flown = log.mode == Mode.PACKET_TARGET
    height, time = log.height, log.time_s - log.time_s[0]
    ends = np.flatnonzero(flown[:-1] & ~flown[1:]) + 1
    above = [int(row) for row in ends if height[row] > height_limit_m]
    if not above:
        return None
    left = above[0]
    inside = np.flatnonzero(height[left:] <= height_limit_m)
    again = np.flatnonzero(flown[left:])
    return CageBreak(
        left_s=float(time[left]),
        bits=int(log.triggered_last[left]),
        height_m=float(height[left]),
        inside_s=float(time[left + inside[0]]) if len(inside) else math.nan,
        again_s=float(time[left + again[0]]) if len(again) else math.nan,
        highest_m=float(height[left : left + again[0] if len(again) else None].max()),
    )


def summarise_skywriting(
    log: SkywritingLog,
    height_limit_m: float,
    vehicle: str,
    wall_duration_s: float | None = None,
    limit: Limit = LEGIBLE,
) -> SkywritingSummary:
    """Summarise `log`, a flight below `height_limit_m` above home except for the excursion out of the cage.

    `limit` is that of WAYPOINT_RADIUS.

    Raises:
        ValueError: fewer than two rows, or values that are not finite.
    """
    if len(log) < 2:
        raise ValueError(f"{len(log)} rows in the log; a summary needs at least 2")
    if not log.is_finite:
        raise ValueError("the log contains values that are not finite")
    position, time, airspeed = log.position_ned, log.time_s, log.airspeed
    flying = log.height > 1.0
    spans = np.diff(time, append=time[-1])
    return SkywritingSummary(
        vehicle=vehicle,
        duration_s=float(time[-1] - time[0]),
        wall_duration_s=wall_duration_s,
        path_length_m=float(np.sum(np.linalg.norm(np.diff(position, axis=0), axis=1))),
        letters=tuple(
            summarise_letter(letter, position[rows]) for letter, rows in zip(log.letters, letter_rows(log), strict=True)
        ),
        height_limit_m=height_limit_m,
        cage_break=find_cage_break(log, height_limit_m),
        max_height_m=float(log.height.max()),
        min_airspeed_mps=float(airspeed[flying].min()) if flying.any() else 0.0,
        max_airspeed_mps=float(airspeed.max()),
        max_roll_rad=float(np.abs(log.euler[:, 0]).max()),
        mean_wind_speed_mps=float(lengths(log.flow_ned).mean()),
        limit=limit,
        seconds_of_mode={int(mode): float(spans[log.mode == mode].sum()) for mode in np.unique(log.mode)},
    )

"""Path manager: selects the current segment of a path and computes its commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rosflight_py_sim.autopilot.loops import wrap_angle
from rosflight_py_sim.autopilot.path_segments import Arc, FieldGains, Segment
from rosflight_py_sim.autopilot.setpoint import Vector3


class Guidance(NamedTuple):
    """Path following commands for the autopilot.

    Attributes:
        course: course over ground, rad, within pi of the current one.
        height: m above the origin.
        airspeed: m/s.
        curvature: of the path, 1/m, positive to the right, for the feed-forward of the roll angle.
        nearest_ned: point of the path abreast of the vehicle, m.
    """

    course: float
    height: float
    airspeed: float
    curvature: float
    nearest_ned: Vector3


class PathManager:
    """Follows the segments of a path: Beard and McLain, chapter 11, algorithms 5, 6 and 8 combined.

    A segment is over when the vehicle crosses the half-plane at its end, which for an arc is the ray from the centre
    through the end. The angle flown is counted from the beginning of the arc. Therefore an arc of more than half a
    turn, which starts beyond its own half-plane, needs no additional states, and an orbit is an arc of several turns.
    The last segment never ends.
    """

    def __init__(self, path: Sequence[Segment]) -> None:
        """`path` contains at least one segment."""
        self._path = tuple(path)
        self._index = 0
        self._turned = 0.0
        self._last_angle: float | None = None
        lengths = [segment.length for segment in self._path]
        self._before = [sum(lengths[:index]) for index in range(len(lengths))]
        self.length = sum(lengths)
        self.is_over = False

    @property
    def path(self) -> tuple[Segment, ...]:
        """All segments."""
        return self._path

    @property
    def index(self) -> int:
        """Index of the current segment, from 0."""
        return self._index

    @property
    def segment(self) -> Segment:
        """Current segment."""
        return self._path[self._index]

    @property
    def on_last(self) -> bool:
        """Whether the current segment is the last one."""
        return self._index == len(self._path) - 1

    def travelled(self, position_ned: Vector3) -> float:
        """Length of path flown so far, m."""
        segment = self.segment
        along = segment.radius * self._turned if isinstance(segment, Arc) else segment.along(position_ned)
        return self._before[self._index] + min(max(along, 0.0), segment.length)

    def update(self, position_ned: Vector3, course: float, gains: FieldGains) -> Guidance:
        """Advance to the segment that is due and return its commands."""
        while self._has_passed(position_ned):
            if self.on_last:
                self.is_over = True
                break
            self._index += 1
            self._turned = 0.0
            self._last_angle = None
        segment = self.segment
        nearest = segment.nearest(position_ned)
        return Guidance(
            course=segment.commanded_course(position_ned, course, gains),
            height=-nearest[2],
            airspeed=segment.airspeed,
            curvature=segment.curvature,
            nearest_ned=nearest,
        )

    def _has_passed(self, position_ned: Vector3) -> bool:
        segment = self.segment
        if not isinstance(segment, Arc):
            return segment.is_over(position_ned)
        angle = segment.angle(position_ned)
        before = segment.start_angle if self._last_angle is None else self._last_angle
        self._turned += segment.turn * wrap_angle(angle - before)
        self._last_angle = angle
        # A nanoradian before the ray counts as reached, so that rounding has no effect.
        return self._turned >= segment.sweep - 1e-9

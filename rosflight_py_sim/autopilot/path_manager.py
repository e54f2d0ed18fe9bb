"""Path manager: selects the current segment of a path and computes its commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rosflight_py_sim.autopilot import loops
from rosflight_py_sim.autopilot.path_segments import (
    FieldGains,
    Segment,
    SegmentNumbers,
    angle_from_centre,
    distance_along,
    has_crossed,
)
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.kernels.jit import kernel, kernel_part
from rosflight_py_sim.kernels.record import kernel_record

wrap_angle = kernel_part(loops.wrap_angle)


class Guidance(NamedTuple):
    """Path-following commands for the autopilot.

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


@kernel_record
class PathMemory:
    """Place of a vehicle on its path.

    Attributes:
        segment: present segment.
        is_last: whether the present segment is the last one.
        is_over: whether the vehicle has passed the end of the last segment.
        before: length of the preceding segments, m.
        length: length of the path, m.
        turned: angle flown on the present arc, rad.
        last_angle: last direction from the centre of the present arc to the vehicle, rad.
    """

    segment: SegmentNumbers
    is_last: bool
    is_over: bool
    before: float
    length: float
    turned: float
    last_angle: float


@kernel
def turned_at(path: PathMemory, north: float, east: float) -> float:
    """Angle flown on the present arc up to a position (m), rad."""
    arc = path.segment
    return path.turned + arc.turn * wrap_angle(angle_from_centre(arc, north, east) - path.last_angle)


@kernel
def has_passed(path: PathMemory, north: float, east: float) -> bool:
    """Whether a position (m) is beyond the end of the present segment."""
    if path.segment.is_arc:
        # A nanoradian before the ray counts as reached, so that rounding has no effect.
        return turned_at(path, north, east) >= path.segment.sweep - 1e-9
    return has_crossed(path.segment, north, east)


@kernel
def advance_on_segment(path: PathMemory, north: float, east: float) -> None:
    """Record a position (m) on the present segment."""
    if path.segment.is_arc:
        path.turned = turned_at(path, north, east)
        path.last_angle = angle_from_centre(path.segment, north, east)


@kernel
def travelled(path: PathMemory, north: float, east: float) -> float:
    """Length of path flown up to a position (m) on the present segment, m."""
    segment = path.segment
    along = segment.radius * path.turned if segment.is_arc else distance_along(segment, north, east)
    return path.before + min(max(along, 0.0), segment.length)


class PathManager:
    """Path manager after Beard and McLain, chapter 11: algorithms 5, 6 and 8 combined.

    A segment is over when the vehicle crosses the half-plane at its end, which for an arc is the ray from the centre
    through the end. The angle flown is counted from the beginning of the arc. Therefore an arc of more than half a
    turn, which starts beyond its own half-plane, needs no additional states, and an orbit is an arc of several turns.
    The last segment never ends.

    Attributes:
        memory: place on the path, for kernels.
        length: length of the path, m.
    """

    def __init__(self, path: Sequence[Segment]) -> None:
        """`path` contains at least one segment."""
        self._path = tuple(path)
        lengths = [segment.length for segment in self._path]
        self._before = [sum(lengths[:index]) for index in range(len(lengths))]
        self.length = sum(lengths)
        self.memory = PathMemory(
            segment=self._path[0].numbers,
            is_last=False,
            is_over=False,
            before=0.0,
            length=self.length,
            turned=0.0,
            last_angle=0.0,
        )
        self._enter(0)

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
    def is_over(self) -> bool:
        """Whether the vehicle has passed the end of the last segment."""
        return self.memory.is_over

    @property
    def on_last(self) -> bool:
        """Whether the current segment is the last one."""
        return self.memory.is_last

    def travelled(self, position_ned: Vector3) -> float:
        """Length of path flown so far, m."""
        return travelled(self.memory, *position_ned[:2])

    def update(self, position_ned: Vector3, course: float, gains: FieldGains) -> Guidance:
        """Advance to the segment that is due and return its commands."""
        north, east, _ = position_ned
        while has_passed(self.memory, north, east):
            if self.on_last:
                self.memory.is_over = True
                break
            self._enter(self._index + 1)
        advance_on_segment(self.memory, north, east)
        segment = self.segment
        nearest = segment.nearest(position_ned)
        return Guidance(
            course=segment.commanded_course(position_ned, course, gains),
            height=-nearest[2],
            airspeed=segment.airspeed,
            curvature=segment.curvature,
            nearest_ned=nearest,
        )

    def _enter(self, index: int) -> None:
        self._index, memory, segment = index, self.memory, self._path[index].numbers
        memory.segment, memory.is_last = segment, index == len(self._path) - 1
        memory.before, memory.turned, memory.last_angle = self._before[index], 0.0, segment.start_angle

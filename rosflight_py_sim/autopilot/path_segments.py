"""Lines and arcs of fixed-wing paths, and the vector fields that lead onto them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from rosflight_py_sim.autopilot import loops
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.kernels.hypot import hypot
from rosflight_py_sim.kernels.jit import kernel, kernel_part
from rosflight_py_sim.kernels.record import kernel_record

wrap_angle = kernel_part(loops.wrap_angle)

Horizontal: TypeAlias = tuple[float, float]
"""North and east, m."""


FIELD_PARAMETERS = ParameterTable(
    Parameter("approach_angle", 1.05, "Approach angle to a line from far away", "rad", minimum=0.1, maximum=1.57),
    Parameter("line_gain", 0.02, "Sharpness of the turn onto a line", "1/m", minimum=1e-6, maximum=10.0),
    Parameter("orbit_gain", 1.2, "Sharpness of the turn onto an orbit", minimum=1e-3, maximum=100.0),
)


class FieldGains(NamedTuple):
    """Shape of the vector fields.

    Attributes:
        approach: chi_inf, angle (rad) at which a line is approached from far away, up to pi / 2.
        line: k_path (1/m): sharpness of the turn onto a line.
        orbit: k_orbit: sharpness of the turn onto an orbit.
    """

    approach: float
    line: float
    orbit: float

    @classmethod
    def of(cls, values: Values) -> FieldGains:
        """Shape from the values of FIELD_PARAMETERS; other values are ignored."""
        return cls(*(number(values, parameter.name) for parameter in FIELD_PARAMETERS))


@kernel_record
class SegmentNumbers:
    """A line or an arc as numbers.

    Attributes:
        is_arc: whether it is an arc.
        north: start of a line, or centre of an arc, m; likewise `east` and `down`.
        end_north: end of a line, m; likewise `end_east` and `end_down`.
        normal_north: normal of the half-plane at the end of a line; likewise `normal_east`.
        course: course along a line, rad.
        length: horizontal length, m.
        curvature: 1/m, positive to the right.
        radius: of an arc, m.
        turn: of an arc: 1 clockwise seen from above, -1 counter-clockwise.
        start_angle: of an arc, rad.
        sweep: of an arc, rad.
        airspeed: m/s.
    """

    is_arc: bool
    north: float
    east: float
    down: float
    end_north: float
    end_east: float
    end_down: float
    normal_north: float
    normal_east: float
    course: float
    length: float
    curvature: float
    radius: float
    turn: float
    start_angle: float
    sweep: float
    airspeed: float


@kernel
def distance_along(line: SegmentNumbers, north: float, east: float) -> float:
    """Distance of a position (m) along a line, m; negative before the start of the line."""
    return (north - line.north) * math.cos(line.course) + (east - line.east) * math.sin(line.course)


@kernel
def point_along(line: SegmentNumbers, along: float) -> tuple[float, float, float]:
    """The point `along` metres from the start of a line."""
    share = along / line.length if line.length > 0.0 else 1.0
    return (
        line.north + share * (line.end_north - line.north),
        line.east + share * (line.end_east - line.east),
        line.down + share * (line.end_down - line.down),
    )


@kernel
def angle_from_centre(arc: SegmentNumbers, north: float, east: float) -> float:
    """Direction from the centre of an arc to a position (m), rad."""
    return math.atan2(east - arc.east, north - arc.north)


@kernel
def point_at_angle(arc: SegmentNumbers, angle: float) -> tuple[float, float, float]:
    """The point of an arc's circle in a direction (rad) from the centre."""
    return arc.north + arc.radius * math.cos(angle), arc.east + arc.radius * math.sin(angle), arc.down


@kernel
def nearest_point(segment: SegmentNumbers, north: float, east: float) -> tuple[float, float, float]:
    """Point of a line abreast of a position (m), at the line's height there, or nearest point of an arc's circle."""
    if segment.is_arc:
        return point_at_angle(segment, angle_from_centre(segment, north, east))
    return point_along(segment, min(max(distance_along(segment, north, east), 0.0), segment.length))


@kernel
def has_crossed(line: SegmentNumbers, north: float, east: float) -> bool:
    """Whether a position (m) is beyond the half-plane at the end of a line."""
    return (north - line.end_north) * line.normal_north + (east - line.end_east) * line.normal_east >= 0.0


@kernel
def course_onto(
    segment: SegmentNumbers,
    north: float,
    east: float,
    course: float,
    approach: float,
    line_gain: float,
    orbit_gain: float,
) -> float:
    """Course (rad) that leads onto a segment; see `Line.commanded_course` and `Arc.commanded_course`."""
    x, y = north - segment.north, east - segment.east
    if segment.is_arc:
        off = orbit_gain * (hypot(x, y) - segment.radius) / segment.radius
        commanded = math.atan2(y, x) + segment.turn * (math.pi / 2.0 + math.atan(off))
        return course + wrap_angle(commanded - course)
    along = course + wrap_angle(segment.course - course)
    cross_track = -math.sin(along) * x + math.cos(along) * y
    return along - approach * 2.0 / math.pi * math.atan(line_gain * cross_track)


@dataclass(frozen=True)
class Line:
    """Straight line from `start_ned` to `end_ned` (m), ended by a half-plane.

    The half-plane is vertical, passes through the end and has the horizontal normal `end_normal` (Beard and McLain,
    Small Unmanned Aircraft, 2012, eq. 11.1). The line is over once the vehicle has crossed the half-plane, at any
    lateral distance.
    """

    start_ned: Vector3
    end_ned: Vector3
    end_normal: Horizontal
    airspeed: float

    @property
    def length(self) -> float:
        """Horizontal length, m."""
        return math.dist(self.start_ned[:2], self.end_ned[:2])

    @property
    def course(self) -> float:
        """Course along the line, rad."""
        return math.atan2(self.end_ned[1] - self.start_ned[1], self.end_ned[0] - self.start_ned[0])

    @property
    def curvature(self) -> float:
        """Curvature, 1/m: 0."""
        return 0.0

    @cached_property
    def numbers(self) -> SegmentNumbers:
        """The line as numbers, for kernels."""
        (north, east, down), (end_north, end_east, end_down) = self.start_ned, self.end_ned
        return SegmentNumbers(
            is_arc=False,
            north=north,
            east=east,
            down=down,
            end_north=end_north,
            end_east=end_east,
            end_down=end_down,
            normal_north=self.end_normal[0],
            normal_east=self.end_normal[1],
            course=self.course,
            length=self.length,
            curvature=0.0,
            radius=0.0,
            turn=0.0,
            start_angle=0.0,
            sweep=0.0,
            airspeed=self.airspeed,
        )

    def nearest(self, position_ned: Vector3) -> Vector3:
        """Point of the line abreast of the vehicle, at the line's height there."""
        return nearest_point(self.numbers, *position_ned[:2])

    def point(self, along: float) -> Vector3:
        """The point `along` metres from the start."""
        return point_along(self.numbers, along)

    def is_over(self, position_ned: Vector3) -> bool:
        """Whether the vehicle has crossed the half-plane at the end."""
        return has_crossed(self.numbers, *position_ned[:2])

    def commanded_course(self, position_ned: Vector3, course: float, gains: FieldGains) -> float:
        """Course (rad) that leads onto the line: eq. 10.8, chi_q - chi_inf (2 / pi) atan(k_path e_py).

        chi_q is taken within pi of the current `course`, so that the shorter turn is commanded.
        """
        return course_onto(self.numbers, *position_ned[:2], course, *gains)


@dataclass(frozen=True)
class Arc:
    """Part of a level circle about `centre_ned` (m), from `start_angle` (rad, from north seen from the centre) on.

    `turn` is lambda: 1 clockwise seen from above, -1 counter-clockwise. `sweep` (rad, not negative) is the angle of the
    arc; an angle of more than a full turn makes an orbit of several turns.
    """

    centre_ned: Vector3
    radius: float
    turn: int
    start_angle: float
    sweep: float
    airspeed: float

    @property
    def length(self) -> float:
        """Length of the arc, m."""
        return self.radius * self.sweep

    @property
    def curvature(self) -> float:
        """Curvature, 1/m; positive to the right."""
        return self.turn / self.radius

    @cached_property
    def numbers(self) -> SegmentNumbers:
        """The arc as numbers, for kernels."""
        north, east, down = self.centre_ned
        return SegmentNumbers(
            is_arc=True,
            north=north,
            east=east,
            down=down,
            end_north=0.0,
            end_east=0.0,
            end_down=0.0,
            normal_north=0.0,
            normal_east=0.0,
            course=0.0,
            length=self.length,
            curvature=self.curvature,
            radius=self.radius,
            turn=float(self.turn),
            start_angle=self.start_angle,
            sweep=self.sweep,
            airspeed=self.airspeed,
        )

    def angle(self, position_ned: Vector3) -> float:
        """Direction from the centre to the vehicle, rad."""
        return angle_from_centre(self.numbers, *position_ned[:2])

    def nearest(self, position_ned: Vector3) -> Vector3:
        """The point of the circle nearest to the vehicle, horizontally."""
        return nearest_point(self.numbers, *position_ned[:2])

    def at_angle(self, angle: float) -> Vector3:
        """The point of the circle in the direction `angle` (rad) from the centre."""
        return point_at_angle(self.numbers, angle)

    def point(self, along: float) -> Vector3:
        """The point `along` metres from the start."""
        return self.at_angle(self.start_angle + self.turn * along / self.radius)

    def commanded_course(self, position_ned: Vector3, course: float, gains: FieldGains) -> float:
        """Course (rad) that leads onto the circle: eq. 10.13, phi + lambda (pi / 2 + atan(k_orbit (d - rho) / rho))."""
        return course_onto(self.numbers, *position_ned[:2], course, *gains)

    def field_curvature(self, position_ned: Vector3, gains: FieldGains) -> float:
        """Curvature (1/m, positive to the right) of the field's path at the vehicle; on the circle, the circle's own.

        With a = atan(k_orbit (d - rho) / rho), the distance changes by d' = -sin(a) per metre and the bearing by phi' =
        lambda cos(a) / d, so the commanded course turns by lambda (cos(a) / d - k_orbit / rho sin(a) cos^2(a)).
        """
        distance = max(math.dist(position_ned[:2], self.centre_ned[:2]), 0.1 * self.radius)
        a = math.atan(gains.orbit * (distance - self.radius) / self.radius)
        return self.turn * math.cos(a) * (1.0 / distance - gains.orbit / self.radius * math.sin(a) * math.cos(a))


Segment: TypeAlias = Line | Arc

"""Lines and arcs of fixed-wing paths, and the vector fields that lead onto them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from rosflight_py_sim.autopilot.loops import wrap_angle
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number

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


@dataclass(frozen=True)
class Line:
    """Straight line from `start_ned` to `end_ned` (m), ended by a half-plane.

    The half-plane is vertical, passes through the end and has the horizontal normal `end_normal` (Beard and McLain,
    Small Unmanned Aircraft, 2012, eq. 11.1). The line is over once the vehicle has crossed it, at any distance to the
    side.
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

    def along(self, position_ned: Vector3) -> float:
        """Distance of the vehicle along the line, m; negative before its start."""
        north, east = position_ned[0] - self.start_ned[0], position_ned[1] - self.start_ned[1]
        return north * math.cos(self.course) + east * math.sin(self.course)

    def nearest(self, position_ned: Vector3) -> Vector3:
        """Point of the line abreast of the vehicle, at the line's height there."""
        return self.point(min(max(self.along(position_ned), 0.0), self.length))

    def point(self, along: float) -> Vector3:
        """The point `along` metres from the start."""
        share = along / self.length if self.length > 0.0 else 1.0
        (n, e, d), (to_n, to_e, to_d) = self.start_ned, self.end_ned
        return (n + share * (to_n - n), e + share * (to_e - e), d + share * (to_d - d))

    def is_over(self, position_ned: Vector3) -> bool:
        """Whether the vehicle has crossed the half-plane at the end."""
        north, east = position_ned[0] - self.end_ned[0], position_ned[1] - self.end_ned[1]
        return north * self.end_normal[0] + east * self.end_normal[1] >= 0.0

    def commanded_course(self, position_ned: Vector3, course: float, gains: FieldGains) -> float:
        """Course (rad) that leads onto the line: eq. 10.8, chi_q - chi_inf (2 / pi) atan(k_path e_py).

        chi_q is taken within pi of the current `course`, so that the shorter turn is commanded.
        """
        along = course + wrap_angle(self.course - course)
        north, east = position_ned[0] - self.start_ned[0], position_ned[1] - self.start_ned[1]
        cross_track = -math.sin(along) * north + math.cos(along) * east
        return along - gains.approach * 2.0 / math.pi * math.atan(gains.line * cross_track)


@dataclass(frozen=True)
class Arc:
    """Part of a level circle about `centre_ned` (m), from `start_angle` (rad, from north seen from the centre) on.

    `turn` is lambda: 1 clockwise seen from above, -1 counter-clockwise. `sweep` (rad, not negative) is its angle; more
    than a full turn is an orbit of several turns.
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

    def angle(self, position_ned: Vector3) -> float:
        """Direction of the vehicle seen from the centre, rad."""
        return math.atan2(position_ned[1] - self.centre_ned[1], position_ned[0] - self.centre_ned[0])

    def nearest(self, position_ned: Vector3) -> Vector3:
        """The point of the circle nearest to the vehicle, horizontally."""
        return self.at_angle(self.angle(position_ned))

    def at_angle(self, angle: float) -> Vector3:
        """The point of the circle in the direction `angle` (rad) from the centre."""
        north, east, down = self.centre_ned
        return (north + self.radius * math.cos(angle), east + self.radius * math.sin(angle), down)

    def point(self, along: float) -> Vector3:
        """The point `along` metres from the start."""
        return self.at_angle(self.start_angle + self.turn * along / self.radius)

    def commanded_course(self, position_ned: Vector3, course: float, gains: FieldGains) -> float:
        """Course (rad) that leads onto the circle: eq. 10.13, phi + lambda (pi / 2 + atan(k_orbit (d - rho) / rho))."""
        distance = math.dist(position_ned[:2], self.centre_ned[:2])
        off = gains.orbit * (distance - self.radius) / self.radius
        commanded = self.angle(position_ned) + self.turn * (math.pi / 2.0 + math.atan(off))
        return course + wrap_angle(commanded - course)

    def field_curvature(self, position_ned: Vector3, gains: FieldGains) -> float:
        """Curvature (1/m, positive to the right) of the field's path at the vehicle; on the circle that of the circle.

        With a = atan(k_orbit (d - rho) / rho) the distance changes by d' = -sin(a) and the bearing by phi' = lambda
        cos(a) / d per metre, so that the commanded course turns by lambda (cos(a) / d - k_orbit / rho sin(a) cos^2(a)).
        """
        distance = max(math.dist(position_ned[:2], self.centre_ned[:2]), 0.1 * self.radius)
        a = math.atan(gains.orbit * (distance - self.radius) / self.radius)
        return self.turn * math.cos(a) * (1.0 / distance - gains.orbit / self.radius * math.sin(a) * math.cos(a))


Segment: TypeAlias = Line | Arc

"""The earth: its shape, its rotation, and gravity in the frame of the launch point.

The state is Cartesian everywhere: north, east and down of the launch point, in a frame that turns with the earth. In
that frame a free body accelerates by gravitation, less the centripetal and Coriolis accelerations (Stevens, Lewis and
Johnson, Aircraft Control and Simulation, 3rd ed., chapter 1):

    g(r, v) = G(r) - W x (W x r) - 2 W x v

The parameter `earth` selects G and W:

- `flat`: G = (0, 0, `gravity`) everywhere, and W = 0.
- `wgs84`: the ellipsoid of WGS 84 (National Imagery and Mapping Agency TR 8350.2, 2000, table 3.1) with gravitation to
  the second zonal harmonic (section 1.6 of the book), in axes through the earth's centre, z to the north pole:
  G_x = -GM x / r^3 (1 + 3/2 J2 (a/r)^2 (1 - 5 z^2/r^2)), G_y alike, and 3 - 5 z^2/r^2 in G_z.
- `sphere` and `rotating_sphere`: the sphere of the check-cases of NASA/TM-2015-218675, with G = GM / r^2; W = 0, or
  that of WGS 84.

By symmetry, longitude has no effect; the axes here are those of the launch point's meridian: x out of the equator, y
east, z to the pole. Ground and world remain flat: planes, walls and objects of the frame of the launch point.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import ParameterTable, Values, number
from rosflight_py_sim.ground.remembered import remembered
from rosflight_py_sim.ground.shared_parameters import EARTH, GRAVITY, ORIGIN_ALTITUDE, ORIGIN_LATITUDE
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.rotations import rotate_to_body, rotate_to_inertial

ALTITUDE_PARAMETERS = ParameterTable(EARTH, ORIGIN_LATITUDE, ORIGIN_ALTITUDE)
EARTH_PARAMETERS = ALTITUDE_PARAMETERS + ParameterTable(GRAVITY)

SEMI_MAJOR = 6378137.0
FLATTENING = 1.0 / 298.257223563
"""The ellipsoid's semi-major axis (m) and flattening."""
GRAVITATION = 3.986004418e14
"""GM, the gravitational constant times the earth's mass, atmosphere included (m^3/s^2)."""
ROTATION = 7.292115e-5
"""Angular velocity of the earth (rad/s)."""
OBLATENESS = math.sqrt(5.0) * 0.484166774985e-3
"""J2, from the normalised coefficient C20 of the earth's gravitational model of 1996."""
SPHERE_RADIUS = 20902255.199 * 0.3048
"""Radius of the sphere (m)."""


@kernel_record
class Site:
    """The launch point on the earth.

    Attributes:
        flat: whether the earth is flat; if so, only `altitude` has a meaning.
        altitude: of the launch point above mean sea level (m).
        semi_major: of the ellipsoid (m).
        flattening: of the ellipsoid.
        sine: of the launch point's geodetic latitude; `cosine` alike.
        out: distance of the launch point from the earth's axis (m).
        up: distance of the launch point from the equator's plane, positive in the north (m).
    """

    flat: bool
    altitude: float
    semi_major: float
    flattening: float
    sine: float
    cosine: float
    out: float
    up: float


@kernel_record
class Earth:
    """Gravity and rotation of the earth, and the launch point on it.

    Attributes:
        site: the launch point.
        gravity: at rest at the launch point (m/s^2); on a flat earth, everywhere.
        gravitation: GM (m^3/s^2).
        oblateness: J2 times the square of the semi-major axis (m^2).
        rotation: angular velocity (rad/s).
    """

    site: Site
    gravity: float
    gravitation: float
    oblateness: float
    rotation: float


@remembered
def site_of(values: Values) -> Site:
    """The launch point that ALTITUDE_PARAMETERS describe."""
    axis, flattening = (SEMI_MAJOR, FLATTENING) if values["earth"] == "wgs84" else (SPHERE_RADIUS, 0.0)
    latitude, altitude = math.radians(number(values, "origin_latitude")), number(values, "origin_altitude")
    sine, cosine = math.sin(latitude), math.cos(latitude)
    eccentricity_squared = flattening * (2.0 - flattening)
    normal = axis / math.sqrt(1.0 - eccentricity_squared * sine * sine)
    return Site(
        flat=values["earth"] == "flat",
        altitude=altitude,
        semi_major=axis,
        flattening=flattening,
        sine=sine,
        cosine=cosine,
        out=(normal + altitude) * cosine,
        up=(normal * (1.0 - eccentricity_squared) + altitude) * sine,
    )


@remembered
def earth_of(values: Values) -> Earth:
    """The earth that EARTH_PARAMETERS describe."""
    kind = values["earth"]
    earth = Earth(
        site=site_of(values),
        gravity=number(values, "gravity"),
        gravitation=GRAVITATION,
        oblateness=OBLATENESS * SEMI_MAJOR**2 if kind == "wgs84" else 0.0,
        rotation=ROTATION if kind in ("wgs84", "rotating_sphere") else 0.0,
    )
    earth.gravity = math.hypot(*apparent_gravity(earth, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    return earth


def flat_earth(gravity: float) -> Earth:
    """A flat earth at sea level, with a gravity (m/s^2)."""
    values = EARTH_PARAMETERS.defaults() | {"earth": "flat", "gravity": gravity, "origin_altitude": 0.0}
    return earth_of(values)


@kernel
def apparent_gravity(
    earth: Earth, north: float, east: float, down: float, v_north: float, v_east: float, v_down: float
) -> tuple[float, float, float]:
    """Acceleration (m/s^2, NED) of a free body at a position (m) with a velocity (m/s), both NED of the launch point.

    Gravitation, centrifugal and Coriolis acceleration.
    """
    site = earth.site
    if site.flat:
        return 0.0, 0.0, earth.gravity
    sine, cosine, rotation = site.sine, site.cosine, earth.rotation
    x = site.out - sine * north - cosine * down
    z = site.up + cosine * north - sine * down
    square = x * x + east * east + z * z
    pull = -earth.gravitation / (square * math.sqrt(square))
    bulge = 1.5 * earth.oblateness / square
    tilt = 5.0 * z * z / square
    across = pull * (1.0 + bulge * (1.0 - tilt)) + rotation * rotation
    out = across * x + 2.0 * rotation * v_east
    up = pull * z * (1.0 + bulge * (3.0 - tilt))
    return (
        cosine * up - sine * out,
        across * east + 2.0 * rotation * (sine * v_north + cosine * v_down),
        -cosine * out - sine * up,
    )


@kernel
def apparent_gravity_in_body(earth: Earth, truth: NDArray[np.float64]) -> tuple[float, float, float]:
    """Acceleration (m/s^2, body axes) of a free body in a truth state (19,): what an accelerometer does not measure."""
    qw, qx, qy, qz = truth[3], truth[4], truth[5], truth[6]
    v_north, v_east, v_down = 0.0, 0.0, 0.0
    if not earth.site.flat:
        v_north, v_east, v_down = rotate_to_inertial(qw, qx, qy, qz, truth[7], truth[8], truth[9])
    north, east, down = apparent_gravity(earth, truth[0], truth[1], truth[2], v_north, v_east, v_down)
    return rotate_to_body(qw, qx, qy, qz, north, east, down)


@kernel
def earth_rate_in_body(earth: Earth, qw: float, qx: float, qy: float, qz: float) -> tuple[float, float, float]:
    """Angular velocity (rad/s, body axes) of the earth, for an attitude."""
    if earth.rotation == 0.0:
        return 0.0, 0.0, 0.0
    site = earth.site
    return rotate_to_body(qw, qx, qy, qz, earth.rotation * site.cosine, 0.0, -earth.rotation * site.sine)


@kernel
def altitude_at(site: Site, north: float, east: float, down: float) -> float:
    """Altitude (m) above mean sea level, for which the ellipsoid is taken, of a position NED (m)."""
    if site.flat:
        return site.altitude - down
    x = site.out - site.sine * north - site.cosine * down
    z = site.up + site.cosine * north - site.sine * down
    return latitude_and_height(math.sqrt(x * x + east * east), z, site.semi_major, site.flattening)[1]


@kernel
def latitude_and_height(radius: float, z: float, semi_major: float, flattening: float) -> tuple[float, float]:
    """Geodetic latitude (rad) and height (m) at a distance from an ellipsoid's axis and from its equator's plane (m).

    B. Bowring, "Transformation from spatial to geographical coordinates", Survey Review 23, 1976, with his iteration
    done twice: exact to rounding from the depths of the sea to low orbits. The height formula holds at the poles too.
    """
    semi_minor = semi_major * (1.0 - flattening)
    first = flattening * (2.0 - flattening)
    second = first / (1.0 - first)
    reduced = math.atan2(z * semi_major, radius * semi_minor)
    latitude = 0.0
    for _ in range(2):
        latitude = math.atan2(
            z + second * semi_minor * math.sin(reduced) ** 3,
            radius - first * semi_major * math.cos(reduced) ** 3,
        )
        reduced = math.atan2(semi_minor * math.sin(latitude), semi_major * math.cos(latitude))
    sine = math.sin(latitude)
    height = radius * math.cos(latitude) + z * sine - semi_major * math.sqrt(1.0 - first * sine * sine)
    return latitude, height

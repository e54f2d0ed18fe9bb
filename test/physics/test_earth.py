"""Gravity and motion on a round earth, against the ellipsoid, potentials and orbits."""

from __future__ import annotations

import math

import numpy as np
import pymap3d
import pytest

from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.earth import (
    EARTH_PARAMETERS,
    GRAVITATION,
    OBLATENESS,
    ROTATION,
    SEMI_MAJOR,
    SPHERE_RADIUS,
    Earth,
    altitude_at,
    apparent_gravity,
    earth_of,
)
from rosflight_py_sim.physics.rotations import rotate_to_inertial

NO_FORCE = np.zeros(6)
PLACES = [(0.0, 0.0, 0.0), (40.2463724, -111.6474138, 1387.0), (-67.0, 170.0, 20000.0), (90.0, 0.0, 0.0)]

Array = np.ndarray


def earth(kind: str, latitude: float = 0.0, altitude: float = 0.0) -> Earth:
    given: dict[str, Value] = {"earth": kind, "origin_latitude": latitude, "origin_altitude": altitude}
    return earth_of(EARTH_PARAMETERS.checked(given))


def body(kind: str, **values: Value) -> VehicleDynamics:
    given: dict[str, Value] = {"mass": 3.5, "Jxx": 0.05, "Jyy": 0.08, "Jzz": 0.12, "Jxz": 0.01, "earth": kind}
    given |= {"ground_contact": False, "origin_latitude": 0.0, "origin_altitude": 0.0}
    return VehicleDynamics(DYNAMICS_PARAMETERS.checked({**given, **values}))


def state(position: Array, velocity: Array, rates: Array) -> Array:
    return np.concatenate([position, (1.0, 0.0, 0.0, 0.0), velocity, rates, np.zeros(6)])


def earth_rate(latitude_deg: float) -> Array:
    """Angular velocity of the earth, NED, rad/s."""
    latitude = math.radians(latitude_deg)
    return ROTATION * np.array([math.cos(latitude), 0.0, -math.sin(latitude)])


@pytest.mark.parametrize(("latitude", "normal"), [(0.0, 9.7803253359), (90.0, 9.8321849378)])
def test_gravity_at_sea_level_is_normal_gravity_of_the_ellipsoid(latitude: float, normal: float) -> None:
    # The ellipsoid's J4 is 2.4e-6; at a pole its share of gravity is 5 J4 GM a^4 / r^6.
    assert earth("wgs84", latitude).gravity == pytest.approx(normal, abs=1.25e-4)


@pytest.mark.parametrize("place", PLACES)
def test_gravity_is_gradient_of_the_potential_in_the_rotating_frame(place: tuple[float, float, float]) -> None:
    latitude, longitude, altitude = place
    wgs84 = earth("wgs84", latitude, altitude)

    def potential(ned: Array) -> float:
        x, y, z = (float(one) for one in pymap3d.enu2ecef(ned[1], ned[0], -ned[2], latitude, longitude, altitude))
        r = math.sqrt(x * x + y * y + z * z)
        bulge = OBLATENESS * (SEMI_MAJOR / r) ** 2 * (1.5 * (z / r) ** 2 - 0.5)
        return GRAVITATION / r * (1.0 - bulge) + 0.5 * ROTATION**2 * (x * x + y * y)

    for ned in np.random.default_rng(3).uniform(-1e6, 1e6, (5, 3)):
        gradient = [(potential(ned + d) - potential(ned - d)) / 200.0 for d in 100.0 * np.eye(3)]
        # The potential of 6e7 m^2/s^2 rounds to 1e-8, divided by 200 m; the third derivative times 100 m squared.
        assert apparent_gravity(wgs84, *ned, 0.0, 0.0, 0.0) == pytest.approx(gradient, abs=1e-8)
        velocity = np.array([300.0, -200.0, 100.0])
        coriolis = np.subtract(apparent_gravity(wgs84, *ned, *velocity), apparent_gravity(wgs84, *ned, 0.0, 0.0, 0.0))
        assert coriolis == pytest.approx(-2.0 * np.cross(earth_rate(latitude), velocity), abs=1e-14)


@pytest.mark.parametrize("kind", ["sphere", "rotating_sphere"])
def test_free_body_on_a_sphere_flies_a_closed_circular_orbit(kind: str) -> None:
    radius = SPHERE_RADIUS + 500e3
    speed = math.sqrt(GRAVITATION / radius)
    rotation = ROTATION if kind == "rotating_sphere" else 0.0
    satellite = body(kind)
    # Over the equator, eastward.
    satellite.set_truth(
        state(np.array([0.0, 0.0, -500e3]), np.array([0.0, speed - rotation * radius, 0.0]), np.zeros(3))
    )
    duration = 1000.0
    for _ in range(1000):
        satellite.step(NO_FORCE, duration / 1000)
    # As seen from the earth, which has turned meanwhile.
    angle = (speed / radius - rotation) * duration
    place = np.array([0.0, radius * math.sin(angle), SPHERE_RADIUS - radius * math.cos(angle)])
    # Fourth order at 1.1e-3 rad a step: 1e-12 of the radius in a thousand steps.
    assert satellite.truth[:3] == pytest.approx(place, abs=1e-4)
    assert altitude_at(earth(kind).site, *satellite.truth[:3]) == pytest.approx(500e3, abs=1e-4)


def test_free_body_keeps_its_inertial_angular_momentum_on_a_rotating_earth() -> None:
    inertia = np.array([[0.05, 0.0, 0.01], [0.0, 0.08, 0.0], [0.01, 0.0, 0.12]])
    tumbling = body("wgs84", origin_latitude=40.0)
    rate = earth_rate(40.0)
    tumbling.set_truth(state(np.zeros(3), np.zeros(3), np.array([0.3, -0.2, 0.5])))

    def momentum(time: float) -> Array:
        """Angular momentum in inertial axes, which are those of the launch point at time 0."""
        truth = tumbling.truth
        in_body = inertia @ (truth[10:13] + to_body(truth, rate))
        in_ned = np.array(rotate_to_inertial(*truth[3:7], *in_body))
        axis, angle = rate / ROTATION, ROTATION * time
        along = axis * (axis @ in_ned)
        across = in_ned - along
        return along + math.cos(angle) * across + math.sin(angle) * np.cross(axis, across)

    def to_body(truth: Array, ned: Array) -> Array:
        w, x, y, z = truth[3:7]
        return np.array(rotate_to_inertial(w, -x, -y, -z, *ned))

    start = momentum(0.0)
    for _ in range(4000):
        tumbling.step(NO_FORCE, 0.025)
    # 100 s turn the earth by 0.0073 rad, and would turn the momentum of 0.07 N m s by 5e-4.
    assert momentum(100.0) == pytest.approx(start, abs=1e-9)


def test_body_at_rest_to_the_stars_turns_against_the_earth() -> None:
    still = body("wgs84", origin_latitude=90.0)
    still.set_truth(state(np.zeros(3), np.zeros(3), -earth_rate(90.0)))
    for _ in range(100):
        still.step(NO_FORCE, 1.0)
    assert 2.0 * math.atan2(still.truth[6], still.truth[3]) == pytest.approx(100.0 * ROTATION, rel=1e-12)
    assert still.truth[10:13] == pytest.approx(-earth_rate(90.0), abs=1e-18)


@pytest.mark.parametrize("place", PLACES)
def test_altitude_is_geodetic_far_from_the_launch_point(place: tuple[float, float, float]) -> None:
    latitude, longitude, altitude = place
    site = earth("wgs84", latitude, altitude).site
    for ned in np.random.default_rng(4).uniform(-3e5, 3e5, (20, 3)):
        expected = pymap3d.ned2geodetic(*ned, latitude, longitude, altitude)[2]
        # The radius of 6.4e6 m rounds to 1e-9 m.
        assert altitude_at(site, *ned) == pytest.approx(float(expected), abs=1e-8)


def test_flat_earth_has_one_gravity_and_altitude_by_height() -> None:
    flat = earth("flat", 40.0, 100.0)
    assert apparent_gravity(flat, 1e6, 2e6, -3e6, 1e3, 2e3, 3e3) == (0.0, 0.0, 9.81)
    assert altitude_at(flat.site, 1e6, 2e6, -30.0) == 130.0


@pytest.mark.parametrize("kind", ["wgs84", "sphere", "rotating_sphere"])
def test_vehicle_stands_on_the_ground_of_a_round_earth(kind: str) -> None:
    vehicle = body(kind, ground_contact=True, origin_latitude=40.0, origin_altitude=1387.0)
    start = vehicle.truth.copy()
    for _ in range(400):
        vehicle.step(NO_FORCE, 0.0025)
    assert vehicle.truth[:7] == pytest.approx(start[:7], abs=1e-9)
    assert vehicle.truth[7:19] == pytest.approx(np.zeros(12), abs=1e-8)

"""Downwash: the jet below a multirotor against the published model and the conservation of momentum."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import plain
from rosflight_py_sim.physics.downwash import blow, jet_velocity
from rosflight_py_sim.physics.rotations import quaternion_from_euler, rotate_to_inertial

# U_H (m/s), l (m) and A (m^2) of a quadrotor with four propellers of 0.38 m.
HOVER, SPAN, AREA = 6.0, 0.5, 4.0 * math.pi * 0.19**2


def air_at(
    points: Sequence[Sequence[float]],
    *,
    attitude: tuple[float, float, float] = (0.0, 0.0, 0.0),
    velocity: Sequence[float] = (0.0, 0.0, 0.0),
    wind: Sequence[float] = (0.0, 0.0, 0.0),
) -> NDArray[np.float64]:
    """Velocity and rotation of the air, NED, at points relative to a vehicle with a jet (n, 6)."""
    truths = np.zeros((1 + len(points), 19))
    truths[:, 3] = 1.0
    truths[0, 3:7], truths[0, 7:10] = quaternion_from_euler(*attitude), velocity
    truths[1:, :3] = points
    jets, winds, air = np.zeros((len(truths), 3)), np.zeros((len(truths), 3)), np.ones((len(truths), 6))
    jets[0], winds[0] = (HOVER, SPAN, AREA), wind
    blow(truths, jets, winds, air)
    assert not np.any(air[0]), "a vehicle is not in its own jet"
    return air[1:]


@pytest.mark.parametrize(
    ("spans", "share"),
    # 10.11 / (s / l + 5.817).
    [(2.5, 1.2156), (3.0, 1.1466), (5.0, 0.9347), (10.0, 0.6392), (20.0, 0.3916)],
)
def test_velocity_on_the_axis_is_that_of_the_published_far_field(spans: float, share: float) -> None:
    (air,) = air_at([(0.0, 0.0, spans * SPAN)])
    assert air == pytest.approx([0.0, 0.0, share * HOVER, 0.0, 0.0, 0.0], rel=1e-4)


@pytest.mark.parametrize("spans", [2.5, 8.0])
def test_profile_is_that_of_a_round_turbulent_jet(spans: float) -> None:
    half = math.sqrt(6.0 * (math.sqrt(2.0) - 1.0) * AREA / math.pi) / 10.11 * (spans + 5.817)
    radii = [0.0, half, 2.0 * half, 3.0 * half]
    speeds = [air_at([(0.6 * r, -0.8 * r, spans * SPAN)])[0, 2] for r in radii]
    # (1 + (sqrt(2) - 1) n^2)^-2 at n half-radii.
    expected = [1.0, 0.5, 0.141666, 0.044736]
    assert [speed / speeds[0] for speed in speeds] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("spans", [1.0, 2.5, 30.0])
def test_momentum_flux_of_the_jet_is_the_thrust(spans: float) -> None:
    radii = np.linspace(0.0, 400.0 * SPAN, 400_001)
    speeds = np.array(
        [jet_velocity(HOVER, SPAN, AREA, spans * SPAN, float(r)) for r in radii[:: 40 if spans < 2 else 10]]
    )
    radii = radii[:: 40 if spans < 2 else 10]
    flux = np.trapezoid(2.0 * math.pi * radii * speeds**2, radii)
    # T / rho = 2 A U_H^2; the profile decays with the fourth power of the radius.
    assert flux == pytest.approx(2.0 * AREA * HOVER**2, rel=1e-3)


def test_spreading_rate_of_compact_quadrotors_is_that_of_round_jets() -> None:
    # Rotors of the radius l / 3.3; Pope, Turbulent Flows, table 5.1: 0.094.
    area, along = 4.0 * math.pi * (SPAN / 3.3) ** 2, 40.0 * SPAN
    half = 0.094 * (along + 5.817 * SPAN)
    on_axis, beside = (jet_velocity(HOVER, SPAN, area, along, across) for across in (0.0, half))
    assert beside / on_axis == pytest.approx(0.5, abs=0.005)


def test_air_above_and_beside_the_rotors_is_still() -> None:
    assert not np.any(air_at([(0.0, 0.0, -1.0), (3.0, 0.0, 0.0)]))


def test_velocity_begins_at_the_rotors_without_a_jump() -> None:
    speeds = air_at([(0.0, 0.0, share * SPAN) for share in (0.01, 0.5, 1.0)])[:, 2]
    assert speeds[0] < 0.02 * speeds[2]
    assert 0.5 < speeds[1] / speeds[2] < 0.6


def test_jet_of_a_tilted_vehicle_blows_against_its_thrust() -> None:
    pitch = 0.3
    along = 4.0 * SPAN
    ahead = math.sin(pitch) * along
    # Nose up: the thrust points backwards, so the jet blows forwards.
    (forward,) = air_at([(ahead, 0.0, math.cos(pitch) * along)], attitude=(0.0, pitch, 0.0))
    (backward,) = air_at([(-ahead, 0.0, math.cos(pitch) * along)], attitude=(0.0, -pitch, 0.0))
    speed = HOVER * 10.11 / 9.817
    assert forward[:3] == pytest.approx([math.sin(pitch) * speed, 0.0, math.cos(pitch) * speed], rel=1e-9)
    assert backward[:3] == pytest.approx([-math.sin(pitch) * speed, 0.0, math.cos(pitch) * speed], rel=1e-9)


def test_wind_and_flight_sweep_the_jet_back_equally() -> None:
    # 2 U_H down and as much along north: 45 degrees.
    points = [(2.0, 0.0, 2.0), (0.0, 0.0, 2.0)]
    in_wind = air_at(points, wind=(2.0 * HOVER, 0.0, 0.0))
    in_flight = air_at(points, velocity=(-2.0 * HOVER, 0.0, 0.0))
    assert in_wind == pytest.approx(in_flight)
    speed = HOVER * 10.11 * SPAN / (math.hypot(2.0, 2.0) + 5.817 * SPAN)
    assert in_wind[0, :3] == pytest.approx([0.0, 0.0, speed], rel=1e-9)
    assert in_wind[1, 2] < 0.2 * speed


@pytest.mark.parametrize("attitude", [(0.0, 0.0, 0.0), (0.2, -0.3, 1.0)])
def test_air_rotates_by_the_gradient_of_the_velocity_across_the_axis(attitude: tuple[float, float, float]) -> None:
    quaternion = quaternion_from_euler(*attitude)
    down = np.array(rotate_to_inertial(*quaternion, 0.0, 0.0, 1.0))
    outwards = np.array(rotate_to_inertial(*quaternion, 0.6, -0.8, 0.0))
    place, step = 2.0 * down + 0.4 * outwards, 1e-5 * outwards
    inner, middle, outer = air_at([(place + k * step).tolist() for k in (-1, 0, 1)], attitude=attitude)
    rates = middle[3:]
    assert np.cross(rates, step) == pytest.approx(0.5 * (outer[:3] - inner[:3]), rel=1e-6)
    # The rotation is about an axis across the jet.
    assert rates @ down == pytest.approx(0.0, abs=1e-12)
    assert rates @ outwards == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.norm(rates) > 1.0


def test_jets_of_several_vehicles_add_up() -> None:
    truths = np.zeros((3, 19))
    truths[:, 3] = 1.0
    truths[:, 0], truths[2, 2] = (-0.5, 0.5, 0.0), 3.0
    jets, winds, air = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 6))
    jets[:2] = HOVER, SPAN, AREA
    blow(truths, jets, winds, air)
    assert air[2, :3] == pytest.approx([0.0, 0.0, 2.0 * jet_velocity(HOVER, SPAN, AREA, 3.0, 0.5)])


def test_rotors_without_thrust_move_no_air() -> None:
    truths = np.zeros((2, 19))
    truths[:, 3], truths[1, 2] = 1.0, 2.0
    air = np.ones((2, 6))
    blow(truths, np.array([[0.0, SPAN, AREA], [HOVER, SPAN, AREA]]), np.zeros((2, 3)), air)
    assert not np.any(air)


def test_compiled_and_plain_kernel_agree() -> None:
    generator = np.random.default_rng(9)
    truths = generator.normal(0.0, 2.0, (5, 19))
    truths[:, 3:7] /= np.linalg.norm(truths[:, 3:7], axis=1)[:, None]
    jets = np.array([[HOVER, SPAN, AREA]] * 5) * generator.uniform(0.5, 1.5, (5, 3))
    winds = generator.normal(0.0, 3.0, (5, 3))
    results = []
    for function in (blow, plain(blow)):
        air = np.zeros((5, 6))
        function(truths, jets, winds, air)
        results.append(air)
    assert np.max(np.abs(results[0])) > 0.1
    assert results[0] == pytest.approx(results[1], rel=1e-12, abs=1e-12)

"""Conversion from the tangent plane to latitude, longitude and altitude."""

from __future__ import annotations

import math

import numpy as np
import pymap3d
import pytest

from rosflight_py_sim.kernels.jit import plain
from rosflight_py_sim.sensing.geodetic import ned_to_geodetic, tangent_plane

ORIGINS = [(40.2463724, -111.6474138, 1387.0), (0.0, 0.0, 0.0), (-89.9, 12.0, -300.0), (67.3, 179.9999, 9000.0)]


@pytest.mark.parametrize("origin", ORIGINS)
def test_conversion_matches_geodesy_library(origin: tuple[float, float, float]) -> None:
    frame = tangent_plane(*origin)
    rng = np.random.default_rng(11)
    for ned in rng.uniform(-1.0, 1.0, (50, 3)) * [5e4, 5e4, 5e3]:
        latitude, longitude, height = ned_to_geodetic(frame, *ned)
        expected = pymap3d.ned2geodetic(*ned, *origin)
        # Earth-fixed coordinates of 6e6 m round at 1e-9 m, which is 1e-14 deg; the library itself stops at 1e-9 m.
        assert latitude == pytest.approx(expected[0], abs=1e-12)
        turn = math.remainder(longitude - float(expected[1]), 360.0)
        assert abs(turn) * math.cos(math.radians(latitude)) < 1e-12
        assert height == pytest.approx(expected[2], abs=2e-8)


def test_origin_round_trips_and_poles_have_a_height() -> None:
    for origin in (*ORIGINS, (90.0, 0.0, 100.0), (-90.0, 0.0, 100.0)):
        latitude, longitude, height = ned_to_geodetic(tangent_plane(*origin), 0.0, 0.0, 0.0)
        assert latitude == pytest.approx(origin[0], abs=1e-12)
        assert longitude == pytest.approx(origin[1], abs=1e-12)
        assert height == pytest.approx(origin[2], abs=5e-9)


def test_compiled_and_plain_conversions_agree() -> None:
    frame = tangent_plane(*ORIGINS[0])
    assert plain(ned_to_geodetic)(frame, 123.0, -456.0, -78.0) == pytest.approx(
        ned_to_geodetic(frame, 123.0, -456.0, -78.0), rel=1e-12
    )

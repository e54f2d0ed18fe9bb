"""Sensors on the ellipsoid: the earth's rate, gravity at the place, and geodetic altitude."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pymap3d
import pytest
from imu_errors import IDEAL_IMU

from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.physics.atmosphere import pressure
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.earth import ROTATION
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS
from rosflight_py_sim.physics.powertrain import air_density, powertrain_of
from rosflight_py_sim.sensing import SENSOR_PARAMETERS, Barometer, GnssReceiver, InertialSensor

SITE: dict[str, Value] = {"earth": "wgs84", "origin_latitude": 40.2463724, "origin_altitude": 1387.0}
QUIET: dict[str, Value] = {
    name: 0.0
    for name in (p.name for p in SENSOR_PARAMETERS)
    if name.endswith(("_stdev", "_noise_density", "_bias_range", "_walk_density", "_x0", "_y0", "_z0"))
}
QUIET |= IDEAL_IMU | {"baro_bias_temperature_range": 0.0, "baro_resolution": 0.0, "baro_propeller_wash": 0.0}


def sensor(kind: Any) -> Any:
    return kind(SENSOR_PARAMETERS.checked({**QUIET, **SITE}), np.random.default_rng(1))


def vehicle(**values: Value) -> VehicleDynamics:
    return VehicleDynamics(DYNAMICS_PARAMETERS.checked({**DYNAMICS_PARAMETERS.defaults(), **SITE, **values}))


def test_imu_at_rest_measures_local_gravity_and_the_earths_rate() -> None:
    imu, latitude = sensor(InertialSensor), math.radians(40.2463724)
    imu.sample(vehicle(initial_heading=90.0).truth, 0.0025)
    # Facing east, with the earth's axis to the left and up.
    rate = ROTATION * np.array([0.0, -math.cos(latitude), -math.sin(latitude)])
    assert imu.gyro == pytest.approx(rate, abs=1e-12)
    # Normal gravity by Somigliana's formula at this latitude, with the free-air gradient of 3.086e-6 1/s^2.
    assert -imu.accel[2] == pytest.approx(9.80192 - 3.086e-6 * 1387.0, abs=2e-4)
    assert imu.accel[:2] == pytest.approx(np.zeros(2), abs=1e-4)


def test_accelerometer_in_free_fall_measures_nothing_at_any_speed_and_place() -> None:
    imu, falling = sensor(InertialSensor), vehicle(ground_contact=False)
    truth = np.zeros(19)
    truth[:3], truth[3:7], truth[7:10] = (2e5, -1e5, -3e4), (0.8, 0.0, 0.6, 0.0), (900.0, -300.0, 100.0)
    truth[10:13] = 0.2, 0.3, -0.1
    falling.set_truth(truth)
    imu.sample(falling.truth, 0.0025)
    assert imu.accel == pytest.approx(np.zeros(3), abs=1e-12)


def test_air_and_barometer_follow_the_geodetic_altitude() -> None:
    truth = np.zeros(19)
    truth[:4] = 3e4, -4e4, -100.0, 1.0
    altitude = float(pymap3d.ned2geodetic(*truth[:3], 40.2463724, 0.0, 1387.0)[2])
    # The ground falls away by d^2 / 2R below the tangent plane.
    assert altitude == pytest.approx(1487.0 + 5e4**2 / 2 / 6.37e6, abs=2.0)
    barometer = sensor(Barometer)
    barometer.sample(truth, np.zeros(3), 0.0, 0.01)
    assert barometer.pressure_pa == pytest.approx(pressure(altitude), rel=1e-12)
    powertrain = powertrain_of(MULTIROTOR_PARAMETERS.checked({**MULTIROTOR_PARAMETERS.defaults(), **SITE}))
    above = np.zeros(19)
    above[2] = 1387.0 - altitude
    assert air_density(powertrain, truth) == pytest.approx(air_density(powertrain, above), rel=1e-9)


def test_gnss_velocity_is_along_the_axes_of_the_place() -> None:
    receiver = sensor(GnssReceiver)
    truth = np.zeros(19)
    truth[:3], truth[3] = (2e5, 3e5, 0.0), 1.0
    # Level flight by the launch point's axes climbs where its down is not the local one.
    truth[7:10] = 100.0, 50.0, 10.0
    receiver.sample(truth, 0.1)
    origin = 40.2463724, -111.6474138, 1387.0
    before, after = (pymap3d.ned2geodetic(*(truth[:3] + t * truth[7:10]), *origin) for t in (-0.5, 0.5))
    ahead = np.array([float(one) for one in pymap3d.geodetic2ned(*after, *before)])
    # 100 m of path turn the axes by 1.6e-5 rad.
    assert receiver.velocity_ned == pytest.approx(ahead, abs=2e-3)
    assert receiver.velocity_ned[2] < 10.0 - 5.0
    assert math.hypot(*receiver.velocity_ned) == pytest.approx(math.hypot(*truth[7:10]), rel=1e-12)

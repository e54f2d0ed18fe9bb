"""Sensor messages on the wire: their covariances, and the true errors beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rclpy.qos import QoSProfile

from rosflight_py_sim.interfaces.step_topics import IMU, IMU_TEMPERATURE, MAG, RANGE, TRUTH_ERRORS
from rosflight_py_sim.stamps import time_ns_of

DEEP = QoSProfile(depth=1000)

# Samples of the IMU in lockstep are a step apart.
RATE_HZ = 400.0


def diagonal(covariance: Any) -> list[float]:
    assert [covariance[k] for k in range(9) if k % 4] == [0.0] * 6
    return [covariance[k] for k in (0, 4, 8)]


def test_messages_carry_the_variances_of_noise_and_vibration(graph: Callable[..., Any]) -> None:
    g = graph("-p", "gyro_bias_walk_stdev:=0.0", "-p", "mag_noise_density:=1e-7").ready()
    imu, mag = g.collect_messages(IMU), g.collect_messages(MAG)
    range_, temperature = g.collect_messages(RANGE), g.collect_messages(IMU_TEMPERATURE)
    g.spin_until(lambda: imu and mag and range_ and temperature)
    assert imu[-1].orientation_covariance[0] == -1.0
    assert diagonal(imu[-1].linear_acceleration_covariance) == pytest.approx([1.47e-3**2 * RATE_HZ] * 3)
    assert diagonal(imu[-1].angular_velocity_covariance) == pytest.approx([1.05e-4**2 * RATE_HZ] * 3)
    # The density of the walk follows from ROSflight's 3e-6 T/s at 50 Hz; its inverse time constant is 7 1/s.
    walk = (3e-6**2 / 50.0) / (2.0 * 7.0)
    assert diagonal(mag[-1].magnetic_field_covariance) == pytest.approx([1e-7**2 * 50.0 + walk] * 3)
    assert range_[-1].variance == pytest.approx(0.03**2, rel=1e-6)
    assert temperature[-1].variance == pytest.approx(0.0025**2 * 50.0)
    g.arm()
    g.spin_for(0.1)
    assert diagonal(imu[-1].linear_acceleration_covariance) == pytest.approx(
        [1.47e-3**2 * RATE_HZ + 0.2**2] * 3, rel=1e-6
    )


def test_true_errors_of_a_stamp_are_those_of_the_measurement(graph: Callable[..., Any]) -> None:
    g = graph("-p", "acc_noise_density:=0.0", "-p", "gyro_noise_density:=0.0").ready()
    errors = g.collect_messages(TRUTH_ERRORS, qos=DEEP)
    imu = g.collect_messages(IMU, qos=DEEP)
    g.spin_until(lambda: len(errors) > 10)
    newest = errors[-1]
    values = dict(zip(newest.name, newest.position, strict=True))
    assert not newest.velocity and not newest.effort
    stamp_ns = time_ns_of(newest.header.stamp)
    (reading,) = [one.angular_velocity for one in imu if time_ns_of(one.header.stamp) == stamp_ns]
    # At rest on the ground.
    found = [reading.x, reading.y, reading.z]
    assert found == pytest.approx([values[f"gyro_bias_{axis}"] for axis in "xyz"], abs=1e-9)
    assert abs(values["baro_bias"]) > 0.0

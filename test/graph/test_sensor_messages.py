"""Sensor messages on the wire: their latency, their covariances, and the published true errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from imu_errors import IDEAL_IMU
from rclpy.qos import QoSProfile

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import time_ns_of
from rosflight_py_sim.step.topics import (
    BARO,
    BATTERY,
    CLOCK,
    DIFF_PRESSURE,
    GNSS_FIX,
    IMU,
    IMU_TEMPERATURE,
    MAG,
    RANGE,
    TRUTH_ERRORS,
    TRUTH_IMU_BIAS,
    TRUTH_STATE,
)

DEEP = QoSProfile(depth=1000)

# In lockstep, IMU samples are one step apart.
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
    g.arm(calibrate=False)
    g.spin_for(0.1)
    assert diagonal(imu[-1].linear_acceleration_covariance) == pytest.approx(
        [1.47e-3**2 * RATE_HZ + 0.2**2] * 3, rel=1e-6
    )


def test_true_errors_of_a_stamp_are_those_of_the_measurement(graph: Callable[..., Any]) -> None:
    g = graph("-p", "gyro_noise_density:=0.0", "-p", "gyro_resolution:=0.0").ready()
    errors = g.collect_messages(TRUTH_ERRORS, qos=DEEP)
    imu = g.collect_messages(IMU, qos=DEEP)
    g.spin_until(lambda: len(errors) > 10)
    newest = errors[-1]
    values = dict(zip(newest.name, newest.position, strict=True))
    assert not newest.velocity and not newest.effort
    stamp_ns = time_ns_of(newest.header.stamp)
    (reading,) = [one.angular_velocity for one in imu if time_ns_of(one.header.stamp) == stamp_ns]
    # At rest on the ground, the gyro reads its bias and its g-sensitivity.
    found = [reading.x, reading.y, reading.z]
    expected = [values[f"gyro_bias_{axis}"] - 9.81 * values[f"gyro_g_sensitivity_{axis}z"] for axis in "xyz"]
    assert found == pytest.approx(expected, abs=1e-8)
    assert abs(values["baro_bias"]) > 0.0


def test_true_imu_bias_has_the_biases_and_the_stamp_of_each_imu_message(graph: Callable[..., Any]) -> None:
    g = graph().ready()
    errors, biases = g.collect_messages(TRUTH_ERRORS, qos=DEEP), g.collect_messages(TRUTH_IMU_BIAS, qos=DEEP)
    imu = g.collect_messages(IMU, qos=DEEP)
    g.spin_until(lambda: len(errors) > 10 and len(imu) > 50)
    stamps = [time_ns_of(one.header.stamp) for one in biases]
    assert (
        stamps[1:40] == [time_ns_of(one.header.stamp) for one in imu if stamps[1] <= time_ns_of(one.header.stamp)][:39]
    )
    by_stamp = dict(zip(stamps, biases, strict=True))
    compared = [one for one in errors if time_ns_of(one.header.stamp) in by_stamp]
    assert len(compared) >= 5
    for newest in compared:
        values = dict(zip(newest.name, newest.position, strict=True))
        bias = by_stamp[time_ns_of(newest.header.stamp)]
        rates, forces = bias.angular_velocity, bias.linear_acceleration
        assert [rates.x, rates.y, rates.z] == [values[f"gyro_bias_{axis}"] for axis in "xyz"]
        assert [forces.x, forces.y, forces.z] == [values[f"acc_bias_{axis}"] for axis in "xyz"]
        assert bias.orientation_covariance[0] == -1.0


SLOW = {
    "imu_temperature": IMU_TEMPERATURE,
    "mag": MAG,
    "baro": BARO,
    "gnss": GNSS_FIX,
    "range": RANGE,
    "diff_pressure": DIFF_PRESSURE,
    "battery": BATTERY,
}

STEP_NS = 2_500_000


def settings(**values: object) -> list[str]:
    return [word for name, value in values.items() for word in ("-p", f"{name}:={value}")]


def arrivals(g: Any, seconds: float) -> dict[str, list[tuple[int, int]]]:
    """Time of the step in which each message arrived, and the message's stamp, by sensor."""
    now = [0]
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in SLOW}
    g.tester.create_subscription(
        CLOCK.message_type, CLOCK.name, lambda m: now.__setitem__(0, time_ns_of(m.clock)), CLOCK.qos
    )
    for name, row in SLOW.items():
        g.tester.create_subscription(
            row.message_type,
            row.name,
            lambda m, name=name: found[name].append((now[0], time_ns_of(m.header.stamp))),
            DEEP,
        )
    g.spin_until(lambda: now[0] > 0 and all(found.values()))
    for messages in found.values():
        messages.clear()
    g.spin_for(seconds)
    return found


@pytest.mark.parametrize("stamps", ["measurement", "arrival"])
def test_each_sensor_arrives_after_its_latency_with_the_configured_stamp(
    graph: Callable[..., Any], stamps: str
) -> None:
    # Latencies are no whole number of steps: a measurement arrives in the first step after its latency.
    latency_s = {name: 0.011 + 0.01 * number for number, name in enumerate(SLOW)}
    given = {f"{name}_latency": value for name, value in latency_s.items()}
    g = graph(*settings(sensor_stamps=stamps, **given)).ready()
    for name, messages in arrivals(g, 0.5).items():
        steps_ns = -(-round(latency_s[name] * 1e9) // STEP_NS) * STEP_NS
        assert len(messages) > 3
        for arrived_ns, stamp_ns in messages:
            assert arrived_ns - stamp_ns == (steps_ns if stamps == "measurement" else 0), name
        # The grid of the measurements begins at 0.
        period_ns = round(1e9 / g.node("sensors").values[f"{name}_update_frequency"])
        assert {(arrived_ns - steps_ns) % period_ns for arrived_ns, _ in messages} == {0}, name


def test_defaults_delay_gnss_alone(graph: Callable[..., Any]) -> None:
    g = graph().ready()
    for name, messages in arrivals(g, 0.5).items():
        assert {arrived_ns - stamp_ns for arrived_ns, stamp_ns in messages} == {120_000_000 * (name == "gnss")}


def test_late_imu_message_has_the_measurement_of_an_earlier_step(graph: Callable[..., Any]) -> None:
    noise = {"acc_noise_density": 0.0, "gyro_noise_density": 0.0, "gyro_bias_walk_stdev": 0.0, "acc_stdev": 0.0}
    noise |= {"acc_bias_range": 0.0, "gyro_bias_range": 0.0, "acc_bias_walk_stdev": 0.0}
    g = graph(*settings(imu_latency=0.01, sensor_stamps="arrival", initial_down=-50.0, **noise, **IDEAL_IMU)).ready()
    g.pause()
    state = g.truth
    state.twist.angular.x, state.pose.position.z = 3.0, -40.0
    g.set_state(state)
    truth, imu = g.collect_messages(TRUTH_STATE, qos=DEEP), g.collect_messages(IMU, qos=DEEP)
    g.set_parameter("time_manager", "step_count", 12)
    begin_ns = g.time_ns
    assert g.call("time_manager/step").success
    g.spin_until(lambda: len(imu) >= 12)
    rate = {time_ns_of(one.header.stamp): one.twist.angular.x for one in [state, *truth]}
    rate[begin_ns] = 3.0
    assert [time_ns_of(one.header.stamp) for one in imu[-12:]] == [begin_ns + k * STEP_NS for k in range(12)]
    for number, one in enumerate(imu[-12:]):
        # Measurements from before the state was set never arrive; the first one after it replaces them.
        measured_ns = begin_ns + max(0, number - 4) * STEP_NS
        assert one.angular_velocity.x == pytest.approx(rate[measured_ns] + WARM_UP_X, abs=1e-5)


# Bias of the cold gyro, rad/s.
WARM_UP_X = 0.003


def test_set_state_and_reset_drop_the_measurements_in_transit(graph: Callable[..., Any]) -> None:
    g = graph(*settings(gnss_latency=1.0)).ready()
    fixes = g.collect_messages(GNSS_FIX, qos=DEEP)
    g.spin_until(lambda: len(fixes) > 2)
    g.pause()
    g.idle(0.1)
    state = g.truth
    state.pose.position.x += 500.0
    state.pose.position.z = -20.0
    g.set_state(state)
    fixes.clear()
    set_ns = g.time_ns
    g.call("time_manager/toggle_pause")
    g.spin_until(lambda: len(fixes) > 2)
    assert time_ns_of(fixes[0].header.stamp) >= set_ns
    assert g.call("dynamics/reset").success
    reset_ns = g.time_ns
    g.spin_for(1.5)
    later = [one for one in fixes if time_ns_of(one.header.stamp) > reset_ns - STEP_NS]
    assert later
    assert max(one.lat for one in later) < fixes[0].lat


def test_imu_latency_with_stamps_of_the_measurement_is_refused(graph: Callable[..., Any]) -> None:
    with pytest.raises(ParameterError, match=r"'imu_latency': 0.002 s given; allowed: 0 s if sensor_stamps is"):
        graph(*settings(imu_latency=0.002))

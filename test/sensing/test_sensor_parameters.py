"""The table of all sensors: ROSflight's names and defaults, and the effect of each parameter."""

from collections import UserDict

import numpy as np
import pytest

from rosflight_py_sim.sensing import (
    SENSOR_PARAMETERS,
    Barometer,
    BatteryMonitor,
    GnssReceiver,
    InertialSensor,
    Magnetometer,
    PitotTube,
    RangeFinder,
    Thermometer,
)

ROSFLIGHT = {
    "gyro_stdev": 0.00226,
    "gyro_bias_range": 0.25,
    "gyro_bias_walk_stdev": 0.033,
    "gyro_bias_model_tau": 400.0,
    "gyro_bias_model_x0": 0.003,
    "gyro_bias_model_y0": -0.002,
    "gyro_bias_model_z0": 0.001,
    "k_gyro": 20.0,
    "acc_stdev": 0.2,
    "acc_bias_range": 0.6,
    "acc_bias_walk_stdev": 0.00001,
    "mag_stdev": 3e-6,
    "k_mag": 7.0,
    "inclination": 1.139436457,
    "declination": 0.1857972802,
    "total_intensity": 50.7163e-6,
    "baro_stdev": 4.0,
    "baro_bias_range": 500.0,
    "baro_bias_walk_stdev": 0.1,
    "airspeed_stdev": 1.15,
    "airspeed_bias_range": 0.15,
    "airspeed_bias_walk_stdev": 0.001,
    "range_stdev": 0.03,
    "range_min_range": 0.25,
    "range_max_range": 8.0,
    "battery_stdev": 0.3,
    "battery_voltage": 23.0,
    "origin_altitude": 1387.0,
    "origin_latitude": 40.2463724,
    "origin_longitude": -111.6474138,
    "horizontal_gnss_stdev": 0.21,
    "vertical_gnss_stdev": 0.4,
    "gnss_velocity_stdev": 0.01,
    "k_gnss": 1.0 / 1100.0,
    "gravity": 9.81,
    "imu_update_frequency": 400.0,
    "mag_update_frequency": 50.0,
    "baro_update_frequency": 100.0,
    "gnss_update_frequency": 10.0,
    "range_update_frequency": 20.0,
    "diff_pressure_update_frequency": 100.0,
    "battery_update_frequency": 200.0,
}

SENSORS = [
    InertialSensor,
    Thermometer,
    Magnetometer,
    Barometer,
    GnssReceiver,
    RangeFinder,
    PitotTube,
    BatteryMonitor,
]


@pytest.mark.parametrize("name", ROSFLIGHT)
def test_rosflight_parameter_has_rosflight_default(name):
    assert SENSOR_PARAMETERS[name].default == pytest.approx(ROSFLIGHT[name], rel=1e-12)


def test_defaults_pass_validation():
    assert SENSOR_PARAMETERS.checked(SENSOR_PARAMETERS.defaults()) == SENSOR_PARAMETERS.defaults()


@pytest.mark.parametrize("sensor", SENSORS)
def test_every_sensor_can_be_built_from_the_full_table(sensor):
    sensor(SENSOR_PARAMETERS.checked({}), np.random.default_rng(0))


def test_zero_k_gnss_is_rejected():
    with pytest.raises(ValueError, match="k_gnss"):
        SENSOR_PARAMETERS.checked({"k_gnss": 0.0})


class Recorder(UserDict):
    def __init__(self, values, seen):
        self.seen = seen
        super().__init__(values)

    def __getitem__(self, name):
        self.seen.add(name)
        return super().__getitem__(name)


def test_every_parameter_except_those_of_the_node_is_used_by_a_sensor():
    seen = set()
    for model in ("wmm", "fixed"):
        values = SENSOR_PARAMETERS.checked({"magnetic_model": model})
        zero = {n: 0.0 for n in values if n.endswith(("_stdev", "_density"))}
        for sensor in SENSORS:
            sensor(Recorder(values, seen), np.random.default_rng(0))
            sensor(Recorder(values | zero | {"wave_height": 0.5}, seen), np.random.default_rng(0))
    of_the_node = {name for name in values if name.endswith(("_frequency", "_latency"))}
    of_the_node.add("sensor_stamps")
    assert set(values) - seen == of_the_node

"""Parameters shared by the sensors: launch site, earth and sample rates."""

from __future__ import annotations

from rosflight_py_sim.parameters import Parameter, ParameterTable
from rosflight_py_sim.physics.earth import EARTH_PARAMETERS
from rosflight_py_sim.shared_parameters import ORIGIN_LONGITUDE

SITE_PARAMETERS = EARTH_PARAMETERS + ParameterTable(ORIGIN_LONGITUDE)

IMU_RATE = 400.0
IMU_TEMPERATURE_RATE = 50.0
MAG_RATE = 50.0
BARO_RATE = 100.0
GNSS_RATE = 10.0
RANGE_RATE = 20.0
DIFF_PRESSURE_RATE = 100.0
BATTERY_RATE = 200.0


def _rate(sensor: str, default: float, text: str) -> Parameter:
    return Parameter(
        f"{sensor}_update_frequency",
        default,
        f"Sample rate of {text}",
        "Hz",
        minimum=0.01,
        maximum=10000.0,
        read_only=True,
    )


RATE_PARAMETERS = ParameterTable(
    _rate("imu", IMU_RATE, "gyro and accelerometer (in lockstep they are sampled at every step)"),
    _rate("imu_temperature", IMU_TEMPERATURE_RATE, "the IMU temperature"),
    _rate("mag", MAG_RATE, "the magnetometer"),
    _rate("baro", BARO_RATE, "the barometer"),
    _rate("gnss", GNSS_RATE, "the GNSS receiver"),
    _rate("range", RANGE_RATE, "the range finder"),
    _rate("diff_pressure", DIFF_PRESSURE_RATE, "the differential pressure"),
    _rate("battery", BATTERY_RATE, "battery voltage and current"),
    Parameter(
        "truth_errors_frequency",
        50.0,
        "Rate at which the true errors of all sensors are published",
        "Hz",
        minimum=0.1,
        maximum=1000.0,
        read_only=True,
    ),
)

"""Latency of the sensors: a measurement of t arrives at t + d.

The latency d is constant. It contains everything between the instant that a measurement describes and its arrival at
the flight controller: averaging in the sensor, conversion, filters and the bus.

The default of GNSS is 0.12 s, which ArduPilot assumes for u-blox receivers of the generations 7, M8, M9, M10 and F9
(AP_GPS_UBLOX::get_lag, "based on flight logs the 7 and 8 series seem to produce about 120ms lag"). The others are 0:
they depend on the driver and the settings of its filters.
"""

from __future__ import annotations

from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.stamps import NANOSECONDS

MEASUREMENT, ARRIVAL = "measurement", "arrival"
"""Values of the parameter `sensor_stamps`."""


def _latency(sensor: str, default: float, text: str) -> Parameter:
    return Parameter(
        f"{sensor}_latency",
        default,
        f"Time from a measurement of {text} to its arrival",
        "s",
        minimum=0.0,
        maximum=10.0,
        read_only=True,
    )


SENSOR_STAMPS = Parameter(
    "sensor_stamps",
    MEASUREMENT,
    "Stamps of sensor messages: time of the measurement, or of its arrival. An imu_latency above 0 requires arrival, "
    "because the IMU message triggers a step by its stamp",
    choices=(MEASUREMENT, ARRIVAL),
    read_only=True,
)

LATENCY_PARAMETERS = ParameterTable(
    _latency("imu", 0.0, "gyro and accelerometer"),
    _latency("imu_temperature", 0.0, "the IMU temperature"),
    _latency("mag", 0.0, "the magnetometer"),
    _latency("baro", 0.0, "the barometer"),
    _latency("gnss", 0.12, "the GNSS receiver"),
    _latency("range", 0.0, "the range finder"),
    _latency("diff_pressure", 0.0, "the differential pressure"),
    _latency("battery", 0.0, "battery voltage and current"),
    SENSOR_STAMPS,
)


def latency_ns(values: Values, sensor: str) -> int:
    """Latency of a sensor, ns.

    Raises:
        ParameterError: the IMU has a latency, and stamps are those of the measurement.
    """
    given = number(values, f"{sensor}_latency")
    if sensor == "imu" and given > 0.0 and values[SENSOR_STAMPS.name] != ARRIVAL:
        raise ParameterError(
            f"parameter 'imu_latency': {given:g} s given; allowed: 0 s if sensor_stamps is '{MEASUREMENT}', because "
            f"the IMU message with the stamp of a step triggers that step; or set sensor_stamps to '{ARRIVAL}'"
        )
    return round(given * NANOSECONDS)

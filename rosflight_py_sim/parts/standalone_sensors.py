"""Sensors of a small unmanned vehicle, with sensor errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from rosflight_py_sim.ground.parameters import ParameterTable
from rosflight_py_sim.ground.shared_parameters import SEED
from rosflight_py_sim.ground.units import ZERO_CELSIUS_K
from rosflight_py_sim.parts.readings import (
    AirspeedReading,
    BarometerReading,
    BatteryReading,
    GnssReading,
    ImuReading,
    MagReading,
    RangeReading,
    TemperatureReading,
)
from rosflight_py_sim.parts.sensors import Sensors
from rosflight_py_sim.sensing import (
    BAROMETER,
    BATTERY_MONITOR,
    GNSS_RECEIVER,
    INERTIAL_SENSOR,
    MAGNETOMETER,
    PITOT_TUBE,
    RANGE_FINDER,
    SENSOR_PARAMETERS,
    THERMOMETER,
)
from rosflight_py_sim.sensing.range_finder import FURTHER_RANGE_FINDERS
from rosflight_py_sim.sensing.sensor import Sensor
from rosflight_py_sim.step.vehicle_state import VehicleState


class ModelledSensors(Sensors):
    """Sensors with noise, biases and bias walks (Beard and McLain, chapter 7), repeatable by seed.

    The models give the messages' fields directly. The methods below read the same models for a derived class that
    overrides them.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("standalone_sensors",)
    PARAMETERS: ClassVar[ParameterTable] = Sensors.PARAMETERS + ParameterTable(SEED) + SENSOR_PARAMETERS

    send_rng_2, send_rng_3, send_rng_4, send_rng_5, send_rng_6 = FURTHER_RANGE_FINDERS

    def has_model(self, sensor: Sensor[Any]) -> bool:
        """Whether a sensor has a model."""
        return sensor.model is not None

    def update_of(self, sensor: Sensor[Any]) -> Callable[[VehicleState, float], Any] | None:
        """The method of a derived class that reads a sensor; None: its model does."""
        own = getattr(ModelledSensors, sensor.update, None)
        return None if own is not None and own is getattr(type(self), sensor.update) else super().update_of(sensor)

    def _measured(self, sensor: Sensor[Any], state: VehicleState, dt: float) -> Any:
        return self.models[sensor.sensor].read(self, state.time_ns, state, dt)

    def imu_update(self, state: VehicleState, dt: float) -> ImuReading:
        """Read accelerometer and gyroscope."""
        gyro, accel, gyro_covariance, accel_covariance = self._measured(INERTIAL_SENSOR, state, dt)
        return ImuReading(np.array(accel), np.array(gyro), accel_covariance, gyro_covariance)

    def imu_temperature_update(self, state: VehicleState, dt: float) -> TemperatureReading:
        """Read the IMU's thermometer."""
        celsius, variance = self._measured(THERMOMETER, state, dt)
        return TemperatureReading(celsius + ZERO_CELSIUS_K, variance)

    def mag_update(self, state: VehicleState, dt: float) -> MagReading:
        """Read the magnetometer."""
        field, covariance = self._measured(MAGNETOMETER, state, dt)
        return MagReading(np.array(field), covariance)

    def baro_update(self, state: VehicleState, dt: float) -> BarometerReading:
        """Read the barometer."""
        return BarometerReading(*self._measured(BAROMETER, state, dt))

    def gnss_update(self, state: VehicleState, dt: float) -> GnssReading:
        """Read the GNSS receiver."""
        fix = self._measured(GNSS_RECEIVER, state, dt)
        return GnssReading._make((*fix[:7], np.array(fix[7:10]), fix[10]))

    def sonar_update(self, state: VehicleState, dt: float) -> RangeReading:
        """Read the range finder."""
        field_of_view, minimum, maximum, distance, variance = self._measured(RANGE_FINDER, state, dt)
        return RangeReading(distance, minimum, maximum, field_of_view, variance)

    def diff_pressure_update(self, state: VehicleState, dt: float) -> AirspeedReading:
        """Read the pitot tube."""
        return AirspeedReading(*self._measured(PITOT_TUBE, state, dt))

    def battery_update(self, state: VehicleState, dt: float) -> BatteryReading:
        """Read the battery monitor."""
        return BatteryReading(*self._measured(BATTERY_MONITOR, state, dt))

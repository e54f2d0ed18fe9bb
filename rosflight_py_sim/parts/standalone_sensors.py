"""Sensors of a small unmanned vehicle, with sensor errors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

from rosflight_py_sim.parameters import ParameterTable, Value, number
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
from rosflight_py_sim.sensing import SENSOR_PARAMETERS
from rosflight_py_sim.sensing.suite import SensorSuite
from rosflight_py_sim.shared_parameters import SEED
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.step.topics import UNKNOWN_COVARIANCE, Floats
from rosflight_py_sim.step.vehicle_state import VehicleState


class ModelledSensors(Sensors):
    """Sensors with noise, biases and bias walks (Beard and McLain, chapter 7), repeatable by seed.

    Attributes:
        sensors: the sensors; available after the first `configure`.
    """

    sensors: SensorSuite

    ALIASES: ClassVar[tuple[str, ...]] = ("standalone_sensors",)
    PARAMETERS: ClassVar[ParameterTable] = Sensors.PARAMETERS + ParameterTable(SEED) + SENSOR_PARAMETERS

    def configure(self, values: dict[str, Value]) -> None:
        """Rebuild the sensors; they take over the error states of the old ones."""
        new = SensorSuite(values)
        if "sensors" in vars(self):
            new.adopt(self.sensors)
        self.sensors = new
        # Time between two samples of the IMU, whether it vibrates, and the covariances that follow from both.
        self._imu_dt, self._imu_vibrates = math.nan, False
        self._imu_covariances: tuple[Floats, Floats] = (UNKNOWN_COVARIANCE, UNKNOWN_COVARIANCE)

    def imu_update(self, state: VehicleState, dt: float) -> ImuReading:
        """Read accelerometer and gyroscope."""
        sensors = self.sensors
        inertial = sensors.inertial
        inertial.sample(state.truth, dt, self.armed, self.rotor_speeds, sensors.thermometer.temperature_k)
        if dt != self._imu_dt or inertial.vibrates != self._imu_vibrates:
            self._imu_dt, self._imu_vibrates = dt, inertial.vibrates
            accel, gyro = inertial.variances(dt)
            self._imu_covariances = covariance(accel), covariance(gyro)
        accel_covariance, gyro_covariance = self._imu_covariances
        return ImuReading(inertial.accel, inertial.gyro, accel_covariance, gyro_covariance)

    def true_errors(self) -> Mapping[str, float]:
        """True errors of all sensors."""
        return self.sensors.true_errors()

    def imu_temperature_update(self, state: VehicleState, dt: float) -> TemperatureReading:
        """Read the IMU's thermometer."""
        thermometer = self.sensors.thermometer
        kelvin = thermometer.sample(state.truth, dt)
        return TemperatureReading(kelvin, thermometer.variance(dt))

    def mag_update(self, state: VehicleState, dt: float) -> MagReading:
        """Read the magnetometer."""
        magnetometer = self.sensors.magnetometer
        field = magnetometer.sample(state.truth, dt, self.battery.current if self.battery else 0.0)
        return MagReading(field, covariance(magnetometer.variance(dt)))

    def baro_update(self, state: VehicleState, dt: float) -> BarometerReading:
        """Read the barometer."""
        barometer = self.sensors.barometer
        if barometer.waves.exist:
            barometer.waves.move_to(state.truth, state.time_ns / NANOSECONDS)
        barometer.sample(state.truth, self.wind_ned, self.battery.current if self.battery else 0.0, dt)
        return BarometerReading(barometer.altitude_m, barometer.pressure_pa, barometer.temperature_k)

    def gnss_update(self, state: VehicleState, dt: float) -> GnssReading:
        """Read the GNSS receiver."""
        gnss = self.sensors.gnss
        gnss.sample(state.truth, dt)
        return GnssReading(
            gnss.fix_type,
            gnss.num_satellites,
            gnss.latitude_deg,
            gnss.longitude_deg,
            gnss.altitude_msl_m,
            gnss.horizontal_accuracy,
            gnss.vertical_accuracy,
            gnss.velocity_ned,
            gnss.speed_accuracy,
        )

    def sonar_update(self, state: VehicleState, dt: float) -> RangeReading:
        """Read the range finder."""
        finder = self.sensors.range_finder
        distance = finder.sample(state.truth, dt)
        return RangeReading(distance, finder.min_range, finder.max_range, finder.field_of_view, finder.variance(dt))

    def diff_pressure_update(self, state: VehicleState, dt: float) -> AirspeedReading:
        """Read the pitot tube."""
        pitot = self.sensors.pitot
        pitot.sample(state.truth, self.wind_ned, dt)
        return AirspeedReading(pitot.airspeed_mps, pitot.differential_pressure_pa, pitot.temperature_k)

    def battery_update(self, state: VehicleState, dt: float) -> BatteryReading:
        """Read the battery monitor."""
        monitor = self.sensors.battery
        true = self.battery or BatteryReading(number(self.values, "battery_voltage"), 0.0)
        monitor.sample(true.voltage, true.current, dt)
        return BatteryReading(monitor.voltage, monitor.current)


def covariance(variance: float) -> Floats:
    """Covariance (9) of three independent components of this variance."""
    return (variance, 0.0, 0.0, 0.0, variance, 0.0, 0.0, 0.0, variance)

"""The sensors beside the IMU: what came last, corrected, and what calibrates itself with it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rosflight_py_sim.firmware import sensors
from rosflight_py_sim.firmware.calibrations import Calibrations
from rosflight_py_sim.firmware.parameters import FirmwareParameters


class SlowSensors:
    """Barometer, airspeed, range finder, magnetometer and battery.

    Samples that are not finite are dropped, but for distances, of which infinity is one.

    Attributes:
        altitude: pressure altitude (m), baro_pressure (Pa), baro_temperature (K).
        airspeed: indicated (m/s), diff_pressure (Pa), diff_pressure_temperature (K).
        air_density: from the barometer (kg/m^3).
        range: of the range finder (m).
        magnetic_field: (3,) corrected, body axes (T); a view that the next sample changes.
        battery: voltage and current, filtered.
        time_us: of the last pass.
    """

    parameters: FirmwareParameters
    calibrations: Calibrations

    def __init__(self) -> None:
        self.battery = sensors.Battery(self.parameters)
        self._magnetometer = sensors.Magnetometer(self.parameters)
        self.magnetic_field = self._magnetometer.field
        self.air_density = sensors.SEA_LEVEL_DENSITY
        self.altitude = 0.0
        self.baro_pressure = 0.0
        self.baro_temperature = 0.0
        self.airspeed = 0.0
        self.diff_pressure = 0.0
        self.diff_pressure_temperature = 0.0
        self.range = 0.0
        self.time_us = 0
        self._mag_sampled = self._diff_pressure_sampled = False

    def receive_mag(self, flux: Sequence[float]) -> None:
        """Take a magnetometer sample (T, sensor axes)."""
        if not math.isfinite(sum(flux)):
            return
        self._mag_sampled = True
        self._magnetometer.receive(flux)
        calibration = self.calibrations.mag
        if calibration.running:
            calibration.take(self.time_us, self._magnetometer.uncorrected)

    def receive_baro(self, pressure_pa: float, temperature_k: float) -> None:
        """Take a barometer sample; air density and altitude follow. A pressure that is not positive is dropped."""
        if not 0.0 < pressure_pa < math.inf:
            return
        self.baro_pressure = pressure_pa
        self.baro_temperature = temperature_k
        self.altitude = sensors.pressure_altitude(pressure_pa)
        self.air_density = sensors.density_from_pressure(pressure_pa)
        calibration = self.calibrations.baro
        if calibration.running:
            calibration.take(self.time_us, pressure_pa)

    def receive_diff_pressure(self, pressure_pa: float, temperature_k: float) -> None:
        """Take a differential pressure; the airspeed follows."""
        if not math.isfinite(pressure_pa):
            return
        self._diff_pressure_sampled = True
        calibration = self.calibrations.airspeed
        if calibration.running:
            calibration.take(self.time_us, pressure_pa)
        self.diff_pressure = pressure_pa - float(self.parameters["DIFF_PRESS_BIAS"])
        self.diff_pressure_temperature = temperature_k
        self.airspeed = sensors.indicated_airspeed(self.diff_pressure)

    def receive_range(self, distance_m: float) -> None:
        """Take a distance of the range finder."""
        self.range = distance_m

    def receive_battery(self, voltage: float, current: float) -> None:
        """Take voltage (V) and current (A)."""
        if not math.isfinite(voltage + current):
            return
        self.battery.receive(voltage, current)

    def calibrate_mag(self) -> str:
        """Start to gather magnetometer samples of all directions; what to do now.

        Raises:
            Refused: armed, or no sample has come yet.
        """
        return self.calibrations.start_mag(self.time_us, self._mag_sampled)

    def calibrate_baro(self) -> str:
        """Start to average the pressure at the ground; what to do now.

        Raises:
            Refused: armed, or no sample has come yet.
        """
        return self.calibrations.start_baro(self.time_us, self.baro_pressure > 0.0)

    def calibrate_airspeed(self) -> str:
        """Start to average the differential pressure in still air; what to do now.

        Raises:
            Refused: armed, or no sample has come yet.
        """
        return self.calibrations.start_airspeed(self.time_us, self._diff_pressure_sampled)

"""Relay of sensor messages: into the firmware, and corrected to rosflight_io's topics."""

from __future__ import annotations

from rosflight_py_sim.firmware import Firmware
from rosflight_py_sim.ground.units import ZERO_CELSIUS_K
from rosflight_py_sim.parts.rosflight_io.interface import RosflightIoInterface
from rosflight_py_sim.step.ports import drop, newest, output
from rosflight_py_sim.step.topics import (
    BARO,
    BATTERY,
    CORRECTED_AIRSPEED,
    CORRECTED_BARO,
    CORRECTED_BATTERY,
    CORRECTED_GNSS,
    CORRECTED_MAG,
    CORRECTED_RANGE,
    CORRECTED_TEMPERATURE,
    DIFF_PRESSURE,
    GNSS_FIX,
    IMU_TEMPERATURE,
    MAG,
    RANGE,
    AirspeedSample,
    BaroSample,
    BatterySample,
    GnssSample,
    MagSample,
    RangeSample,
    TemperatureSample,
)


class CorrectedMeasurements(RosflightIoInterface):
    """Outputs of all sensors except the IMU."""

    send_temperature = output(CORRECTED_TEMPERATURE, when="offers_rosflight_io")
    send_airspeed = output(CORRECTED_AIRSPEED, lazy=True, when="offers_rosflight_io")
    send_baro = output(CORRECTED_BARO, lazy=True, when="offers_rosflight_io")
    send_mag = output(CORRECTED_MAG, lazy=True, when="offers_rosflight_io")
    send_range = output(CORRECTED_RANGE, when="offers_rosflight_io")
    send_battery = output(CORRECTED_BATTERY, lazy=True, when="offers_rosflight_io")
    send_gnss = output(CORRECTED_GNSS, when="offers_rosflight_io")


class SensorRelay(CorrectedMeasurements):
    """Relays all sensors except the IMU, whose samples drive the firmware; keeps the newest IMU temperature."""

    @property
    def firmware(self) -> Firmware:
        """The flight controller."""
        raise NotImplementedError

    def initialise(self) -> None:
        """Set the temperature before the first message."""
        super().initialise()
        self.imu_temperature_k = 298.15
        self._relays = True

    def begin(self) -> None:
        """Find out whether the corrected measurements have receivers at all."""
        super().begin()
        outputs = self.send_airspeed, self.send_baro, self.send_mag, self.send_battery
        self._relays = any(send is not drop for send in outputs)

    @newest(GNSS_FIX)
    def _on_gnss(self, sample: GnssSample) -> None:
        self.send_gnss(sample)

    @newest(MAG)
    def _on_mag(self, sample: MagSample) -> None:
        _, field, _ = sample
        self.firmware.receive_mag(field)
        if self._relays:
            self._relay_mag(sample)

    def _relay_mag(self, sample: MagSample) -> None:
        field = self.firmware.magnetic_field
        self.send_mag(lambda: MagSample(sample.time_ns, field.tolist(), sample.covariance))

    @newest(BARO)
    def _on_baro(self, sample: BaroSample) -> None:
        time_ns, _, pressure, temperature = sample
        self.firmware.receive_baro(pressure, temperature)
        if self._relays:
            self._relay_baro(time_ns)

    def _relay_baro(self, time_ns: int) -> None:
        air = self.firmware.air
        self.send_baro(lambda: BaroSample(time_ns, air.altitude, air.pressure, air.temperature))

    @newest(DIFF_PRESSURE)
    def _on_diff_pressure(self, sample: AirspeedSample) -> None:
        time_ns, _, pressure, temperature = sample
        self.firmware.receive_diff_pressure(pressure, temperature)
        if self._relays:
            self._relay_airspeed(time_ns)

    def _relay_airspeed(self, time_ns: int) -> None:
        air = self.firmware.air
        self.send_airspeed(
            lambda: AirspeedSample(time_ns, air.airspeed, air.differential_pressure, air.differential_temperature)
        )

    @newest(RANGE)
    def _on_range(self, sample: RangeSample) -> None:
        self.firmware.receive_range(sample.distance)
        self.send_range(sample)

    @newest(BATTERY)
    def _on_battery(self, sample: BatterySample) -> None:
        time_ns, voltage, current = sample
        self.firmware.receive_battery(voltage, current)
        if self._relays:
            self._relay_battery(time_ns)

    def _relay_battery(self, time_ns: int) -> None:
        battery = self.firmware.battery
        self.send_battery(lambda: BatterySample(time_ns, battery.voltage, battery.current))

    @newest(IMU_TEMPERATURE)
    def _on_temperature(self, sample: TemperatureSample) -> None:
        self.imu_temperature_k = sample.temperature_c + ZERO_CELSIUS_K
        self.firmware.receive_imu_temperature(self.imu_temperature_k)
        self.send_temperature(sample)

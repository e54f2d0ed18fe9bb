"""Relay of sensor messages: into the firmware, and corrected to rosflight_io's topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware import Firmware
from rosflight_py_sim.firmware.sensors import AirData, BatteryFilter
from rosflight_py_sim.ground.units import ZERO_CELSIUS_K
from rosflight_py_sim.kernels.chain import Cell
from rosflight_py_sim.kernels.record import field_array
from rosflight_py_sim.parts.rosflight_io.interface import RosflightIoInterface
from rosflight_py_sim.step.part import Relayed
from rosflight_py_sim.step.ports import Output, drop, newest, output
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

# Output of the corrected measurement of each sensor, by the topic of the sensor.
_RELAYED = {
    BATTERY.name: "send_battery",
    BARO.name: "send_baro",
    DIFF_PRESSURE.name: "send_airspeed",
    MAG.name: "send_mag",
    IMU_TEMPERATURE.name: "send_temperature",
    RANGE.name: "send_range",
    GNSS_FIX.name: "send_gnss",
}


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

    def relayed(self, topic: str, cell: Cell | None) -> Relayed | None:
        """The corrected measurement of each sensor."""
        name = _RELAYED.get(topic, "")
        out = next((out for out in self.ports(Output) if out.name == name), None)
        if out is None:
            return None
        corrected = None if cell is None else self._corrected(topic, cell)
        return Relayed(out, partial(self.count_unsent, name), corrected)

    def _corrected(self, topic: str, measured: Cell) -> Cell:
        """Cell of a corrected measurement, given the cell of the sensor's measurement."""
        firmware = self.firmware
        air, battery, field = firmware.air, firmware.battery, firmware.magnetic_field
        if topic == MAG.name:
            return Cell(
                field, lambda time_ns: _corrected_mag(measured.message(time_ns), field), fields={"field": [field]}
            )
        if topic == BARO.name:
            names = {"altitude": "altitude", "pressure": "pressure", "temperature": "temperature"}
            return _cell_of(air, names, lambda time_ns: _corrected_baro(time_ns, air))
        if topic == DIFF_PRESSURE.name:
            names = {
                "velocity": "airspeed",
                "differential_pressure": "differential_pressure",
                "temperature": "differential_temperature",
            }
            return _cell_of(air, names, lambda time_ns: _corrected_airspeed(time_ns, air))
        if topic == BATTERY.name:
            names = {"voltage": "voltage", "current": "current"}
            return _cell_of(battery, names, lambda time_ns: _corrected_battery(time_ns, battery))
        return measured

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
        self.send_mag(partial(_corrected_mag, sample, self.firmware.magnetic_field))

    @newest(BARO)
    def _on_baro(self, sample: BaroSample) -> None:
        time_ns, _, pressure, temperature = sample
        self.firmware.receive_baro(pressure, temperature)
        if self._relays:
            self._relay_baro(time_ns)

    def _relay_baro(self, time_ns: int) -> None:
        self.send_baro(partial(_corrected_baro, time_ns, self.firmware.air))

    @newest(DIFF_PRESSURE)
    def _on_diff_pressure(self, sample: AirspeedSample) -> None:
        time_ns, _, pressure, temperature = sample
        self.firmware.receive_diff_pressure(pressure, temperature)
        if self._relays:
            self._relay_airspeed(time_ns)

    def _relay_airspeed(self, time_ns: int) -> None:
        self.send_airspeed(partial(_corrected_airspeed, time_ns, self.firmware.air))

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
        self.send_battery(partial(_corrected_battery, time_ns, self.firmware.battery))

    @newest(IMU_TEMPERATURE)
    def _on_temperature(self, sample: TemperatureSample) -> None:
        self.imu_temperature_k = sample.temperature_c + ZERO_CELSIUS_K
        self.firmware.receive_imu_temperature(self.imu_temperature_k)
        self.send_temperature(sample)


def _corrected_mag(sample: MagSample, field: NDArray[np.float64]) -> MagSample:
    return MagSample(sample.time_ns, field.tolist(), sample.covariance)


def _corrected_baro(time_ns: int, air: AirData) -> BaroSample:
    return BaroSample(time_ns, air.altitude, air.pressure, air.temperature)


def _corrected_airspeed(time_ns: int, air: AirData) -> AirspeedSample:
    return AirspeedSample(time_ns, air.airspeed, air.differential_pressure, air.differential_temperature)


def _corrected_battery(time_ns: int, battery: BatteryFilter) -> BatterySample:
    return BatterySample(time_ns, battery.voltage, battery.current)


def _cell_of(record: object, names: Mapping[str, str], message: Callable[[int], Any]) -> Cell:
    """Cell whose numbers are in a record; `names` maps each field of the message to the name in the record."""
    fields = {field: [field_array(record, name)] for field, name in names.items()}
    return Cell(np.zeros(0), message, fields=fields)

"""Relay of sensor messages: into the firmware, and corrected to rosflight_io's topics."""

from __future__ import annotations

from rosflight_py_sim.firmware import Board
from rosflight_py_sim.interfaces.sensor_interface import ZERO_CELSIUS_K
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
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
    MagSample,
    RangeSample,
    TemperatureSample,
)


class SensorRelay:
    """Relays all sensors except the IMU, whose samples drive the firmware; keeps the newest IMU temperature."""

    def __init__(self, node: SimulationNode, board: Board) -> None:
        """Create the topics."""
        self._board = board
        self.imu_temperature_k = 298.15
        self._send_temperature = node.publisher(CORRECTED_TEMPERATURE)
        self._send_airspeed = node.publisher(CORRECTED_AIRSPEED)
        self._send_baro = node.publisher(CORRECTED_BARO)
        self._send_mag = node.publisher(CORRECTED_MAG)
        self._send_range = node.publisher(CORRECTED_RANGE)
        self._send_battery = node.publisher(CORRECTED_BATTERY)
        node.subscribe(GNSS_FIX, node.publisher(CORRECTED_GNSS))
        node.subscribe(MAG, self._on_mag)
        node.subscribe(BARO, self._on_baro)
        node.subscribe(DIFF_PRESSURE, self._on_diff_pressure)
        node.subscribe(RANGE, self._on_range)
        node.subscribe(BATTERY, self._on_battery)
        node.subscribe(IMU_TEMPERATURE, self._on_temperature)

    def _on_mag(self, sample: MagSample) -> None:
        firmware = self._board.firmware
        firmware.receive_mag(sample.field)
        self._send_mag(MagSample(sample.time_ns, firmware.magnetic_field.tolist(), sample.covariance))

    def _on_baro(self, sample: BaroSample) -> None:
        firmware = self._board.firmware
        firmware.receive_baro(sample.pressure, sample.temperature)
        corrected = (firmware.altitude, firmware.baro_pressure, firmware.baro_temperature)
        self._send_baro(BaroSample(sample.time_ns, *corrected))

    def _on_diff_pressure(self, sample: AirspeedSample) -> None:
        firmware = self._board.firmware
        firmware.receive_diff_pressure(sample.differential_pressure, sample.temperature)
        corrected = (firmware.airspeed, firmware.diff_pressure, firmware.diff_pressure_temperature)
        self._send_airspeed(AirspeedSample(sample.time_ns, *corrected))

    def _on_range(self, sample: RangeSample) -> None:
        self._board.firmware.receive_range(sample.distance)
        self._send_range(sample)

    def _on_battery(self, sample: BatterySample) -> None:
        firmware = self._board.firmware
        firmware.receive_battery(sample.voltage, sample.current)
        battery = firmware.battery
        self._send_battery(BatterySample(sample.time_ns, battery.voltage, battery.current))

    def _on_temperature(self, sample: TemperatureSample) -> None:
        self.imu_temperature_k = sample.temperature_c + ZERO_CELSIUS_K
        self._send_temperature(sample)

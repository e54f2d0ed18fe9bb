"""The way of the sensors' messages: into the firmware, and on, corrected, on rosflight_io's topics."""

from __future__ import annotations

from rosflight_msgs.msg import GNSS, Airspeed, Barometer, BatteryStatus
from sensor_msgs.msg import MagneticField, Range, Temperature

from rosflight_py_sim.firmware import Board
from rosflight_py_sim.interfaces.forces_and_moments_interface import BATTERY_WIRE
from rosflight_py_sim.interfaces.qos import CHAIN
from rosflight_py_sim.interfaces.sensor_interface import (
    AIRSPEED_WIRE,
    BARO_WIRE,
    GNSS_WIRE,
    MAG_WIRE,
    RANGE_WIRE,
    TEMPERATURE_WIRE,
    ZERO_CELSIUS_K,
)
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.wire import NANOSECONDS

_UNKNOWN = (0.0,) * 9


class SensorRelay:
    """All sensors but the IMU, whose samples drive the firmware; of these it keeps the temperature."""

    def __init__(self, node: SimulationNode, board: Board) -> None:
        """Create the topics."""
        self._board = board
        self.imu_temperature_k = 298.15
        self._send_temperature = node.publisher("imu/temperature", TEMPERATURE_WIRE, CHAIN)
        self._send_airspeed = node.publisher("airspeed", AIRSPEED_WIRE, CHAIN)
        self._send_baro = node.publisher("baro", BARO_WIRE, CHAIN)
        self._send_mag = node.publisher("magnetometer", MAG_WIRE, CHAIN)
        self._send_range = node.publisher("range", RANGE_WIRE, CHAIN)
        self._send_battery = node.publisher("battery", BATTERY_WIRE, CHAIN)
        self._send_gnss = node.publisher("gnss", GNSS_WIRE, CHAIN)
        node.listen("sim/sensors/gnss", GNSS, self._on_gnss, CHAIN)
        node.listen("sim/sensors/mag", MagneticField, self._on_mag, CHAIN)
        node.listen("sim/sensors/baro", Barometer, self._on_baro, CHAIN)
        node.listen("sim/sensors/diff_pressure", Airspeed, self._on_diff_pressure, CHAIN)
        node.listen("sim/sensors/range", Range, self._on_range, CHAIN)
        node.listen("sim/sensors/battery", BatteryStatus, self._on_battery, CHAIN)
        node.listen("sim/sensors/imu/temperature", Temperature, self._on_temperature, CHAIN)

    def _on_gnss(self, message: bytes) -> None:
        m = GNSS_WIRE.decode(message)
        self._send_gnss(m[0] * NANOSECONDS + m[1], *m[2:])

    def _on_mag(self, message: bytes) -> None:
        m = MAG_WIRE.decode(message)
        firmware = self._board.firmware
        firmware.receive_mag(m[2:5])
        self._send_mag(m[0] * NANOSECONDS + m[1], *firmware.magnetic_field.tolist(), *_UNKNOWN)

    def _on_baro(self, message: bytes) -> None:
        m = BARO_WIRE.decode(message)
        firmware = self._board.firmware
        firmware.receive_baro(m[3], m[4])
        stamp = m[0] * NANOSECONDS + m[1]
        self._send_baro(stamp, firmware.altitude, firmware.baro_pressure, firmware.baro_temperature)

    def _on_diff_pressure(self, message: bytes) -> None:
        m = AIRSPEED_WIRE.decode(message)
        firmware = self._board.firmware
        firmware.receive_diff_pressure(m[3], m[4])
        stamp = m[0] * NANOSECONDS + m[1]
        self._send_airspeed(stamp, firmware.airspeed, firmware.diff_pressure, firmware.diff_pressure_temperature)

    def _on_range(self, message: bytes) -> None:
        m = RANGE_WIRE.decode(message)
        self._board.firmware.receive_range(m[6])
        self._send_range(m[0] * NANOSECONDS + m[1], *m[2:])

    def _on_battery(self, message: bytes) -> None:
        m = BATTERY_WIRE.decode(message)
        firmware = self._board.firmware
        firmware.receive_battery(m[2], m[3])
        battery = firmware.battery
        self._send_battery(m[0] * NANOSECONDS + m[1], battery.voltage, battery.current)

    def _on_temperature(self, message: bytes) -> None:
        m = TEMPERATURE_WIRE.decode(message)
        self.imu_temperature_k = m[2] + ZERO_CELSIUS_K
        self._send_temperature(m[0] * NANOSECONDS + m[1], *m[2:])

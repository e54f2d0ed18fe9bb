"""Inputs besides IMU samples: other sensors, RC frames, commands and calibration requests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware import estimator, mixer, sensors
from rosflight_py_sim.firmware.calibrations import Calibrations
from rosflight_py_sim.firmware.command import CommandMux
from rosflight_py_sim.firmware.control_step import PassState, new_pass_state
from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.firmware.quirks import Quirks
from rosflight_py_sim.firmware.rc import Receiver
from rosflight_py_sim.firmware.state_machine import Log, Severity
from rosflight_py_sim.ground.delay_line import DelayLine
from rosflight_py_sim.ground.units import ZERO_CELSIUS_K
from rosflight_py_sim.kernels.chain import ChainLink, copy_numbers
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.single import single


@kernel
def take_measured_temperature(now: PassState, temperatures: NDArray[np.float64]) -> None:
    """`receive_imu_temperature` of the measured temperature in deg C, which the message has too; see `Thermometer`."""
    now.temperature = temperatures[2] + ZERO_CELSIUS_K


@kernel
def take_measured_battery(battery: sensors.BatteryFilter, measured: NDArray[np.float64]) -> None:
    """`receive_battery` of voltage (V) and current (A)."""
    voltage, current = single(measured[0]), single(measured[1])
    if math.isfinite(voltage + current):
        sensors.take_battery(battery, voltage, current)


@kernel
def take_measured_pressure(now: PassState, air: sensors.AirData, measured: NDArray[np.float64]) -> bool:
    """`receive_baro` of pressure (Pa) and temperature (K), or return that it is to be called."""
    pressure = single(measured[0])
    if now.is_quiet and 0.0 < pressure < math.inf:
        sensors.take_pressure(air, pressure, single(measured[1]))
        return False
    return True


@kernel
def take_measured_difference(now: PassState, air: sensors.AirData, measured: NDArray[np.float64]) -> bool:
    """`receive_diff_pressure` of pressure (Pa), airspeed, temperature (K), or return that it is to be called."""
    pressure = single(measured[0])
    if now.is_quiet and math.isfinite(pressure):
        sensors.take_differential_pressure(air, pressure, single(measured[2]))
        return False
    return True


@kernel
def take_measured_field(
    now: PassState,
    settings: NDArray[np.float64],
    uncorrected: NDArray[np.float64],
    field: NDArray[np.float64],
    measured: NDArray[np.float64],
) -> bool:
    """`receive_mag` of a magnetic field (T), or return that it is to be called."""
    if now.is_quiet and math.isfinite(measured[0] + measured[1] + measured[2]):
        sensors.correct_mag(settings, measured[0], measured[1], measured[2], uncorrected, field)
        return False
    return True


class Inputs:
    """Inputs of a flight controller; the subclass provides the parts annotated first.

    Samples that are not finite are dropped, except distances, which may be infinite.

    Attributes:
        air: from barometer and pitot tube.
        magnetic_field: (3,) corrected, body axes (T); a view that the next sample overwrites.
        battery: voltage and current, filtered.
        time_us: of the last pass.
    """

    log: Log
    parameters: FirmwareParameters
    receiver: Receiver
    command: CommandMux
    calibrations: Calibrations
    quirks: Quirks
    _link_latency_us: int
    _channels: NDArray[np.float64]
    _estimate: NDArray[np.float64]

    def __init__(self) -> None:
        self.battery = sensors.battery_filter(self.parameters, self.quirks)
        self.air = sensors.air_data(self.parameters)
        self._link: DelayLine[Callable[[], None]] = DelayLine(self._link_latency_us, lambda take, _: take())
        self._magnetometer = sensors.MagnetometerCorrection(self.parameters)
        self.magnetic_field = self._magnetometer.field
        self._distance: NDArray[np.float64] = np.zeros(1)
        self.time_us = 0
        self._now = new_pass_state()
        self._mag_sampled = self._diff_pressure_sampled = False

    def receive_imu_temperature(self, temperature_k: float) -> None:
        """Receive the temperature (K) of the IMU's next samples in compiled passes."""
        self._now.temperature = temperature_k

    def receive_mag(self, flux: Sequence[float]) -> None:
        """Receive a magnetometer sample (T, sensor axes)."""
        if not math.isfinite(sum(flux)):
            return
        self._mag_sampled = True
        self._magnetometer.receive(flux)
        calibration = self.calibrations.mag
        if calibration.running:
            calibration.take(self.time_us, self._magnetometer.uncorrected)

    def receive_baro(self, pressure_pa: float, temperature_k: float) -> None:
        """Receive a barometer sample, unless its pressure is not positive; update air density and altitude."""
        if not 0.0 < pressure_pa < math.inf:
            return
        sensors.take_pressure(self.air, pressure_pa, temperature_k)
        calibration = self.calibrations.baro
        if calibration.running:
            calibration.take(self.time_us, pressure_pa)

    def receive_diff_pressure(self, pressure_pa: float, temperature_k: float) -> None:
        """Receive a differential pressure and update the airspeed."""
        if not math.isfinite(pressure_pa):
            return
        self._diff_pressure_sampled = True
        calibration = self.calibrations.airspeed
        if calibration.running:
            calibration.take(self.time_us, pressure_pa)
        sensors.take_differential_pressure(self.air, pressure_pa, temperature_k)

    # Samples that a chain of kernels writes; while a calibration takes samples, Python receives them.

    def temperature_link(self, temperatures: NDArray[np.float64]) -> ChainLink:
        """Link that receives the temperature of the IMU; `temperatures` as in `Thermometer`."""
        return ChainLink(bound(take_measured_temperature, self._now, temperatures))

    def battery_link(self, measured: NDArray[np.float64]) -> ChainLink:
        """Link that receives battery voltage (V) and current (A)."""
        return ChainLink(bound(take_measured_battery, self.battery, measured))

    def range_link(self, distance: NDArray[np.float64]) -> ChainLink:
        """Link that receives a distance from the range finder (m)."""
        return ChainLink(bound(copy_numbers, distance, self._distance))

    def baro_link(self, measured: NDArray[np.float64]) -> ChainLink:
        """Link that receives pressure (Pa) and temperature (K) of the barometer."""

        def attend(time_ns: int, status: int) -> None:
            self.receive_baro(single(measured[0]), single(measured[1]))

        return ChainLink(bound(take_measured_pressure, self._now, self.air, measured), attend)

    def diff_pressure_link(self, measured: NDArray[np.float64]) -> ChainLink:
        """Link that receives a differential pressure (Pa), the airspeed, and the temperature (K)."""

        def attend(time_ns: int, status: int) -> None:
            self.receive_diff_pressure(single(measured[0]), single(measured[2]))

        return ChainLink(bound(take_measured_difference, self._now, self.air, measured), attend)

    def mag_link(self, measured: NDArray[np.float64]) -> ChainLink:
        """Link that receives a magnetometer sample (T, sensor axes)."""
        magnetometer = self._magnetometer

        def attend(time_ns: int, status: int) -> None:
            self.receive_mag(measured.tolist())

        taken = magnetometer.settings, magnetometer.uncorrected, magnetometer.field
        return ChainLink(bound(take_measured_field, self._now, *taken, measured), attend)

    def receive_range(self, distance_m: float) -> None:
        """Receive a distance from the range finder."""
        self._distance[0] = distance_m

    @property
    def range(self) -> float:
        """Newest distance from the range finder, m."""
        return float(self._distance[0])

    def receive_battery(self, voltage: float, current: float) -> None:
        """Receive battery voltage (V) and current (A)."""
        if not math.isfinite(voltage + current):
            return
        sensors.take_battery(self.battery, voltage, current)

    def receive_rc(self, time_us: int, channels_us: Sequence[int]) -> None:
        """Receive an RC frame: eight pulse widths (us).

        Raises:
            ValueError: not eight channels.
        """
        self.receiver.receive(time_us, channels_us)

    def set_command(self, time_us: int, mode: int, ignore: int, values: Sequence[float]) -> None:
        """Receive a command from the companion computer: `CommandMode`, bits of values to ignore, ten values.

        A command with an unknown mode or values that are not finite is dropped and logged; the previous one stays in
        force until it expires.
        """
        arrival_us = time_us + self._link_latency_us
        self._link.insert(time_us, partial(self._take_command, arrival_us, mode, ignore, values))

    def _take_command(self, time_us: int, mode: int, ignore: int, values: Sequence[float]) -> None:
        try:
            self.command.set_offboard(time_us, mode, ignore, values)
        except ValueError as error:
            self.log(Severity.WARNING, f"command dropped: {error}")
            return
        self.command.due_us = -math.inf

    def set_aux_command(self, types: Sequence[int], values: Sequence[float]) -> None:
        """Receive fourteen auxiliary outputs: types 0 off, 1 servo (-1..1), 2 motor (0..1), and values.

        They drive the outputs that the mixer does not use. An invalid command is dropped and logged.
        """
        self._link.send(self.time_us, partial(self._take_aux_command, types, values))

    def _take_aux_command(self, types: Sequence[int], values: Sequence[float]) -> None:
        try:
            mixer.set_aux_command(self._channels, types, values)
        except ValueError as error:
            self.log(Severity.WARNING, f"auxiliary command dropped: {error}")

    def set_external_attitude(self, quaternion_wxyz: Sequence[float]) -> None:
        """Receive an external attitude (body to inertial), with which the next pass corrects the estimate.

        One that is not finite or zero is dropped and logged; others are normalised.
        """
        self._link.send(self.time_us, partial(self._take_external_attitude, quaternion_wxyz))

    def _take_external_attitude(self, quaternion_wxyz: Sequence[float]) -> None:
        try:
            estimator.give_external_attitude(self._estimate, quaternion_wxyz)
        except ValueError as error:
            self.log(Severity.WARNING, f"external attitude dropped: {error}")

    def after_latency(self, take: Callable[[], None]) -> None:
        """Call `take` in the first pass after the link's latency, which counts from the last pass."""
        self._link.send(self.time_us, take)

    @property
    def calibrating(self) -> bool:
        """Whether a calibration of gyros or accelerometer is running."""
        return self.calibrations.imu.running

    def calibrate_imu(self) -> str:
        """Start to average gyros and accelerometer; return an instruction for the user.

        Raises:
            Refused: armed.
        """
        return self.calibrations.start_imu()

    def calibrate_gyro(self) -> str:
        """Start to average the gyros; return an instruction for the user.

        Raises:
            Refused: armed.
        """
        return self.calibrations.start_gyro()

    def calibrate_rc_trim(self) -> str:
        """Set the equilibrium torques to the current stick commands, level and at rest; return the result as text.

        Raises:
            Refused: armed, no RC signal, or a torque out of range.
        """
        return self.calibrations.trim_from_rc()

    def calibrate_mag(self) -> str:
        """Start to collect magnetometer samples in all directions; return an instruction for the user.

        Raises:
            Refused: armed, or no sample received yet.
        """
        return self.calibrations.start_mag(self.time_us, self._mag_sampled)

    def calibrate_baro(self) -> str:
        """Start to average the pressure at the ground; return an instruction for the user.

        Raises:
            Refused: armed, or no sample received yet.
        """
        return self.calibrations.start_baro(self.time_us, self.air.pressure > 0.0)

    def calibrate_airspeed(self) -> str:
        """Start to average the differential pressure in still air; return an instruction for the user.

        Raises:
            Refused: armed, or no sample received yet.
        """
        return self.calibrations.start_airspeed(self.time_us, self._diff_pressure_sampled)

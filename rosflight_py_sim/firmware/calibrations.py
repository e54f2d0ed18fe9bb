"""Calibrations on request: conditions for refusal, and the parameters that they set."""

from __future__ import annotations

from collections.abc import Callable

from rosflight_py_sim.firmware.command import CommandMux
from rosflight_py_sim.firmware.controller import trimmed_torques
from rosflight_py_sim.firmware.imu_calibration import CALIBRATION_SAMPLES, ImuCalibration
from rosflight_py_sim.firmware.mag_calibration import MagCalibration
from rosflight_py_sim.firmware.parameters import FirmwareParameterOutOfRange, FirmwareParameters
from rosflight_py_sim.firmware.pressure_calibration import READINGS, READINGS_LET_PASS, PressureCalibration
from rosflight_py_sim.firmware.quirks import REPAIRED, Quirks
from rosflight_py_sim.firmware.rc import Receiver
from rosflight_py_sim.firmware.sensors import pressure_altitude
from rosflight_py_sim.firmware.state_machine import Log, Refused, Severity, StateMachine

GREATEST_BARO_VARIANCE = 25.0
"""Pa^2, about 0.4 m of height."""

GREATEST_DIFF_PRESSURE_VARIANCE = 100.0
"""Pa^2"""


MAG_CALIBRATION = "magnetometer calibration"
"""Calibration of the magnetometer, in refusals."""


def no_sample_text(what: str) -> str:
    """Refusal of a calibration before the first sample of its sensor."""
    return f"{what}: refused, no sample received yet"


class Calibrations:
    """Starts calibrations on request; each request returns an instruction for the user.

    Calibrations that take samples end by themselves and log the result; parameters change only on success. Every
    request raises `Refused` while armed.
    """

    def __init__(
        self,
        parameters: FirmwareParameters,
        machine: StateMachine,
        receiver: Receiver,
        command: CommandMux,
        log: Log,
        gyro_done: Callable[[], None],
        accel_done: Callable[[], None],
        quirks: Quirks = REPAIRED,
    ) -> None:
        self._forget = quirks.calibrations_forget
        self.imu = ImuCalibration(parameters, machine.handle, log, gyro_done, accel_done, quirks)
        self.mag = MagCalibration(parameters.restore, log)
        self.baro = PressureCalibration(
            "barometer", GREATEST_BARO_VARIANCE, log, self._store_ground, runs_until_it_succeeds=self._forget
        )
        self.airspeed = PressureCalibration(
            "airspeed", GREATEST_DIFF_PRESSURE_VARIANCE, log, self._store_offset, runs_until_it_succeeds=self._forget
        )
        self._parameters = parameters
        self._machine = machine
        self._receiver = receiver
        self._command = command
        self._log = log

    @property
    def are_running(self) -> bool:
        """Whether any calibration takes samples."""
        return self.imu.running or self.are_timed

    @property
    def are_timed(self) -> bool:
        """Whether a calibration takes samples at times: that of magnetometer, barometer or pitot tube."""
        return self.mag.running or self.baro.running or self.airspeed.running

    def start_imu(self) -> str:
        """Average gyros and accelerometer."""
        self._machine.refuse_while_armed("IMU calibration")
        self.imu.start()
        return f"calibrating with the next {CALIBRATION_SAMPLES} samples: keep the vehicle still and level"

    def start_gyro(self) -> str:
        """Average the gyros."""
        self._machine.refuse_while_armed("gyro calibration")
        self.imu.start_gyro()
        return f"calibrating with the next {CALIBRATION_SAMPLES} samples: keep the vehicle still"

    def start_mag(self, time_us: int, sampled: bool) -> str:
        """Collect magnetometer samples in all directions."""
        self._request_samples(MAG_CALIBRATION, sampled)
        return self.mag.start(time_us)

    def start_baro(self, time_us: int, sampled: bool) -> str:
        """Average the pressure at the ground."""
        self._request_samples("barometer calibration", sampled)
        if self._forget:
            self._parameters.restore({"BARO_BIAS": 0.0})
        self.baro.start(time_us)
        return f"calibrating with {READINGS_LET_PASS + READINGS} readings: keep the vehicle on the ground"

    def start_airspeed(self, time_us: int, sampled: bool) -> str:
        """Average the differential pressure in still air."""
        self._request_samples("airspeed calibration", sampled)
        if self._forget:
            self._parameters.restore({"DIFF_PRESS_BIAS": 0.0})
        self.airspeed.start(time_us)
        return f"calibrating with {READINGS_LET_PASS + READINGS} readings: shield the pitot tube from wind"

    def trim_from_rc(self) -> str:
        """Set the equilibrium torques to the current stick commands."""
        self._machine.refuse_while_armed("RC trim")
        if self._receiver.signal_is_lost:
            self._refuse("RC trim: refused without an RC signal")
        torques = trimmed_torques(self._parameters, *self._command.pilot_command)
        try:
            self._parameters.restore(torques)
        except FirmwareParameterOutOfRange as error:
            self._refuse(f"RC trim: {error}")
        trims = ", ".join(f"{name} {value:.4g}" for name, value in torques.items())
        text = f"RC trim set: {trims}; now centre the trims of the transmitter"
        self._log(Severity.INFO, text)
        return text

    def _request_samples(self, what: str, sampled: bool) -> None:
        self._machine.refuse_while_armed(what)
        if not sampled:
            self._refuse(no_sample_text(what))

    def _refuse(self, text: str) -> None:
        self._log(Severity.ERROR, text)
        raise Refused(text)

    def _store_ground(self, pressure_pa: float) -> str:
        altitude = pressure_altitude(pressure_pa)
        self._parameters.restore({"BARO_BIAS": pressure_pa, "GROUND_LEVEL": altitude})
        return f"{pressure_pa:.1f} Pa, {altitude:.1f} m at the ground"

    def _store_offset(self, pressure_pa: float) -> str:
        self._parameters.restore({"DIFF_PRESS_BIAS": pressure_pa})
        return f"offset {pressure_pa:.3g} Pa"

"""Board of the flight controller: parameter memory and reboot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from rosflight_py_sim.firmware.board_command import BoardCommand, command_name
from rosflight_py_sim.firmware.firmware import Firmware
from rosflight_py_sim.firmware.parameter_file import ParameterFileError
from rosflight_py_sim.firmware.parameters import FirmwareParameters, Number
from rosflight_py_sim.firmware.quirks import REPAIRED, Quirks
from rosflight_py_sim.firmware.state_machine import Log, Refused, Severity


class Board:
    """Holds `firmware`, which a reboot replaces.

    The memory is a file, or lasts as long as the object. At start-up parameters take their defaults, then the values of
    the initial file, then those given as texts, then those of the memory.

    Attributes:
        firmware: the running flight controller.
        reboots: number of reboots.
        parameters_changed: set when a parameter changes and by a reboot; the caller clears it after reporting.
        on_change: functions that are called with the name of each parameter after its value has changed, except by a
            reboot.
    """

    def __init__(
        self,
        initial: Path | None,
        storage: Path | None,
        log: Log,
        quirks: Quirks = REPAIRED,
        *,
        given: Iterable[str] = (),
        strict_files: bool = False,
        offboard_without_rc: bool = False,
        link_latency_us: int = 0,
        in_flight: bool = False,
    ) -> None:
        """Start the firmware with `quirks`, `offboard_without_rc`, `link_latency_us` and `in_flight`.

        `given` has texts as `PID_ROLL_ANG_P 6`. Unknown names in parameter files other than the memory are errors with
        `strict_files`; otherwise they are left out, with one warning.

        Raises:
            ParameterError: a text in `given` is not a parameter and its value, or not allowed.
            ParameterFileError: the initial file or the memory cannot be read.
        """
        self._initial = initial
        self._given = tuple(given)
        self._strict_files = strict_files
        self._storage = storage
        self._written: dict[str, Number] = {}
        self._log = log
        self._quirks = quirks
        self._offboard_without_rc = offboard_without_rc
        self._link_latency_us = link_latency_us
        self.reboots = 0
        self.on_change: list[Callable[[str], None]] = []
        self.firmware = self._started(in_flight)

    def _started(self, in_flight: bool = False) -> Firmware:
        parameters = FirmwareParameters(unlimited_numbers=self._quirks.unlimited_numbers)
        if self._initial is not None:
            self._load(parameters, self._initial)
        parameters.load_texts(self._given)
        self._read(parameters)
        firmware = Firmware(
            parameters, self._log, self._quirks, self._offboard_without_rc, self._link_latency_us, in_flight
        )
        # A restart would load the same values again.
        parameters.unsaved = False
        parameters.on_change.append(self._note_change)
        self.parameters_changed = True
        return firmware

    def _read(self, parameters: FirmwareParameters) -> bool:
        """Set the parameters in the memory; return whether it has any."""
        has_saved = False
        if self._storage is not None:
            try:
                has_saved = self._storage.exists()
            except OSError as error:
                raise ParameterFileError(f"{self._storage}: {error.strerror}") from error
            if has_saved:
                parameters.load(self._storage)
        parameters.restore(self._written)
        return has_saved or bool(self._written)

    def read(self) -> str:
        """Set the parameters to those in the memory.

        Raises:
            Refused: armed, or nothing has been written.
            ParameterFileError: the memory cannot be read; nothing is changed.
        """
        firmware = self.firmware
        firmware.state_machine.refuse_while_armed("reading parameters")
        if not self._read(firmware.parameters):
            raise self._refusal("reading parameters: refused, no parameters have been written")
        firmware.parameters.unsaved = False
        return "read the written parameters"

    @property
    def parameters(self) -> FirmwareParameters:
        """Parameters of the firmware."""
        return self.firmware.parameters

    @property
    def has_all_parameters(self) -> bool:
        """Whether all parameters are known: always."""
        return True

    def set_parameter(self, name: str, value: float) -> str:
        """Set a parameter; return its value as text.

        Raises:
            UnknownFirmwareParameter, FirmwareParameterOutOfRange: as `FirmwareParameters.set`.
        """
        self.parameters.set(name, value)
        return f"{name} {self.parameters[name]}"

    def load(self, file: Path) -> str:
        """Set the parameters of a file, all or (on an error) none; return its name as text.

        Raises:
            ParameterFileError: the file cannot be used.
        """
        self._load(self.parameters, file)
        return f"loaded {file}"

    def perform(self, command: int) -> str:
        """Execute a `BoardCommand`; return what was done, or an instruction for the user.

        Raises:
            Refused: armed; or a command that the simulated board does not support, or a calibration's reason.
            ParameterFileError: the memory cannot be read.
        """
        firmware, name = self.firmware, command_name(command)
        match command:
            case BoardCommand.RC_CALIBRATION:
                return firmware.calibrate_rc_trim()
            case BoardCommand.ACCEL_CALIBRATION:
                return firmware.calibrate_imu()
            case BoardCommand.GYRO_CALIBRATION:
                return firmware.calibrate_gyro()
            case BoardCommand.BARO_CALIBRATION:
                return firmware.calibrate_baro()
            case BoardCommand.AIRSPEED_CALIBRATION:
                return firmware.calibrate_airspeed()
            case BoardCommand.READ_PARAMS:
                return self.read()
            case BoardCommand.WRITE_PARAMS:
                try:
                    return self.write()
                except OSError as error:
                    raise self._refusal(f"parameters not written: {error}") from error
            case BoardCommand.SET_PARAM_DEFAULTS:
                firmware.state_machine.refuse_while_armed(name)
                self.parameters.restore_defaults()
                return "all parameters have their defaults"
            case BoardCommand.REBOOT:
                return self.reboot()
            case BoardCommand.REBOOT_TO_BOOTLOADER:
                raise self._refusal(
                    "there is no bootloader in simulation; call the service reboot to restart the flight controller"
                )
        raise self._refusal(f"{name}: not supported in simulation")

    def calibrate_mag(self) -> str:
        """Start the calibration of the magnetometer; return an instruction for the user.

        Raises:
            Refused: armed, or no sample received yet.
        """
        return self.firmware.calibrate_mag()

    def _refusal(self, text: str) -> Refused:
        """Log a refusal, and return it as an exception."""
        self._log(Severity.ERROR, text)
        return Refused(text)

    def _load(self, parameters: FirmwareParameters, file: Path) -> None:
        parameters.load(file, None if self._strict_files else lambda text: self._log(Severity.WARNING, text))

    def _note_change(self, name: str) -> None:
        self.parameters_changed = True
        for notify in self.on_change:
            notify(name)

    def write(self) -> str:
        """Write the parameters to the memory; return its location as text.

        Raises:
            Refused: armed.
            OSError: the file cannot be written; the old one stays.
        """
        firmware = self.firmware
        firmware.state_machine.refuse_while_armed("writing parameters")
        if self._storage is None:
            self._written = firmware.parameters.snapshot()
            firmware.parameters.unsaved = False
            return "kept while the node runs; set param_storage_file to keep them in a file"
        firmware.parameters.save(self._storage)
        return f"saved to {self._storage}"

    def reboot(self) -> str:
        """Reboot: all state and all unwritten parameters are lost.

        Raises:
            Refused: armed.
            ParameterFileError: the parameters cannot be read; nothing is changed.
        """
        old = self.firmware
        old.state_machine.refuse_while_armed("reboot")
        lost = old.parameters.unsaved
        self.firmware = self._started()
        self.reboots += 1
        text = "rebooted; unwritten parameters are lost" if lost else "rebooted"
        self._log(Severity.INFO, text)
        return text

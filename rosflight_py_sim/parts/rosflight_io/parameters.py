"""rosflight_io's services for the firmware's parameters."""

from __future__ import annotations

from pathlib import Path

from rosflight_msgs.srv import ParamFile, ParamGet, ParamSet
from std_srvs.srv import Trigger

from rosflight_py_sim.firmware import (
    Board,
    FirmwareParameterOutOfRange,
    ParameterFileError,
    Refused,
    UnknownFirmwareParameter,
)
from rosflight_py_sim.ground.confined_files import FileOutsideError, confined_file, expanded
from rosflight_py_sim.ground.resources import installed_shares, share_directory
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import service

# So that a call cannot replace a file of another kind, such as .bashrc.
_SUFFIXES = (".yaml", ".yml")


class ParameterServices(Part):
    """param_get, param_set, param_write, param_save_to_file, param_load_from_file and all_params_received."""

    board: Board

    @property
    def _own_folder(self) -> Path:
        """Folder of the files that param_save_to_file writes and param_load_from_file reads."""
        return expanded(str(self.values["param_file_folder"]))

    @property
    def _read_folders(self) -> list[Path]:
        """Folders of the files that param_load_from_file reads."""
        initial = str(self.values["firmware_param_file"])
        return [self._own_folder, share_directory() / "config", *([Path(initial).parent] if initial else [])]

    @service(ParamGet, "param_get")
    def _get_param(self, request: ParamGet.Request, response: ParamGet.Response) -> ParamGet.Response:
        value = self.board.firmware.parameters.get(request.name)
        response.exists = value is not None
        response.value = float(value) if value is not None else 0.0
        return response

    @service(ParamSet, "param_set")
    def _set_param(self, request: ParamSet.Request, response: ParamSet.Response) -> ParamSet.Response:
        try:
            self.board.firmware.parameters.set(request.name, request.value)
        except UnknownFirmwareParameter as error:
            self.log.error(f"param_set refused: {error}")
            return response
        except FirmwareParameterOutOfRange as error:
            self.log.error(f"param_set refused: {error}")
        response.exists = True
        return response

    @service(Trigger, "param_write")
    def _write_params(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.message = self.board.write()
            response.success = True
        except Refused as error:
            response.message = str(error)
        except OSError as error:
            response.message = f"parameters not written: {error}"
            self.log.error(response.message)
        return response

    @service(ParamFile, "param_save_to_file")
    def _save_to_file(self, request: ParamFile.Request, response: ParamFile.Response) -> ParamFile.Response:
        try:
            file = confined_file(request.filename, [self._own_folder])
            if file.suffix not in _SUFFIXES:
                raise FileOutsideError(f"'{request.filename}' does not end in one of {', '.join(_SUFFIXES)}")
            self.board.firmware.parameters.export(file)
        except (FileOutsideError, OSError) as error:
            self.log.error(f"parameters not saved: {error}")
            return response
        response.success = True
        return response

    @service(ParamFile, "param_load_from_file")
    def _load_from_file(self, request: ParamFile.Request, response: ParamFile.Response) -> ParamFile.Response:
        try:
            self.board.load(confined_file(request.filename, self._read_folders, installed=installed_shares()))
        except FileOutsideError as error:
            self.log.error(f"parameters not loaded: {error}; the parameter param_file_folder allows another")
            return response
        except ParameterFileError as error:
            self.log.error(f"parameters not loaded: {error}")
            return response
        response.success = True
        return response

    @service(Trigger, "all_params_received")
    def _all_received(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = True
        response.message = "all parameters are available"
        return response

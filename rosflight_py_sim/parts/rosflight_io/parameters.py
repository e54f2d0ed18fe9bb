"""rosflight_io's services for the firmware's parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rosflight_msgs.srv import ParamFile, ParamGet, ParamSet
from std_srvs.srv import Trigger

from rosflight_py_sim.firmware import BoardCommand
from rosflight_py_sim.ground.confined_files import FileOutsideError, confined_file, expanded
from rosflight_py_sim.ground.parameters import Parameter
from rosflight_py_sim.ground.resources import installed_shares, share_directory
from rosflight_py_sim.parts.rosflight_io.any_board import AnyBoard, Outcome, answered
from rosflight_py_sim.parts.rosflight_io.commands import answering
from rosflight_py_sim.parts.rosflight_io.interface import RosflightIoInterface
from rosflight_py_sim.step.ports import service

FIRMWARE_PARAM_FILE = Parameter(
    "firmware_param_file", "", "File of initial firmware parameters (ROSflight's YAML list)", read_only=True
)

PARAM_FILE_FOLDER = Parameter(
    "param_file_folder",
    "",
    "Folder of the files that the services param_save_to_file and param_load_from_file may name; if empty, the "
    "node's working directory. Files in the folder of firmware_param_file, in this package's config/ and in "
    "share/ of installed ROS packages can also be loaded. With / a call may name any file, as with ROSflight",
    read_only=True,
)

# So that a call cannot replace a file of another kind, such as .bashrc.
_SUFFIXES = (".yaml", ".yml")


class ParameterServices(RosflightIoInterface):
    """param_get, param_set, param_write, param_save_to_file, param_load_from_file and all_params_received."""

    board: AnyBoard

    @property
    def _own_folder(self) -> Path:
        """Folder of the files that param_save_to_file writes and param_load_from_file reads."""
        return expanded(str(self.values["param_file_folder"]))

    @property
    def _read_folders(self) -> list[Path]:
        """Folders of the files that param_load_from_file reads."""
        initial = str(self.values["firmware_param_file"])
        return [self._own_folder, share_directory() / "config", *([Path(initial).parent] if initial else [])]

    @service(ParamGet, "param_get", when="offers_rosflight_io")
    def _get_param(self, request: ParamGet.Request, response: ParamGet.Response) -> ParamGet.Response:
        value = self.board.parameters.get(request.name)
        response.exists = value is not None
        response.value = float(value) if value is not None else 0.0
        return response

    @service(ParamSet, "param_set", when="offers_rosflight_io")
    def _set_param(self, request: ParamSet.Request, response: ParamSet.Response) -> Any:
        def write(success: bool, text: str) -> ParamSet.Response:
            if not success:
                self.log.error(f"param_set refused: {text}")
            response.exists = request.name in self.board.parameters
            return response

        return answered(lambda: self.board.set_parameter(request.name, request.value), write)

    @service(Trigger, "param_write", when="offers_rosflight_io")
    @answering
    def _write_params(self) -> Outcome:
        return self.board.perform(BoardCommand.WRITE_PARAMS)

    @service(ParamFile, "param_save_to_file", when="offers_rosflight_io")
    def _save_to_file(self, request: ParamFile.Request, response: ParamFile.Response) -> ParamFile.Response:
        try:
            file = confined_file(request.filename, [self._own_folder])
            if file.suffix not in _SUFFIXES:
                raise FileOutsideError(f"'{request.filename}' does not end in one of {', '.join(_SUFFIXES)}")
            self.board.parameters.export(file)
        except (FileOutsideError, OSError) as error:
            self.log.error(f"parameters not saved: {error}")
            return response
        response.success = True
        return response

    @service(ParamFile, "param_load_from_file", when="offers_rosflight_io")
    def _load_from_file(self, request: ParamFile.Request, response: ParamFile.Response) -> Any:
        try:
            file = confined_file(request.filename, self._read_folders, installed=installed_shares())
        except FileOutsideError as error:
            self.log.error(f"parameters not loaded: {error}; the parameter param_file_folder allows another")
            return response

        def write(success: bool, text: str) -> ParamFile.Response:
            if not success:
                self.log.error(f"parameters not loaded: {text}")
            response.success = success
            return response

        return answered(lambda: self.board.load(file), write)

    @service(Trigger, "all_params_received", when="offers_rosflight_io")
    def _all_received(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self.board.has_all_parameters
        response.message = "all parameters are available" if response.success else "not all parameters are known yet"
        return response

"""rosflight_io's services for the firmware's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rclpy.node import Node
from rosflight_msgs.srv import ParamFile, ParamGet, ParamSet
from std_srvs.srv import Trigger

from rosflight_py_sim.confined_files import FileOutsideError, confined_file
from rosflight_py_sim.firmware import (
    Board,
    FirmwareParameterOutOfRange,
    ParameterFileError,
    Refused,
    UnknownFirmwareParameter,
)
from rosflight_py_sim.resources import installed_shares

# So that a call cannot replace a file of another kind, such as .bashrc.
_SUFFIXES = (".yaml", ".yml")


class ParameterServices:
    """param_get, param_set, param_write, param_save_to_file, param_load_from_file and all_params_received."""

    def __init__(self, node: Node, board: Board, writable: Path, readable: Sequence[Path]) -> None:
        """Offer the services.

        Args:
            node: node that offers them.
            board: flight controller.
            writable: folder of the files that param_save_to_file writes and param_load_from_file reads.
            readable: further folders, of files that param_load_from_file only reads.
        """
        self._board = board
        self._writable, self._readable = writable, (writable, *readable)
        self._logger = node.get_logger()
        node.create_service(ParamGet, "param_get", self._get)
        node.create_service(ParamSet, "param_set", self._set)
        node.create_service(Trigger, "param_write", self._write)
        node.create_service(ParamFile, "param_save_to_file", self._save_to_file)
        node.create_service(ParamFile, "param_load_from_file", self._load_from_file)
        node.create_service(Trigger, "all_params_received", self._all_received)

    def _get(self, request: ParamGet.Request, response: ParamGet.Response) -> ParamGet.Response:
        value = self._board.firmware.parameters.get(request.name)
        response.exists = value is not None
        response.value = float(value) if value is not None else 0.0
        return response

    def _set(self, request: ParamSet.Request, response: ParamSet.Response) -> ParamSet.Response:
        try:
            self._board.firmware.parameters.set(request.name, request.value)
        except UnknownFirmwareParameter as error:
            self._logger.error(f"param_set refused: {error}")
            return response
        except FirmwareParameterOutOfRange as error:
            self._logger.error(f"param_set refused: {error}")
        response.exists = True
        return response

    def _write(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.message = self._board.write()
            response.success = True
        except Refused as error:
            response.message = str(error)
        except OSError as error:
            response.message = f"parameters not written: {error}"
            self._logger.error(response.message)
        return response

    def _save_to_file(self, request: ParamFile.Request, response: ParamFile.Response) -> ParamFile.Response:
        try:
            file = confined_file(request.filename, [self._writable])
            if file.suffix not in _SUFFIXES:
                raise FileOutsideError(f"'{request.filename}' does not end in one of {', '.join(_SUFFIXES)}")
            self._board.firmware.parameters.export(file)
        except (FileOutsideError, OSError) as error:
            self._logger.error(f"parameters not saved: {error}")
            return response
        response.success = True
        return response

    def _load_from_file(self, request: ParamFile.Request, response: ParamFile.Response) -> ParamFile.Response:
        try:
            self._board.load(confined_file(request.filename, self._readable, installed=installed_shares()))
        except FileOutsideError as error:
            self._logger.error(f"parameters not loaded: {error}; the parameter param_file_folder allows another")
            return response
        except ParameterFileError as error:
            self._logger.error(f"parameters not loaded: {error}")
            return response
        response.success = True
        return response

    def _all_received(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = True
        response.message = "all parameters are available"
        return response

"""The flight controller as rosflight_io's services and reports use it: in the same process, or behind a link."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from rclpy.task import Future

from rosflight_py_sim.firmware import BoardCommand, FirmwareParameters, ParameterFileError, Refused

Outcome: TypeAlias = "str | Future[str]"
"""What was done, in words; or a Future of it, with the exception of a request that was refused later."""


class AnyBoard(Protocol):
    """A flight controller: `firmware.Board`, or one behind a link.

    Attributes:
        parameters_changed: set when a parameter changes and by a reboot; the caller clears it after reporting.
        reboots: number of reboots.
    """

    parameters_changed: bool
    reboots: int

    @property
    def parameters(self) -> FirmwareParameters:
        """The parameters; to change one, call `set_parameter`."""

    @property
    def has_all_parameters(self) -> bool:
        """Whether all parameters are known."""

    def perform(self, command: BoardCommand) -> Outcome:
        """Execute a command.

        Raises:
            Refused: it is not allowed at present, or not supported.
            ParameterFileError, OSError: the memory cannot be read or written.
        """

    def calibrate_mag(self) -> Outcome:
        """Start the calibration of the magnetometer.

        Raises:
            Refused: armed, or no sample received yet.
        """

    def set_parameter(self, name: str, value: float) -> Outcome:
        """Set a parameter.

        Raises:
            UnknownFirmwareParameter: there is no such parameter.
            FirmwareParameterOutOfRange: the value is not allowed; the old one is kept.
        """

    def load(self, file: Path) -> Outcome:
        """Set the parameters of a file, all or (on an error) none.

        Raises:
            ParameterFileError: the file cannot be used.
        """


REFUSALS = (Refused, ParameterFileError, OSError, ValueError)
"""Exceptions of the methods of a board; the text of each is the reason."""


def answered(start: Callable[[], Outcome], write: Callable[[bool, str], Any]) -> Any:
    """Response of a service, or a Future of it, after a request to a board.

    Args:
        start: makes the request.
        write: returns the response, given whether the request succeeded, and the text of the outcome or the reason.
    """
    try:
        outcome = start()
    except REFUSALS as error:
        return write(False, str(error))
    if isinstance(outcome, str):
        return write(True, outcome)
    response: Future[Any] = Future()

    def respond(done: Future[str]) -> None:
        response.set_result(answered(lambda: str(done.result()), write))

    outcome.add_done_callback(respond)
    return response

"""rosflight_io's command services: calibrate, reboot, print the mixers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from std_srvs.srv import Trigger

from rosflight_py_sim.firmware import BoardCommand, mixing_report
from rosflight_py_sim.parts.rosflight_io.any_board import AnyBoard, Outcome, answered
from rosflight_py_sim.parts.rosflight_io.interface import RosflightIoInterface
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import Service, service

P = TypeVar("P", bound=Part)


def answering(action: Callable[[P], Outcome]) -> Callable[[P, Trigger.Request, Trigger.Response], Any]:
    """Method that answers a Trigger service with the outcome of an action."""

    @wraps(action)
    def answer(part: P, request: Trigger.Request, response: Trigger.Response) -> Any:
        def write(success: bool, text: str) -> Trigger.Response:
            response.success, response.message = success, text
            return response

        return answered(lambda: action(part), write)

    return answer


def performing(name: str, command: BoardCommand) -> Service:
    """Trigger service that makes the board perform a command."""

    @answering
    def perform(part: CommandServices) -> Outcome:
        return part.board.perform(command)

    return service(Trigger, name, when="offers_rosflight_io")(perform)


class CommandServices(RosflightIoInterface):
    """calibrate_*, reboot, reboot_to_bootloader and print_mixing_matrix.

    `message` of the reply names the action, or the reason of a refusal.
    """

    board: AnyBoard

    calibrate_imu = performing("calibrate_imu", BoardCommand.ACCEL_CALIBRATION)
    calibrate_baro = performing("calibrate_baro", BoardCommand.BARO_CALIBRATION)
    calibrate_airspeed = performing("calibrate_airspeed", BoardCommand.AIRSPEED_CALIBRATION)
    calibrate_rc_trim = performing("calibrate_rc_trim", BoardCommand.RC_CALIBRATION)
    reboot = performing("reboot", BoardCommand.REBOOT)
    reboot_to_bootloader = performing("reboot_to_bootloader", BoardCommand.REBOOT_TO_BOOTLOADER)

    @service(Trigger, "calibrate_mag", when="offers_rosflight_io")
    @answering
    def _calibrate_mag(self) -> Outcome:
        return self.board.calibrate_mag()

    @service(Trigger, "print_mixing_matrix", when="offers_rosflight_io")
    @answering
    def _print_mixing_matrix(self) -> Outcome:
        report = mixing_report(self.board.parameters)
        # A terminal shows line breaks in the log, but \n in a service reply.
        self.log.info(f"mixers\n{report}")
        return report

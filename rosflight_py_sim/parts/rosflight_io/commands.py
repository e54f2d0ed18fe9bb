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
from rosflight_py_sim.step.ports import service

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


class CommandServices(RosflightIoInterface):
    """calibrate_*, reboot, reboot_to_bootloader and print_mixing_matrix.

    `message` of the reply names the action, or the reason of a refusal.
    """

    board: AnyBoard

    @service(Trigger, "calibrate_imu", when="offers_rosflight_io")
    @answering
    def _calibrate_imu(self) -> Outcome:
        return self.board.perform(BoardCommand.ACCEL_CALIBRATION)

    @service(Trigger, "calibrate_mag", when="offers_rosflight_io")
    @answering
    def _calibrate_mag(self) -> Outcome:
        return self.board.calibrate_mag()

    @service(Trigger, "calibrate_baro", when="offers_rosflight_io")
    @answering
    def _calibrate_baro(self) -> Outcome:
        return self.board.perform(BoardCommand.BARO_CALIBRATION)

    @service(Trigger, "calibrate_airspeed", when="offers_rosflight_io")
    @answering
    def _calibrate_airspeed(self) -> Outcome:
        return self.board.perform(BoardCommand.AIRSPEED_CALIBRATION)

    @service(Trigger, "calibrate_rc_trim", when="offers_rosflight_io")
    @answering
    def _calibrate_rc_trim(self) -> Outcome:
        return self.board.perform(BoardCommand.RC_CALIBRATION)

    @service(Trigger, "reboot", when="offers_rosflight_io")
    @answering
    def _reboot(self) -> Outcome:
        return self.board.perform(BoardCommand.REBOOT)

    @service(Trigger, "reboot_to_bootloader", when="offers_rosflight_io")
    @answering
    def _reboot_to_bootloader(self) -> Outcome:
        return self.board.perform(BoardCommand.REBOOT_TO_BOOTLOADER)

    @service(Trigger, "print_mixing_matrix", when="offers_rosflight_io")
    @answering
    def _print_mixing_matrix(self) -> Outcome:
        report = mixing_report(self.board.parameters)
        # A terminal shows line breaks in the log, but \n in a service reply.
        self.log.info(f"mixers\n{report}")
        return report

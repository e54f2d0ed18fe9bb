"""rosflight_io's command services: calibrate, reboot, print the mixers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from std_srvs.srv import Trigger

from rosflight_py_sim.firmware import Board, ParameterFileError, Refused, mixing_report
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import service

P = TypeVar("P", bound=Part)


def _answering(
    action: Callable[[P], str],
) -> Callable[[P, Trigger.Request, Trigger.Response], Trigger.Response]:
    @wraps(action)
    def answer(part: P, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.message = action(part)
            response.success = True
        except (Refused, ParameterFileError) as error:
            response.message = str(error)
        return response

    return answer


class CommandServices(Part):
    """calibrate_*, reboot, reboot_to_bootloader and print_mixing_matrix.

    `message` of the reply names the action, or the reason of a refusal.
    """

    board: Board

    @service(Trigger, "calibrate_imu")
    @_answering
    def _calibrate_imu(self) -> str:
        return self.board.firmware.calibrate_imu()

    @service(Trigger, "calibrate_mag")
    @_answering
    def _calibrate_mag(self) -> str:
        return self.board.firmware.calibrate_mag()

    @service(Trigger, "calibrate_baro")
    @_answering
    def _calibrate_baro(self) -> str:
        return self.board.firmware.calibrate_baro()

    @service(Trigger, "calibrate_airspeed")
    @_answering
    def _calibrate_airspeed(self) -> str:
        return self.board.firmware.calibrate_airspeed()

    @service(Trigger, "calibrate_rc_trim")
    @_answering
    def _calibrate_rc_trim(self) -> str:
        return self.board.firmware.calibrate_rc_trim()

    @service(Trigger, "reboot")
    @_answering
    def _reboot(self) -> str:
        return self.board.reboot()

    @service(Trigger, "reboot_to_bootloader")
    @_answering
    def _reboot_to_bootloader(self) -> str:
        raise Refused("there is no bootloader in simulation; call the service reboot to restart the flight controller")

    @service(Trigger, "print_mixing_matrix")
    @_answering
    def _print_mixing_matrix(self) -> str:
        report = mixing_report(self.board.firmware.parameters)
        # A terminal shows line breaks in the log, but \n in a service reply.
        self.log.info(f"mixers\n{report}")
        return report

"""rosflight_io's command services: calibrate, reboot, print the mixers."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from std_srvs.srv import Trigger

from rosflight_py_sim.firmware import Board, ParameterFileError, Refused, mixing_report


class CommandServices:
    """calibrate_*, reboot, reboot_to_bootloader and print_mixing_matrix.

    `message` of the reply names the action, or the reason of a refusal.
    """

    def __init__(self, node: Node, board: Board) -> None:
        """Offer the services."""
        self._board = board
        self._logger = node.get_logger()
        for name, action in (
            ("calibrate_imu", lambda: board.firmware.calibrate_imu()),
            ("calibrate_mag", lambda: board.firmware.calibrate_mag()),
            ("calibrate_baro", lambda: board.firmware.calibrate_baro()),
            ("calibrate_airspeed", lambda: board.firmware.calibrate_airspeed()),
            ("calibrate_rc_trim", lambda: board.firmware.calibrate_rc_trim()),
            ("reboot", board.reboot),
            ("reboot_to_bootloader", self._reboot_to_bootloader),
            ("print_mixing_matrix", self._print_mixing_matrix),
        ):
            node.create_service(Trigger, name, _answering(action))

    def _reboot_to_bootloader(self) -> str:
        raise Refused("there is no bootloader in simulation; call the service reboot to restart the flight controller")

    def _print_mixing_matrix(self) -> str:
        report = mixing_report(self._board.firmware.parameters)
        # A terminal shows line breaks in the log, but \n in a service reply.
        self._logger.info(f"mixers\n{report}")
        return report


def _answering(action: Callable[[], str]) -> Callable[[Trigger.Request, Trigger.Response], Trigger.Response]:
    def answer(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.message = action()
            response.success = True
        except (Refused, ParameterFileError) as error:
            response.message = str(error)
        return response

    return answer

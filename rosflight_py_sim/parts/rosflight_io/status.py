"""rosflight_io's reports: status, errors, changed and unsaved parameters, version."""

from __future__ import annotations

from rosflight_msgs.msg import Error
from std_msgs.msg import Bool

from rosflight_py_sim import __version__
from rosflight_py_sim.firmware import ErrorFlag, Status
from rosflight_py_sim.ground.stamps import set_time
from rosflight_py_sim.parts.rosflight_io.any_board import AnyBoard
from rosflight_py_sim.parts.rosflight_io.interface import RosflightIoInterface
from rosflight_py_sim.step.ports import output
from rosflight_py_sim.step.topics import (
    FIRMWARE_ERRORS,
    FIRMWARE_VERSION,
    PARAMS_CHANGED,
    STATUS,
    UNSAVED_PARAMS,
    StatusReport,
)

VERSION = f"rosflight_py_sim {__version__}"
"""Version of the firmware."""


def status_report(time_ns: int, status: Status) -> StatusReport:
    """Message of the firmware's status."""
    return StatusReport(
        time_ns,
        status.armed,
        status.failsafe,
        status.rc_override,
        status.offboard,
        status.control_mode,
        status.error_code & 0xFF,
        status.num_errors & 0x7FFF,
        min(status.loop_time_us, 0x7FFF),
    )


class StatusReports(RosflightIoInterface):
    """Sends status at 10 Hz and on change, and the other reports when they change.

    Each newly set error bit is an Error on status/rosflight_errors. This class logs arming and failsafe; the firmware
    logs errors.
    """

    board: AnyBoard

    send_status = output(STATUS, when="offers_rosflight_io")
    send_params_changed = output(PARAMS_CHANGED, when="offers_rosflight_io")
    send_unsaved_params = output(UNSAVED_PARAMS, when="offers_rosflight_io")
    send_error = output(FIRMWARE_ERRORS, when="offers_rosflight_io")
    send_version = output(FIRMWARE_VERSION, when="offers_rosflight_io")

    def initialise(self) -> None:
        """Nothing has been reported."""
        super().initialise()
        self._logged_armed = self._logged_failsafe = False
        self._sent_errors = 0
        self._sent_unsaved: bool | None = None
        self._sent_status = StatusReport(-1, False, False, False, False, 0, 0, 0, 0)

    def send_reports(self, s: StatusReport) -> None:
        """Send the status, and the other reports that have changed."""
        self.send_status(s)
        self._sent_status = s
        if s.armed is not self._logged_armed:
            self._logged_armed = s.armed
            self.log.info("armed" if s.armed else "disarmed")
        if s.failsafe is not self._logged_failsafe:
            self._logged_failsafe = s.failsafe
            self.log.warning("failsafe" if s.failsafe else "failsafe cleared")
        if s.error_code != self._sent_errors:
            self._send_errors(s.time_ns, s.error_code)
        if self.board.parameters_changed:
            self.board.parameters_changed = False
            self.send_params_changed(Bool(data=True))
        if self._sent_unsaved is not self.board.parameters.unsaved:
            self._sent_unsaved = self.board.parameters.unsaved
            self.send_unsaved_params(Bool(data=self._sent_unsaved))

    def _send_errors(self, time_ns: int, errors: int) -> None:
        new = errors & ~self._sent_errors
        self._sent_errors = errors
        for flag in ErrorFlag:
            if flag & new:
                message = Error(error_message=flag.reason, error_code=errors, reset_count=self.board.reboots)
                set_time(message.header.stamp, time_ns)
                self.send_error(message)

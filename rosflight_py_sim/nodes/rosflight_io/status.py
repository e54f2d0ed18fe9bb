"""rosflight_io's reports: status, errors, changed and unsaved parameters, version."""

from __future__ import annotations

from rosflight_msgs.msg import Error
from std_msgs.msg import Bool, String

from rosflight_py_sim import __version__
from rosflight_py_sim.firmware import Board, ErrorFlag, Status
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.stamps import set_time
from rosflight_py_sim.step.qos import LATCHED, LATCHED_LIST
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import PARAMS_CHANGED, STATUS, StatusReport

STATUS_RATE_HZ = 10.0
"""Rate of `status`."""


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


class StatusReports:
    """Publishes status at 10 Hz and on change, and the other reports when they change.

    Each newly set error bit is published as an Error on status/rosflight_errors. This class logs arming and failsafe;
    the firmware logs errors.
    """

    def __init__(self, node: SimulationNode, board: Board) -> None:
        """Create the topics, and publish the version."""
        self._board = board
        self._schedule = Schedule(STATUS_RATE_HZ)
        self._logger = node.get_logger()
        self._logged_armed = self._logged_failsafe = False
        self._published_errors = 0
        self._published_unsaved: bool | None = None
        self._send_status = node.publisher(STATUS)
        self._send_params_changed = node.publisher(PARAMS_CHANGED)
        self._unsaved_params = node.create_publisher(Bool, "status/unsaved_params", LATCHED)
        self._errors = node.create_publisher(Error, "status/rosflight_errors", LATCHED_LIST)
        node.create_publisher(String, "version", LATCHED).publish(String(data=f"rosflight_py_sim {__version__}"))

    def report(self, time_ns: int) -> None:
        """Publish the reports that are due after a pass of the firmware."""
        firmware = self._board.firmware
        if not (self._schedule.due(time_ns) or firmware.status_changed):
            return
        firmware.status_changed = False
        s = firmware.status
        self._send_status(status_report(time_ns, s))
        if s.armed is not self._logged_armed:
            self._logged_armed = s.armed
            self._logger.info("armed" if s.armed else "disarmed")
        if s.failsafe is not self._logged_failsafe:
            self._logged_failsafe = s.failsafe
            self._logger.warning("failsafe" if s.failsafe else "failsafe cleared")
        if s.error_code != self._published_errors:
            self._publish_errors(time_ns, s.error_code)
        if self._board.parameters_changed:
            self._board.parameters_changed = False
            self._send_params_changed(Bool(data=True))
        if self._published_unsaved is not firmware.parameters.unsaved:
            self._published_unsaved = firmware.parameters.unsaved
            self._unsaved_params.publish(Bool(data=self._published_unsaved))

    def _publish_errors(self, time_ns: int, errors: int) -> None:
        new = errors & ~self._published_errors
        self._published_errors = errors
        for flag in ErrorFlag:
            if flag & new:
                message = Error(error_message=flag.reason, error_code=errors, reset_count=self._board.reboots)
                set_time(message.header.stamp, time_ns)
                self._errors.publish(message)

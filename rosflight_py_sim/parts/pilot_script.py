"""Scripted pilots for ROSflight's firmware and for autopilots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import String
from std_srvs.srv import Trigger

from rosflight_py_sim.autopilot.mission_phase import ROLL_OUT_LABEL, has_landed, is_under_way
from rosflight_py_sim.firmware import BY_SWITCH, ErrorFlag, state_text
from rosflight_py_sim.kernels.chain import ChainLink, StepTime, Tally, add_one, copy_numbers, keeps
from rosflight_py_sim.kernels.jit import bound
from rosflight_py_sim.parts.drift_watch import DriftWatch
from rosflight_py_sim.parts.service_script import FlightAbortedError, Script, ServiceScript
from rosflight_py_sim.parts.slide_watch import SlideWatch
from rosflight_py_sim.step.ports import calls, newest, polled, trigger
from rosflight_py_sim.step.topics import (
    AUTOPILOT_PHASE,
    FORCES_AND_MOMENTS,
    IMU,
    SETPOINT,
    STATUS,
    TRUTH_STATE,
    TRUTH_WIND,
    ImuSample,
    StatusReport,
    Wrench,
)
from rosflight_py_sim.step.vehicle_state import VehicleState

# A plain number, because each status is compared with it, and operations on enumerations are slow.
_UNCALIBRATED_IMU = int(ErrorFlag.UNCALIBRATED_IMU)

# Number of IMU messages after which an unfinished calibration counts as failed. A calibration takes 1001; the rest
# allows for the next status, up to 0.1 s later.
_CALIBRATION = 1200
_CALIBRATIONS = 10


def hindrance_of(status: StatusReport) -> str:
    """Reason why the firmware cannot fly a mission, and the services to call first; empty if it can fly one."""
    if status.armed and not status.failsafe:
        return ""
    text = f"the vehicle is {state_text(status.error_code, armed=status.armed, failsafe=status.failsafe)}"
    if status.armed:
        return text
    names = ["calibrate_imu"] if status.error_code & ErrorFlag.UNCALIBRATED_IMU else []
    return f"{text}; before autopilot/start, call {', then '.join([*names, 'toggle_arm'])}"


def awaited_by(status: StatusReport) -> str:
    """Condition that a mission waits for after it has begun; empty if none."""
    if status.rc_override & BY_SWITCH:
        return "waiting for control, which the transmitter has until toggle_override is called"
    return "" if status.offboard else "waiting for the flight controller to receive the autopilot's commands"


class PilotScript(ServiceScript):
    """Pilot that arms the vehicle and gives control to the autopilot, with the services that a user would call.

    Attributes:
        status: newest status of the flight controller.
        slide: watch on the vehicle until it is armed; None if its true state is not observed.
    """

    services_called = calls(Trigger, "calibrate_imu", "toggle_arm", "toggle_override")
    statuses = trigger(STATUS)

    def initialise(self) -> None:
        """Wait for the first status."""
        super().initialise()
        self.slide = SlideWatch.of(self.dynamics)
        self._imu = Tally(count=0)
        # Newest force and moment, N and N m; None before the first.
        self._wrench: NDArray[np.float64] | None = None
        self.status = StatusReport(0, False, False, 0, False, 0, 0, 0, 0)
        self._has_status = False

    def watches_slide(self) -> bool:
        """Whether the motion before arming is an input."""
        return self.slide is not None

    @newest(FORCES_AND_MOMENTS, when="watches_slide")
    def take_wrench(self, wrench: Wrench) -> None:
        """Store force and moment."""
        self._wrench = np.array((*wrench.force, *wrench.moment))

    @newest(TRUTH_STATE, when="watches_slide")
    def observe_motion(self, state: VehicleState) -> None:
        """Check whether the vehicle slides."""
        if self.slide is not None and self._wrench is not None:
            self.slide.observe(state, self._wrench)

    @newest(IMU)
    def count_imu(self, sample: ImuSample) -> None:
        """Count the message."""
        self._imu.count += 1

    def input_links(self, time: StepTime, topic: str, numbers: NDArray[Any]) -> Sequence[ChainLink] | None:
        """Links that count IMU messages and check whether the vehicle slides."""
        if not keeps(type(self), "input_links", "take_wrench", "observe_motion", "count_imu"):
            return None
        if topic == IMU.name:
            return (ChainLink(bound(add_one, self._imu)),)
        if self.slide is None or self._wrench is None:
            return None
        if topic == FORCES_AND_MOMENTS.name:
            return (ChainLink(bound(copy_numbers, numbers, self._wrench)),)
        return (self.slide.link(time, numbers, self._wrench),) if topic == TRUTH_STATE.name else None

    @property
    def imu_count(self) -> int:
        """Number of IMU messages, counted until `is_calibrated`."""
        return self._imu.count

    def flight(self) -> Script:
        """Services to call, and conditions to wait for.

        Raises:
            FlightAbortedError: the script cannot succeed; the text gives the reason.
        """
        if not self.status.armed:
            yield from self.calibration()
            self.activity = "arming"
            yield "toggle_arm"
            yield lambda: self.status.armed
        self.activity = "handing over"
        if self.status.rc_override & BY_SWITCH:
            yield "toggle_override"
        yield lambda: not self.status.rc_override & BY_SWITCH
        self.activity = "handed over"

    def calibration(self, *, again: bool = False) -> Script:
        """Calibrate the IMU if it is not calibrated, or if `again`; repeat this if gusts moved the vehicle."""
        count = end = 0

        def is_over() -> bool:
            nonlocal count
            if self.imu_count > count:
                count = self.imu_count
                self.restart_wait()
            return (self.is_calibrated and not again) or count >= end

        for attempt in range(1, _CALIBRATIONS + 1):
            if self.is_calibrated and not again:
                return
            self.activity = "calibrating the IMU" + (f", attempt {attempt}" if attempt > 1 else "")
            yield "calibrate_imu"
            count = self.imu_count
            end = count + _CALIBRATION
            yield is_over
            again = False
        if self.slide is not None and not self.is_calibrated:
            raise FlightAbortedError(self.slide.unrest)
        yield lambda: self.is_calibrated

    @property
    def is_calibrated(self) -> bool:
        """Whether the IMU is calibrated according to the newest status."""
        return not self.status.error_code & _UNCALIBRATED_IMU

    @property
    def has_status(self) -> bool:
        """Whether a status has been received."""
        return self._has_status

    def answer(self, time_ns: int, content: StatusReport) -> None:
        """Check the current condition, and continue the script if it holds."""
        # A flight controller that does not stamp its messages sends all with the same stamp.
        self.make_stale()
        self.status = content
        self._has_status = True
        self.evaluate()
        self.end_inputs()

    def end_inputs(self) -> None:
        """End high-rate inputs that are needed only for the calibration or before arming."""
        if self.is_calibrated:
            self.end_port("count_imu")
        if self.status.armed:
            self.end_port("wrench")
            self.end_port("observe_motion")

    def trouble(self) -> str:
        """Reason to abort: failsafe, or a vehicle that slides before it is armed."""
        if self.status.failsafe:
            return "the flight controller went into failsafe"
        return self.slide.text if self.slide is not None and not self.status.armed else ""

    def unmet(self) -> str:
        """State of the flight controller."""
        status = self.status
        return f"the vehicle is {state_text(status.error_code, armed=status.armed, failsafe=status.failsafe)}"


class AutopilotScript(ServiceScript):
    """Script that starts the mission of an autopilot and follows the mission to its end.

    Class attributes:
        KEEPS_TO_SETPOINT: whether a vehicle far from its set-point counts as carried away, not as on its way to it.

    Attributes:
        phase: phase of the mission.
        has_landed: whether the mission has ended on the ground.
        drift: watch on the vehicle during the mission.
    """

    KEEPS_TO_SETPOINT: ClassVar[bool] = True

    take_state = polled(TRUTH_STATE)
    take_setpoint = polled(SETPOINT)
    take_wind = polled(TRUTH_WIND)

    def initialise(self) -> None:
        """Wait for the first phase."""
        super().initialise()
        self.phase = ""
        self.has_landed = False
        self.drift = DriftWatch()

    def mission(self) -> Script:
        """Start the mission."""
        yield "autopilot/start"

    def evaluate(self) -> None:
        """Check whether wind or current carry the vehicle away, and follow the script."""
        if self.KEEPS_TO_SETPOINT and self.stays_near_setpoint:
            state, setpoint, wind = self.take_state(), self.take_setpoint(), self.take_wind()
            if state is not None and setpoint is not None and wind is not None:
                self.drift.observe(state.time_ns, state.position_ned.tolist(), setpoint.position_ned, wind.velocity_ned)
        super().evaluate()

    def trouble(self) -> str:
        """Reason to abort: a vehicle that is carried away, or the reason of the next class."""
        return (self.drift.text if self.is_under_way else "") or super().trouble()

    @property
    def is_under_way(self) -> bool:
        """Whether the autopilot's mission has begun and is not done."""
        return is_under_way(self.phase)

    @property
    def waits_without_limit(self) -> bool:
        """True while the mission is under way."""
        return self.is_under_way

    @property
    def stays_near_setpoint(self) -> bool:
        """Whether the mission keeps the vehicle near its set-point; a roll-out leads away from it, the touch-down."""
        return self.is_under_way and self.phase != ROLL_OUT_LABEL

    @newest(AUTOPILOT_PHASE)
    def on_phase(self, message: String) -> None:
        """Store the phase of the mission."""
        phase = message.data
        self.has_landed = has_landed(self.phase, phase)
        self.phase = phase
        if self.is_under_way:
            self.activity = phase
            self.restart_wait()


class MissionScript(AutopilotScript, PilotScript):
    """Pilot that arms, hands over, and starts the mission of an autopilot that commands the firmware.

    A vehicle that has landed is disarmed; one that loiters stays under control of its autopilot.
    """

    services_called = calls(Trigger, *PilotScript.services_called.topics, "autopilot/start")

    def flight(self) -> Script:
        """Hand over, fly, and disarm a vehicle that has landed."""
        yield from PilotScript.flight(self)
        self.activity = "waiting for the autopilot"
        yield lambda: self.status.offboard
        yield from self.mission()
        yield lambda: self.phase == "done"
        if self.has_landed:
            self.activity = "disarming"
            yield "toggle_arm"
            yield lambda: not self.status.armed
        self.activity = "done"

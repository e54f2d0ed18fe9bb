"""The person at the flight line: calibrates, arms, hands over, disarms."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import Any, ClassVar, TypeAlias

from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Trigger

from rosflight_py_sim.firmware import ErrorFlag, Override
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.step_topics import AUTOPILOT_PHASE, STATUS, StatusReport

Script: TypeAlias = Generator[str | Callable[[], bool], None, None]
"""Services to call, and conditions to wait for."""

_BY_SWITCH = Override.ATT_SWITCH | Override.THR_SWITCH

# Status comes at 10 Hz of simulated time: what has not happened after this many has failed.
_PATIENCE = 150

# Status messages until a calibration is over: it takes 1001 IMU messages, which is 2.5 s at their default rate.
_CALIBRATION = 30
_CALIBRATIONS = 5


class FlightAbortedError(RuntimeError):
    """The flight could not be flown; the text says at which step and why."""


class Pilot(SimulationNode):
    """Arms the vehicle and hands over from the sticks, through the services that a person would call one by one.

    Attributes:
        doing: what the pilot is doing, for people to read.
        done: whether all that is done.
        failure: why it was given up, if it was.
    """

    DEFAULT_NAME: ClassVar[str] = "pilot"
    SERVICES: ClassVar[tuple[str, ...]] = ("calibrate_imu", "toggle_arm", "toggle_override")

    def __init__(self, **arguments: Any) -> None:
        """Begin as soon as the flight controller reports its status."""
        super().__init__(**arguments)
        self.doing = "starting (compiles the first time)"
        self.done = False
        self.failure: FlightAbortedError | None = None
        self.status = StatusReport(0, False, False, 0, False, 0, 0, 0, 0)
        self._waited = 0
        self._uncalled = ""
        self._is_heard = False
        self._calls = {name: self.create_client(Trigger, name) for name in self.SERVICES}
        self._script = self.flight()
        self._condition: Callable[[], bool] | None = lambda: True
        self.subscribe(STATUS, self._on_status)

    def flight(self) -> Script:
        """Services to call, and conditions to wait for."""
        if not self.status.armed:
            yield from self._calibration()
            self.doing = "arming"
            yield "toggle_arm"
            yield lambda: self.status.armed
        self.doing = "handing over"
        if self.status.rc_override & _BY_SWITCH:
            yield "toggle_override"
        yield lambda: not self.status.rc_override & _BY_SWITCH
        self.doing = "handed over"

    def _calibration(self) -> Script:
        """Calibrate the IMU, and repeat the calibration if gusts moved the vehicle."""

        def is_calibrated() -> bool:
            return not self.status.error_code & ErrorFlag.UNCALIBRATED_IMU

        def is_over() -> bool:
            return is_calibrated() or self._waited >= patience

        for attempt in range(1, _CALIBRATIONS + 1):
            self.doing = "calibrating the IMU" + (f", attempt {attempt}" if attempt > 1 else "")
            # Longer for each attempt: an IMU may be slower. The last one waits as all else does.
            patience = attempt * _CALIBRATION if attempt < _CALIBRATIONS else math.inf
            yield "calibrate_imu"
            yield is_over
            if is_calibrated():
                return

    @property
    def is_heard(self) -> bool:
        """Whether the flight controller has told its status."""
        return self._is_heard

    @property
    def is_patient(self) -> bool:
        """Whether what is waited for may take as long as it takes."""
        return False

    def be_patient(self) -> None:
        """Wait anew for what is being waited for."""
        self._waited = 0

    def _on_status(self, status: StatusReport) -> None:
        self.status = status
        self._is_heard = True
        if self._condition is None or self.failure or self.done:
            return
        if status.failsafe:
            self._give_up("the flight controller went into failsafe")
        elif self._condition():
            self._go_on()
        else:
            self._waited += 1
            if self._waited > _PATIENCE and not self.is_patient:
                missing = f"nobody offers the service {self._uncalled}"
                flags = f"error flags of the flight controller: 0x{status.error_code:02x}"
                self._give_up(missing if self._uncalled else flags)

    def _go_on(self) -> None:
        self._condition = None
        self._waited = 0
        step: str | Callable[[], bool] | None = self._uncalled or next(self._script, None)
        self._uncalled = ""
        if step is None:
            self.done = True
        elif isinstance(step, str):
            self._call(step)
        else:
            self._condition = step

    def _call(self, service: str) -> None:
        """Call the service, as soon as somebody offers it."""
        client = self._calls[service]
        if not client.service_is_ready():
            self._condition = client.service_is_ready
            self._uncalled = service
            return
        client.call_async(Trigger.Request()).add_done_callback(lambda future: self._on_answer(service, future))

    def _on_answer(self, service: str, future: Future[Any]) -> None:
        answer = future.result()
        if not answer.success:
            self._give_up(f"{service}: {answer.message}")
            return
        self._go_on()

    def _give_up(self, reason: str) -> None:
        self.failure = FlightAbortedError(f"{self.doing}: {reason}")


class MissionPilot(Pilot):
    """Has the autopilot fly its mission, too.

    A vehicle that has landed is disarmed; one that circles in the air is left to its autopilot.
    """

    SERVICES = (*Pilot.SERVICES, "autopilot/start")

    def __init__(self, *, lands: bool, **arguments: Any) -> None:
        """Begin; `lands` is whether the mission ends on ground."""
        self._lands = lands
        self._phase = ""
        super().__init__(**arguments)
        self.subscribe(AUTOPILOT_PHASE, self._on_phase)

    def flight(self) -> Script:
        """Hand over, fly, and disarm what has landed."""
        yield from super().flight()
        self.doing = "waiting for the autopilot"
        yield lambda: self.status.offboard
        yield "autopilot/start"
        yield lambda: self._phase == "done"
        if self._lands:
            self.doing = "disarming"
            yield "toggle_arm"
            yield lambda: not self.status.armed
        self.doing = "done"

    @property
    def is_patient(self) -> bool:
        """The autopilot's own phases take their time."""
        return self._phase not in ("", "wait", "done")

    def _on_phase(self, message: String) -> None:
        self._phase = message.data
        if self.is_patient:
            self.doing = self._phase
            self.be_patient()

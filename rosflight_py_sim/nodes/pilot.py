"""The person at the flight line: calibrates, arms, hands over to the autopilot, disarms."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from rclpy.node import Node
from rclpy.task import Future
from rosflight_msgs.msg import Status
from std_msgs.msg import String
from std_srvs.srv import Trigger

from rosflight_py_sim.firmware import ErrorFlag
from rosflight_py_sim.interfaces.qos import CHAIN, LATCHED

# Status comes at 10 Hz of simulated time: what has not happened after this many has failed.
_PATIENCE = 150


class FlightAbortedError(RuntimeError):
    """The flight could not be flown; the text says at which step and why."""


class Pilot(Node):
    """Flies the autopilot's mission through the services that a person would call, one after the other.

    A vehicle that has landed is disarmed; one that circles in the air is left to its autopilot.

    Attributes:
        doing: what the pilot is doing, for people to read.
        done: whether the mission has been flown, and what landed is disarmed.
        failure: why the flight was given up, if it was.
    """

    def __init__(self, *, lands: bool, **arguments: Any) -> None:
        """Begin as soon as the flight controller reports its status; `lands` is whether the mission ends on ground."""
        super().__init__("pilot", **arguments)
        self._lands = lands
        self.doing = "starting (compiles the first time)"
        self.done = False
        self.failure: FlightAbortedError | None = None
        self._status = Status()
        self._phase = ""
        self._waited = 0
        self._calls = {
            name: self.create_client(Trigger, name)
            for name in ("calibrate_imu", "toggle_arm", "toggle_override", "autopilot/start")
        }
        self._script = self._flight()
        self._condition: Callable[[], bool] | None = lambda: True
        self.create_subscription(String, "autopilot/phase", self._on_phase, LATCHED)
        self.create_subscription(Status, "status", self._on_status, CHAIN)

    def _flight(self) -> Generator[str | Callable[[], bool], None, None]:
        """The flight: services to call, and conditions to wait for."""
        self.doing = "calibrating the IMU"
        yield "calibrate_imu"
        yield lambda: not self._status.error_code & ErrorFlag.UNCALIBRATED_IMU
        self.doing = "arming"
        yield "toggle_arm"
        yield lambda: bool(self._status.armed)
        self.doing = "handing over to the autopilot"
        yield "toggle_override"
        yield lambda: bool(self._status.offboard)
        yield "autopilot/start"
        yield lambda: self._phase == "done"
        if self._lands:
            self.doing = "disarming"
            yield "toggle_arm"
            yield lambda: not self._status.armed
        self.doing = "done"

    def _on_phase(self, message: String) -> None:
        self._phase = message.data
        if self._phase not in ("wait", "done"):
            self.doing = self._phase
            self._waited = 0

    def _on_status(self, message: Status) -> None:
        self._status = message
        if self._condition is None or self.failure or self.done:
            return
        if message.failsafe:
            self._give_up("the flight controller went into failsafe")
        elif self._condition():
            self._go_on()
        else:
            self._waited += 1
            if self._waited > _PATIENCE and self._phase in ("", "wait", "done"):
                self._give_up(f"error flags of the flight controller: 0x{message.error_code:02x}")

    def _go_on(self) -> None:
        self._condition = None
        self._waited = 0
        step = next(self._script, None)
        if step is None:
            self.done = True
        elif isinstance(step, str):
            self._calls[step].call_async(Trigger.Request()).add_done_callback(
                lambda future, service=step: self._on_answer(service, future)
            )
        else:
            self._condition = step

    def _on_answer(self, service: str, future: Future[Any]) -> None:
        answer = future.result()
        if not answer.success:
            self._give_up(f"{service}: {answer.message}")
            return
        self._go_on()

    def _give_up(self, reason: str) -> None:
        self.failure = FlightAbortedError(f"{self.doing}: {reason}")

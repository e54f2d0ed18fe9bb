"""Scripted pilot of an underwater vehicle that holds depth and heading."""

from __future__ import annotations

import math

from std_msgs.msg import Float64
from std_srvs.srv import Trigger

from rosflight_py_sim.parts.pilot_script import AutopilotScript
from rosflight_py_sim.parts.service_script import Script
from rosflight_py_sim.step.ports import calls, newest, trigger
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import AUTOPILOT_PROGRESS, PWM_OUTPUT, PulseWidths

# Rate of the evaluations; outputs are more frequent.
_RATE_HZ = 10.0


class UnderwaterScript(AutopilotScript):
    """Makes the flight controller hold depth and heading, and starts the mission of the autopilot.

    A mission without progress for a minute has failed, because the current is too strong for the vehicle.
    """

    KEEPS_TO_SETPOINT = False
    PATIENCE = 600

    services_called = calls(Trigger, "hold/here", "autopilot/start")
    outputs = trigger(PWM_OUTPUT)

    def initialise(self) -> None:
        """Wait for the first outputs."""
        super().initialise()
        self._schedule = Schedule(_RATE_HZ)
        self._progress = 0.0

    def flight(self) -> Script:
        """Hold, dive, and wait for the end of the mission."""
        self.activity = "holding depth and heading"
        yield "hold/here"
        # A second call in a step is served in the next one if nodes exchange the calls.
        yield lambda: True
        yield from self.mission()
        yield lambda: self.phase == "done"
        self.activity = "done"

    def answer(self, time_ns: int, content: PulseWidths) -> None:
        """Check the current condition, and go on if it holds."""
        if self._schedule.due(time_ns):
            self.idle_until_ns = self._schedule.next_ns
            self.evaluate()

    @property
    def waits_without_limit(self) -> bool:
        """False: the mission must make progress."""
        return False

    @newest(AUTOPILOT_PROGRESS)
    def on_progress(self, message: Float64) -> None:
        """Note the completed share of the mission."""
        if message.data > self._progress:
            self.restart_wait()
        self._progress = message.data

    def unmet(self) -> str:
        """Current, and distance from the set-point."""
        text = f"no progress for {self.PATIENCE / _RATE_HZ:.0f} s"
        state, setpoint, current = self.take_state(), self.take_setpoint(), self.take_wind()
        if state is None or setpoint is None or current is None:
            return text
        apart = math.dist(state.position_ned.tolist(), setpoint.position_ned)
        return f"{text} in a current of {math.hypot(*current.velocity_ned):.2f} m/s, {apart:.1f} m from the set-point"

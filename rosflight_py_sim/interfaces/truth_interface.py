"""Base class of nodes that hold the true state: the time at which they start, late messages, and divergence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from std_msgs.msg import Bool, String

from rosflight_py_sim.ground.stamps import NANOSECONDS, seconds_text
from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.interfaces.part_ports import PartPorts
from rosflight_py_sim.parts.truth import Truth
from rosflight_py_sim.physics.dynamics import StateDivergedError
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.ports import output, queued
from rosflight_py_sim.step.schedule import LONGEST_STEP_NS
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import CLOCK, FAULT, HAS_STARTED

# Outside of lockstep, subscriptions to the state are volatile: a node that starts while no step is taken receives it at
# the next of these repetitions.
_REPEAT_S = 0.5


class _TruthPorts(PartPorts):
    """The first driving message gives the time; one of an earlier step is answered with the present state."""

    part: TruthInterface

    def _on_trigger(self, message: Any) -> None:
        part, stamp = self.part, message.time_ns
        if not part.time_is_known:
            part.start_at(stamp)
        if self._sets_clock:
            part.update_clock(stamp)
        part.is_idle = False
        # In lockstep nearly every stamp is that of the state, which is never past.
        if (stamp != part.time_ns or not part.lockstep) and part.is_past(stamp):
            part.answer_again(stamp)
        else:
            self.join.trigger(stamp, message)


class TruthInterface(Truth, PartNode):
    """The node of a `Truth`.

    The answer to a repeated message is the current state. So is the answer to a message with an older stamp: the stamps
    of the truth state only decrease if /clock does. Outside of lockstep, while no step is taken, the state is published
    again every half second of system time.

    Nothing is published before the time is known. In time mode wall it is the system time, in the other modes that of
    the first /clock or driving message to arrive; it is 0 if the time manager reports on sim/has_started that time has
    not started. The state is then published with that time: the initial state of a node that is restarted in a running
    graph counts as a state that was set. In lockstep, that node publishes the wind from its first step on: the wind at
    the end of that step may have been published before the restart.

    When the state diverges, the last finite state is kept, the error is published on sim/fault (which pauses the time
    manager), and messages have no effect until one of the services sets a finite state.
    """

    PORTS: ClassVar[type[PartPorts]] = _TruthPorts

    send_fault = output(FAULT)

    def initialise(self) -> None:
        """Set the state before the first message."""
        super().initialise()
        self.time_is_known = False
        self.is_idle = True
        self._answered_again = self._gaps = self._left_out_ns = 0

    def begin(self) -> None:
        """Withdraw the fault of a previous node."""
        self.send_fault(String())
        super().begin()
        # Before the subscription to /clock, which it would end.
        self.follow_stamps()
        if self.time_mode == "wall" and not self.control.is_spawning:
            self.start_at(self.now_ns)
        if not self.lockstep:
            self.create_system_timer(_REPEAT_S, self._repeat_if_idle)

    def waits_for_time(self) -> bool:
        """Whether the time is that of /clock."""
        return self.time_mode != "wall"

    def follow_stamps(self) -> None:
        """Take the time from the driving messages; only in lockstep, because elsewhere these may be late."""
        if self.lockstep:
            super().follow_stamps()

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Whether the state is finite, the messages with the stamp of an earlier one, and gaps taken for pauses."""
        state = "diverged; set a finite state" if self.has_diverged else "running"
        values = {
            "step (s)": self.step_ns / NANOSECONDS,
            "answered again": self._answered_again,
            "gaps": self._gaps,
            "left out (s)": self._left_out_ns / NANOSECONDS,
        }
        yield Diagnosis("", state, Level.ERROR if self.has_diverged else Level.OK, values=values)

    @queued(CLOCK, when="waits_for_time")
    def _on_clock(self, time_ns: int) -> None:
        self.start_at(time_ns)

    @queued(HAS_STARTED, when="waits_for_time")
    def _on_has_started(self, message: Bool) -> None:
        if not message.data:
            self.start_at(0)

    def start_at(self, time_ns: int) -> None:
        """Set the time of the initial state and publish it, unless the time is known."""
        if not self.time_is_known:
            self.gives_wind = not (self.lockstep and time_ns)
            self.join_at(time_ns)

    def join_at(self, time_ns: int) -> None:
        """Set the time of a new vehicle's first step, and publish the vehicle's state."""
        self.time_is_known = True
        self.time_ns = time_ns
        self.update_clock(time_ns)
        self.end_port("_on_clock")
        self.send_state()

    def is_past(self, stamp_ns: int) -> bool:
        """Whether the state is beyond the step of that stamp."""
        if self.lockstep:
            return 0 < self.step_ns <= self.time_ns - stamp_ns
        # A message with an older stamp is late, unless the clock itself was set back.
        return stamp_ns <= self.time_ns and self.now_ns >= self.time_ns - LONGEST_STEP_NS

    def on_gap(self, elapsed_ns: int) -> None:
        """Count it."""
        self._gaps += 1
        self._left_out_ns += elapsed_ns

    def on_divergence(self, error: StateDivergedError, time_ns: int) -> None:
        """Publish the fault."""
        # Outside of lockstep the stamp is that of the end, and the step size 0.
        text = f"{error} at {seconds_text(time_ns + self.step_ns)}; the last finite state is kept; set a state "
        text += "with dynamics/set_sim_state and resume with time_manager/toggle_pause"
        self.log.error(text)
        self.send_fault(String(data=text))

    def answer_again(self, time_ns: int) -> None:
        """Send the present state."""
        self._answered_again += 1
        super().answer_again(time_ns)

    def adopt_new_state(self) -> None:
        """Go on from a state that a service has set."""
        if self.has_diverged:
            self.send_fault(String())
        super().adopt_new_state()

    def _repeat_if_idle(self) -> None:
        if self.is_idle:
            self.send_state()
        self.is_idle = True

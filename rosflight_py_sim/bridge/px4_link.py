"""Exchange with one PX4: each step sends it the measurements, and waits for the outputs that answer them."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.bridge.front_end_interface import START_OVER, Answer, Direct, NewestMessages, Snapshot
from rosflight_py_sim.bridge.incidents import Incidents
from rosflight_py_sim.bridge.output_map import OutputMap, map_channels
from rosflight_py_sim.bridge.px4_messages import MessageMaker
from rosflight_py_sim.bridge.px4_peer import Px4Peer
from rosflight_py_sim.ground.pulse_width import MOTOR, OUTPUTS, SERVO
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.ground.transitions import TableEnum, TransitionMachine, Transitions
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.protocols.px4_simulator.dialect import (
    CHANNELS,
    LAYOUTS,
    CommandLong,
    CommandNumber,
    HilActuatorControls,
    HilStateQuaternion,
)
from rosflight_py_sim.protocols.px4_simulator.step_frames import StepFrame, read_outputs

CHANNEL_NAMES = [f"{kind}{channel + 1}" for kind in ("motor", "servo") for channel in range(CHANNELS)]
"""Channels of an output map: each of PX4's channels as the command of a motor, and as that of a servo."""

# Steps in a row with outputs after which PX4 has booted. Before, it answers some of them, when a module starts.
_REGULAR = 50

# Answers to other than successive measurements after which PX4's boot does not explain them.
_SKIPPING = 2000

# Measurements without outputs that are kept; older ones are forgotten.
_MOST_UNANSWERED = 1000

# Pulse width of command 0 and its increase to that of command 1, us; the half is for rounding, as none is negative.
_MOTOR_US, _MOTOR_REACH_US = MOTOR.zero_us + 0.5, MOTOR.reach_us
_SERVO_US, _SERVO_REACH_US = SERVO.zero_us + 0.5, SERVO.reach_us

# Steps of the free run that may be made up for, s of system time: the bridge calls `exchange` 50 times per second.
_CATCH_UP_S = 0.1


class Px4State(TableEnum):
    """Progress of the step."""

    ABSENT = "no PX4"
    STARTING_OVER = "starting over"
    FREE = "awaiting real time"
    FREE_STEP = "step in real time"
    AWAITING = "awaiting outputs"
    STEP = "step in lockstep"


class Px4Event(TableEnum):
    """A snapshot of the vehicle, a change of the connection, outputs, or a time."""

    SNAPSHOT = "snapshot"
    FIRST = "first PX4 connects"
    ANOTHER = "PX4 connects again"
    LOST = "connection ends"
    ANSWER = "outputs with the time of the snapshot"
    REGULAR = f"outputs for {_REGULAR} steps in a row"
    DUE = "real time has come"
    OVERDUE = "no outputs within px4.answer_timeout"


class Px4Link:
    """Sends measurements to PX4 and takes a step with its outputs, by the table `PX4_TRANSITIONS`.

    While PX4 boots it answers few measurements, so steps are taken in real time. Once it answers each, a step waits for
    the outputs with the time of its measurements. Counters: see Px4FrontEnd.

    Attributes:
        peer: the PX4, and the port.
    """

    def __init__(
        self, peer: Px4Peer, outputs: OutputMap, messages: MessageMaker, timeout_s: float, incidents: Incidents
    ) -> None:
        """Store the objects that the front-end built from its parameters."""
        self.peer = peer
        self._outputs, self._messages, self._incidents = outputs, messages, incidents
        self._timeout_s = timeout_s
        self._snapshot: Snapshot | None = None
        self._connections = 0
        self._unanswered_us: deque[int] = deque(maxlen=_MOST_UNANSWERED)
        self._row = self._skipping = 0
        self._paced_ns, self._is_sent = -1, False
        self._sent_s = self._due_s = 0.0
        self._commands: Answer = None
        self._outputs.outputs(())
        self._stuck, self._rare = incidents.apart(), incidents.apart()
        self._states = TransitionMachine(PX4_TRANSITIONS, Px4State.ABSENT, self)

    def exchange(self, snapshot: Snapshot) -> Answer:
        """Send the measurements of a new snapshot; return the outputs for its step, if they are due."""
        self._commands = None
        if snapshot is not self._snapshot:
            self._snapshot = snapshot
            self._states.handle(Px4Event.SNAPSHOT)
            was_sent, self._is_sent = self._is_sent, False
            if self._states.state is Px4State.AWAITING and not was_sent:
                # The answer cannot have arrived yet.
                return None
        for message in self.peer.messages():
            self._note_connection()
            self._receive(message)
        self._note_connection()
        if self._states.state is Px4State.AWAITING:
            if time.monotonic() - self._sent_s > self._timeout_s:
                self._states.handle(Px4Event.OVERDUE)
        elif self._states.state is Px4State.FREE and time.monotonic() >= self._due_s:
            self._states.handle(Px4Event.DUE)
        return self._commands

    def direct(
        self,
        imu: NDArray[np.float64],
        newest: NewestMessages,
        snapshot: Callable[[int], Snapshot],
        pulse_us: NDArray[np.int64],
    ) -> Direct:
        """Function that exchanges the steps in lockstep; see `ActuatorFrontEnd.direct`."""
        messages, peer, counters = self._messages, self.peer, self._incidents.counters
        received, controls = StepFrame(), np.zeros(CHANNELS)
        take = bound(take_step, *received.payload, controls, *self._outputs.map, pulse_us)

        def exchange(time_ns: int) -> bool:
            if self._states.state is not Px4State.STEP or not peer.is_direct:
                return False
            if messages.needs_snapshot(time_ns, newest):
                peer.send(messages.frames(snapshot(time_ns)))
            else:
                peer.send(messages.sensors(time_ns, imu, newest))
            if messages.stuck:
                self._warn_of_equal_readings()
            size = peer.receive_into(received.memory)
            if not take(size, time_ns // 1000):
                self._is_sent = True
                peer.put_back(bytes(received.memory[:size]))
                return False
            counters["steps"] += 1
            return True

        return exchange

    def _note_connection(self) -> None:
        """Handle the end of a connection, and its beginning."""
        peer = self.peer
        is_new = peer.connections != self._connections
        if not is_new and peer.is_connected:
            return
        if self._states.state is not Px4State.ABSENT and (is_new or not peer.is_connected):
            self._states.handle(Px4Event.LOST)
        if is_new:
            is_first = self._connections == 0
            self._connections = peer.connections
            if not is_first:
                self._rare.count("restarts", "PX4 restarted; the vehicle starts over")
            self._states.handle(Px4Event.FIRST if is_first else Px4Event.ANOTHER)

    def _receive(self, message: Any) -> None:
        if isinstance(message, HilActuatorControls):
            self._receive_outputs(message)
        elif isinstance(message, CommandLong) and (
            message.command == CommandNumber.SET_MESSAGE_INTERVAL
            and message.param1 == LAYOUTS.of[HilStateQuaternion].number
            and math.isfinite(message.param2)
        ):
            # Us; 0 is the default rate, and -1 none.
            self._messages.truth_interval_ns = max(int(message.param2 * 1e3), 0)

    def _receive_outputs(self, message: HilActuatorControls) -> None:
        """Keep the outputs, and note which measurements they answer."""
        self._outputs.outputs(channels_us(message.controls))
        unanswered_us = self._unanswered_us
        if message.time_usec not in unanswered_us:
            # A second answer, or one from before a time-out.
            self._incidents.counters["late_answers"] += 1
            return
        skipped = 0
        while unanswered_us.popleft() != message.time_usec:
            skipped += 1
        self._row = 0 if skipped else self._row + 1
        if skipped and self._states.state in (Px4State.FREE, Px4State.FREE_STEP):
            self._skipping += 1
            if self._skipping == _SKIPPING:
                text = (
                    "PX4 answers only some steps, so they are taken in real time: set its parameter IMU_INTEG_RATE to "
                    "the rate of the steps"
                )
                self._rare.count("skipping", text)
        if not unanswered_us:
            self._states.handle(Px4Event.ANSWER)
        if self._row >= _REGULAR:
            self._states.handle(Px4Event.REGULAR)

    # Actions of the transitions.

    def _begin(self) -> None:
        self._messages.begin()
        self._outputs.outputs(())
        self._pace_from_now()

    def _pace_from_now(self) -> None:
        self._due_s, self._paced_ns, self._row = time.monotonic(), -1, 0
        self._unanswered_us.clear()

    def _start_over(self) -> None:
        self._commands = START_OVER

    def _send_measurements(self) -> None:
        assert self._snapshot is not None
        self._unanswered_us.append(self._snapshot.time_ns * 1_000_000 // NANOSECONDS)
        self._sent_s = time.monotonic()
        if not self._is_sent:
            self.peer.send(self._messages.frames(self._snapshot))
            self._warn_of_equal_readings()

    def _warn_of_equal_readings(self) -> None:
        if self._messages.stuck and not self._stuck.counters["equal_readings"]:
            text = (
                "readings of %s do not change; PX4 takes such a sensor for stuck and reports it STALE: give it noise "
                "above its resolution"
            )
            self._stuck.count("equal_readings", text, " and ".join(self._messages.stuck))

    def _pace(self) -> None:
        """Set the system time of the step that follows: as much later as the simulated time."""
        assert self._snapshot is not None
        time_ns, now_s = self._snapshot.time_ns, time.monotonic()
        if self._paced_ns >= 0:
            self._due_s = max(self._due_s + (time_ns - self._paced_ns) / NANOSECONDS, now_s - _CATCH_UP_S)
        self._paced_ns = time_ns

    def _command_step(self) -> None:
        self._incidents.counters["steps"] += 1
        self._commands = self._outputs.outputs_us.tolist()

    def _command_free_step(self) -> None:
        self._incidents.counters["free_steps"] += 1
        self._commands = self._outputs.outputs_us.tolist()

    def _begin_lockstep(self) -> None:
        self._incidents.inform("PX4 answers each step: the simulation waits for its outputs from now on")
        self._sent_s = time.monotonic()
        if not self._unanswered_us:
            self._states.handle(Px4Event.ANSWER)

    def _warn_of_timeout(self) -> None:
        self._pace_from_now()
        text = "no outputs of PX4 for %g s; steps are taken in real time until there are"
        self._incidents.count("timeouts", text, self._timeout_s)


@kernel
def set_channels(controls: NDArray[np.float64], channels_us: NDArray[np.int64]) -> None:
    """Write the pulse widths of CHANNEL_NAMES, us; controls (16,) beyond their range, or NaN, are limited to it."""
    for channel in range(CHANNELS):
        control = controls[channel]
        control = 0.0 if math.isnan(control) else min(max(control, -1.0), 1.0)
        channels_us[channel] = int(_MOTOR_US + _MOTOR_REACH_US * max(control, 0.0))
        channels_us[CHANNELS + channel] = int(_SERVO_US + _SERVO_REACH_US * control)


@kernel
def take_step(
    frame: NDArray[np.uint8],
    times: NDArray[np.int64],
    floats: NDArray[np.float32],
    controls: NDArray[np.float64],
    terms: NDArray[np.int64],
    weights: NDArray[np.float64],
    no_output: NDArray[np.int64],
    channels_us: NDArray[np.int64],
    outputs_us: NDArray[np.int64],
    pulse_us: NDArray[np.int64],
    size: int,
    time_us: int,
) -> bool:
    """Write the pulse widths (14,) if `size` received bytes are the outputs of a time; see `read_outputs`."""
    if read_outputs(frame, times, floats, controls, size) != time_us:
        return False
    set_channels(controls, channels_us)
    map_channels(terms, weights, no_output, channels_us, outputs_us)
    for output in range(OUTPUTS):
        pulse_us[output] = outputs_us[output]
    return True


def channels_us(controls: Sequence[float]) -> list[int]:
    """Pulse widths of CHANNEL_NAMES, us; controls beyond the range of a motor or servo, or NaN, are limited to it."""
    pulses_us = np.zeros(len(CHANNEL_NAMES), np.int64)
    set_channels(np.array(controls, np.float64), pulses_us)
    return pulses_us.tolist()


_SENT = (Px4Link._pace, Px4Link._send_measurements)
_PACED = (Px4State.FREE, _SENT)
_ASKED = (Px4State.AWAITING, (Px4Link._send_measurements,))
_LOST = (Px4State.ABSENT, ())

PX4_TRANSITIONS: Transitions[Px4State, Px4Event] = {
    Px4State.ABSENT: {
        Px4Event.FIRST: (Px4State.FREE, (Px4Link._begin, *_SENT)),
        Px4Event.ANOTHER: (Px4State.STARTING_OVER, (Px4Link._begin, Px4Link._start_over)),
    },
    Px4State.STARTING_OVER: {
        Px4Event.SNAPSHOT: (Px4State.FREE, (Px4Link._pace_from_now, *_SENT)),
        Px4Event.LOST: _LOST,
    },
    Px4State.FREE: {
        # A state was set: no step was taken.
        Px4Event.SNAPSHOT: _PACED,
        Px4Event.DUE: (Px4State.FREE_STEP, (Px4Link._command_free_step,)),
        Px4Event.REGULAR: (Px4State.AWAITING, (Px4Link._begin_lockstep,)),
        Px4Event.LOST: _LOST,
    },
    Px4State.FREE_STEP: {Px4Event.SNAPSHOT: _PACED, Px4Event.LOST: _LOST},
    Px4State.AWAITING: {
        Px4Event.SNAPSHOT: _ASKED,
        Px4Event.ANSWER: (Px4State.STEP, (Px4Link._command_step,)),
        Px4Event.OVERDUE: (Px4State.FREE_STEP, (Px4Link._warn_of_timeout, Px4Link._command_free_step)),
        Px4Event.LOST: _LOST,
    },
    Px4State.STEP: {Px4Event.SNAPSHOT: _ASKED, Px4Event.LOST: _LOST},
}
"""Steps by what PX4 sends; an event not listed changes nothing."""

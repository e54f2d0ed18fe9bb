"""Exchange with one ArduPilot: each servo frame commands a step and is answered with the state after it."""

from __future__ import annotations

import time

from rosflight_py_sim.bridge.ardupilot_peer import ArduPilotPeer
from rosflight_py_sim.bridge.ardupilot_reply import ReplyMaker
from rosflight_py_sim.bridge.front_end_interface import START_OVER, Answer, Snapshot
from rosflight_py_sim.bridge.incidents import Incidents
from rosflight_py_sim.bridge.output_map import OutputMap
from rosflight_py_sim.bridge.peers import Address
from rosflight_py_sim.ground.transitions import TableEnum, TransitionMachine, Transitions
from rosflight_py_sim.protocols.ardupilot_json import ReplyError, ServoFrame

_COUNTS = 2**32

# ArduPilot repeats a frame after 1.1 s. A repetition this soon after the answer crossed it on the way, or was
# duplicated by the network. A second answer would leave ArduPilot one frame behind permanently.
_CROSSING_S = 0.25

# ArduPilot's first frames have a start-up rate, which changes by 1 Hz per frame to SIM_RATE_HZ. The rate in a frame is
# truncated to whole hertz and may alternate between two adjacent values.
_SETTLED_S = 1.0
_SAME_RATE_HZ = 1


class StepState(TableEnum):
    """Progress of the step that the peer's last frame commands."""

    WAITING = "waiting"
    REPEATED = "repeated"
    STEPPING = "stepping"
    ANSWERING = "answering"
    STARTING_OVER = "starting over"


class StepEvent(TableEnum):
    """A snapshot of the vehicle, a frame of the peer classified by its count, or the end of the frames."""

    SNAPSHOT = "snapshot"
    NEXT = "next frame, even after a gap"
    DUPLICATE = "same frame"
    CROSSING = f"same frame less than {_CROSSING_S:g} s after the answer"
    LATE = "frame before, from the same port"
    RESTART = "lower count"
    SILENCE = "no more frames"


class ArduPilotLink:
    """Takes a step for each frame of the peer, and answers with the state after it (see `STEP_TRANSITIONS`).

    ArduPilot repeats a frame if it does not receive the answer. A repeated frame is answered with the same bytes and
    commands no step; repetitions that arrived while the step was under way are ignored. A lower frame count means a
    restart: the vehicle starts over before the frame takes effect.

    Counters: see ArduPilotFrontEnd.

    Attributes:
        peer: the ArduPilot, and the sockets.
        frame_rate: frame rate in the last frame that commanded a step, Hz; None before the first.
    """

    def __init__(self, peer: ArduPilotPeer, outputs: OutputMap, replies: ReplyMaker, incidents: Incidents) -> None:
        """Store the objects that the front-end built from its parameters."""
        self.peer = peer
        self.frame_rate: int | None = None
        self._outputs, self._replies, self._incidents = outputs, replies, incidents
        self._restarts = incidents.apart()
        self._frame: ServoFrame | None = None
        self._frame_sender: Address | None = None
        self._reply, self._replied_s = b"", 0.0
        self._steady_rate, self._steady_frames, self._logged_rate = 0, 0, 0
        self._commands: Answer = None
        self._states = TransitionMachine(STEP_TRANSITIONS, StepState.WAITING, self)

    def exchange(self, snapshot: Snapshot) -> Answer:
        """Answer the frame whose step led to this snapshot; return the next frame's commands, if it has arrived."""
        self._commands = None
        self._states.handle(StepEvent.SNAPSHOT, snapshot)
        return self._commands

    def _receive_frames(self, snapshot: Snapshot) -> None:
        """Handle frames up to the first one that commands a step or starts the vehicle over."""
        event = StepEvent.SILENCE
        for frame, sender in self.peer.frames():
            placed = self._event_of(frame, sender)
            if placed is StepEvent.NEXT or placed is StepEvent.RESTART:
                self._frame, event = frame, placed
                self.peer.refuse_others()
                break
            self._states.handle(placed, snapshot)
        self._states.handle(event, snapshot)

    def _event_of(self, frame: ServoFrame, sender: Address) -> StepEvent:
        """Event of a frame by its count; duplicate, late and lost frames and restarts are counted."""
        last, last_sender = self._frame, self._frame_sender
        self._frame_sender = sender
        if sender != last_sender:
            self._steady_frames = self._logged_rate = 0
        if last is None:
            return StepEvent.NEXT
        ahead = (frame.frame_count - last.frame_count) % _COUNTS
        counters = self._incidents.counters
        if ahead == 0:
            counters["duplicates"] += 1
            crosses = time.monotonic() - self._replied_s < _CROSSING_S
            return StepEvent.CROSSING if crosses else StepEvent.DUPLICATE
        if ahead == _COUNTS - 1 and sender == last_sender and frame.frame_count > 0:
            # Networks may swap two datagrams; a restarted ArduPilot begins at 0.
            counters["late_frames"] += 1
            return StepEvent.LATE
        if ahead >= _COUNTS // 2:
            text = f"ArduPilot restarted: frame {frame.frame_count} after {last.frame_count}; the vehicle starts over"
            self._restarts.count("restarts", text)
            return StepEvent.RESTART
        if ahead > 1:
            text = f"lost {ahead - 1} frames of ArduPilot between {last.frame_count} and {frame.frame_count}"
            self._incidents.count("lost_frames", text, times=ahead - 1)
        return StepEvent.NEXT

    def _answer(self, snapshot: Snapshot) -> None:
        """Build the answer to the frame whose step has been taken, and send it."""
        try:
            self._reply = self._replies.line(snapshot)
        except ReplyError as error:
            self._reply = b""
            self._incidents.count("unsent_replies", f"no answer to ArduPilot: {error}")
        self._answer_again(snapshot)

    def _answer_again(self, _: Snapshot) -> None:
        if self._reply:
            self._replied_s = time.monotonic()
            self.peer.send(self._reply)

    def _restart_timeout(self, _: Snapshot) -> None:
        self.peer.restart_timeout()

    def _command_step(self, _: Snapshot) -> None:
        assert self._frame is not None
        self.frame_rate = self._frame.frame_rate
        self._incidents.counters["steps"] += 1
        self._watch_rate(self._frame)
        self._commands = self._outputs.outputs(self._frame.pwm_us)

    def _start_over(self, _: Snapshot) -> None:
        self._commands = START_OVER

    def _watch_rate(self, frame: ServoFrame) -> None:
        """Log the frame rate once it has settled, and again when it settles at another value."""
        rate = frame.frame_rate
        # While ArduPilot boots, its frames contain no outputs and the start-up rate.
        if abs(rate - self._steady_rate) > _SAME_RATE_HZ or not any(frame.pwm_us):
            self._steady_rate, self._steady_frames = rate, 0
        self._steady_frames += 1
        if self._steady_frames >= _SETTLED_S * rate and abs(rate - self._logged_rate) > _SAME_RATE_HZ:
            self._logged_rate = rate
            self._incidents.inform(f"ArduPilot sends {rate} frames per simulated second")


_COMMANDED = (StepState.STEPPING, (ArduPilotLink._command_step,))
_RESTARTED = (StepState.STARTING_OVER, (ArduPilotLink._start_over,))

STEP_TRANSITIONS: Transitions[StepState, StepEvent] = {
    StepState.WAITING: {
        StepEvent.SNAPSHOT: (StepState.WAITING, (ArduPilotLink._receive_frames,)),
        StepEvent.NEXT: _COMMANDED,
        StepEvent.RESTART: _RESTARTED,
        StepEvent.DUPLICATE: (StepState.REPEATED, ()),
    },
    StepState.REPEATED: {
        StepEvent.NEXT: _COMMANDED,
        StepEvent.RESTART: _RESTARTED,
        StepEvent.SILENCE: (StepState.WAITING, (ArduPilotLink._answer_again,)),
    },
    StepState.STEPPING: {
        StepEvent.SNAPSHOT: (StepState.ANSWERING, (ArduPilotLink._restart_timeout, ArduPilotLink._receive_frames))
    },
    # Frames that arrived during the step are read before the answer is sent: duplicates among them are older than it.
    StepState.ANSWERING: {
        StepEvent.NEXT: (StepState.STEPPING, (ArduPilotLink._answer, ArduPilotLink._command_step)),
        StepEvent.RESTART: _RESTARTED,
        StepEvent.SILENCE: (StepState.WAITING, (ArduPilotLink._answer,)),
    },
    StepState.STARTING_OVER: {StepEvent.SNAPSHOT: _COMMANDED},
}
"""Steps and answers by frame; an event not listed changes nothing."""

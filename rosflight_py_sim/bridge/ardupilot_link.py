"""The conversation with one ArduPilot: one servo frame is one step, answered with the state after it."""

from __future__ import annotations

import math
import time
from collections import Counter
from typing import Literal

from rosflight_py_sim.bridge.ardupilot_reply import ReplyMaker
from rosflight_py_sim.bridge.front_end_interface import START_OVER, Answer, Logger, Snapshot
from rosflight_py_sim.bridge.output_map import OutputMap
from rosflight_py_sim.bridge.partner_sockets import PartnerSockets
from rosflight_py_sim.bridge.peers import Address, AllowedPeers, Partner, address_text
from rosflight_py_sim.bridge.rare_warnings import RareWarnings
from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.protocols.ardupilot_json import (
    FrameLengthError,
    FrameRateError,
    MagicError,
    ProtocolError,
    ReplyError,
    ServoFrame,
    decode_frame,
)

# Datagrams looked at in one go, of the partner and of others: a flood must let the partner and the rest of the process
# have their turn.
_MOST_OF_PARTNER, _MOST_OF_OTHERS = 256, 64

# So often others have their turn while the partner has something to say.
_OTHERS_EVERY_S = 0.01

_COUNTS = 2**32

# ArduPilot repeats a frame after 1.1 s. A repetition that comes sooner has crossed the answer on its way, or was
# doubled by the network: a second answer would put ArduPilot one frame behind for good.
_CROSSING_S = 0.25

# For so long after its last frame a second ArduPilot counts as being there.
_REFUSED_S = 2.0

# ArduPilot's first frames state a start-up rate, which changes by 1 Hz a frame to SIM_RATE_HZ. The rate in a frame is
# truncated to whole hertz and may alternate between two neighbouring values.
_SETTLED_S = 1.0
_SAME_RATE_HZ = 1

_KINDS = {FrameLengthError: "wrong_length", MagicError: "wrong_magic", FrameRateError: "zero_frame_rate"}

_Place = Literal["next", "repeated", "late", "restart"]


class ArduPilotLink:
    """Frame n of the partner commands a step, and the state after that step is its answer.

    A repeated frame (ArduPilot repeats it when it misses the answer) is answered with the same bytes and moves nothing;
    repetitions that queued up while the step was under way are ignored. A lower count is a restart: the vehicle starts
    over before the frame takes effect.

    The sender of the first valid frame is the partner; other senders are refused until it has been silent for a while,
    and no flood of their frames blocks the partner's. If a refused sender and the partner send at the same time, the
    refused one is a second ArduPilot, and a warning is logged. Otherwise it is the partner itself after a restart, with
    a new source port.

    Counters: see ArduPilotFrontEnd.
    """

    def __init__(
        self,
        own: Address,
        *,
        vehicle: str,
        allowed: AllowedPeers,
        silence_s: float,
        outputs: OutputMap,
        replies: ReplyMaker,
        counters: Counter[str],
        warn: RareWarnings,
        logger: Logger,
    ) -> None:
        """Take what the front-end has read from its parameters; `open` opens the socket."""
        self.own = own
        self._whose = f"{vehicle}: " if vehicle else ""
        self._allowed = allowed
        self._partner = Partner(silence_s)
        self._silence_s = silence_s
        self._outputs, self._replies = outputs, replies
        self._counters, self._warn, self._logger = counters, warn, logger
        # By itself, so that no flood hides it.
        self._warn_of_restart = RareWarnings(logger)
        self._sockets: PartnerSockets | None = None
        self._has_moved = False
        self._others_due_s = 0.0
        self._repeated = False
        self._frame: ServoFrame | None = None
        self._frame_sender: Address | None = None
        self._next: ServoFrame | None = None
        self._start_over = False
        self._step_is_under_way = False
        self._answer = b""
        self._answered_s = 0.0
        self._refused: tuple[Address, float] | None = None
        self._heard_frames = 0
        # Time of another sender's last frame, and the number of the partner's frames by then.
        self._other_s, self._heard_before_other = -math.inf, 0
        self._steady_rate, self._steady_frames, self._told_rate = 0, 0, 0

    @property
    def frame_rate(self) -> int | None:
        """Rate that the last frame asks for, Hz."""
        return None if self._frame is None else self._frame.frame_rate

    @property
    def refused(self) -> str:
        """A second ArduPilot that is being refused; empty: none."""
        if self._refused is None or time.monotonic() - self._refused[1] > _REFUSED_S:
            return ""
        return address_text(self._refused[0])

    def open(self) -> None:
        """Bind the socket.

        Raises:
            ParameterError: that cannot be.
        """
        try:
            self._sockets = PartnerSockets(self.own)
        except OSError as error:
            raise ParameterError(
                f"parameters 'ardupilot.address' and 'ardupilot.port': {address_text(self.own)} given, which cannot be "
                f"used: {error.strerror}; allowed: an address of this machine and a port that nobody uses"
            ) from error

    def close(self) -> None:
        """Close the socket."""
        if self._sockets is not None:
            self._sockets.close()
            self._sockets = None

    def filenos(self) -> list[int]:
        """Descriptors of which one is readable when there is something to look at."""
        assert self._sockets is not None
        return self._sockets.filenos()

    def exchange(self, snapshot: Snapshot) -> Answer:
        """Answer the frame whose step led to this snapshot; the commands of the next one, if it has come."""
        if self._step_is_under_way:
            self._step_is_under_way = False
            # Time spent in the step is no silence of the partner's.
            self._partner.heard()
            self._next = self._receive(answer_repetition=False)
            if not self._start_over:
                self._reply(snapshot)
            # Nobody can have answered that yet, and what comes makes the socket readable.
        elif self._next is None:
            self._next = self._receive(answer_repetition=True)
        if self._next is None:
            return None
        if self._start_over:
            self._start_over = False
            return START_OVER
        self._frame, self._next = self._next, None
        self._step_is_under_way = True
        self._counters["steps"] += 1
        self._watch_rate(self._frame)
        return self._outputs.outputs(self._frame.pwm_us)

    def _receive(self, *, answer_repetition: bool) -> ServoFrame | None:
        """The next frame that commands a step; what comes behind it stays in its socket."""
        self._repeated = False
        found = self._frame_of_partner()
        now_s = time.monotonic()
        if found is None:
            found = self._frame_of_others()
        elif now_s >= self._others_due_s:
            # None of them can take over from a partner that has just been heard.
            self._others_due_s = now_s + _OTHERS_EVERY_S
            self._frame_of_others()
        if self._repeated and answer_repetition and found is None and now_s - self._answered_s >= _CROSSING_S:
            self._send()
        return found

    def _frame_of_partner(self) -> ServoFrame | None:
        assert self._sockets is not None
        receive, partner = self._sockets.from_partner, self._partner
        for _ in range(_MOST_OF_PARTNER):
            datagram = receive()
            if datagram is None:
                return None
            assert partner.address is not None
            frame = self._decoded(datagram, partner.address)
            if frame is None:
                continue
            partner.heard()
            self._heard_frames += 1
            self._has_moved = True
            if self._commands_step(frame, partner.address):
                return frame
        return None

    def _frame_of_others(self) -> ServoFrame | None:
        """A frame of whoever takes over, or what the partner sent before it had a socket of its own."""
        assert self._sockets is not None
        receive, partner = self._sockets.from_others, self._partner
        for _ in range(_MOST_OF_OTHERS):
            received = receive()
            if received is None:
                return None
            datagram, sender = received
            if sender != partner.address and sender not in self._allowed:
                self._count("not_allowed", "%s:%s is none of ardupilot.allowed_peers", *sender)
                continue
            frame = self._decoded(datagram, sender)
            if frame is None:
                continue
            if sender != partner.address:
                if not self._may_take_over(sender, frame):
                    continue
            elif self._has_moved:
                self._counters["late_frames"] += 1
                continue
            partner.heard()
            if self._commands_step(frame, sender):
                return frame
        return None

    def _decoded(self, datagram: bytes, sender: Address) -> ServoFrame | None:
        try:
            return decode_frame(datagram)
        except ProtocolError as error:
            self._count(_KINDS[type(error)], "datagram of %s:%s passed over: %s", *sender, error)
            return None

    def _commands_step(self, frame: ServoFrame, sender: Address) -> bool:
        place = self._place_of(frame, sender)
        self._repeated = self._repeated or place == "repeated"
        self._start_over = place == "restart"
        return place == "next" or place == "restart"

    def _may_take_over(self, sender: Address, frame: ServoFrame) -> bool:
        partner = self._partner
        if partner.lives and partner.address is not None:
            self._counters["refused_frames"] += 1
            if self._partner_sends_too():
                self._refused = sender, time.monotonic()
                self._warn_of(
                    "refused_frames",
                    "a second ArduPilot at %s:%s is refused: the one at %s:%s is connected; another is accepted after "
                    "that one has been silent for %g s",
                    *sender,
                    *partner.address,
                    self._silence_s,
                )
            return False
        assert self._sockets is not None
        try:
            self._sockets.converse_with(sender)
        except OSError as error:
            self._count("refused_frames", "ArduPilot at %s:%s cannot be answered: %s", *sender, error.strerror)
            return False
        partner.take(sender)
        self._has_moved = False
        self._refused = None
        self._steady_frames = self._told_rate = 0
        self._logger.info(
            f"{self._whose}ArduPilot at {address_text(sender)} is connected: {len(frame.pwm_us)} channels, frame "
            f"{frame.frame_count}"
        )
        return True

    def _partner_sends_too(self) -> bool:
        """Whether the partner has sent a frame since the last frame of another sender; call at each of the latter."""
        now_s = time.monotonic()
        before, self._heard_before_other = self._heard_before_other, self._heard_frames
        goes_on = now_s - self._other_s <= _REFUSED_S
        self._other_s = now_s
        return goes_on and self._heard_frames > before

    def _watch_rate(self, frame: ServoFrame) -> None:
        """Log the frame rate once it has settled, and again when it settles at another value."""
        rate = frame.frame_rate
        # While ArduPilot boots, it sends no outputs and the start-up rate.
        if abs(rate - self._steady_rate) > _SAME_RATE_HZ or not any(frame.pwm_us):
            self._steady_rate, self._steady_frames = rate, 0
        self._steady_frames += 1
        if self._steady_frames >= _SETTLED_S * rate and abs(rate - self._told_rate) > _SAME_RATE_HZ:
            self._told_rate = rate
            self._logger.info(f"{self._whose}ArduPilot sends {rate} frames per simulated second")

    def _place_of(self, frame: ServoFrame, sender: Address) -> _Place:
        """Where a frame stands in the order of its count; what that tells is counted."""
        last, last_sender = self._frame, self._frame_sender
        self._frame_sender = sender
        if last is None:
            return "next"
        ahead = (frame.frame_count - last.frame_count) % _COUNTS
        if ahead == 0:
            self._counters["duplicates"] += 1
            return "repeated"
        if ahead == _COUNTS - 1 and sender == last_sender and frame.frame_count > 0:
            # A network may change the order of two datagrams; who restarts begins at 0.
            self._counters["late_frames"] += 1
            return "late"
        if ahead >= _COUNTS // 2:
            self._counters["restarts"] += 1
            text = f"ArduPilot restarted: frame {frame.frame_count} after {last.frame_count}; the vehicle starts over"
            self._warn_of_restart("restarts", f"{self._whose}{text}", self._counters["restarts"])
            return "restart"
        if ahead > 1:
            text = f"lost {ahead - 1} frames of ArduPilot between {last.frame_count} and {frame.frame_count}"
            self._counters["lost_frames"] += ahead - 2
            self._count("lost_frames", text)
        return "next"

    def _count(self, kind: str, text: str, *details: object) -> None:
        self._counters[kind] += 1
        self._warn_of(kind, text, *details)

    def _warn_of(self, kind: str, text: str, *details: object) -> None:
        self._warn(kind, f"{self._whose}{text}", self._counters[kind], *details)

    def _reply(self, snapshot: Snapshot) -> None:
        """Make the answer to the frame whose step has been taken, and send it."""
        try:
            self._answer = self._replies.line(snapshot)
        except ReplyError as error:
            self._answer = b""
            self._count("unsent_replies", f"no answer to ArduPilot: {error}")
            return
        self._send()

    def _send(self) -> None:
        to = self._partner.address
        if not self._answer or to is None:
            return
        assert self._sockets is not None
        self._answered_s = time.monotonic()
        try:
            self._sockets.send(self._answer)
        except OSError as error:
            self._count("unsent_replies", f"no answer to ArduPilot at {address_text(to)}: {error.strerror}")

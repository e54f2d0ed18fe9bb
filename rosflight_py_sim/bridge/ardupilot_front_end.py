"""ArduPilot's JSON SITL interface over UDP: one servo frame is one step, answered with the state after it."""

from __future__ import annotations

import socket
import time
from typing import ClassVar, TypeAlias

from rosflight_py_sim.bridge.front_end_interface import FrontEndInterface, Logger, Snapshot
from rosflight_py_sim.bridge.rare_warnings import RareWarnings
from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.physics.rotations import euler_from_quaternion, rotate_to_inertial
from rosflight_py_sim.protocols.ardupilot_json import (
    FrameLengthError,
    FrameRateError,
    MagicError,
    ProtocolError,
    Reply,
    ReplyError,
    ServoFrame,
    decode_frame,
    encode_reply,
)

Address: TypeAlias = tuple[str, int]

NANOSECONDS = 1_000_000_000

# Datagrams looked at in one go: a flood must let the rest of the process have its turn.
_MOST_DATAGRAMS = 256

_LONGEST_DATAGRAM = 2048

# A pause of the simulation lets repetitions pile up, and garbage must not push out the frame among it.
_RECEIVE_BUFFER = 1 << 20

_COUNTS = 2**32

# Share by which ArduPilot's rate may miss the step's: it counts in whole Hz.
_RATE_TOLERANCE = 0.01

_KINDS = {FrameLengthError: "wrong_length", MagicError: "wrong_magic", FrameRateError: "zero_frame_rate"}


class ArduPilotFrontEnd(FrontEndInterface):
    """Takes ArduPilot's place in the loop: frame n commands a step, and the state after that step is its answer.

    A frame that comes again (ArduPilot repeats it when it misses the answer) is answered with the same bytes and moves
    nothing; repetitions that queued up while the step was under way are passed over, as a second answer would put
    ArduPilot one frame behind for good. A channel of 0 us has no output yet.

    Who sends the first good frame is the partner; others are refused until it has been silent for a while.

    Counters: steps, duplicates, lost_frames, restarts, refused_frames (of a second client), wrong_length, wrong_magic,
    zero_frame_rate, unsent_replies.
    """

    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        Parameter(
            "ardupilot.address",
            "127.0.0.1",
            "Address of this machine on which ArduPilot's frames are expected; 0.0.0.0: all of them",
            read_only=True,
        ),
        Parameter(
            "ardupilot.port",
            9002,
            "UDP port of it; ArduPilot started with -I N sends to 9002 + 10 N",
            minimum=1,
            maximum=65535,
            read_only=True,
        ),
        Parameter(
            "ardupilot.silence",
            3.0,
            "System time without a frame after which another ArduPilot may take over",
            "s",
            minimum=1.5,
            read_only=True,
        ),
        Parameter(
            "ardupilot.no_output",
            [1000] * 14,
            "What each output gets as long as ArduPilot sends 0 for its channel: 1000 stops a motor, 1500 centres a "
            "servo",
            "us",
            minimum=0,
            maximum=65535,
            length=14,
            read_only=True,
        ),
    )

    def __init__(self, values: Values, logger: Logger) -> None:
        """Take the parameters; `open` opens the socket."""
        super().__init__(values, logger)
        no_output = values["ardupilot.no_output"]
        assert isinstance(no_output, list)
        self._no_output = [int(us) for us in no_output]
        self._own: Address = (str(values["ardupilot.address"]), int(number(values, "ardupilot.port")))
        self._silence_s = number(values, "ardupilot.silence")
        self._socket: socket.socket | None = None
        self._warn = RareWarnings(logger)
        self._peer: Address | None = None
        self._heard_s = 0.0
        self._frame: ServoFrame | None = None
        self._next: ServoFrame | None = None
        self._commanded_ns: int | None = None
        self._answer = b""
        self._rate_compared = False

    @property
    def partner(self) -> str:
        """Where ArduPilot is expected."""
        return f"ArduPilot on UDP {self._own[0]}:{self._own[1]}"

    def open(self) -> None:
        """Bind the socket."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        try:
            self._socket.bind(self._own)
        except OSError as error:
            self.close()
            raise ParameterError(
                f"parameters 'ardupilot.address' and 'ardupilot.port': {self._own[0]}:{self._own[1]} given, which "
                f"cannot be used: {error.strerror}; allowed: an address of this machine and a port that nobody uses"
            ) from error

    def close(self) -> None:
        """Close the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def fileno(self) -> int:
        """Of the UDP socket."""
        assert self._socket is not None
        return self._socket.fileno()

    def exchange(self, snapshot: Snapshot) -> list[int] | None:
        """Answer the frame whose step led to this snapshot; the commands of the next one, if it has come."""
        if self._commanded_ns is not None:
            # Time spent in the step is no silence of the partner's.
            self._heard_s = time.monotonic()
            self._next = self._receive(answer_repetition=False)
            self._compare_rate(snapshot.time_ns - self._commanded_ns)
            self._commanded_ns = None
            self._reply(snapshot)
        frame, self._next = self._next, None
        if frame is None:
            frame = self._receive(answer_repetition=True)
            if frame is None:
                return None
        self._frame = frame
        self._commanded_ns = snapshot.time_ns
        self.counters["steps"] += 1
        return [us or neutral for us, neutral in zip(frame.pwm_us, self._no_output, strict=False)]

    def _receive(self, *, answer_repetition: bool) -> ServoFrame | None:
        """The next frame that is not a repetition; what comes behind it stays in the socket."""
        assert self._socket is not None
        repeated = False
        found = None
        for _ in range(_MOST_DATAGRAMS):
            try:
                datagram, sender = self._socket.recvfrom(_LONGEST_DATAGRAM)
            except BlockingIOError:
                break
            try:
                frame = decode_frame(datagram)
            except ProtocolError as error:
                kind = _KINDS[type(error)]
                self.counters[kind] += 1
                self._warn(kind, f"datagram of {sender[0]}:{sender[1]} passed over: {error}", self.counters[kind])
                continue
            if not self._is_partner(sender, frame):
                continue
            if self._is_new(frame):
                found = frame
                break
            repeated = True
        if repeated and answer_repetition and found is None:
            self._send()
        return found

    def _is_partner(self, sender: Address, frame: ServoFrame) -> bool:
        now_s = time.monotonic()
        if sender != self._peer:
            if self._peer is not None and now_s - self._heard_s < self._silence_s:
                self.counters["refused_frames"] += 1
                self._warn(
                    "refused_frames",
                    f"a second ArduPilot at {sender[0]}:{sender[1]} is refused: the one at "
                    f"{self._peer[0]}:{self._peer[1]} flies; another may when that has been silent for "
                    f"{self._silence_s:g} s",
                    self.counters["refused_frames"],
                )
                return False
            self._peer = sender
            self._rate_compared = False
            self.logger.info(
                f"ArduPilot at {sender[0]}:{sender[1]} is connected: {len(frame.pwm_us)} channels, "
                f"{frame.frame_rate} Hz, frame {frame.frame_count}"
            )
        self._heard_s = now_s
        return True

    def _is_new(self, frame: ServoFrame) -> bool:
        """Whether a frame of the partner commands a step; what its count tells is counted."""
        last = self._frame
        if last is None:
            return True
        ahead = (frame.frame_count - last.frame_count) % _COUNTS
        if ahead == 0:
            self.counters["duplicates"] += 1
            return False
        if ahead >= _COUNTS // 2:
            self.counters["restarts"] += 1
            self.logger.info(f"ArduPilot restarted: frame {frame.frame_count} after {last.frame_count}")
        elif ahead > 1:
            self.counters["lost_frames"] += ahead - 1
            text = f"lost {ahead - 1} frames of ArduPilot between {last.frame_count} and {frame.frame_count}"
            self._warn("lost_frames", text, self.counters["lost_frames"])
        return True

    def _compare_rate(self, step_ns: int) -> None:
        frame = self._frame
        if self._rate_compared or frame is None:
            return
        self._rate_compared = True
        step_hz = NANOSECONDS / step_ns
        if abs(frame.frame_rate - step_hz) > _RATE_TOLERANCE * step_hz:
            self.logger.warning(
                f"ArduPilot asks for {frame.frame_rate} Hz (its frame_rate), but a step of the simulation is "
                f"{step_ns / NANOSECONDS:g} s, {step_hz:.6g} Hz: set ArduPilot's SIM_RATE_HZ to {step_hz:.0f}, or the "
                f"time manager's step_size to {1.0 / frame.frame_rate:.6g}"
            )

    def _reply(self, snapshot: Snapshot) -> None:
        """Make the answer to the frame whose step has been taken, and send it."""
        truth: list[float] = snapshot.truth.tolist()
        w, x, y, z = truth[3:7]
        reply = Reply(
            timestamp=snapshot.time_ns / NANOSECONDS,
            gyro=snapshot.gyro,
            accel_body=snapshot.accel_body,
            position_ned=(truth[0], truth[1], truth[2]),
            velocity_ned=rotate_to_inertial(w, x, y, z, truth[7], truth[8], truth[9]),
            attitude=euler_from_quaternion(w, x, y, z),
            quaternion=(w, x, y, z),
            velocity_wind=snapshot.wind_ned,
        )
        try:
            self._answer = encode_reply(reply)
        except ReplyError as error:
            self._answer = b""
            self.counters["unsent_replies"] += 1
            self._warn("unsent_replies", f"no answer to ArduPilot: {error}", self.counters["unsent_replies"])
            return
        self._send()

    def _send(self) -> None:
        if not self._answer or self._peer is None:
            return
        assert self._socket is not None
        try:
            self._socket.sendto(self._answer, self._peer)
        except OSError as error:
            self.counters["unsent_replies"] += 1
            text = f"no answer to ArduPilot at {self._peer[0]}:{self._peer[1]}: {error.strerror}"
            self._warn("unsent_replies", text, self.counters["unsent_replies"])

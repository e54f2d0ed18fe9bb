"""Connection to one ArduPilot: frames from its address are accepted, those from other senders refused."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

from rosflight_py_sim.bridge.incidents import Incidents
from rosflight_py_sim.bridge.peer_sockets import PeerSockets
from rosflight_py_sim.bridge.peers import Address, AllowedPeers, address_text
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.transitions import TableEnum, TransitionMachine, Transitions
from rosflight_py_sim.protocols.ardupilot_json import (
    FrameLengthError,
    FrameRateError,
    MagicError,
    ProtocolError,
    ServoFrame,
    decode_frame,
)

# Greatest number of datagrams read in one call, from the peer and from others: a flood must not block the peer or the
# rest of the process.
_PEER_LIMIT, _MOST_OF_OTHERS = 256, 64

# Period at which datagrams from other senders are read while the peer sends.
_OTHERS_EVERY_S = 0.01

# Time after its last frame during which a second ArduPilot counts as running.
_REFUSED_S = 2.0

_KINDS = {FrameLengthError: "wrong_length", MagicError: "wrong_magic", FrameRateError: "zero_frame_rate"}


class PeerState(TableEnum):
    """State of the peer."""

    NONE = "no peer"
    NEW = "new"
    SENDING = "sending"
    CONTESTED = "contested"


class PeerEvent(TableEnum):
    """A valid frame, by its sender and socket.

    The first frames of a new peer arrive on the shared socket, later ones on the socket connected to the peer.
    """

    FROM_NEWCOMER = "frame of a new sender while no peer is alive"
    FROM_PEER = "frame of the peer"
    FROM_PEER_IN_SHARED = "frame of the peer in the shared socket"
    FROM_OTHER = "frame of another sender"
    FROM_OTHER_AGAIN = f"frame of another sender within {_REFUSED_S:g} s of the one before"


class ArduPilotPeer:
    """Receives frames of the peer and sends it answers, by the table `PEER_TRANSITIONS`.

    The sender of the first valid frame becomes the peer. Other senders are refused until the peer has been silent for
    `silence_s`; a flood of their frames does not block the peer's. If a refused sender and the peer send at the same
    time, the refused sender is a second ArduPilot, and a warning is logged. Otherwise it is the peer itself after a
    restart, with a new source port.

    Attributes:
        own: address on which frames are expected.
    """

    def __init__(self, own: Address, allowed: AllowedPeers, silence_s: float, incidents: Incidents) -> None:
        """`open` opens the sockets; another sender may connect `silence_s` after the peer's last frame."""
        self.own = own
        self._allowed, self._silence_s, self._incidents = allowed, silence_s, incidents
        self._sockets: PeerSockets | None = None
        self._address: Address | None = None
        self._last_frame_s = self._other_s = -math.inf
        self._others_due_s = 0.0
        self._refused: tuple[Address, float] | None = None
        self._states = TransitionMachine(PEER_TRANSITIONS, PeerState.NONE, self)

    @property
    def refused(self) -> str:
        """Address of a second ArduPilot that is being refused; empty if none."""
        if self._refused is None or time.monotonic() - self._refused[1] > _REFUSED_S:
            return ""
        return address_text(self._refused[0])

    @property
    def is_contacted(self) -> bool:
        """Whether a frame has arrived, or datagrams that have not been read yet."""
        has_unread = self._sockets is not None and any(self._sockets.unread())
        return self._states.state is not PeerState.NONE or has_unread

    def open(self) -> None:
        """Bind the sockets.

        Raises:
            ParameterError: the address cannot be used.
        """
        try:
            self._sockets = PeerSockets(self.own)
        except OSError as error:
            raise ParameterError(
                f"parameters 'ardupilot.address' and 'ardupilot.port': {address_text(self.own)} given, which cannot be "
                f"used: {error.strerror}; allowed: a local address and a free port"
            ) from error

    def close(self) -> None:
        """Close the sockets; may be called again, and without `open`."""
        if self._sockets is not None:
            self._sockets.close()
            self._sockets = None

    def filenos(self) -> list[int]:
        """File descriptors of the sockets; one is readable when there is a datagram to receive."""
        assert self._sockets is not None
        return self._sockets.filenos()

    def frames(self) -> Iterator[tuple[ServoFrame, Address]]:
        """Accepted frames, each with its sender, which is or becomes the peer.

        Each call reads a bounded number. Frames that the caller does not request stay in the socket.
        """
        assert self._sockets is not None
        has_own, has_shared = self._sockets.unread()
        for _ in range(_PEER_LIMIT if has_own else 0):
            datagram = self._sockets.from_peer()
            if datagram is None:
                break
            assert self._address is not None
            frame = self._decoded(datagram, self._address)
            if frame is not None:
                self._states.handle(PeerEvent.FROM_PEER, self._address, frame)
                yield frame, self._address
        if has_shared:
            yield from self._frames_of_shared_socket()

    def refuse_others(self) -> None:
        """Read datagrams from other senders, at intervals, while the peer's own socket has frames."""
        now_s = time.monotonic()
        # Only in this state no other sender can connect, and the shared socket contains no frame of the peer.
        if self._states.state is PeerState.SENDING and now_s >= self._others_due_s:
            self._others_due_s = now_s + _OTHERS_EVERY_S
            for _ in self._frames_of_shared_socket():
                pass

    def restart_timeout(self) -> None:
        """Restart the silence timeout, after a frame of the peer or while the peer has no reason to send one."""
        self._last_frame_s = time.monotonic()

    def send(self, answer: bytes) -> None:
        """Send the peer an answer."""
        assert self._sockets is not None and self._address is not None
        try:
            self._sockets.send(answer)
        except OSError as error:
            to = address_text(self._address)
            self._incidents.count("unsent_replies", f"no answer to ArduPilot at {to}: {error.strerror}")

    def _frames_of_shared_socket(self) -> Iterator[tuple[ServoFrame, Address]]:
        assert self._sockets is not None
        for _ in range(_MOST_OF_OTHERS):
            received = self._sockets.from_others()
            if received is None:
                return
            datagram, sender = received
            if sender != self._address and sender not in self._allowed:
                text = "%s:%s is not in ardupilot.allowed_peers"
                self._incidents.count_of(sender, "not_allowed", text, *sender)
                continue
            frame = self._decoded(datagram, sender)
            if frame is not None:
                event = self._event_of(sender)
                if event is not None and ArduPilotPeer._take_frame in self._states.handle(event, sender, frame):
                    yield frame, sender

    def _decoded(self, datagram: bytes, sender: Address) -> ServoFrame | None:
        try:
            return decode_frame(datagram)
        except ProtocolError as error:
            self._incidents.count(_KINDS[type(error)], "datagram from %s:%s ignored: %s", *sender, error)
            return None

    def _event_of(self, sender: Address) -> PeerEvent | None:
        """Event of a frame in the shared socket; None if its sender would become the peer but cannot be answered."""
        if sender == self._address:
            return PeerEvent.FROM_PEER_IN_SHARED
        now_s = time.monotonic()
        if now_s - self._last_frame_s < self._silence_s:
            self._incidents.counters["refused_frames"] += 1
            before_s, self._other_s = self._other_s, now_s
            return PeerEvent.FROM_OTHER_AGAIN if now_s - before_s <= _REFUSED_S else PeerEvent.FROM_OTHER
        assert self._sockets is not None
        try:
            self._sockets.connect(sender)
        except OSError as error:
            text = "cannot answer ArduPilot at %s:%s: %s"
            self._incidents.count("refused_frames", text, *sender, error.strerror)
            return None
        return PeerEvent.FROM_NEWCOMER

    def _connect(self, sender: Address, frame: ServoFrame) -> None:
        self._address, self._refused = sender, None
        self._incidents.inform(
            f"ArduPilot at {address_text(sender)} is connected: {len(frame.pwm_us)} channels, frame {frame.frame_count}"
        )

    def _take_frame(self, sender: Address, frame: ServoFrame) -> None:
        self.restart_timeout()

    def _count_late_frame(self, sender: Address, frame: ServoFrame) -> None:
        self._incidents.counters["late_frames"] += 1

    def _warn_of_second_sender(self, sender: Address, frame: ServoFrame) -> None:
        assert self._address is not None
        self._refused = sender, time.monotonic()
        self._incidents.warn_of(
            (sender, self._address),
            "refused_frames",
            "refused a second ArduPilot at %s:%s: the one at %s:%s is connected; another is accepted after %g s "
            "without frames from it",
            *sender,
            *self._address,
            self._silence_s,
        )


_CONNECTED = (PeerState.NEW, (ArduPilotPeer._connect, ArduPilotPeer._take_frame))
_COMMON = {
    PeerEvent.FROM_NEWCOMER: _CONNECTED,
    PeerEvent.FROM_PEER: (PeerState.SENDING, (ArduPilotPeer._take_frame,)),
}
_LATE = (ArduPilotPeer._count_late_frame,)

PEER_TRANSITIONS: Transitions[PeerState, PeerEvent] = {
    PeerState.NONE: {PeerEvent.FROM_NEWCOMER: _CONNECTED},
    PeerState.NEW: {
        **_COMMON,
        PeerEvent.FROM_PEER_IN_SHARED: (PeerState.NEW, (ArduPilotPeer._take_frame,)),
    },
    PeerState.SENDING: {
        **_COMMON,
        PeerEvent.FROM_PEER_IN_SHARED: (PeerState.SENDING, _LATE),
        PeerEvent.FROM_OTHER: (PeerState.CONTESTED, ()),
        # Both send. Otherwise the other sender is the peer itself, restarted with a new source port.
        PeerEvent.FROM_OTHER_AGAIN: (PeerState.CONTESTED, (ArduPilotPeer._warn_of_second_sender,)),
    },
    PeerState.CONTESTED: {**_COMMON, PeerEvent.FROM_PEER_IN_SHARED: (PeerState.CONTESTED, _LATE)},
}
"""Which sender is the peer, and which frames are accepted; an event not listed changes nothing."""

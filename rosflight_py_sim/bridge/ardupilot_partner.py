"""Connection to one ArduPilot: frames from its address are accepted, those from other senders refused."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from enum import Enum

from rosflight_py_sim.bridge.incidents import Incidents
from rosflight_py_sim.bridge.partner_sockets import PartnerSockets
from rosflight_py_sim.bridge.peers import Address, AllowedPeers, address_text
from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.protocols.ardupilot_json import (
    FrameLengthError,
    FrameRateError,
    MagicError,
    ProtocolError,
    ServoFrame,
    decode_frame,
)
from rosflight_py_sim.transitions import TransitionMachine, Transitions

# Most datagrams to read in one call, from the partner and from others: a flood must not block the partner or the rest
# of the process.
_MOST_OF_PARTNER, _MOST_OF_OTHERS = 256, 64

# Period at which datagrams from other senders are read while the partner sends.
_OTHERS_EVERY_S = 0.01

# Time after its last frame during which a second ArduPilot counts as present.
_REFUSED_S = 2.0

_KINDS = {FrameLengthError: "wrong_length", MagicError: "wrong_magic", FrameRateError: "zero_frame_rate"}


class PartnerState(Enum):
    """State of the partner."""

    NONE = "no partner"
    NEW = "new"
    SENDING = "sending"
    CONTESTED = "contested"


class PartnerEvent(Enum):
    """A valid frame, by its sender and socket.

    The first frames of a new partner arrive in the socket that all senders share, later ones in the partner's own.
    """

    FROM_NEWCOMER = "frame of a new sender while no partner is alive"
    FROM_PARTNER = "frame of the partner"
    FROM_PARTNER_IN_SHARED = "frame of the partner in the shared socket"
    FROM_OTHER = "frame of another sender"
    FROM_OTHER_AGAIN = f"frame of another sender within {_REFUSED_S:g} s of the one before"


class ArduPilotPartner:
    """Receives frames of the partner and sends it answers, by the table `PARTNER_TRANSITIONS`.

    The sender of the first valid frame is the partner. Other senders are refused until the partner has been silent for
    a while; a flood of their frames does not block the partner's. If a refused sender and the partner send at the same
    time, the refused one is a second ArduPilot, and a warning is logged. Otherwise the refused sender is the partner
    itself after a restart, with a new source port.

    Attributes:
        own: address on which frames are expected.
    """

    def __init__(self, own: Address, allowed: AllowedPeers, silence_s: float, incidents: Incidents) -> None:
        """`open` opens the sockets; another sender may connect `silence_s` after the partner's last frame."""
        self.own = own
        self._allowed, self._silence_s, self._incidents = allowed, silence_s, incidents
        self._sockets: PartnerSockets | None = None
        self._address: Address | None = None
        self._last_frame_s = self._other_s = -math.inf
        self._others_due_s = 0.0
        self._refused: tuple[Address, float] | None = None
        self._states = TransitionMachine(PARTNER_TRANSITIONS, PartnerState.NONE, self)

    @property
    def refused(self) -> str:
        """Address of a second ArduPilot that is being refused; empty if none."""
        if self._refused is None or time.monotonic() - self._refused[1] > _REFUSED_S:
            return ""
        return address_text(self._refused[0])

    def open(self) -> None:
        """Bind the sockets.

        Raises:
            ParameterError: the address cannot be used.
        """
        try:
            self._sockets = PartnerSockets(self.own)
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
        """Accepted frames, each with its sender, which is or becomes the partner.

        Each call reads a bounded number. Frames that the caller does not request stay in the socket.
        """
        assert self._sockets is not None
        for _ in range(_MOST_OF_PARTNER):
            datagram = self._sockets.from_partner()
            if datagram is None:
                break
            assert self._address is not None
            frame = self._decoded(datagram, self._address)
            if frame is not None:
                self._states.handle(PartnerEvent.FROM_PARTNER, self._address, frame)
                yield frame, self._address
        yield from self._frames_of_shared_socket()

    def refuse_others(self) -> None:
        """Read datagrams from other senders, at intervals, while the partner's own socket has frames."""
        now_s = time.monotonic()
        # Only in this state can no other sender connect, and does the shared socket hold no frame of the partner.
        if self._states.state is PartnerState.SENDING and now_s >= self._others_due_s:
            self._others_due_s = now_s + _OTHERS_EVERY_S
            for _ in self._frames_of_shared_socket():
                pass

    def restart_timeout(self) -> None:
        """Restart the silence timeout: the partner has sent a frame, or could not be expected to."""
        self._last_frame_s = time.monotonic()

    def send(self, answer: bytes) -> None:
        """Send the partner an answer."""
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
                self._incidents.count("not_allowed", "%s:%s is not in ardupilot.allowed_peers", *sender)
                continue
            frame = self._decoded(datagram, sender)
            if frame is not None:
                event = self._event_of(sender)
                if event is not None and ArduPilotPartner._take_frame in self._states.handle(event, sender, frame):
                    yield frame, sender

    def _decoded(self, datagram: bytes, sender: Address) -> ServoFrame | None:
        try:
            return decode_frame(datagram)
        except ProtocolError as error:
            self._incidents.count(_KINDS[type(error)], "datagram from %s:%s ignored: %s", *sender, error)
            return None

    def _event_of(self, sender: Address) -> PartnerEvent | None:
        """Event of a frame in the shared socket; None if its sender would become the partner but cannot be answered."""
        if sender == self._address:
            return PartnerEvent.FROM_PARTNER_IN_SHARED
        now_s = time.monotonic()
        if now_s - self._last_frame_s < self._silence_s:
            self._incidents.counters["refused_frames"] += 1
            before_s, self._other_s = self._other_s, now_s
            return PartnerEvent.FROM_OTHER_AGAIN if now_s - before_s <= _REFUSED_S else PartnerEvent.FROM_OTHER
        assert self._sockets is not None
        try:
            self._sockets.connect(sender)
        except OSError as error:
            text = "cannot answer ArduPilot at %s:%s: %s"
            self._incidents.count("refused_frames", text, *sender, error.strerror)
            return None
        return PartnerEvent.FROM_NEWCOMER

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
        self._incidents.warn(
            "refused_frames",
            "refused a second ArduPilot at %s:%s: the one at %s:%s is connected; another is accepted once that one has "
            "been silent for %g s",
            *sender,
            *self._address,
            self._silence_s,
        )


_CONNECTED = (PartnerState.NEW, (ArduPilotPartner._connect, ArduPilotPartner._take_frame))
_COMMON = {
    PartnerEvent.FROM_NEWCOMER: _CONNECTED,
    PartnerEvent.FROM_PARTNER: (PartnerState.SENDING, (ArduPilotPartner._take_frame,)),
}
_LATE = (ArduPilotPartner._count_late_frame,)

PARTNER_TRANSITIONS: Transitions[PartnerState, PartnerEvent] = {
    PartnerState.NONE: {PartnerEvent.FROM_NEWCOMER: _CONNECTED},
    PartnerState.NEW: {
        **_COMMON,
        PartnerEvent.FROM_PARTNER_IN_SHARED: (PartnerState.NEW, (ArduPilotPartner._take_frame,)),
    },
    PartnerState.SENDING: {
        **_COMMON,
        PartnerEvent.FROM_PARTNER_IN_SHARED: (PartnerState.SENDING, _LATE),
        PartnerEvent.FROM_OTHER: (PartnerState.CONTESTED, ()),
        # Both send. Otherwise the other sender is the partner itself, restarted with a new source port.
        PartnerEvent.FROM_OTHER_AGAIN: (PartnerState.CONTESTED, (ArduPilotPartner._warn_of_second_sender,)),
    },
    PartnerState.CONTESTED: {**_COMMON, PartnerEvent.FROM_PARTNER_IN_SHARED: (PartnerState.CONTESTED, _LATE)},
}
"""Which sender is the partner, and which frames are accepted; an event not listed changes nothing."""

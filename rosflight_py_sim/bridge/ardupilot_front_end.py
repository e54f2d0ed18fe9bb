"""ArduPilot's JSON SITL interface over UDP, with one port per vehicle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from rosflight_py_sim.bridge.ardupilot_link import ArduPilotLink
from rosflight_py_sim.bridge.ardupilot_peer import ArduPilotPeer
from rosflight_py_sim.bridge.ardupilot_reply import REPLY_PARAMETERS, ReplyMaker
from rosflight_py_sim.bridge.front_end_interface import Logger
from rosflight_py_sim.bridge.incidents import Incidents
from rosflight_py_sim.bridge.linked_front_end import LinkedFrontEnd
from rosflight_py_sim.bridge.output_map import output_map_of, output_parameters
from rosflight_py_sim.bridge.peers import AllowedPeers, address_text
from rosflight_py_sim.bridge.rare_warnings import RareWarnings
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number, texts
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.protocols.ardupilot_json import CHANNELS_OF_MAGIC

_LAST_PORT = 65535

_CHANNELS = [str(channel + 1) for channel in range(max(CHANNELS_OF_MAGIC.values()))]


class ArduPilotFrontEnd(LinkedFrontEnd[ArduPilotLink]):
    """Exchanges frames with ArduPilot: each servo frame commands one step and is answered with the state after it.

    The ArduPilot started with -I i flies the i-th of its vehicles, see ArduPilotLink. ArduPilot's frame rate sets the
    step size.

    Counters, over all vehicles: steps, duplicates, late_frames, lost_frames, restarts, refused_frames (from a second
    ArduPilot), not_allowed (datagrams from addresses that are not allowed), wrong_length, wrong_magic,
    zero_frame_rate, unsent_replies.
    """

    # As with ArduPilot's option -I.
    PORTS_APART: ClassVar[int] = 10

    PROGRAM: ClassVar[str] = "ArduPilot"
    TRANSPORT: ClassVar[str] = "UDP"
    REFUSED: ClassVar[str] = "frames"

    PARAMETERS: ClassVar[ParameterTable] = (
        ParameterTable(
            Parameter(
                "ardupilot.address",
                "127.0.0.1",
                "Local address to receive ArduPilot's frames on; 0.0.0.0: all addresses",
                read_only=True,
            ),
            Parameter(
                "ardupilot.port",
                9002,
                "UDP port of the first vehicle that ArduPilot flies; the i-th further one uses this plus 10 i, as "
                "ArduPilot with -I i expects, unless it has a port of its own",
                minimum=1,
                maximum=_LAST_PORT,
                read_only=True,
            ),
            Parameter(
                "ardupilot.allowed_peers",
                [],
                "Addresses that may fly the vehicle, as 192.168.1.20 or 192.168.1.20:14000; empty: the first sender",
                element=str,
                read_only=True,
            ),
            Parameter(
                "ardupilot.silence",
                2.0,
                "System time without a frame after which another ArduPilot may connect; a running ArduPilot repeats "
                "its frame after 1.1 s",
                "s",
                minimum=1.2,
                maximum=1e6,
                read_only=True,
            ),
            Parameter(
                "ardupilot.max_step",
                0.005,
                "Longest simulation step, for ArduPilots that request a lower frame rate",
                "s",
                minimum=1e-4,
                maximum=0.02,
                read_only=True,
            ),
        )
        + output_parameters(
            "ardupilot",
            [str(output + 1) for output in range(OUTPUTS)],
            "ArduPilot sends 0 for its channel",
            "'3' (channel 3), '-2' (channel 2 reversed), '0.5*1-0.5*2'",
        )
        + REPLY_PARAMETERS
    )

    VEHICLE_PARAMETERS: ClassVar[ParameterTable] = PARAMETERS

    COUNTERS: ClassVar[tuple[str, ...]] = (
        "steps",
        "duplicates",
        "late_frames",
        "lost_frames",
        "restarts",
        "refused_frames",
        "refused_commands",
        "not_allowed",
        "wrong_length",
        "wrong_magic",
        "zero_frame_rate",
        "unsent_replies",
    )

    def __init__(
        self,
        values: Values,
        logger: Logger,
        vehicles: Sequence[str] = ("",),
        observed: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """Store the parameters; `open` opens the sockets."""
        super().__init__(values, logger, vehicles, observed)
        warn = RareWarnings(logger)
        self.links = []
        self._incidents: list[Incidents] = []
        self._max_steps: list[float] = []
        numbered = self.numbered_values("ardupilot.port", self.PORTS_APART, beside="ardupilot.address")
        for vehicle, own in zip(self.vehicles, numbered, strict=True):
            incidents = Incidents(vehicle, self.counters, warn, logger)
            replies = ReplyMaker(own)
            self.required_fields |= replies.required_fields
            address = str(own["ardupilot.address"]), int(number(own, "ardupilot.port"))
            peer = ArduPilotPeer(address, _allowed(own), number(own, "ardupilot.silence"), incidents)
            self.links.append(ArduPilotLink(peer, output_map_of("ardupilot", own, _CHANNELS), replies, incidents))
            self._incidents.append(incidents)
            self._max_steps.append(number(own, "ardupilot.max_step"))

    def further_ranges(self, vehicle: int) -> Sequence[str]:
        """Topics of ardupilot.further_ranges."""
        return texts(self.own_values(self.values, vehicle), "ardupilot.further_ranges")

    @classmethod
    def link_obstacle(cls, values: Values) -> str:
        """The link cannot fail: the exchange of frames advances simulated time."""
        return "each step waits for a frame of ArduPilot, so simulated time would stop with the link"

    def serve(self) -> None:
        """Refuse the frames of ArduPilots to vehicles that they may not command."""
        for index, commander in self.observed.items():
            for _, sender in self.links[index].peer.frames():
                text = "frame of %s ignored, no reply sent: the vehicle is commanded by %s"
                incidents = self._incidents[index]
                incidents.count_of(sender, "refused_commands", text, address_text(sender), commander)

    def requested_step(self, vehicle: int) -> float | None:
        """Step that corresponds to the rate of the frame with the last commands, s."""
        rate = self.links[vehicle].frame_rate
        return None if rate is None else min(1.0 / rate, self._max_steps[vehicle])


def _allowed(values: Values) -> AllowedPeers:
    return AllowedPeers("ardupilot.allowed_peers", texts(values, "ardupilot.allowed_peers"))

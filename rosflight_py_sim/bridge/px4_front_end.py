"""PX4's simulator interface, MAVLink over TCP, with one port per vehicle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.bridge.front_end_interface import Direct, Logger, NewestMessages, Snapshot
from rosflight_py_sim.bridge.incidents import Incidents
from rosflight_py_sim.bridge.linked_front_end import LinkedFrontEnd
from rosflight_py_sim.bridge.output_map import output_map_of, output_parameters
from rosflight_py_sim.bridge.peers import AllowedPeers
from rosflight_py_sim.bridge.px4_link import CHANNEL_NAMES, Px4Link
from rosflight_py_sim.bridge.px4_messages import MESSAGE_PARAMETERS, MessageMaker
from rosflight_py_sim.bridge.px4_peer import FAULTS, Px4Peer
from rosflight_py_sim.bridge.rare_warnings import RareWarnings
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number, texts
from rosflight_py_sim.ground.pulse_width import OUTPUTS

_LAST_PORT = 65535


class Px4FrontEnd(LinkedFrontEnd[Px4Link]):
    """Sends PX4 the measurements of each step, which waits for PX4's outputs.

    The PX4 started with `-i I` flies the I-th of its vehicles, see Px4Link.

    Counters, over all vehicles: steps (in lockstep), free_steps (in real time), late_answers, timeouts, skipping
    (reports of a PX4 that answers only some steps), restarts, refused_connections, refused_commands, not_allowed,
    equal_readings (reports of a stuck sensor), unsent, and the faults of FrameReader.
    """

    # As with PX4's option -i.
    PORTS_APART: ClassVar[int] = 1

    PROGRAM: ClassVar[str] = "PX4"
    TRANSPORT: ClassVar[str] = "TCP"
    REFUSED: ClassVar[str] = "connections"

    PARAMETERS: ClassVar[ParameterTable] = (
        ParameterTable(
            Parameter(
                "px4.address",
                "127.0.0.1",
                "Local address on which PX4 connects; 0.0.0.0: all addresses",
                read_only=True,
            ),
            Parameter(
                "px4.port",
                4560,
                "TCP port of the first vehicle that PX4 flies; the i-th further one uses this plus i, to which PX4 "
                "connects with -i i, unless it has a port of its own",
                minimum=1,
                maximum=_LAST_PORT,
                read_only=True,
            ),
            Parameter(
                "px4.allowed_peers",
                [],
                "Addresses that may fly the vehicle, as 192.168.1.20; empty: the first that connects",
                element=str,
                read_only=True,
            ),
            Parameter(
                "px4.answer_timeout",
                5.0,
                "System time without outputs after which steps are taken in real time, until the next outputs; PX4 "
                "computes none while its gyro fails",
                "s",
                minimum=0.1,
                maximum=1e6,
                read_only=True,
            ),
        )
        + output_parameters(
            "px4",
            [f"motor{output + 1}" for output in range(OUTPUTS)],
            "PX4 has sent no outputs, and of outputs without a channel",
            "'motor3' (channel 3, 0 to 1), '-servo2' (channel 2, 1 to -1), '0.5*servo1-0.5*servo2'",
        )
        + MESSAGE_PARAMETERS
    )

    VEHICLE_PARAMETERS: ClassVar[ParameterTable] = PARAMETERS

    COUNTERS: ClassVar[tuple[str, ...]] = (
        "steps",
        "free_steps",
        "late_answers",
        "timeouts",
        "skipping",
        "restarts",
        "refused_connections",
        "refused_commands",
        "not_allowed",
        "equal_readings",
        "unsent",
        *FAULTS,
    )

    def __init__(
        self,
        values: Values,
        logger: Logger,
        vehicles: Sequence[str] = ("",),
        observed: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """Store the parameters; `open` opens the ports."""
        super().__init__(values, logger, vehicles, observed)
        warn = RareWarnings(logger)
        self.links = []
        for vehicle, own in zip(
            self.vehicles, self.numbered_values("px4.port", self.PORTS_APART, beside="px4.address"), strict=True
        ):
            incidents = Incidents(vehicle, self.counters, warn, logger)
            messages = MessageMaker(own)
            self.required_fields |= messages.required_fields
            address = str(own["px4.address"]), int(number(own, "px4.port"))
            allowed = AllowedPeers("px4.allowed_peers", texts(own, "px4.allowed_peers"))
            outputs = output_map_of("px4", own, CHANNEL_NAMES)
            peer = Px4Peer(address, allowed, incidents)
            self.links.append(Px4Link(peer, outputs, messages, number(own, "px4.answer_timeout"), incidents))

    def direct(
        self,
        vehicle: int,
        imu: NDArray[np.float64],
        newest: NewestMessages,
        snapshot: Callable[[int], Snapshot],
        pulse_us: NDArray[np.int64],
    ) -> Direct:
        """Exchange the frames of steps in lockstep by kernels."""
        return self.links[vehicle].direct(imu, newest, snapshot, pulse_us)

    @classmethod
    def link_obstacle(cls, values: Values) -> str:
        """The link cannot fail: the exchange of messages advances simulated time."""
        return "each step waits for the outputs of PX4, so simulated time would stop with the link"

    def serve(self) -> None:
        """Refuse connections to vehicles that PX4 may not command."""
        for index, commander in self.observed.items():
            self.links[index].peer.refuse_all(commander)

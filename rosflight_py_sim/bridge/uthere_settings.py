"""Addresses, ports and plane numbers of the Ground Control front-end."""

from __future__ import annotations

from rosflight_py_sim.bridge.peers import Address
from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.protocols.uthere import LARGEST_ERROR, LARGEST_REPLY

_LARGEST_ID = 2**31 - 1

UTHERE_SETTINGS = ParameterTable(
    Parameter(
        "uthere.address",
        "127.0.0.1",
        "Local address to serve programs on; 0.0.0.0: all addresses",
        read_only=True,
    ),
    Parameter("uthere.udp_port_in", 10000, "UDP port to receive commands on", minimum=1, maximum=65535, read_only=True),
    Parameter(
        "uthere.udp_port_out",
        10001,
        "UDP port to send replies and data to, at the program's address",
        minimum=1,
        maximum=65535,
        read_only=True,
    ),
    Parameter(
        "uthere.plane_ids",
        [12345],
        "Numbers of the planes, in the order of the vehicles; planes beyond the list count up from its last number",
        minimum=0,
        maximum=_LARGEST_ID,
        read_only=True,
    ),
    Parameter(
        "uthere.udp_max_packet",
        LARGEST_REPLY,
        "Bytes of a datagram beyond which data_all continues in another one; the default keeps it in one",
        minimum=LARGEST_ERROR,
        maximum=LARGEST_REPLY,
        read_only=True,
    ),
    Parameter(
        "uthere.reply_errors",
        True,
        "Whether to reply error(reason) to commands that cannot be parsed or executed",
        read_only=True,
    ),
    Parameter(
        "uthere.epoch",
        -1.0,
        "Unix time of simulated time 0, for the time in data; negative: from the system clock, at the "
        "vehicle's first message",
        "s",
        read_only=True,
    ),
)


class UthereSettings:
    """Values of UTHERE_SETTINGS for a number of planes.

    Attributes:
        own: local address and port that programs send to.
        port_out: port at a program's address for replies and data.
        largest_packet: size of a datagram, bytes.
        plane_ids: number of each plane.
        reply_errors: whether problems are reported to the sender.
        epoch: Unix time of simulated time 0, s; None: taken from the system clock.

    Raises:
        ParameterError: two planes have the same number, or replies would be read as commands.
    """

    def __init__(self, values: Values, planes: int) -> None:
        self.own: Address = str(values["uthere.address"]), int(number(values, "uthere.udp_port_in"))
        self.port_out = int(number(values, "uthere.udp_port_out"))
        if self.port_out == self.own[1]:
            raise ParameterError(
                f"parameters 'uthere.udp_port_in' and 'uthere.udp_port_out': {self.port_out} given for both; allowed: "
                "two ports, as replies would be read as commands"
            )
        self.largest_packet = int(number(values, "uthere.udp_max_packet"))
        self.plane_ids = _plane_ids(values, planes)
        self.reply_errors = bool(values["uthere.reply_errors"])
        epoch = number(values, "uthere.epoch")
        self.epoch = None if epoch < 0.0 else epoch


def _plane_ids(values: Values, count: int) -> list[int]:
    given = values["uthere.plane_ids"]
    assert isinstance(given, list)
    ids = [int(one) for one in given][:count]
    while len(ids) < count:
        ids.append(ids[-1] + 1 if ids else 0)
    if len(set(ids)) < count or ids[-1] > _LARGEST_ID:
        raise ParameterError(
            f"parameter 'uthere.plane_ids': {given} given for {count} planes; allowed: each number once, up to "
            f"{_LARGEST_ID}"
        )
    return ids

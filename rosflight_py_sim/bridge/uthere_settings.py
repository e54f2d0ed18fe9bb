"""Addresses and ports of the Ground Control front-end, and the form of its replies."""

from __future__ import annotations

from rosflight_py_sim.bridge.peers import Address
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.protocols.uthere import LARGEST_ERROR, LARGEST_REPLY

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
)


class UthereSettings:
    """Values of UTHERE_SETTINGS.

    Attributes:
        own: local address and port that programs send to.
        port_out: port at a program's address for replies and data.
        largest_packet: size of a datagram, bytes.
        reply_errors: whether problems are reported to the sender.

    Raises:
        ParameterError: replies would be read as commands.
    """

    def __init__(self, values: Values) -> None:
        self.own: Address = str(values["uthere.address"]), int(number(values, "uthere.udp_port_in"))
        self.port_out = int(number(values, "uthere.udp_port_out"))
        if self.port_out == self.own[1]:
            raise ParameterError(
                f"parameters 'uthere.udp_port_in' and 'uthere.udp_port_out': {self.port_out} given for both; allowed: "
                "two ports, as replies would be read as commands"
            )
        self.largest_packet = int(number(values, "uthere.udp_max_packet"))
        self.reply_errors = bool(values["uthere.reply_errors"])

"""Where Ground Control is reached, and by which numbers its planes go."""

from __future__ import annotations

from rosflight_py_sim.bridge.peers import Address
from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, Values, number

_LARGEST_ID = 2**31 - 1

UTHERE_SETTINGS = ParameterTable(
    Parameter(
        "uthere.address",
        "127.0.0.1",
        "Address of this machine on which programs are served; 0.0.0.0: all of them",
        read_only=True,
    ),
    Parameter("uthere.udp_port_in", 10000, "UDP port that programs send to", minimum=1, maximum=65535, read_only=True),
    Parameter(
        "uthere.udp_port_out",
        10001,
        "UDP port of a program's address that replies and data are sent to",
        minimum=1,
        maximum=65535,
        read_only=True,
    ),
    Parameter(
        "uthere.plane_ids",
        [12345],
        "Numbers of the planes, in the order of the vehicles; those beyond the list count on from its last",
        minimum=0,
        maximum=_LARGEST_ID,
        read_only=True,
    ),
    Parameter(
        "uthere.reply_errors",
        False,
        "Whether what cannot be read or obeyed is answered with error(reason)",
        read_only=True,
    ),
    Parameter(
        "uthere.epoch",
        -1.0,
        "Unix time of the simulated time 0, for the time in data; negative: as the system's clock has it when the "
        "vehicle is first heard",
        "s",
        read_only=True,
    ),
)


class UthereSettings:
    """The values of UTHERE_SETTINGS for so many planes.

    Attributes:
        own: where programs send to.
        port_out: of a program's address.
        plane_ids: number of each plane.
        reply_errors: whether problems are told to who caused them.
        epoch: Unix time of the simulated time 0, s; None: to be taken from the system's clock.

    Raises:
        ParameterError: two planes with one number, or replies that would come back.
    """

    def __init__(self, values: Values, planes: int) -> None:
        self.own: Address = str(values["uthere.address"]), int(number(values, "uthere.udp_port_in"))
        self.port_out = int(number(values, "uthere.udp_port_out"))
        if self.port_out == self.own[1]:
            raise ParameterError(
                f"parameters 'uthere.udp_port_in' and 'uthere.udp_port_out': {self.port_out} given for both; allowed: "
                "two ports, as replies would be read as commands"
            )
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

"""Addresses that may send to a socket."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from collections.abc import Sequence
from typing import TypeAlias

from rosflight_py_sim.ground.parameters import ParameterError

Address: TypeAlias = tuple[str, int]


def address_text(address: Address) -> str:
    """Address as text, such as 192.168.1.20:14000."""
    return f"{address[0]}:{address[1]}"


def bind(one: socket.socket, own: Address) -> None:
    """Bind a socket to a local address; not to the empty text, which sockets take for all addresses.

    Raises:
        OSError: the address cannot be used.
    """
    if not own[0]:
        raise OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))
    one.bind(own)


class AllowedPeers:
    """Allowed senders: addresses, with or without a port; an empty list allows all.

    Raises:
        ParameterError: a text is not an address.
    """

    def __init__(self, name: str, texts: Sequence[str]) -> None:
        self._allowed = {_parsed(name, text) for text in texts}

    def __contains__(self, sender: Address) -> bool:
        return not self._allowed or sender in self._allowed or (sender[0], None) in self._allowed


def _parsed(name: str, text: str) -> tuple[str, int | None]:
    host, colon, port = text.partition(":")
    try:
        if colon and not (port.isdecimal() and 1 <= int(port) <= 65535):
            raise ValueError
        return str(ipaddress.IPv4Address(host)), int(port) if colon else None
    except ValueError:
        raise ParameterError(
            f"parameter '{name}': {text!r} given; allowed: addresses such as 192.168.1.20, with a port such as "
            "192.168.1.20:14000, or an empty list for any sender"
        ) from None

"""Who may speak on a socket."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import TypeAlias

from rosflight_py_sim.parameters import ParameterError

Address: TypeAlias = tuple[str, int]


def address_text(address: Address) -> str:
    """An address as people write it."""
    return f"{address[0]}:{address[1]}"


class AllowedPeers:
    """Those who may speak: addresses, with or without a port; of an empty list, everybody.

    Raises:
        ParameterError: one of them is neither.
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
            f"parameter '{name}': {text!r} given; allowed: addresses as 192.168.1.20, with a port as "
            "192.168.1.20:14000, or an empty list for everybody"
        ) from None

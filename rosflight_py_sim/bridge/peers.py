"""Who may speak on a socket, and who does."""

from __future__ import annotations

import ipaddress
import time
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


class Partner:
    """The one who is listened to: whoever came first, until nothing has been heard of it for a while.

    Attributes:
        address: where it is; None before the first.
    """

    def __init__(self, silence_s: float) -> None:
        self.address: Address | None = None
        self._silence_s = silence_s
        self._heard_s = 0.0

    def heard(self) -> None:
        """It has spoken, or could not be expected to."""
        self._heard_s = time.monotonic()

    @property
    def lives(self) -> bool:
        """Whether there is one that has not been silent for too long."""
        return self.address is not None and time.monotonic() - self._heard_s < self._silence_s

    def take(self, address: Address) -> None:
        """Listen to this one from now on."""
        self.address = address
        self.heard()

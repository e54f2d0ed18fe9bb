"""Addresses allowed to connect."""

from __future__ import annotations

import pytest

from rosflight_py_sim.bridge.peers import AllowedPeers
from rosflight_py_sim.ground.parameters import ParameterError


def test_empty_list_allows_every_peer() -> None:
    assert ("10.1.2.3", 4567) in AllowedPeers("allowed_peers", [])


def test_address_allows_all_its_ports_and_no_other_address() -> None:
    allowed = AllowedPeers("allowed_peers", ["127.0.0.1", "192.168.1.20"])
    assert ("192.168.1.20", 1) in allowed
    assert ("192.168.1.20", 65535) in allowed
    assert ("192.168.1.21", 1) not in allowed


def test_address_with_port_allows_only_that_port() -> None:
    allowed = AllowedPeers("allowed_peers", ["127.0.0.1:14000"])
    assert ("127.0.0.1", 14000) in allowed
    assert ("127.0.0.1", 14001) not in allowed


@pytest.mark.parametrize(
    "text", ["", "localhost", "1.2.3", "1.2.3.4:", "1.2.3.4:0", "1.2.3.4:65536", "::1", "1.2.3.4:x"]
)
def test_invalid_address_is_rejected_by_name(text: str) -> None:
    with pytest.raises(ParameterError, match=r"'allowed_peers': '.*' given; allowed: addresses such as"):
        AllowedPeers("allowed_peers", [text])

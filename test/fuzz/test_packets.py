"""Valid packets take effect whatever arrives between them; `make fuzz` sends a million of each protocol."""

from __future__ import annotations

import pytest

from proof.packets import PROTOCOLS
from rosflight_py_sim.ground.registry import registered


@pytest.mark.parametrize("name", PROTOCOLS)
def test_no_packet_and_no_step_is_missed(name: str) -> None:
    passed = PROTOCOLS[name](5000)
    assert passed.holds, passed
    assert 1000 < passed.valid < passed.packets


def test_every_protocol_is_covered() -> None:
    assert set(PROTOCOLS) == set(registered("front_ends"))

"""The pilot who hands vehicles over, where something is in the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rosflight_py_sim.nodes.pilot import Pilot


def test_switch_that_nobody_offers_is_named(graph: Callable[..., Any]) -> None:
    made = graph("-r", "rc:toggle_arm:=another_name")
    pilot = Pilot()
    made.include(pilot)
    made.spin_until(lambda: pilot.failure, "giving up")
    assert str(pilot.failure) == "arming: nobody offers the service toggle_arm"
    assert not pilot.done

"""The transmitter without ROS."""

from __future__ import annotations

from typing import Any

import pytest
from std_srvs.srv import Trigger

from rosflight_py_sim.parts.transmitter import RcTransmitter
from rosflight_py_sim.step.ports import Service
from rosflight_py_sim.step.topics import PulseWidths
from rosflight_py_sim.transmitter.channels import ARM, HIGH, LOW, OVERRIDE


def transmitter(**values: Any) -> tuple[RcTransmitter, list[PulseWidths]]:
    part = RcTransmitter({**RcTransmitter.PARAMETERS.defaults(), **values})
    frames: list[PulseWidths] = []
    vars(part).update(send_frame=frames.append)
    return part, frames


@pytest.mark.parametrize(
    ("service", "channel", "start"), [("toggle_arm", ARM, LOW), ("toggle_override", OVERRIDE, HIGH)]
)
def test_services_move_the_switches(service: str, channel: int, start: int) -> None:
    part, frames = transmitter()
    toggle = next(getattr(part, one.name) for one in part.ports(Service) if one.topic == service)
    for turn in range(3):
        part.run(turn * 20_000_000)
        assert toggle(Trigger.Request(), Trigger.Response()).success
    end = LOW if start == HIGH else HIGH
    assert [one.pulse_us[channel] for one in frames] == [start, end, start]


def test_no_frame_is_sent_while_the_transmitter_is_off() -> None:
    part, frames = transmitter(failures=["rc off at 0.1 for 0.1"])
    for time_ns in range(0, 300_000_000, 20_000_000):
        part.run(time_ns)
    assert [one.time_ns for one in frames] == [
        *range(0, 100_000_000, 20_000_000),
        *range(200_000_000, 300_000_000, 20_000_000),
    ]

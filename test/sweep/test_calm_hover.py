"""Multirotors hover without an oscillation of the yaw loop, which the delay of a step and the rotors allow."""

from __future__ import annotations

import numpy as np
import pytest

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.sweep.pipeline_flight import PipelineFlight
from rosflight_py_sim.vehicles import vehicle


# At the default step, and at twice its delay: the loops have a gain margin of at least 2.
@pytest.mark.parametrize("step_size", [0.0025, 0.005])
@pytest.mark.parametrize("name", ["multirotor", "hexarotor", "octorotor"])
def test_motors_are_quiet_in_hover(name: str, step_size: float) -> None:
    member = Member(vehicle(name), executables=("autopilot",))
    sources = parameter_sources(
        [member], observers=(), files=[], weakest={"device": "none"}, settings={"step_size": step_size}
    )
    flight = PipelineFlight(member, sources)
    pulses = []
    while flight.state.time_ns < 16_000_000_000:
        flight.pipeline.step()
        if flight.state.time_ns > 12_000_000_000:
            pulses.append(flight.board.firmware.whole_pulse_widths.tolist())
    assert flight.state.truth[2] < -1.0
    # Gyro noise alone gives 2 to 6 us; a limit cycle gives 50 us and more.
    spread = np.array(pulses).std(axis=0)
    assert np.all(spread < 15.0), spread

"""A program makes one plane follow another; the test checks their true positions."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from free_ports import free_ports

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import fleet
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.missions.client_program import ClientProgram
from rosflight_py_sim.nodes.pilot import Pilot
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import vehicle

PROGRAM = share_directory() / "docs" / "examples" / "uthere_follow_the_leader.py"
TIMEOUT_S = 360.0

DELAY_S, ABOVE_FT = 2.0, 30.0
SECONDS = 28.0


class Track(SimulationNode):
    """True track of a plane at 10 Hz of simulated time: rows of time, north, east, height (s, m)."""

    DEFAULT_NAME = "track"

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.rows: list[tuple[float, float, float, float]] = []
        self._schedule = Schedule(10.0)
        self.subscribe(TRUTH_STATE, self._on_truth, qos=CHAIN)

    def _on_truth(self, state: VehicleState) -> None:
        if self._schedule.due(state.time_ns):
            north, east, down = state.position_ned
            self.rows.append((state.time_s, float(north), float(east), -float(down)))


@pytest.mark.timeout(400)
def test_follower_reaches_and_keeps_position_behind_leader(ros_domain: int) -> None:
    ports = free_ports(2)
    members = [replace(member, flight_controller="uthere") for member in fleet(vehicle("uthere"), count=2, seed=4)]
    settings = {
        "uthere.udp_port_in": ports[0],
        "uthere.udp_port_out": ports[1],
        # The simulation does not wait for the program, which may be late on a busy machine.
        "uthere.ap_target_from_packet_timeout": 10.0,
        # Slow enough for the program to keep up.
        "real_time_multiplier": 3.0,
        # A quarter of the usual number of steps, to keep the test short.
        "step_size": 0.01,
    }
    # All nodes take part in the hand-off, which takes a fraction of the time needed with a tester.
    made = ComposedGraph(members, settings=settings)
    tracks = [made.join(Track, namespace=member.namespace) for member in members]
    pilots = [made.join(Pilot, namespace=member.namespace) for member in members]
    program = ClientProgram(
        PROGRAM,
        ["--ports", *map(str, ports), "--delay", str(DELAY_S), "--above", str(ABOVE_FT), "--seconds", str(SECONDS)],
    )
    output: list[str] = []
    give_up = time.monotonic() + TIMEOUT_S

    def goes_on() -> bool:
        output.extend(program.lines())
        is_flying = all(pilot.failure is None for pilot in pilots)
        return is_flying and program.code is None and time.monotonic() < give_up

    try:
        made.spin(goes_on)
    finally:
        program.close()
        made.close()
    assert [pilot.failure for pilot in pilots] == [None, None]
    output += program.lines()
    assert program.code == 0, output
    assert output[-1].endswith("done"), output

    leader, follower = (np.array(track.rows) for track in tracks)
    # The last seconds under the program's command: fly_disengage sends the follower home.
    steered = follower[(follower[:, 0] > follower[-1, 0] - 10.0) & (follower[:, 0] < follower[-1, 0] - 1.0)]
    then = steered[:, 0] - DELAY_S
    place = np.stack([np.interp(then, leader[:, 0], leader[:, axis]) for axis in (1, 2)], axis=1)
    off = np.linalg.norm(steered[:, 1:3] - place, axis=1)
    # The program receives data every 0.2 s and may be late: it can be expected to hold a second's flight, 18 m.
    assert off.mean() < 15.0, off
    assert off.max() < 30.0, off
    height = np.interp(steered[:, 0], leader[:, 0], leader[:, 3]) + 0.3048 * ABOVE_FT
    assert np.abs(steered[:, 3] - height).max() < 4.0
    # The follower started away from its position, and the leader did not wait.
    first = follower[follower[:, 3] > 30.0][0]
    assert math.hypot(*(first[1:3] - np.array([np.interp(first[0], leader[:, 0], leader[:, k]) for k in (1, 2)]))) > 5.0
    speed = np.linalg.norm(np.diff(leader[-200:, 1:3], axis=0), axis=1) / np.diff(leader[-200:, 0])
    assert speed.mean() > 12.0

"""The bridge in a process separate from sil_board: it serves programs, and the simulation runs without it."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable
from typing import Any

import pytest
from free_ports import free_ports

from rosflight_py_sim.graph.flight_controllers import FLIGHT_CONTROLLERS
from rosflight_py_sim.protocols.uthere import Data
from rosflight_py_sim.vehicles import vehicle
from test.bridge.uthere_bench import Program
from test.processes.conftest import SLOWLY, few_steps


@pytest.mark.parametrize("time_mode", ["paced", "lockstep"])
def test_simulation_runs_without_bridge_and_is_served_again_after_bridge_restart(
    simulate: Callable[..., Any], time_mode: str
) -> None:
    simulation = simulate(time_mode, SLOWLY, *few_steps(time_mode))
    port_in, port_out = free_ports(2)
    (file,) = FLIGHT_CONTROLLERS["uthere"].files_for(vehicle("multirotor"))
    arguments = ["--params-file", str(file), "-p", "front_ends:=[uthere]"]
    arguments += ["-p", f"uthere.udp_port_in:={port_in}", "-p", f"uthere.udp_port_out:={port_out}"]
    observer = simulation.observer()
    with contextlib.closing(Program("127.0.0.1", ("127.0.0.1", port_in), port_out)) as program:

        def is_served() -> bool:
            program.send("data_request(variable=time,interval=0.05)")
            return any(isinstance(reply, Data) for reply in program.replies())

        for _ in range(2):
            bridge = simulation.start("bridge", *arguments)
            observer.wait_for(is_served, "data")
            bridge.signal(signal.SIGTERM)
            assert bridge.wait() == 0
            program.packets()
            before = len(observer.stamps)
            observer.wait_for(lambda n=before: len(observer.stamps) > n + 10, "steps without the bridge")
            assert program.packets() == []

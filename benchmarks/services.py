"""The standard services of simulators: latency for a client in another process, memory after many spawned vehicles."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rclpy
from rclpy.node import Node
from simulation_interfaces import msg, srv

CALLS = 100
"""Calls of each service that answers at once."""

CHANGES = 10
"""Calls of each service that creates or ends nodes."""

_LIMIT_S = 120.0
_MIB = 1 << 20


@dataclass(frozen=True)
class Latency:
    """System time from a request to its reply, ms.

    Attributes:
        service: the service, and what is requested.
        median_ms, greatest_ms: of all calls.
    """

    service: str
    median_ms: float
    greatest_ms: float


@dataclass(frozen=True)
class ServicesRun:
    """Measurements of a paused multirotor in one process.

    Attributes:
        latencies: of the services.
        cycles: number of vehicles that were spawned and deleted after the first ten.
        growth_mib: growth of the memory in these cycles, MiB.
        slowdown: median time of the last ten cycles, relative to the first ten.
    """

    latencies: list[Latency]
    cycles: int
    growth_mib: float
    slowdown: float


class _Client:
    def __init__(self) -> None:
        rclpy.init()
        self._node = Node("benchmark_of_services")
        self._clients: dict[str, Any] = {}

    def call(self, kind: str, **fields: Any) -> Any:
        service = getattr(srv, kind)
        if kind not in self._clients:
            name = "".join(f"_{one.lower()}" if one.isupper() else one for one in kind)[1:]
            self._clients[kind] = self._node.create_client(service, name)
            self._clients[kind].wait_for_service(_LIMIT_S)
        future = self._clients[kind].call_async(service.Request(**fields))
        rclpy.spin_until_future_complete(self._node, future, timeout_sec=_LIMIT_S)
        reply = future.result()
        if reply is None or (hasattr(reply, "result") and reply.result.result != msg.Result.RESULT_OK):
            raise RuntimeError(f"{kind}: {reply}")
        return reply

    def spawn(self) -> None:
        resource = {"uri": "multirotor"}
        if hasattr(srv.SpawnEntity.Request(), "entity_resource"):
            resource = {"entity_resource": msg.Resource(**resource)}
        self.call("SpawnEntity", name="kite", **resource)

    def load_world(self) -> None:
        resource = {"uri": "dry land"}
        if hasattr(srv.LoadWorld.Request(), "world_resource"):
            resource = {"world_resource": msg.Resource(**resource)}
        self.call("LoadWorld", **resource)


def _measured(service: str, calls: int, call: Callable[[], Any], after: Callable[[], Any] | None = None) -> Latency:
    took_ms = []
    for _ in range(calls):
        began_s = time.perf_counter()
        call()
        took_ms.append(1e3 * (time.perf_counter() - began_s))
        if after is not None:
            after()
    return Latency(service, statistics.median(took_ms), max(took_ms))


def services_run(cycles: int) -> ServicesRun:
    """Measure the services of a paused multirotor, and `cycles` (more than 20) spawned and deleted vehicles."""
    program = Path(sys.executable).parent / "rosflight_py_sim"
    words = [str(program), "sim", "--simulation-interfaces", "--ros-args", "--log-level", "warn"]
    simulation = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    client = _Client()
    try:
        return _run(client, simulation.pid, cycles)
    finally:
        rclpy.try_shutdown()
        simulation.send_signal(signal.SIGINT)
        simulation.wait(_LIMIT_S)


def _run(client: _Client, pid: int, cycles: int) -> ServicesRun:
    call = client.call
    call("SetSimulationState", state=msg.SimulationState(state=msg.SimulationState.STATE_PAUSED))
    state = msg.EntityState()
    state.pose.position.z = 10.0
    reset = srv.ResetSimulation.Request

    def delete() -> None:
        call("DeleteEntity", entity="kite")

    latencies = [
        _measured("get_entities", CALLS, lambda: call("GetEntities")),
        _measured("get_entity_state", CALLS, lambda: call("GetEntityState", entity="multirotor")),
        _measured("set_entity_state", CALLS, lambda: call("SetEntityState", entity="multirotor", state=state)),
        _measured("step_simulation, 1 step", CALLS, lambda: call("StepSimulation", steps=1)),
        _measured("reset_simulation, state", CALLS, lambda: call("ResetSimulation", scope=reset.SCOPE_STATE)),
        _measured("reset_simulation, all", CHANGES, lambda: call("ResetSimulation", scope=reset.SCOPE_ALL)),
        _measured("spawn_entity", CHANGES, client.spawn, after=delete),
    ]
    client.spawn()
    latencies.append(_measured("delete_entity", CHANGES, delete, after=client.spawn))
    delete()
    took_s = []
    for cycle in range(cycles):
        began_s = time.perf_counter()
        client.spawn()
        delete()
        took_s.append(time.perf_counter() - began_s)
        if cycle == 9:
            first_mib = _memory_mib(pid)
    growth_mib = _memory_mib(pid) - first_mib
    latencies.append(_measured("load_world", CHANGES, client.load_world))
    slowdown = statistics.median(took_s[-10:]) / statistics.median(took_s[:10])
    return ServicesRun(latencies, cycles - 10, growth_mib, slowdown)


def _memory_mib(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / _MIB

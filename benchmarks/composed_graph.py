"""Steps per second of the whole graph in one process, lockstep, as fast as the machine allows."""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member, fleet
from rosflight_py_sim.ground.parameters import number
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.vehicles import CAMERA, STANDALONE, known_dynamics, known_vehicles, vehicle

WARM_UP_S = 3.0

_KIB_A_MIB = 1024.0


@dataclass
class ComposedRun:
    """Result of one run.

    Attributes:
        rate: steps per second of system time; a step moves all vehicles.
        cpu_us: CPU time per step and vehicle, us; other work on the machine affects it less than the rate.
        resident_mib: resident memory of the process, MiB.
        compiled: share of the vehicles' steps that were compiled.
    """

    rate: float
    cpu_us: float
    resident_mib: float = 0.0
    compiled: float = 0.0


def composed_run(
    name: str = "multirotor",
    dynamics: str = STANDALONE,
    count: int = 1,
    duration_s: float = 5.0,
    profile: bool = False,
    cameras: bool | None = None,
    arguments: Sequence[str] = (),
    record: str | None = None,
    sidecars: Sequence[str] = (),
    flight_controller: str = "",
) -> ComposedRun:
    """Run `count` vehicles, every sensor at its default rate; None: the vehicle's default.

    With `record`, every topic is recorded to that file; the nodes `beside` run in separate processes.
    """
    chosen = vehicle(name, dynamics).carrying(CAMERA, cameras)
    members = [Member(chosen)] if count == 1 else fleet(chosen, count=count, seed=0)
    graph = ComposedGraph(
        [replace(member, flight_controller=flight_controller) for member in members],
        settings={"real_time_multiplier": 0.0},
        arguments=["--log-level", "warn", "-p", "web_viewer.port:=0", *arguments],
        record=record,
        sidecars=sidecars,
    )
    clock = graph.nodes[0].get_clock()

    def run_for(seconds: float) -> ComposedRun:
        step_ns = NANOSECONDS * number(graph.values_of("time_manager"), "step_size")
        began, began_cpu, began_ns = time.monotonic(), time.process_time(), clock.now().nanoseconds
        began_compiled = graph.hand_off.compiled_steps
        graph.spin(lambda: time.monotonic() - began < seconds)
        steps = (clock.now().nanoseconds - began_ns) / step_ns
        cpu_s = time.process_time() - began_cpu
        compiled = (graph.hand_off.compiled_steps - began_compiled) / steps / count
        rate = steps / (time.monotonic() - began)
        return ComposedRun(rate, 1e6 * cpu_s / steps / count, resident_mib(), compiled)

    # The first step may have to wait for compilation.
    began = time.monotonic()
    graph.spin(lambda: clock.now().nanoseconds == 0 and time.monotonic() - began < 60.0)
    run_for(WARM_UP_S)
    if profile:
        with cProfile.Profile() as profiler:
            run_for(duration_s)
    run = run_for(duration_s)
    if profile:
        stats = pstats.Stats(profiler)
        stats.sort_stats("tottime").print_stats(45)
        shares = parts(stats)
        print(f"{run.cpu_us:.1f} us per vehicle and step, divided as profiled:")
        for name, share in sorted(shares.items(), key=lambda item: -item[1]):
            print(f"  {name:30s} {share * run.cpu_us:6.1f} us")
    graph.close()
    return run


def resident_mib() -> float:
    """Resident memory of this process, MiB."""
    status = Path("/proc/self/status").read_text("ascii")
    return float(status.split("VmRSS:")[1].split()[0]) / _KIB_A_MIB


_PARTS = {
    "physics, sensors, firmware": ("/physics/", "/sensing/", "/firmware/", "/jit.py"),
    "hand-off and counts": ("/interfaces/hand_off", "/step/topic_statistics.py"),
    "messages": ("/step/topics.py", "/step/wire.py", "/step/vehicle_state.py", "<string>"),
    "nodes and joins": ("/rosflight_py_sim/nodes/", "/rosflight_py_sim/interfaces/"),
    "executor and clock of rclpy": ("/rclpy/",),
}


def parts(stats: pstats.Stats) -> dict[str, float]:
    """Share of each part of the program; built-in functions count towards their callers."""

    def part_of(function: tuple[str, int, str]) -> str:
        return next((name for name, places in _PARTS.items() if any(p in function[0] for p in places)), "the rest")

    times: dict[str, float] = {}
    for function, (_, _, own_s, _, callers) in stats.stats.items():  # type: ignore[attr-defined]
        if function[0] != "~" or not callers:
            times[part_of(function)] = times.get(part_of(function), 0.0) + own_s
            continue
        for caller, (_, _, its_s, _) in callers.items():
            times[part_of(caller)] = times.get(part_of(caller), 0.0) + its_s
    total = sum(times.values())
    return {name: own_s / total for name, own_s in times.items()}


def main() -> None:
    """Measure a single vehicle or a fleet."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.composed_graph", description=__doc__)
    parser.add_argument("--vehicle", default="multirotor", help=f"one of: {', '.join(known_vehicles())}")
    parser.add_argument("--dynamics", default=STANDALONE, choices=known_dynamics())
    parser.add_argument("--count", type=int, default=1, help="number of vehicles (default 1)")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of the measurement (default 5)")
    parser.add_argument("--record", metavar="FILE", help="record everything to a new MCAP file")
    parser.add_argument(
        "--beside",
        action="append",
        default=[],
        metavar="NODE",
        help="viewer to run beside: web_viewer, visualizer; may be repeated",
    )
    parser.add_argument("--profile", action="store_true", help="also show where the time goes")
    options = parser.parse_args()
    run = composed_run(
        *(options.vehicle, options.dynamics, options.count, options.seconds, options.profile),
        record=options.record,
        sidecars=options.beside,
    )
    figures = f"{run.rate:.0f} steps/s, {run.cpu_us:.0f} us of CPU time per vehicle and step"
    print(f"{figures}, {run.compiled:.0%} of the steps compiled")


if __name__ == "__main__":
    main()

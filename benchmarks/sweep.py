"""Flights of the multirotor's square in a sweep, without ROS: with workers, and the flights alone.

    python -m benchmarks.sweep --flights 1000

prints the time of the sweep with one and two workers, and the CPU time of a step of the square and of a fixed wing's
waypoints, by compiled steps and by messages, one after the other in one run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.sweep import run
from rosflight_py_sim.sweep.definition import Sweep, run_of, scenario_of
from rosflight_py_sim.sweep.pipeline_flight import PipelineFlight
from rosflight_py_sim.sweep.sweep_file import read_sweep

FLIGHTS = """\
description: a mission in light wind
vehicle: {vehicle}
runs: {flights}
parameters:
  sim_has_wind: true
  use_random_wind: false
  steady_state_wind: [{{uniform: [-4, 4]}}, {{uniform: [-4, 4]}}, 0.0]
measures:
  error: judge.tracking_error_rms_m
"""


def sweep_s(workers: int, flights: int) -> float:
    """System time of a sweep, from the start of its workers to the complete table, s.

    Raises:
        RuntimeError: a flight failed.
    """
    with _sweep_file(flights) as file:
        began = time.perf_counter()
        table = run(file, output=file.parent / "results", workers=workers)
        taken = time.perf_counter() - began
    failed = len(table) - int(table["succeeded"].sum())
    if failed:
        raise RuntimeError(f"{failed} of {flights} flights failed: {table['reason'].max()}")
    return taken


def step_us(vehicle: str, *, is_compiled: bool, flights: int = 1) -> float:
    """Least CPU time of a step in several flights of a vehicle's mission, us."""
    with _sweep_file(flights, vehicle) as file:
        sweep = read_sweep(file)
    least = float("inf")
    for number in range(flights):
        flight = _flight(sweep, number)
        flight.pipeline.compiles = is_compiled
        began = time.process_time()
        flight.fly(sweep.limit_s)
        steps = flight.pipeline.time_ns / flight.step_ns
        least = min(least, (time.process_time() - began) / steps * 1e6)
    return least


def flights_s(flights: int) -> float:
    """System time of the same flights alone, in this process, s: without inputs, judgement and table."""
    with _sweep_file(flights) as file:
        sweep = read_sweep(file)
    _flight_s(sweep, 0)
    return sum(_flight_s(sweep, number) for number in range(flights))


def _flight_s(sweep: Sweep, number: int) -> float:
    flight = _flight(sweep, number)
    began = time.perf_counter()
    flight.fly(sweep.limit_s)
    return time.perf_counter() - began


def _flight(sweep: Sweep, number: int) -> PipelineFlight:
    scenario = scenario_of(sweep, run_of(sweep, number))
    sources = parameter_sources(
        scenario.members, files=scenario.files, weakest={"device": "none"}, settings=scenario.settings
    )
    return PipelineFlight(scenario.members[0], sources)


@contextmanager
def _sweep_file(flights: int, vehicle: str = "multirotor") -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "flights.yaml"
        file.write_text(FLIGHTS.format(flights=flights, vehicle=vehicle), encoding="utf-8")
        yield file


def main() -> None:
    """Print the time of a sweep with one and two workers, that of the flights alone, and that of a step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flights", type=int, default=100, help="number of flights (default 100)")
    flights = parser.parse_args().flights
    for name, taken in (
        ("flights alone", flights_s(flights)),
        ("1 worker", sweep_s(1, flights)),
        ("2 workers", sweep_s(2, flights)),
    ):
        print(f"{flights} flights, {name}: {taken:.1f} s", flush=True)
    for vehicle in ("multirotor", "fixedwing"):
        compiled, by_messages = (step_us(vehicle, is_compiled=one, flights=3) for one in (True, False))
        ratio = by_messages / compiled
        print(f"{vehicle}: compiled {compiled:.1f} us a step, by messages {by_messages:.1f} us, ratio {ratio:.1f}")


if __name__ == "__main__":
    main()

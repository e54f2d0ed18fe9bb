"""Proof that a search breaks a property with a fraction of the flights that random sampling of its distributions needs.

    python -m proof.search [--seeds 10] [--most 300] [--workers 2] [EXAMPLE ...]

Each example of docs/examples/search is searched with the seeds 1, 2, ..., and sampled with the same seeds as a sweep
samples it, until a flight breaks its property.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console

from proof.results import Row, publish
from rosflight_py_sim.search.execution import Findings, search, searched_sweep
from rosflight_py_sim.sweep.definition import Sweep, run_of
from rosflight_py_sim.sweep.execution import flown, started_workers
from rosflight_py_sim.sweep.fly_run import fly_run
from rosflight_py_sim.sweep.sweep_file import read_sweep
from rosflight_py_sim.sweep.workers import Job, Workers

TITLE = "Search"

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples" / "search"

LARGEST_SHARE = 0.2
"""Largest share of the flights of random sampling that a search may need, median by median."""

NOTES = (
    "A sampling ends without a failing flight after a number of flights that the table states; its flights then count "
    "as that number, which is less than it would need.",
    "The flights of a search are those until the end of the generation with the first failing flight, without those "
    "that reduce the failing case.",
    "The ratio depends on the property: a search follows the robustness, and gains nothing where that is the same for "
    "nearly all values.",
)

# Flights that are sampled at a time.
_BATCH = 10


def searched_flights(sweep: Sweep, seed: int, most: int, workers: int) -> tuple[int, int]:
    """Flights of a search until one breaks the property, and further ones for the smallest case."""
    findings = Findings()
    console = Console(file=io.StringIO())
    chosen = searched_sweep(sweep, seed=seed, budget=most)
    with tempfile.TemporaryDirectory() as folder:
        search(chosen, Path(folder), fly_run, findings, digest=sweep.digest, workers=workers, console=console)
    if findings.found is None:
        return most, 0
    return findings.searched, findings.flights - findings.searched


def sampled_flights(sweep: Sweep, pool: Workers, seed: int, most: int) -> int:
    """Flights of a random sample up to the first that breaks the property; `most` if none does."""
    assert sweep.property is not None
    name = sweep.property.name
    chosen = replace(sweep, seed=seed, runs=most)
    for first in range(0, most, _BATCH):
        runs = [run_of(chosen, number) for number in range(first, min(first + _BATCH, most))]
        rows = [row for row in flown(pool, runs) if row is not None]
        broken = [row.run.number for row in rows if not row.measures.get(name, -1.0) >= 0.0]
        if broken:
            return min(broken) + 1
    return most


def quartiles(flights: Sequence[int], most: int) -> str:
    """Median and quartiles as text."""
    low, middle, high = np.percentile(flights, [25.0, 50.0, 75.0])
    ended = sum(one == most for one in flights)
    return f"{middle:g} ({low:g} to {high:g})" + (
        f", {ended} of {len(flights)} without a failure in {most}" * (ended > 0)
    )


def rows(names: Sequence[str], seeds: int, most: int, workers: int) -> Iterator[Row]:
    """One row per example of a name, or of all without names."""
    for file in sorted(EXAMPLES.glob("*.yaml")):
        if names and file.stem not in names:
            continue
        sweep = read_sweep(file)
        found = [searched_flights(sweep, seed, most, workers) for seed in range(1, seeds + 1)]
        by_search, further = ([one[place] for one in found] for place in (0, 1))
        print(f"{file.stem}: {by_search} flights to find, {further} to reduce", flush=True)
        pool = started_workers(Job(fly_run, file.absolute(), sweep.digest), most, workers, None)
        try:
            by_sample = []
            for seed in range(1, seeds + 1):
                by_sample.append(sampled_flights(sweep, pool, seed, most))
                print(f"{file.stem}: sample {seed}: {by_sample[-1]} flights", flush=True)
        finally:
            pool.close()
        share = float(np.median(by_search) / np.median(by_sample))
        yield Row(
            file.stem,
            f"median of the search at most {LARGEST_SHARE:g} of that of random sampling",
            f"flights, median (quartiles) of {seeds} seeds: search {quartiles(by_search, most)}, "
            f"random {quartiles(by_sample, most)}; ratio {share:.2g}; further ones to reduce the case: "
            f"{np.median(further):g}",
            share <= LARGEST_SHARE,
        )


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="EXAMPLE", help="examples (default: all)")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--most", type=int, default=300, help="largest number of flights of a search or sample")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    sys.exit(publish("search", TITLE, rows(options.names, options.seeds, options.most, options.workers), NOTES))


if __name__ == "__main__":
    main()

"""Proof that a search breaks a property with a fraction of the flights that random sampling of its distributions needs.

    python -m proof.search [--seed 1] [--seeds 10] [--most 400] [--sample 6000] [--workers 2] [EXAMPLE ...]

Each example of docs/examples/search is searched with several seeds. A sample, drawn as a sweep draws it, gives the
share p of flights that break the property. Random sampling meets the first of them after 1 / p flights on average, and
in half of the cases within the median of the geometric distribution, ln 2 / -ln(1 - p).
"""

from __future__ import annotations

import argparse
import io
import math
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
from rosflight_py_sim.sweep.report import interval_of_rate
from rosflight_py_sim.sweep.sweep_file import read_sweep
from rosflight_py_sim.sweep.workers import Job

TITLE = "Search"

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples" / "search"

LARGEST_SHARE = 0.2
"""Largest share of the flights of random sampling that a search may need, median by median."""

NOTES = (
    "Random sampling: median of the geometric distribution of the flights until the first failure, for the share of "
    "failures in a sample, with that for the limits of the share's 95 % interval (Clopper and Pearson). The ratio is "
    "that of the medians.",
    "The flights of a search are those until the end of the generation with the first failing flight, without those "
    "that reduce the failing case. A search that ends without one counts as its largest number of flights.",
    "The ratio depends on the property: a search follows the robustness, and gains nothing where that is the same for "
    "nearly all values.",
    "The landing shows where a search gains little: about one in 130 random flights breaks the property, so that "
    "random sampling soon meets one.",
)


_BATCH, _ENOUGH = 100, 10
"""Flights of a sample that are flown at a time, and failures after which a sample ends."""


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


def sampled_failures(sweep: Sweep, workers: int, most: int) -> tuple[int, int]:
    """Flights of a random sample that break the property, and all its flights, at most so many.

    The sample ends with `_ENOUGH` failures, which makes their share slightly too great, and the ratio with it.
    """
    assert sweep.property is not None
    name = sweep.property.name
    chosen = replace(sweep, runs=most)
    pool = started_workers(Job(fly_run, sweep.file.absolute(), sweep.digest), most, workers, None)
    failures = count = 0
    try:
        while count < most and failures < _ENOUGH:
            runs = [run_of(chosen, number) for number in range(count, min(count + _BATCH, most))]
            rows = [row for row in flown(pool, runs) if row is not None]
            failures += sum(not row.measures.get(name, -1.0) >= 0.0 for row in rows)
            count += len(runs)
    finally:
        pool.close()
    return failures, count


def flights_to_failure(share: float) -> float:
    """Median number of random flights until the first that breaks the property, for the share of those that do."""
    return math.log(2.0) / -math.log1p(-share) if 0.0 < share < 1.0 else math.inf if share <= 0.0 else 1.0


def quartiles(flights: Sequence[int], most: int) -> str:
    """Median and quartiles as text."""
    low, middle, high = np.percentile(flights, [25.0, 50.0, 75.0])
    ended = sum(one == most for one in flights)
    return f"{middle:g} ({low:g} to {high:g})" + (
        f", {ended} of {len(flights)} without a failure in {most}" * (ended > 0)
    )


def rows(names: Sequence[str], seeds: Sequence[int], most: int, sample: int, workers: int) -> Iterator[Row]:
    """One row per example of a name, or of all without names."""
    for file in sorted(EXAMPLES.glob("*.yaml")):
        if names and file.stem not in names:
            continue
        sweep = read_sweep(file)
        found = [searched_flights(sweep, seed, most, workers) for seed in seeds]
        by_search, further = ([one[place] for one in found] for place in (0, 1))
        print(f"{file.stem}: {by_search} flights to find, {further} to reduce", flush=True)
        failures, count = sampled_failures(sweep, workers, sample)
        low, high = interval_of_rate(failures, count)
        by_sample = flights_to_failure(failures / count)
        share = float(np.median(by_search)) / by_sample
        yield Row(
            file.stem,
            f"median of the search at most {LARGEST_SHARE:g} of that of random sampling",
            f"flights, median (quartiles) of {len(seeds)} seeds: search {quartiles(by_search, most)}; random: "
            f"{by_sample:.0f} ({flights_to_failure(high):.0f} to {flights_to_failure(low):.0f}), {failures} failures "
            f"in {count}; ratio {share:.2g}; further flights to reduce the case: {np.median(further):g}",
            share <= LARGEST_SHARE,
        )


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="EXAMPLE", help="examples (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="first seed of the searches (default: 1)")
    parser.add_argument("--seeds", type=int, default=10, help="number of searches (default: 10)")
    parser.add_argument("--most", type=int, default=400, help="largest number of flights of a search (default: 400)")
    parser.add_argument("--sample", type=int, default=6000, help="largest number of random flights (default: 6000)")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.seeds)
    measured = rows(options.names, seeds, options.most, options.sample, options.workers)
    sys.exit(publish("search", TITLE, measured, NOTES))


if __name__ == "__main__":
    main()
